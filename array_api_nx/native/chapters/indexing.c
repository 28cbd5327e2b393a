/* Keys of ints, slices, None and an ellipsis: views, and writing through them. */

#include "indexing.h"
#include "array_keys.h"
#include "compiler.h"
#include "conversion.h"
#include "functions.h"
#include "keys.h"
#include "nodes.h"

int read_position(PyObject *item, npy_intp *position)
{
    const char *data;
    DTypeCode code;
    if (is_array(item)) {
        Tensor *array = layout_of(item);
        data = array == NULL ? NULL : data_of(array);
        code = array == NULL ? NO_DTYPE : (DTypeCode)array->code;
    } else {
        code = dtype_of_numpy_scalar(item);
        data = data_of_numpy_scalar(item);
    }
    if (data == NULL) {
        return 0;
    }
    *position = (npy_intp)read_integer(data, code);
    return *position >= -NPY_MAX_INTP;
}

static int fits_mask(const Tensor *x, int axis, const Tensor *mask)
{
    if (axis + mask->ndim > x->ndim || !is_computed_now(1)) {
        return 0;
    }
    for (int dim = 0; dim < mask->ndim; dim++) {
        if (mask->shape[dim] != x->shape[axis + dim]) {
            return 0;
        }
    }
    return 1;
}

/* How many axes an array in a key takes. */
static int count_axes(const Tensor *array)
{
    return array->code == BOOL ? array->ndim : 1;
}

/* Whether C knows the order in which NumPy goes over an index array. Before it writes, Python has
   it made row-major. */
static int fits_indices(const Tensor *indices, int write)
{
    return is_integer(indices->code) && (write ? indices->size <= limits.at_once
                                               : (indices->ndim == 1 || indices->flags & ROW_MAJOR) && is_computed_now(1));
}

/* Sort the items of a key: what its arrays are, and which region the others leave. 0 if Python has to
   look at it. */
static int parse_key(const Tensor *x, PyObject *key, int write, ArrayItems *arrays,
                     Gather *selection)
{
    Py_ssize_t count;
    PyObject *const *items = items_of(&key, &count);
    int named = 0, whole = 0;
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
            named += count_axes(tensor_of(items[i]));
            break;
        default:
            return 0;
        }
    }
    if (named > x->ndim || whole > 1) {
        return 0;
    }
    Region *region = &selection->region;
    start_region(region, x);
    arrays->count = 0;
    selection->place = 0;
    /* The axes of ints and arrays that stand side by side come where these stand; otherwise they
       come first. Axes that no item names are kept, in the place of the ellipsis or at the end. */
    int axis = 0, groups = 0, grouped_at = -1;
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
            if (grouped_at != region->ndim) {
                selection->place = groups++ == 0 ? region->ndim : 0;
                grouped_at = region->ndim;
            }
            if (!is_array(item) || tensor_of(item)->ndim == 0) {
                fits = take_int(region, item, x->shape[axis], x->strides[axis]);
                axis++;
            } else {
                Tensor *array = tensor_of(item);
                fits = arrays->count < INDEX_ARRAYS &&
                       (array->code == BOOL ? fits_mask(x, axis, array) : fits_indices(array, write));
                if (fits) {
                    arrays->items[arrays->count++] = (ArrayItem){array, axis};
                    axis += count_axes(array);
                }
            }
        }
        if (!fits) {
            return 0;
        }
    }
    return 1;
}

/* `parse_key` for a single array. */
static int parse_array(const Tensor *x, PyObject *key, int write, ArrayItems *arrays,
                       Gather *selection)
{
    Tensor *array = layout_of(key);
    if (array == NULL || array->ndim == 0 || x->ndim == 0) {
        return parse_key(x, key, write, arrays, selection);
    }
    if (!(array->code == BOOL ? fits_mask(x, 0, array) : fits_indices(array, write))) {
        return 0;
    }
    arrays->count = 1;
    arrays->items[0] = (ArrayItem){array, 0};
    start_region(&selection->region, x);
    selection->place = 0;
    for (int axis = count_axes(array); axis < x->ndim; axis++) {
        add_axis(&selection->region, x->shape[axis], x->strides[axis]);
    }
    return 1;
}

/* The region of a key of exact ints and slices. 0 for other keys, and where an int is out of range. `parse_key`
   would find the same, in more time. */
static INLINE int find_region(const Tensor *x, PyObject *key, Region *region)
{
    Py_ssize_t count;
    PyObject *const *items = items_of(&key, &count);
    if (count > x->ndim || count == 0) {
        return 0;
    }
    start_region(region, x);
    int axis = 0;
    for (; axis < count; axis++) {
        PyObject *item = items[axis];
        const int fits = PyLong_CheckExact(item) ? take_int(region, item, x->shape[axis], x->strides[axis])
                         : PySlice_Check(item)   ? take_slice(region, item, x->shape[axis], x->strides[axis])
                                                 : 0;
        if (!fits) {
            return 0;
        }
    }
    for (; axis < x->ndim; axis++) {
        add_axis(region, x->shape[axis], x->strides[axis]);
    }
    return 1;
}

/* A view of a region. */
static PyObject *show_region(Tensor *x, const Region *region)
{
    PyObject *view = new_view(x, region->ndim);
    if (view == NULL) {
        return NULL;
    }
    Tensor *tensor = tensor_of(view);
    for (int dim = 0; dim < region->ndim; dim++) {
        tensor->shape[dim] = region->shape[dim];
        tensor->strides[dim] = region->strides[dim];
    }
    tensor->offset = region->size == 0 ? 0 : tensor->offset + region->offset;
    finish_layout(tensor, x->flags & READ_ONLY);
    return view;
}

PyObject *get_item(PyObject *array, PyObject *key)
{
    Tensor *x = layout_of(array);
    ArrayItems arrays;
    Gather selection;
    if (x == NULL) {
        return DECLINED;
    }
    if (find_region(x, key, &selection.region)) {
        return show_region(x, &selection.region);
    }
    if (!(is_array(key) ? parse_array : parse_key)(x, key, 0, &arrays, &selection)) {
        return DECLINED;
    }
    return arrays.count > 0 ? get_by_arrays(x, &arrays, &selection) : show_region(x, &selection.region);
}

/* x[key] = value for a pending value, straight into the memory of `x`. 0 if the value has to be computed first;
   -1 with an exception set. */
static int set_to_expression(Tensor *x, PyObject *key, PyObject *value)
{
    ArrayItems arrays;
    Gather selection;
    char *data = data_of(x);
    if (data == NULL || !can_be_written(x) || !ensure_storage(x)) {
        return PyErr_Occurred() ? -1 : 0;
    }
    arrays.count = 0;
    if (!find_region(x, key, &selection.region) &&
        (is_array(key) || !parse_key(x, key, 1, &arrays, &selection))) {
        return 0;
    }
    if (arrays.count > 0 || selection.region.size == 0) {
        return 0;
    }
    selection.region.data = data + selection.region.offset;
    return assign_expression(x, &selection.region, tensor_of(value), is_temporary(value));
}

/* x[key] = value for a large array: a copy or a cast, by several threads. As `set_to_expression`. */
static int set_to_copy(Tensor *x, PyObject *key, PyObject *value)
{
    Tensor *given = layout_of(value);
    PyObject *waiting = given == NULL ? DECLINED : record_copy(given, (DTypeCode)x->code);
    if (waiting == NULL || waiting == DECLINED) {
        return waiting == NULL ? -1 : 0;
    }
    const int done = set_to_expression(x, key, waiting);
    Py_DECREF(waiting);
    return done;
}

/* Whether elements of a dtype are written to an array of another one. */
static int can_be_stored(DTypeCode from, DTypeCode to)
{
    return promotions[to][from] == to || (is_inexact(from) && is_inexact(to) && (is_complex(to) || !is_complex(from)));
}

/* As `set_item`, of an array of another dtype than that of `x`. */
static int set_cast(PyObject *array, PyObject *key, PyObject *value)
{
    Tensor *x = layout_of(array), *given = layout_of(value);
    if (given == NULL || !can_be_stored((DTypeCode)given->code, (DTypeCode)x->code)) {
        return 0;
    }
    const int done = set_to_copy(x, key, value);
    if (done != 0) {
        return done;
    }
    PyObject *cast = cast_array(given, (DTypeCode)x->code);
    if (cast == NULL || cast == DECLINED) {
        return cast == NULL ? -1 : 0;
    }
    const int failed = PyObject_SetItem(array, key, cast) < 0;
    Py_DECREF(cast);
    return failed ? -1 : 1;
}

int set_item(PyObject *array, PyObject *key, PyObject *value)
{
    Tensor *x = layout_of(array);
    ArrayItems arrays;
    Gather selection;
    char *data;
    if (x == NULL) {
        return 0;
    }
    if (is_array(value) && ((Array *)value)->dtype != ((Array *)array)->dtype) {
        return set_cast(array, key, value);
    }
    if (pending_of(value) != NULL) {
        const int done = set_to_expression(x, key, value);
        if (done != 0) {
            return done;
        }
    }
    if (!is_writeable(x) || (data = data_of(x)) == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    arrays.count = 0;
    if (!find_region(x, key, &selection.region) &&
        !(is_array(key) ? parse_array : parse_key)(x, key, 1, &arrays, &selection)) {
        return 0;
    }
    if (arrays.count > 0) {
        return set_by_arrays(x, data, &arrays, &selection, value);
    }
    selection.region.data = data + selection.region.offset;
    if (selection.region.size > limits.at_once) {
        /* What could not be computed into `x`, because it overlaps, is computed first. */
        Tensor *given = is_array(value) ? layout_of(value) : NULL;
        const char *elements = given == NULL ? NULL : data_of(given);
        if (elements != NULL && shows_region(given, elements, &selection.region)) {
            return 1;
        }
        const int done = elements != NULL ? set_to_copy(x, key, value) : PyErr_Occurred() ? -1 : 0;
        if (done != 0 || !is_computed_now(selection.region.size)) {
            return done;
        }
    }
    return write_region(&selection.region, (DTypeCode)x->code, value);
}
