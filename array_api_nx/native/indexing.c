/* Keys of ints, slices, None and an ellipsis: views, and writing through them. */

#include "indexing.h"
#include "array_keys.h"
#include "keys.h"

int read_position(PyObject *item, npy_intp *position)
{
    long long number;
    if (PyLong_CheckExact(item)) {
        int overflow;
        number = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow) {
            return 0;
        }
    } else {
        Tensor *array = layout_of(item);
        const char *data = array == NULL ? NULL : data_of(array);
        if (data == NULL) {
            return 0;
        }
        number = read_integer(data, (DTypeCode)array->code);
    }
    if (number > NPY_MAX_INTP || number < -NPY_MAX_INTP) {
        return 0;
    }
    *position = (npy_intp)number;
    return 1;
}

/* What a key selects. 1 if its `region`, whose address is not set, says so; 0 if Python has to look
   at the key; -1 if there are arrays in it. */
static int select_region(const Tensor *x, PyObject *key, Region *region)
{
    Py_ssize_t count;
    PyObject *const *items = items_of(&key, &count);
    int named = 0, whole = 0, arrays = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        switch (kind_of_item(items[i])) {
        case ITEM_INT:
        case ITEM_SLICE:
            named++;
            break;
        case ITEM_NONE:
            break;
        case ITEM_ELLIPSIS:
            whole++;
            break;
        case ITEM_ARRAY:
            arrays++;
            break;
        default:
            return 0;
        }
    }
    if (arrays > 0) {
        return -1;
    }
    if (named > x->ndim || whole > 1) {
        return 0;
    }
    start_region(region, x);
    int axis = 0;
    /* What no item names is kept, in the place of the ellipsis or at the end. */
    for (Py_ssize_t i = 0; i < count + (whole == 0); i++) {
        PyObject *item = i < count ? items[i] : Py_Ellipsis;
        int fits = 1;
        if (item == Py_Ellipsis) {
            for (int kept = x->ndim - named; fits && kept > 0; kept--, axis++) {
                fits = add_axis(region, x->shape[axis], x->strides[axis]);
            }
        } else if (item == Py_None) {
            fits = add_axis(region, 1, 0);
        } else if (PySlice_Check(item)) {
            fits = take_slice(region, item, x->shape[axis], x->strides[axis]);
            axis++;
        } else {
            fits = take_int(region, item, x->shape[axis], x->strides[axis]);
            axis++;
        }
        if (!fits) {
            return 0;
        }
    }
    return 1;
}

/* The distance in bytes of one element, if the key has an exact int in range for each axis; else 0
   is returned. `select_region` would find the same, in more time. */
static int find_element(const Tensor *x, PyObject *key, npy_intp *offset)
{
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != x->ndim || x->ndim == 0) {
        return 0;
    }
    npy_intp distance = 0;
    for (int i = 0; i < x->ndim; i++) {
        PyObject *item = PyTuple_GET_ITEM(key, i);
        int overflow = 0;
        npy_intp number = PyLong_CheckExact(item) ? PyLong_AsLongAndOverflow(item, &overflow)
                                                  : NPY_MAX_INTP;
        number += number < 0 ? x->shape[i] : 0;
        if (overflow || number < 0 || number >= x->shape[i]) {
            return 0;
        }
        distance += number * x->strides[i];
    }
    *offset = distance;
    return 1;
}

/* One element as a view. */
static PyObject *show_element(Tensor *x, npy_intp offset)
{
    Tensor *tensor = new_layout(x, 0);
    if (tensor != NULL) {
        tensor->offset += offset;
        tensor->size = 1;
        tensor->flags |= KNOWN | ROW_MAJOR | COLUMN_MAJOR | (x->flags & READ_ONLY);
    }
    return wrap_tensor(tensor, (DTypeCode)x->code);
}

PyObject *get_item(PyObject *array, PyObject *key)
{
    Tensor *x = layout_of(array);
    Region region;
    npy_intp offset;
    if (x == NULL) {
        return DECLINED;
    }
    if (find_element(x, key, &offset)) {
        return show_element(x, offset);
    }
    const int selected = select_region(x, key, &region);
    if (selected <= 0) {
        return selected < 0 ? get_by_arrays(x, key) : DECLINED;
    }
    Tensor *tensor = new_layout(x, region.ndim);
    if (tensor == NULL) {
        return NULL;
    }
    for (int dim = 0; dim < region.ndim; dim++) {
        tensor->shape[dim] = region.shape[dim];
        tensor->strides[dim] = region.strides[dim];
    }
    tensor->offset = region.size == 0 ? 0 : tensor->offset + region.offset;
    finish_layout(tensor, x->flags & READ_ONLY);
    return wrap_tensor(tensor, (DTypeCode)x->code);
}

int set_item(PyObject *array, PyObject *key, PyObject *value)
{
    Tensor *x = layout_of(array);
    Region region;
    char *data;
    if (x == NULL || !is_writeable(x) || (data = data_of(x)) == NULL) {
        return 0;
    }
    const int selected = select_region(x, key, &region);
    if (selected <= 0) {
        return selected < 0 ? set_by_arrays(x, data, key, value) : 0;
    }
    if (region.size > limits.at_once) {
        return 0;
    }
    region.data = data + region.offset;
    return write_region(&region, (DTypeCode)x->code, value);
}
