/* Single elements: from and to Python's scalars, and C's numbers. */

#ifndef ARRAY_API_NX_SCALARS_H
#define ARRAY_API_NX_SCALARS_H

#include "objects.h"
#include "sizes.h"
#include <numpy/arrayscalars.h>

/* The dtype of an array of one Python scalar; NO_DTYPE if the type is not exactly one of theirs. */
static inline DTypeCode dtype_of_scalar(PyObject *value)
{
    return PyFloat_CheckExact(value)     ? FLOAT64
           : PyLong_CheckExact(value)    ? NX_INT64
           : PyBool_Check(value)         ? BOOL
           : PyComplex_CheckExact(value) ? COMPLEX128
                                         : NO_DTYPE;
}

/* The dtype of a NumPy scalar; NO_DTYPE for all else, scalars of derived types included. */
static inline DTypeCode dtype_of_numpy_scalar(PyObject *value)
{
    const PyTypeObject *type = Py_TYPE(value);
    if (type == (PyTypeObject *)dtypes[FLOAT64].descr->typeobj) {
        return FLOAT64;
    }
    int code = 0;
    while (code < DTYPE_COUNT && dtypes[code].descr->typeobj != type) {
        code++;
    }
    return (DTypeCode)code;
}

/* Where the number of such a scalar lies. */
static inline const char *data_of_numpy_scalar(PyObject *value)
{
    _Static_assert(offsetof(PyBoolScalarObject, obval) == offsetof(PyDoubleScalarObject, obval) &&
                       offsetof(PyBoolScalarObject, obval) == offsetof(PyCDoubleScalarObject, obval),
                   "the numbers of scalars lie at different places");
    return (const char *)value + offsetof(PyBoolScalarObject, obval);
}

/* Whether a number is in the range of a dtype of integers. */
int holds_integer(DTypeCode code, long long number);

/* Write a number that is in the range of the dtype, a whole one if that is an integer. Of a complex
   element only the real part is written. */
void write_number(char *target, DTypeCode code, double number);

/* Write a Python scalar as a number of the dtype. 0, with nothing written, unless it leaves the dtype
   as it is, is in range, and converts without a warning. */
int write_scalar(char *target, DTypeCode code, PyObject *value);

/* Write a NumPy scalar as a number of a dtype that its own promotes to. 0, with nothing written, for
   others. */
int write_numpy_scalar(char *target, DTypeCode code, PyObject *value);

/* Whether an element is not 0. */
static inline int is_true(const char *element, DTypeCode code)
{
#define TRUTH(CODE, TYPE, ...) \
    case CODE:                 \
        return IS_TRUE(*(const TYPE *)element);
    switch (code) {
        EACH_DTYPE(TRUTH)
    default:
        return 0;
    }
#undef TRUTH
}

/* An element as a Python scalar. */
PyObject *read_scalar(const char *element, DTypeCode code);

#endif
