/* Arrays of nested lists of numbers. */

#include "nested_lists.h"
#include "flags.h"
#include "layouts.h"
#include "nodes.h"
#include "scalars.h"

/* The most levels of nested lists that C reads; NumPy reads deeper ones. */
enum { LEVELS = INLINE_DIMS };

/* The kinds of the scalars in a list, as flags. */
enum { BOOLS = 1 << BOOL, INTS = 1 << NX_INT64, FLOATS = 1 << FLOAT64, COMPLEX_NUMBERS = 1 << COMPLEX128 };

/* Look at the numbers of one innermost list: OR their kinds into `*kinds`, or write them if there
   is a target. 0 if one is neither a Python scalar of an exact type nor, with a target, a value of the
   dtype. With the type `scalar`, one of NumPy's, all have to be of exactly that type. */
static int read_row(PyObject *row, npy_intp length, DTypeCode code, PyTypeObject *scalar,
                    char *target, int *kinds)
{
    PyObject **items = PySequence_Fast_ITEMS(row);
    const npy_intp itemsize = code == NO_DTYPE ? 0 : dtypes[code].itemsize;
    for (npy_intp i = 0; i < length; i++) {
        PyObject *item = items[i];
        if (scalar != NULL) {
            if (!Py_IS_TYPE(item, scalar)) {
                return 0;
            }
            if (target != NULL) {
                memcpy(target + i * itemsize, data_of_numpy_scalar(item), (size_t)itemsize);
            }
            continue;
        }
        if (target != NULL) {
            if (!write_scalar(target + i * itemsize, code, item)) {
                return 0;
            }
            continue;
        }
        const DTypeCode found = dtype_of_scalar(item);
        if (found == NO_DTYPE) {
            return 0;
        }
        *kinds |= 1 << found;
    }
    return 1;
}

/* Read all numbers of nested lists of that shape, row by row. 0 if the shape is another one, or a
   row cannot be read. */
static int read_nested(PyObject *list, int ndim, const npy_intp *shape, DTypeCode code,
                       PyTypeObject *scalar, char *target, int *kinds)
{
    PyObject *levels[LEVELS] = {list};
    npy_intp index[LEVELS] = {0};
    const int last = ndim - 1;
    int level = 0;
    if (!is_sequence(list) || PySequence_Fast_GET_SIZE(list) != shape[0]) {
        return 0;
    }
    for (;;) {
        for (; level < last; level++) {
            PyObject *inner = PySequence_Fast_GET_ITEM(levels[level], index[level]);
            if (!is_sequence(inner) || PySequence_Fast_GET_SIZE(inner) != shape[level + 1]) {
                return 0;
            }
            levels[level + 1] = inner;
            index[level + 1] = 0;
        }
        if (!read_row(levels[last], shape[last], code, scalar, target, kinds)) {
            return 0;
        }
        if (target != NULL) {
            target += shape[last] * dtypes[code].itemsize;
        }
        level = last - 1;
        while (level >= 0 && ++index[level] == shape[level]) {
            level--;
        }
        if (level < 0) {
            return 1;
        }
    }
}

/* The shape of nested lists, by the first elements of the first elements, and the first number
   (borrowed). 0 if it has an axis of size 0, too many axes or too many elements. */
static int shape_of_nested(PyObject *list, int *ndim, npy_intp *shape, PyObject **first)
{
    npy_intp size = 1;
    *ndim = 0;
    while (is_sequence(list)) {
        const npy_intp length = PySequence_Fast_GET_SIZE(list);
        if (*ndim == LEVELS || length == 0 || size > limits.at_once / length) {
            return 0;
        }
        shape[(*ndim)++] = length;
        size *= length;
        list = PySequence_Fast_GET_ITEM(list, 0);
    }
    *first = list;
    return 1;
}

PyObject *array_from_list(PyObject *list, DTypeCode code)
{
    npy_intp shape[LEVELS];
    int ndim, kinds = 0;
    char *target;
    PyObject *first;
    PyTypeObject *scalar = NULL;
    if (!shape_of_nested(list, &ndim, shape, &first)) {
        return DECLINED;
    }
    if (PyArray_IsScalar(first, Generic)) {
        const DTypeCode found = dtype_of_numpy_scalar(first);
        if (found == NO_DTYPE || (code != NO_DTYPE && code != found)) {
            return DECLINED;
        }
        code = found;
        scalar = Py_TYPE(first); /* one of NumPy's own, which is never freed */
    }
    if (!read_nested(list, ndim, shape, NO_DTYPE, scalar, NULL, &kinds)) {
        return DECLINED;
    }
    if ((kinds & BOOLS) && kinds != BOOLS) {
        return DECLINED;
    }
    if (code == NO_DTYPE) {
        code = kinds & COMPLEX_NUMBERS ? COMPLEX128
               : kinds & FLOATS        ? FLOAT64
               : kinds & INTS          ? NX_INT64
                                       : BOOL;
    }
    PyObject *result = new_array_like_memory(ndim, shape, code, 0, &target);
    if (result == NULL) {
        return NULL;
    }
    /* The allocation may have run Python code, which may have changed the lists: they are looked at
       again. NumPy would tell of numbers that a cast to single precision makes subnormal. */
    clear_flags();
    if (!read_nested(list, ndim, shape, code, scalar, target, NULL) || take_flags() != 0) {
        Py_DECREF(result);
        return DECLINED;
    }
    return result;
}
