/* Arrays of nested lists of numbers. */

#include "nested_lists.h"
#include "flags.h"
#include "layouts.h"
#include "nodes.h"
#include "scalars.h"

/* The most levels of nested lists that C reads; NumPy reads deeper ones. */
enum { LEVELS = INLINE_DIMS };

/* Look at the numbers of one innermost list: promote `*common` to a dtype that holds them, or write them if there
   is a target. 0 if one is no scalar, Python's of an exact type or NumPy's, nor, with a target, a value of the
   dtype; and where booleans are among numbers. With the type `scalar`, one of NumPy's, all have to be of exactly
   that type. */
static int read_row(PyObject *row, npy_intp length, DTypeCode code, PyTypeObject *scalar,
                    char *target, DTypeCode *common)
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
            char *const element = target + i * itemsize;
            if (!write_scalar(element, code, item) && !write_numpy_scalar(element, code, item)) {
                return 0;
            }
            continue;
        }
        const DTypeCode number = dtype_of_scalar(item);
        const DTypeCode found = number != NO_DTYPE ? number : dtype_of_numpy_scalar(item);
        if (found == NO_DTYPE || (*common != NO_DTYPE && (found == BOOL) != (*common == BOOL))) {
            return 0;
        }
        *common = *common == NO_DTYPE ? found : promotions[*common][found];
        if (*common == NO_DTYPE) {
            return 0;
        }
    }
    return 1;
}

/* Read all numbers of nested lists of that shape, row by row. 0 if the shape is another one, or a
   row cannot be read. */
static int read_nested(PyObject *list, int ndim, const npy_intp *shape, DTypeCode code,
                       PyTypeObject *scalar, char *target, DTypeCode *common)
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
        if (!read_row(levels[last], shape[last], code, scalar, target, common)) {
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
        if (*ndim == LEVELS || length == 0 || limits.at_once < 1 || size > limits.large / length) {
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
    int ndim;
    char *target;
    DTypeCode common = NO_DTYPE;
    PyObject *first;
    PyTypeObject *scalar = NULL;
    if (is_sequence(list) && PySequence_Fast_GET_SIZE(list) == 0 && limits.at_once >= 1) {
        return new_without_elements(code == NO_DTYPE ? FLOAT64 : code);
    }
    if (!shape_of_nested(list, &ndim, shape, &first)) {
        return DECLINED;
    }
    const DTypeCode found = dtype_of_numpy_scalar(first);
    if (found != NO_DTYPE && (code == NO_DTYPE || code == found) &&
        read_nested(list, ndim, shape, NO_DTYPE, Py_TYPE(first), NULL, NULL)) {
        code = found;
        scalar = Py_TYPE(first); /* one of NumPy's own, which is never freed */
    } else if (!read_nested(list, ndim, shape, NO_DTYPE, NULL, NULL, &common)) {
        return DECLINED;
    }
    code = code == NO_DTYPE ? common : code;
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
