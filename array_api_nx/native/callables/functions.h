/* Public functions whose common calls C answers: compiled callables in front of Python functions. */

#ifndef ARRAY_API_NX_FUNCTIONS_H
#define ARRAY_API_NX_FUNCTIONS_H

#include "scalars.h"
#include "settings.h"

/* Answers a call, or declines it: then the Python function behind it is called with the same arguments.
   `values` has a value for each parameter, NULL where none is given, and `count` says how many are given
   by position. It raises nothing but MemoryError, interrupts, and the errors of numpy.errstate. */
typedef PyObject *(*Compute)(int code, PyObject *const *values, Py_ssize_t count);

/* The C implementation of a function. */
typedef struct {
    const char *name; /* of the Python function */
    Compute compute;
    int code;               /* for a `compute` of several functions */
    const char *parameters; /* as in Python, with `=` after those that may be left out:
                               "x, /, *, axis="; or "*", any number by position */
} Implementation;

/* The parameters of an implementation: as many values as `total` are sorted by them. */
enum { MOST_PARAMETERS = 8 };

typedef struct {
    int total, required;
    Py_ssize_t positional;
    PyObject *names[MOST_PARAMETERS]; /* interned, so that they are compared by address; NULL of those
                                         that are given by position alone */
} Parameters;

/* Read the parameters of an implementation; -1 with an exception set. */
int read_parameters(const Implementation *implementation, Parameters *parameters);

/* Sort the arguments that are given by name, after `count` others. 0 if they do not fit. */
int sort_names(const Parameters *parameters, PyObject *const *args, Py_ssize_t count, PyObject *names,
               PyObject **room);

/* The arguments of a call, sorted by the parameters: where they lie, or in `room`. NULL if they do not
   fit, which Python will say in its words. */
static inline PyObject *const *sort_arguments(const Parameters *parameters, PyObject *const *args,
                                              Py_ssize_t count, PyObject *names, PyObject **room)
{
    const int total = parameters->total;
    if (count > parameters->positional) {
        return NULL;
    }
    if (names == NULL && count >= total) {
        return args;
    }
    for (int i = 0; i < MOST_PARAMETERS; i++) { /* a number that the compiler knows */
        room[i] = i < count ? args[i] : NULL;
    }
    const int fits = names == NULL ? count >= parameters->required
                                   : sort_names(parameters, args, count, names, room);
    return fits ? room : NULL;
}

/* The readers below return 0, without an exception, for values that the Python function has to read. */

static inline int is_given(PyObject *value)
{
    return value != NULL && value != Py_None;
}

/* Whether a value is an exact int, or a scalar of NumPy's int64, which sizes that NumPy computed are. */
static inline int is_int(PyObject *value)
{
    return PyLong_CheckExact(value) || Py_IS_TYPE(value, &PyInt64ArrType_Type);
}

/* An int as its only item, or the items of a tuple or list. They stay valid until Python code
   runs. 0, without an exception, for other objects. */
static inline int take_items(PyObject *const *value, Py_ssize_t *count, PyObject *const **items)
{
    if (PyTuple_CheckExact(*value) || PyList_CheckExact(*value)) {
        *count = PySequence_Fast_GET_SIZE(*value);
        *items = PySequence_Fast_ITEMS(*value);
        return 1;
    }
    *count = 1;
    *items = value;
    return is_int(*value);
}

/* A tuple of the items of a list or tuple: a list may change where Python code runs, which finalisers are. */
static inline PyObject *keep_items(PyObject *sequence)
{
    if (PyTuple_CheckExact(sequence)) {
        return Py_NewRef(sequence);
    }
    const int collects = PyGC_Disable();
    PyObject *kept = PySequence_Tuple(sequence);
    if (collects) {
        PyGC_Enable();
    }
    return kept;
}

/* An int as `is_int` has it; 0, without an exception, for all else. */
static inline int take_number(PyObject *value, npy_intp *number)
{
    int overflow = 1;
    *number = 0;
    if (PyLong_CheckExact(value)) {
        *number = (npy_intp)PyLong_AsLongLongAndOverflow(value, &overflow);
    } else if (Py_IS_TYPE(value, &PyInt64ArrType_Type)) {
        *number = (npy_intp)PyArrayScalar_VAL(value, Int64);
        overflow = 0;
    }
    return !overflow;
}

/* An axis as an int, counted from the front or the back. */
static inline int take_axis(PyObject *value, int ndim, int *axis)
{
    npy_intp number;
    if (!take_number(value, &number) || number < -ndim || number >= ndim) {
        return 0;
    }
    *axis = (int)(number < 0 ? number + ndim : number);
    return 1;
}

/* True or False; `*flag` stays as it is if nothing is given. */
static inline int take_flag(PyObject *value, int *flag)
{
    if (value != NULL) {
        if (!PyBool_Check(value)) {
            return 0;
        }
        *flag = value == Py_True;
    }
    return 1;
}

/* A dtype of ours; `*code` stays as it is if nothing or None is given. */
static inline int take_dtype(PyObject *value, DTypeCode *code)
{
    if (!is_given(value)) {
        return 1;
    }
    const DTypeCode found = code_of_dtype(value);
    if (found == NO_DTYPE) {
        return 0;
    }
    *code = found;
    return 1;
}

/* A shape: an exact int, or a tuple of them, none negative. Also 0 if there are more than `most` elements. */
int take_shape(PyObject *value, npy_intp most, int *ndim, npy_intp *shape);

#endif
