/* Single elements: from and to Python's scalars, and C's numbers. */

#ifndef ARRAY_API_NX_SCALARS_H
#define ARRAY_API_NX_SCALARS_H

#include "objects.h"
#include "sizes.h"

/* The dtype of an array of one Python scalar; NO_DTYPE if the type is not exactly one of theirs. */
static inline DTypeCode dtype_of_scalar(PyObject *value)
{
    return PyFloat_CheckExact(value)     ? FLOAT64
           : PyLong_CheckExact(value)    ? INT64
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

/* A real element as a Python scalar; DECLINED for a complex one. */
PyObject *read_scalar(const char *element, DTypeCode code);

#endif
