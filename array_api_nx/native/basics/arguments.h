/* Checks of arguments from Python, which return 0 with an exception set if they fail; exceptions. */

#ifndef ARRAY_API_NX_ARGUMENTS_H
#define ARRAY_API_NX_ARGUMENTS_H

#include "common.h"

/* Set a ValueError with such a message, as PyErr_Format does. Returns 0. */
int refuse(const char *format, ...);

/* Set a TypeError: that `name`, which is `value`, must be a tuple. Returns 0. */
int refuse_type(PyObject *value, const char *name);

/* Read an integer from `low` to `high`. */
static inline int read_int(PyObject *value, npy_intp low, npy_intp high, const char *name,
                           npy_intp *result)
{
    *result = PyLong_AsSsize_t(value);
    if (*result == -1 && PyErr_Occurred()) {
        return 0;
    }
    if (*result < low || *result > high) {
        return refuse("%s must be from %zd to %zd, not %zd", name, low, high, *result);
    }
    return 1;
}

/* Check that `value` is a tuple of `low` to `high` items. */
static inline int check_tuple(PyObject *value, npy_intp low, npy_intp high, const char *name)
{
    if (!PyTuple_Check(value)) {
        return refuse_type(value, name);
    }
    const npy_intp size = PyTuple_GET_SIZE(value);
    if (size < low || size > high) {
        return refuse("%s must have %zd to %zd items, not %zd", name, low, high, size);
    }
    return 1;
}

/* Take the exception that is set away from this thread, with its traceback. */
PyObject *take_exception(void);

/* Raise an exception that was taken away from a thread. Steals the reference. */
void put_exception(PyObject *exception);

#endif
