/* Arrays of nested lists of numbers. */

#ifndef ARRAY_API_NX_NESTED_LISTS_H
#define ARRAY_API_NX_NESTED_LISTS_H

#include "functions.h"

static inline int is_sequence(PyObject *object)
{
    return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

/* An array of nested lists of scalars, Python's or NumPy's; of the dtype that holds them all if `code` is
   NO_DTYPE. DECLINED where C reads no such lists. */
PyObject *array_from_list(PyObject *list, DTypeCode code);

#endif
