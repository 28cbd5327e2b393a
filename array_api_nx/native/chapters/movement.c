/* Views by other layouts. The strides are those of core/view.py, whose methods define each movement. */

#include "movement.h"
#include "chapters.h"
#include "face.h"
#include "layouts.h"
#include "nest.h"

Tensor *movable(PyObject *object)
{
    Tensor *x = layout_of_any(object);
    if (x == NULL || x->storage != NULL) {
        return x;
    }
    /* Memory of large arrays needs an account of who reads it. */
    return x->size <= limits.large && ensure_storage(x) ? x : NULL;
}

void copy_layout(const Tensor *x, NewView *layout)
{
    start_layout(x, layout);
    layout->ndim = x->ndim;
    for (int i = 0; i < x->ndim; i++) {
        layout->shape[i] = x->shape[i];
        layout->strides[i] = x->strides[i];
    }
}

PyObject *show(Tensor *of, const NewView *layout)
{
    PyObject *view = new_view(of, layout->ndim);
    if (view == NULL) {
        return NULL;
    }
    Tensor *tensor = tensor_of(view);
    for (int i = 0; i < layout->ndim; i++) {
        tensor->shape[i] = layout->shape[i];
        tensor->strides[i] = layout->strides[i];
    }
    finish_layout(tensor, layout->read_only);
    tensor->offset = tensor->size > 0 ? layout->offset : 0;
    return view;
}

/* ------------------------------------------------------------------ arguments */

/* Axes counted from the front, none of them twice; `*set` has a bit for each. */
static int take_axes(PyObject *const *value, int ndim, int *count, int *axes, npy_uint64 *set)
{
    Py_ssize_t length;
    PyObject *const *items;
    if (!take_items(value, &length, &items) || length > ndim) {
        return 0;
    }
    *set = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (!take_axis(items[i], ndim, &axes[i]) || (*set >> axes[i] & 1)) {
            return 0;
        }
        *set |= (npy_uint64)1 << axes[i];
    }
    *count = (int)length;
    return 1;
}

int take_sizes(PyObject *const *value, NewView *layout, npy_intp *known, int *places)
{
    Py_ssize_t count;
    PyObject *const *items;
    if (!take_items(value, &count, &items) || count > ARRAY_DIMS) {
        return 0;
    }
    npy_intp product = 1;
    int has_zero = 0;
    *places = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        npy_intp *size = &layout->shape[i];
        if (!take_number(items[i], size) || *size < -1) {
            return 0;
        }
        if (*size == -1) {
            ++*places;
        } else if (*size == 0) {
            has_zero = 1;
        } else if (product > MAX_ELEMENTS / *size) {
            return 0;
        } else {
            product *= *size;
        }
    }
    layout->ndim = (int)count;
    *known = has_zero ? 0 : product;
    return 1;
}

/* ------------------------------------------------------------------ axes in another order */

static PyObject *permute(Tensor *x, const int *axes)
{
    NewView layout;
    start_layout(x, &layout);
    layout.ndim = x->ndim;
    for (int i = 0; i < x->ndim; i++) {
        layout.shape[i] = x->shape[axes[i]];
        layout.strides[i] = x->strides[axes[i]];
    }
    return show(x, &layout);
}

/* The same as `permute`, in less time, because size and flags need not be found out. */
static PyObject *transpose_matrix(Tensor *x)
{
    const npy_intp rows = x->shape[0], columns = x->shape[1], size = x->size;
    const npy_intp row = x->strides[0], column = x->strides[1];
    const int flags = x->flags;
    PyObject *view = new_view(x, 2);
    if (view == NULL) {
        return NULL;
    }
    Tensor *tensor = tensor_of(view);
    tensor->shape[0] = columns;
    tensor->shape[1] = rows;
    tensor->strides[0] = column;
    tensor->strides[1] = row;
    tensor->size = size;
    tensor->flags = (npy_uint8)((flags & (KNOWN | BOUNDED | READ_ONLY)) |
                                (flags & ROW_MAJOR ? COLUMN_MAJOR : 0) |
                                (flags & COLUMN_MAJOR ? ROW_MAJOR : 0));
    if (size == 0) {
        tensor->offset = 0;
    }
    return view;
}

PyObject *transpose_last(PyObject *array)
{
    Tensor *x = movable(array);
    if (x == NULL) {
        return decline_unless_raised();
    }
    const int ndim = x->ndim;
    if (ndim < 2) {
        return DECLINED;
    }
    if (ndim == 2) {
        return transpose_matrix(x);
    }
    NewView layout;
    copy_layout(x, &layout);
    layout.shape[ndim - 2] = x->shape[ndim - 1];
    layout.shape[ndim - 1] = x->shape[ndim - 2];
    layout.strides[ndim - 2] = x->strides[ndim - 1];
    layout.strides[ndim - 1] = x->strides[ndim - 2];
    return show(x, &layout);
}

PyObject *reverse_axes(PyObject *array)
{
    Tensor *x = movable(array);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (x->ndim == 2) {
        return transpose_matrix(x);
    }
    int axes[ARRAY_DIMS];
    for (int i = 0; i < x->ndim; i++) {
        axes[i] = x->ndim - 1 - i;
    }
    return permute(x, axes);
}

static PyObject *matrix_transpose(int which, PyObject *const *values, Py_ssize_t count)
{
    return transpose_last(values[0]);
}

static PyObject *permute_dims(int which, PyObject *const *values, Py_ssize_t count)
{
    int axes[ARRAY_DIMS], length;
    npy_uint64 set;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (!take_axes(&values[1], x->ndim, &length, axes, &set) || length != x->ndim) {
        return DECLINED;
    }
    return permute(x, axes);
}

/* NumPy's function transpose. */
static PyObject *transpose(int which, PyObject *const *values, Py_ssize_t count)
{
    if (is_given(values[1])) {
        return permute_dims(0, values, count);
    }
    return is_array(values[0]) ? reverse_axes(values[0]) : DECLINED;
}

/* NumPy's method, whose axes may be arguments of their own: x.transpose(1, 0). */
static PyObject *transpose_to(int which, PyObject *const *values, Py_ssize_t count)
{
    if (count < 3) {
        PyObject *const given[2] = {count > 0 ? values[0] : NULL, count == 2 ? values[1] : NULL};
        return count > 0 ? transpose(0, given, count) : DECLINED;
    }
    PyObject *axes = tuple_of(values + 1, count - 1);
    PyObject *const given[2] = {values[0], axes};
    PyObject *result = axes == NULL ? NULL : permute_dims(0, given, 2);
    Py_XDECREF(axes);
    return result;
}

static PyObject *moveaxis(int which, PyObject *const *values, Py_ssize_t count)
{
    int sources[ARRAY_DIMS], targets[ARRAY_DIMS], axes[ARRAY_DIMS], length, places;
    npy_uint64 moved, taken;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (!take_axes(&values[1], x->ndim, &length, sources, &moved) ||
        !take_axes(&values[2], x->ndim, &places, targets, &taken) || length != places) {
        return DECLINED;
    }
    for (int i = 0; i < length; i++) {
        axes[targets[i]] = sources[i];
    }
    for (int axis = 0, next = 0; axis < x->ndim; axis++) {
        if (!(taken >> axis & 1)) {
            while (moved >> next & 1) {
                next++;
            }
            axes[axis] = next++;
        }
    }
    return permute(x, axes);
}

/* ------------------------------------------------------------------ other shapes */

/* The strides of a shape through which the elements of `x`, which has some and is not row-major,
   come in the same order; 0 if there are none. Runs of old and new axes of equal products, as
   short as possible, replace each other; a run of old axes must step through memory as one. */
static int regroup(const Tensor *x, NewView *layout)
{
    const npy_intp *old = x->shape, *new = layout->shape;
    int i = 0, j = 0;
    while (i < x->ndim || j < layout->ndim) {
        const int old_start = i, new_start = j;
        npy_intp left = i < x->ndim ? old[i++] : 1, right = j < layout->ndim ? new[j++] : 1;
        while (left != right) {
            if (left < right) {
                left *= old[i++];
            } else {
                right *= new[j++];
            }
        }
        npy_intp step = 0;
        for (int axis = i - 1, inner = -1; axis >= old_start; axis--) {
            if (old[axis] == 1) {
                continue;
            }
            if (inner < 0) {
                step = x->strides[axis];
            } else if (x->strides[axis] != old[inner] * x->strides[inner]) {
                return 0;
            }
            inner = axis;
        }
        for (int axis = j - 1; axis >= new_start; axis--) {
            layout->strides[axis] = step;
            step *= new[axis];
        }
    }
    return 1;
}

int find_strides(const Tensor *x, NewView *layout)
{
    int same = x->ndim == layout->ndim;
    for (int i = 0; same && i < x->ndim; i++) {
        same = x->shape[i] == layout->shape[i];
    }
    start_layout(x, layout);
    if (same) {
        for (int i = 0; i < x->ndim; i++) {
            layout->strides[i] = x->strides[i];
        }
        return 1;
    }
    if (!(x->flags & ROW_MAJOR)) {
        return regroup(x, layout);
    }
    step_by_rows(layout->ndim, layout->shape, dtypes[x->code].itemsize, layout->strides);
    return 1;
}

static PyObject *view_with_shape(Tensor *x, NewView *layout)
{
    return find_strides(x, layout) ? show(x, layout) : DECLINED;
}

static PyObject *expand_dims(int which, PyObject *const *values, Py_ssize_t count)
{
    PyObject *const *items;
    NewView layout;
    Py_ssize_t added;
    npy_uint64 set;
    int axes[ARRAY_DIMS], length;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (!take_items(&values[1], &added, &items) || added > ARRAY_DIMS - x->ndim) {
        return DECLINED;
    }
    layout.ndim = x->ndim + (int)added;
    if (!take_axes(&values[1], layout.ndim, &length, axes, &set)) {
        return DECLINED;
    }
    for (int axis = 0, old = 0; axis < layout.ndim; axis++) {
        layout.shape[axis] = set >> axis & 1 ? 1 : x->shape[old++];
    }
    return view_with_shape(x, &layout);
}

/* NumPy's, of two axes. */
static PyObject *swapaxes(int which, PyObject *const *values, Py_ssize_t count)
{
    int axes[ARRAY_DIMS], first, second;
    Tensor *x = movable(values[0]);
    if (x == NULL || !take_axis(values[1], x->ndim, &first) || !take_axis(values[2], x->ndim, &second)) {
        return decline_unless_raised();
    }
    for (int axis = 0; axis < x->ndim; axis++) {
        axes[axis] = axis == first ? second : axis == second ? first : axis;
    }
    return permute(x, axes);
}

static PyObject *squeeze(int which, PyObject *const *values, Py_ssize_t count)
{
    NewView layout;
    npy_uint64 set;
    int axes[ARRAY_DIMS], length;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    const int all = values[1] == NULL; /* NumPy's, of all axes of one element */
    if (!all && !take_axes(&values[1], x->ndim, &length, axes, &set)) {
        return DECLINED;
    }
    layout.ndim = 0;
    for (int axis = 0; axis < x->ndim; axis++) {
        const int dropped = all ? x->shape[axis] == 1 : (int)(set >> axis & 1);
        if (!dropped) {
            layout.shape[layout.ndim++] = x->shape[axis];
        } else if (x->shape[axis] != 1) {
            return DECLINED;
        }
    }
    return view_with_shape(x, &layout);
}

/* ------------------------------------------------------------------ repeated elements */

/* View `x` in the shape of the layout; DECLINED if it does not broadcast to that. */
static PyObject *expand(Tensor *x, NewView *layout, int read_only)
{
    const int lead = layout->ndim - x->ndim;
    start_layout(x, layout);
    layout->read_only |= read_only;
    for (int axis = 0; axis < layout->ndim; axis++) {
        const int own = axis - lead;
        const int same = own >= 0 && x->shape[own] == layout->shape[axis];
        if (own >= 0 && !same && x->shape[own] != 1) {
            return DECLINED;
        }
        layout->strides[axis] = same ? x->strides[own] : 0;
    }
    return lead >= 0 ? show(x, layout) : DECLINED;
}

static PyObject *broadcast_to(int which, PyObject *const *values, Py_ssize_t count)
{
    NewView layout;
    npy_intp known;
    int places;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (!take_sizes(&values[1], &layout, &known, &places) || places > 0) {
        return DECLINED;
    }
    return expand(x, &layout, is_face(values[0])); /* NumPy's is read-only even where it repeats nothing */
}

static PyObject *broadcast_arrays(int which, PyObject *const *values, Py_ssize_t count)
{
    NewView layout;
    if (count == 0) {
        return DECLINED;
    }
    layout.ndim = 0;
    layout.shape[0] = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tensor *x = movable(values[i]);
        if (x == NULL) {
            return decline_unless_raised();
        }
        /* Each result is on the device of its operand. */
        if (!broadcast_shape(&layout.ndim, layout.shape, x->ndim, x->shape) ||
            ((Array *)values[i])->device != ((Array *)values[0])->device) {
            return DECLINED;
        }
    }
    if (!can_be_counted(layout.ndim, layout.shape)) {
        return DECLINED;
    }
    PyObject *results = PyTuple_New(count);
    for (Py_ssize_t i = 0; results != NULL && i < count; i++) {
        /* To make an array may run finalisers, after which a layout may have to be found again. */
        Tensor *x = movable(values[i]);
        PyObject *result = x == NULL ? decline_unless_raised() : expand(x, &layout, 0);
        if (result == NULL || result == DECLINED) {
            Py_DECREF(results);
            return result;
        }
        PyTuple_SET_ITEM(results, i, result);
    }
    return results;
}

/* ------------------------------------------------------------------ slices */

static PyObject *flip(int which, PyObject *const *values, Py_ssize_t count)
{
    NewView layout;
    npy_uint64 set = ~(npy_uint64)0;
    int axes[ARRAY_DIMS], length;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (is_given(values[1]) &&
        !take_axes(&values[1], x->ndim, &length, axes, &set)) {
        return DECLINED;
    }
    copy_layout(x, &layout);
    for (int axis = 0; axis < layout.ndim; axis++) {
        const npy_intp size = layout.shape[axis];
        if ((set >> axis & 1) && size > 0) {
            step_along(&layout, axis, size - 1, size, -1);
        }
    }
    return show(x, &layout);
}

/* Only of matrices whose rows, or columns, follow each other: Python copies the diagonal of others. */
static PyObject *diagonal(int which, PyObject *const *values, Py_ssize_t count)
{
    NewView layout;
    npy_intp offset = 0;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (x->ndim < 2 || (values[1] != NULL && !take_number(values[1], &offset))) {
        return DECLINED;
    }
    const int last = x->ndim - 1;
    const npy_intp rows = x->shape[last - 1], columns = x->shape[last];
    const npy_intp down = x->strides[last - 1], right = x->strides[last];
    if (offset <= -rows || offset >= columns || x->size == 0 ||
        (down != columns * right && right != rows * down)) {
        return DECLINED;
    }
    const npy_intp row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
    copy_layout(x, &layout);
    layout.ndim = last;
    layout.shape[last - 1] = rows - row < columns - column ? rows - row : columns - column;
    layout.strides[last - 1] = down + right;
    layout.offset += row * down + column * right;
    return show(x, &layout);
}

static PyObject *unstack(int which, PyObject *const *values, Py_ssize_t count)
{
    NewView layout;
    int position = 0;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (x->ndim == 0 || (values[1] != NULL && !take_axis(values[1], x->ndim, &position))) {
        return DECLINED;
    }
    copy_layout(x, &layout);
    const npy_intp parts = layout.shape[position], step = layout.strides[position];
    layout.ndim--;
    for (int axis = position; axis < layout.ndim; axis++) {
        layout.shape[axis] = layout.shape[axis + 1];
        layout.strides[axis] = layout.strides[axis + 1];
    }
    PyObject *results = PyTuple_New(parts);
    for (npy_intp i = 0; results != NULL && i < parts; i++, layout.offset += step) {
        put_item(&results, i, show(x, &layout));
    }
    return results;
}

Implementation movement_functions[] = {
    {"broadcast_arrays", broadcast_arrays, 0, "*"},
    {"broadcast_to", broadcast_to, 0, "x, /, shape"},
    {"diagonal", diagonal, 0, "x, /, *, offset="},
    {"expand_dims", expand_dims, 0, "x, /, axis"},
    {"flip", flip, 0, "x, /, *, axis="},
    {"matrix_transpose", matrix_transpose, 0, "x, /"},
    {"moveaxis", moveaxis, 0, "x, source, destination, /"},
    {"permute_dims", permute_dims, 0, "x, /, axes"},
    {"squeeze", squeeze, 0, "x, /, axis"},
    {"swapaxes", swapaxes, 0, "x, axis1, axis2, /"},
    {"transpose", transpose, 0, "x, axes="},
    {"transpose_to", transpose_to, 0, "*"},
    {"unstack", unstack, 0, "x, /, *, axis="},
    {NULL, NULL, 0, NULL},
};
