/* The items of a key, and the axes that they select. */

#ifndef ARRAY_API_NX_KEYS_H
#define ARRAY_API_NX_KEYS_H

#include "elements.h"
#include "functions.h"
#include "scalars.h"

/* An item is an int, which an array of no axes or a NumPy scalar may be, a slice, None, an ellipsis, or an array of
   indices or a mask. ITEM_OTHER is all that Python has to look at. */
typedef enum { ITEM_INT, ITEM_SLICE, ITEM_NONE, ITEM_ELLIPSIS, ITEM_ARRAY, ITEM_OTHER } ItemKind;

/* The items between the brackets, which are those of a tuple or a single one. */
static inline PyObject *const *items_of(PyObject *const *key, Py_ssize_t *count)
{
    if (!PyTuple_CheckExact(*key)) {
        *count = 1;
        return key;
    }
    *count = PyTuple_GET_SIZE(*key);
    return *count == 0 ? key : &PyTuple_GET_ITEM(*key, 0);
}

static inline ItemKind kind_of_item(PyObject *item)
{
    if (PyLong_CheckExact(item)) {
        return ITEM_INT;
    }
    if (PySlice_Check(item)) {
        return ITEM_SLICE;
    }
    if (item == Py_None) {
        return ITEM_NONE;
    }
    if (item == Py_Ellipsis) {
        return ITEM_ELLIPSIS;
    }
    if (!is_array(item)) {
        return is_integer(dtype_of_numpy_scalar(item)) ? ITEM_INT : ITEM_OTHER;
    }
    Tensor *array = layout_of(item);
    if (array == NULL) {
        return ITEM_OTHER;
    }
    if (array->ndim > 0) {
        return ITEM_ARRAY;
    }
    return is_integer(array->code) ? ITEM_INT : ITEM_OTHER;
}

/* An element of an array of integers. A number too large for int64 becomes its least number, which
   is no index of any axis. */
static inline npy_int64 read_integer(const char *element, DTypeCode code)
{
    if (code == NX_UINT64) {
        const npy_uint64 number = *(const npy_uint64 *)element;
        return number > NPY_MAX_INT64 ? NPY_MIN_INT64 : (npy_int64)number;
    }
#define READ(CODE, TYPE, ...) \
    case CODE:                \
        return (npy_int64)*(const TYPE *)element;
    switch (code) {
        EACH_INTEGER(READ)
    default:
        return NPY_MIN_INT64;
    }
#undef READ
}

/* The number of an ITEM_INT. 0 if it is too large, or not there yet. */
int read_position(PyObject *item, npy_intp *position);

/* Select by an int from an axis of a size and a stride. 0 if Python has to look at it. */
static inline int take_int(Region *region, PyObject *item, npy_intp size, npy_intp stride)
{
    npy_intp position;
    if (!(PyLong_CheckExact(item) ? take_number(item, &position) : read_position(item, &position))) {
        return 0;
    }
    position += position < 0 ? size : 0;
    if (position < 0 || position >= size) {
        return 0;
    }
    region->offset += position * stride;
    return 1;
}

/* Begin to select from an array: nothing is taken yet. */
static inline void start_region(Region *region, const Tensor *x)
{
    region->offset = 0;
    region->ndim = 0;
    region->size = 1;
    region->itemsize = dtypes[x->code].itemsize;
}

/* Add an axis to the selection. 0 if there are too many. */
static inline int add_axis(Region *region, npy_intp size, npy_intp stride)
{
    if (region->ndim == ARRAY_DIMS) {
        return 0;
    }
    region->shape[region->ndim] = size;
    region->strides[region->ndim++] = stride;
    /* Unsigned, because there may be huge sizes next to one of 0. */
    region->size = (npy_intp)((npy_uintp)region->size * (npy_uintp)size);
    return 1;
}

/* Read a bound of a slice, as Python clips it; `fallback` for None. 0 if Python has to look at it. */
static inline int take_bound(PyObject *bound, npy_intp fallback, npy_intp *number)
{
    if (bound == Py_None) {
        *number = fallback;
        return 1;
    }
    if (PyLong_CheckExact(bound)) {
        int overflow;
        *number = (npy_intp)PyLong_AsLongLongAndOverflow(bound, &overflow);
        if (overflow) {
            *number = overflow > 0 ? NPY_MAX_INTP : NPY_MIN_INTP;
        }
        return 1;
    }
    return !is_watched && kind_of_item(bound) == ITEM_INT && read_position(bound, number);
}

/* Select by a slice from an axis of a size and a stride. 0 if Python has to look at it. */
static inline int take_slice(Region *region, PyObject *item, npy_intp size, npy_intp stride)
{
    const PySliceObject *slice = (PySliceObject *)item;
    npy_intp start, stop, step;
    if (slice->start == Py_None && slice->stop == Py_None && slice->step == Py_None) {
        return add_axis(region, size, stride);
    }
    if (!take_bound(slice->step, 1, &step) || step == 0) {
        return 0;
    }
    step = step < -NPY_MAX_INTP ? -NPY_MAX_INTP : step; /* so that it can be negated */
    if (!take_bound(slice->start, step < 0 ? NPY_MAX_INTP : 0, &start) ||
        !take_bound(slice->stop, step < 0 ? NPY_MIN_INTP : NPY_MAX_INTP, &stop)) {
        return 0;
    }
    size = PySlice_AdjustIndices(size, &start, &stop, step);
    if (size > 0) {
        region->offset += start * stride;
    }
    /* Where nothing is stepped over, a huge step must not make a huge stride. */
    return add_axis(region, size, size > 1 ? step * stride : stride);
}

#endif
