/* One array copied into memory of its own: repeat, tile and roll, triangles, and the copies of reshape. */

#include "boxes.h"
#include "chapters.h"
#include "conversion.h"
#include "elements.h"
#include "movement.h"
#include "nest.h"
#include "nodes.h"

/* The elements, if there are some, and C copies arrays. */
static const char *elements_of(Tensor *x)
{
    return x->size > 0 && limits.at_once >= 0 ? data_of(x) : NULL;
}

PyObject *new_copy(Tensor *x, const char *from, int ndim, const npy_intp *shape, char **to)
{
    PyObject *result = new_array_like_memory(ndim, shape, (DTypeCode)x->code, 0, to);
    if (result != NULL && data_of(x) != from) {
        Py_DECREF(result);
        return decline_unless_raised();
    }
    return result;
}

PyObject *copied_box(Walk *box, Tensor *x, const char *from, int ndim, const npy_intp *shape)
{
    char *to;
    Py_INCREF(x);
    PyObject *result = new_copy(x, from, ndim, shape, &to);
    if (result != NULL && result != DECLINED && !copy_box(box, x, from, tensor_of(result), to)) {
        Py_CLEAR(result);
    }
    Py_DECREF(x);
    return result;
}

PyObject *copy_into_shape(Tensor *x, int ndim, const npy_intp *shape)
{
    const npy_intp itemsize = dtypes[x->code].itemsize;
    const char *from = elements_of(x);
    if (from == NULL) {
        return decline_unless_raised();
    }
    Walk box;
    start_box(&box);
    npy_intp step = itemsize * x->size;
    for (int axis = 0; axis < x->ndim; axis++) {
        step /= x->shape[axis];
        add_box_axis(&box, x->shape[axis], x->strides[axis], step);
    }
    return copied_box(&box, x, from, ndim, shape);
}

static PyObject *reshape(int which, PyObject *const *values, Py_ssize_t count)
{
    NewView layout;
    npy_intp known;
    int places;
    const int free_choice = !is_given(values[2]);
    if (!free_choice && !PyBool_Check(values[2])) {
        return DECLINED;
    }
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (!take_sizes(&values[1], &layout, &known, &places)) {
        return DECLINED;
    }
    if (places == 1 && known > 0 && x->size % known == 0) {
        int axis = 0;
        while (layout.shape[axis] != -1) {
            axis++;
        }
        layout.shape[axis] = x->size / known;
    } else if (places > 0 || known != x->size) {
        return DECLINED;
    }
    if (values[2] == Py_True) {
        return copy_into_shape(x, layout.ndim, layout.shape);
    }
    if (find_strides(x, &layout)) {
        return show(x, &layout);
    }
    return free_choice ? copy_into_shape(x, layout.ndim, layout.shape) : DECLINED;
}

/* NumPy's x.reshape(2, 3), whose sizes may be arguments of their own. */
static PyObject *reshape_to(int which, PyObject *const *values, Py_ssize_t count)
{
    if (count < 2) {
        return DECLINED;
    }
    PyObject *sizes = count == 2 ? Py_NewRef(values[1]) : tuple_of(values + 1, count - 1);
    if (sizes == NULL) {
        return NULL;
    }
    PyObject *const given[3] = {values[0], sizes, NULL};
    PyObject *result = reshape(0, given, 2);
    Py_DECREF(sizes);
    return result;
}

/* `axis` as an argument that may be None: -1 then, or where nothing is given. */
static int take_axis_or_none(PyObject *value, int ndim, int *axis)
{
    *axis = -1;
    return !is_given(value) || take_axis(value, ndim, axis);
}

/* A copy of an array in which each piece of adjacent elements, of so many bytes, stands `times` times. */
static PyObject *repeat_pieces(Tensor *x, const char *from, npy_intp piece, npy_intp times, const npy_intp *shape)
{
    char *to;
    Py_INCREF(x);
    PyObject *result = new_copy(x, from, x->ndim, shape, &to);
    if (result != NULL && result != DECLINED) {
        const char *const end = from + x->size * dtypes[x->code].itemsize;
        for (; from < end; from += piece) {
            for (npy_intp i = 0; i < times; i++, to += piece) {
                memcpy(to, from, (size_t)piece);
            }
        }
    }
    Py_DECREF(x);
    return result;
}

static PyObject *repeat(int which, PyObject *const *values, Py_ssize_t count)
{
    npy_intp shape[ARRAY_DIMS], times;
    int position;
    if (!take_number(values[1], &times)) {
        return DECLINED;
    }
    Tensor *x = layout_of_any(values[0]);
    const char *from = x == NULL ? NULL : elements_of(x);
    if (from == NULL || !take_axis_or_none(values[2], x->ndim, &position) || times < 1 ||
        times > MOST_ELEMENTS / x->size || x->ndim == ARRAY_DIMS) {
        return decline_unless_raised();
    }
    const npy_intp itemsize = dtypes[x->code].itemsize;
    npy_intp step = itemsize * x->size * times;
    int ndim = x->ndim;
    if (position >= 0 && position < ndim - 1) {
        npy_intp piece = itemsize;
        for (int axis = 0; axis < ndim; axis++) {
            shape[axis] = x->shape[axis] * (axis == position ? times : 1);
            piece *= axis > position ? x->shape[axis] : 1;
        }
        /* Several threads copy more, but short rows of complex numbers no faster. */
        const int is_small = x->size <= limits.at_once / times, is_short = piece <= LINE && itemsize == sizeof(npy_cdouble);
        if (x->flags & ROW_MAJOR && piece > itemsize && (is_small || is_short)) {
            return repeat_pieces(x, from, piece, times, shape);
        }
        if (!(x->flags & ROW_MAJOR) && x->flags & COLUMN_MAJOR && is_small) { /* which are copied in tiles */
            PyObject *rows = copy_into_shape(x, ndim, x->shape), *const given[3] = {rows, values[1], values[2]};
            PyObject *result = is_answer(rows) ? repeat(which, given, count) : rows;
            drop_answer(rows);
            return result;
        }
    }
    Walk box;
    start_box(&box);
    for (int axis = 0; axis < x->ndim; axis++) {
        shape[axis] = x->shape[axis];
        step /= x->shape[axis];
        add_box_axis(&box, x->shape[axis], x->strides[axis], step);
        if (axis == position) {
            shape[axis] *= times;
            step /= times;
            add_box_axis(&box, times, 0, step);
        }
    }
    if (position < 0) {
        shape[0] = x->size * times;
        ndim = 1;
        add_box_axis(&box, times, 0, itemsize);
    }
    return copied_box(&box, x, from, ndim, shape);
}

static PyObject *tile(int which, PyObject *const *values, Py_ssize_t count)
{
    PyObject *const *items;
    Py_ssize_t length;
    npy_intp shape[ARRAY_DIMS];
    if (!take_items(&values[1], &length, &items)) {
        return DECLINED;
    }
    Tensor *x = layout_of_any(values[0]);
    const char *from = x == NULL ? NULL : elements_of(x);
    if (from == NULL || x->ndim > ARRAY_DIMS / 2 || length > ARRAY_DIMS / 2) {
        return decline_unless_raised();
    }
    const int ndim = x->ndim > length ? x->ndim : (int)length;
    npy_intp times[ARRAY_DIMS], size = x->size;
    for (int axis = 0; axis < ndim; axis++) {
        const Py_ssize_t item = axis - (ndim - length);
        times[axis] = 1;
        if (item >= 0 && (!take_number(items[item], &times[axis]) || times[axis] < 1 ||
                          times[axis] > MOST_ELEMENTS / size)) {
            return DECLINED;
        }
        size *= times[axis];
    }
    if (size == x->size && !(x->flags & ROW_MAJOR)) {
        return DECLINED; /* NumPy's copy of an array that is not repeated keeps the order of its axes */
    }
    const npy_intp itemsize = dtypes[x->code].itemsize;
    npy_intp step = itemsize * size;
    Walk box;
    start_box(&box);
    for (int axis = 0; axis < ndim; axis++) {
        const int old = axis - (ndim - x->ndim);
        const npy_intp length_here = old < 0 ? 1 : x->shape[old];
        shape[axis] = times[axis] * length_here;
        step /= times[axis];
        add_box_axis(&box, times[axis], 0, step);
        step /= length_here;
        add_box_axis(&box, length_here, old < 0 ? 0 : x->strides[old], step);
    }
    return copied_box(&box, x, from, ndim, shape);
}

/* ------------------------------------------------------------------ roll */

/* `number` modulo a positive size, with the sign of the size. */
static npy_intp modulo(npy_intp number, npy_intp size)
{
    const npy_intp rest = number % size;
    return rest < 0 ? rest + size : rest;
}

/* Copy the elements, rolled by `shifts` along the axes. Each axis falls into two parts that change
   places, so that every choice of parts is one box. */
static int copy_rolled(const NewView *layout, Tensor *x, const char *from, const npy_intp *to_strides, Tensor *result, char *to,
                       const npy_intp *shifts)
{
    npy_intp second[ARRAY_DIMS] = {0}, parts[ARRAY_DIMS]; /* whether it is the second part; how many */
    for (int axis = 0; axis < layout->ndim; axis++) {
        parts[axis] = shifts[axis] == 0 ? 1 : 2;
    }
    do {
        const char *source = from;
        char *target = to;
        Walk box;
        start_box(&box);
        for (int axis = 0; axis < layout->ndim; axis++) {
            const npy_intp size = layout->shape[axis], shift = shifts[axis], stride = layout->strides[axis];
            /* The first part stays together at the end, the second one goes to the front. */
            if (second[axis]) {
                source += (size - shift) * stride;
            } else {
                target += shift * to_strides[axis];
            }
            add_box_axis(&box, second[axis] ? shift : size - shift, stride, to_strides[axis]);
        }
        if (!copy_box(&box, x, source, result, target)) {
            return 0;
        }
    } while (next_index(layout->ndim, parts, second) >= 0);
    return 1;
}

static PyObject *roll(int which, PyObject *const *values, Py_ssize_t count)
{
    PyObject *const *shift_items, *const *axis_items = NULL;
    npy_intp shifts[ARRAY_DIMS] = {0};
    Py_ssize_t shift_count, axis_count = 1;
    if (!take_items(&values[1], &shift_count, &shift_items)) {
        return DECLINED;
    }
    Tensor *x = layout_of_any(values[0]);
    const char *from = x == NULL ? NULL : elements_of(x);
    const int flat = !is_given(values[2]);
    if (from == NULL) {
        return decline_unless_raised();
    }
    if (flat && !(x->flags & ROW_MAJOR)) {
        PyObject *rows = copy_into_shape(x, x->ndim, x->shape);
        if (!is_answer(rows)) {
            return rows;
        }
        PyObject *const again[] = {rows, values[1], NULL};
        PyObject *result = roll(which, again, count);
        Py_DECREF(rows);
        return result;
    }
    NewView source;
    copy_layout(x, &source);
    if (flat) {
        source.ndim = 1;
        source.shape[0] = x->size;
        source.strides[0] = dtypes[x->code].itemsize;
    } else if (!take_items(&values[2], &axis_count, &axis_items)) {
        return DECLINED;
    }
    /* One shift is for all axes, and one axis takes all shifts. */
    if (shift_count == 0 || (is_int(values[1])
                                 ? axis_count == 0
                                 : axis_count != 1 && axis_count != shift_count)) {
        return DECLINED;
    }
    const Py_ssize_t pairs = axis_count > shift_count ? axis_count : shift_count;
    for (Py_ssize_t i = 0; i < pairs; i++) {
        npy_intp shift;
        int axis = 0;
        if (!take_number(shift_items[shift_count == 1 ? 0 : i], &shift) ||
            (!flat && !take_axis(axis_items[axis_count == 1 ? 0 : i], source.ndim, &axis))) {
            return DECLINED;
        }
        const npy_intp size = source.shape[axis];
        shifts[axis] = modulo(shifts[axis] + modulo(shift, size), size);
    }
    char *to;
    AxisOrder order;
    npy_intp sizes[ARRAY_DIMS];
    order_copy(x, order);
    sizes_in_order(x, order, sizes);
    Py_INCREF(x);
    PyObject *result = result_in_order(new_copy(x, from, x->ndim, sizes, &to), order);
    Tensor *rolled = result == NULL || result == DECLINED ? NULL : tensor_of(result);
    if (rolled != NULL && !copy_rolled(&source, x, from, flat ? source.strides : rolled->strides, rolled, to, shifts)) {
        Py_CLEAR(result);
    }
    Py_DECREF(x);
    return result;
}

/* ------------------------------------------------------------------ triangles */

/* NumPy's triu, or tril if it is the `lower` one: zeros below or above a diagonal. As NumPy lays it out, row by row. */
static PyObject *call_triangle(int lower, PyObject *const *values, Py_ssize_t count)
{
    npy_intp k = 0;
    Tensor *x = layout_of_any(values[0]);
    const int last = x == NULL ? 0 : x->ndim - 1;
    if (last < 1 || x->size == 0 || limits.at_once < 1 || (values[1] != NULL && !take_number(values[1], &k)) ||
        !(x->flags & ROW_MAJOR || (last == 1 && x->shape[0] > 1 && x->shape[1] > 1))) {
        return DECLINED;
    }
    const char *from = data_of(x);
    char *to;
    PyObject *result =
        from == NULL ? DECLINED : new_array_like_memory(x->ndim, x->shape, (DTypeCode)x->code, 0, &to);
    if (result == NULL || result == DECLINED) {
        return result == NULL ? NULL : decline_unless_raised();
    }
    const npy_intp itemsize = dtypes[x->code].itemsize, rows = x->shape[last - 1], columns = x->shape[last];
    const npy_intp least_k = -rows, diagonal = k < least_k ? least_k : least(k, columns);
    /* Of row-major arrays the strides of axes of one element may be any. */
    const npy_intp step = x->flags & ROW_MAJOR ? columns * itemsize : x->strides[last - 1];
    for (npy_intp row = 0; row < x->size / columns; row++, from += step, to += columns * itemsize) {
        const npy_intp place = row % rows + diagonal + lower;
        const npy_intp cut = place < 0 ? 0 : least(place, columns), first = lower ? 0 : cut;
        const npy_intp kept = lower ? cut : columns - cut;
        if (cut == columns && x->flags & ROW_MAJOR) { /* as are the rows below it: one run of elements */
            const npy_intp more = rows - 1 - row % rows;
            const size_t bytes = (size_t)((more + 1) * columns * itemsize);
            lower ? memcpy(to, from, bytes) : memset(to, 0, bytes);
            row += more;
            from += more * step;
            to += more * columns * itemsize;
            continue;
        }
        memset(lower ? to + cut * itemsize : to, 0, (size_t)((columns - kept) * itemsize));
        copy_row(to + first * itemsize, itemsize, from + first * x->strides[last], x->strides[last], kept, itemsize);
    }
    return result;
}

Implementation repeating_functions[] = {
    {"reshape", reshape, 0, "x, /, shape, *, copy="},
    {"reshape_to", reshape_to, 0, "*"},
    {"repeat", repeat, 0, "x, repeats, /, *, axis="},
    {"roll", roll, 0, "x, /, shift, *, axis="},
    {"tile", tile, 0, "x, repetitions, /"},
    {"tril", call_triangle, 1, "x, /, *, k="},
    {"triu", call_triangle, 0, "x, /, *, k="},
    {NULL, NULL, 0, NULL},
};
