/* Small arrays in memory of their own: concat and stack, repeat and tile, roll, and the copies
   of reshape.

   Each is made of copies of boxes: sizes along some axes, and steps in the source and in the
   result, whose axes need not be those of the arrays. Repeated elements are axes along which the
   source does not step. */

#include "chapters.h"
#include "copies.h"
#include "elements.h"
#include "movement.h"
#include "nest.h"
#include "nodes.h"
#include "walk.h"

/* ------------------------------------------------------------------ boxes */

enum { SOURCE, TARGET };

static void start_box(Walk *box)
{
    box->ndim = 0;
    box->operands = 2;
}

static void add_axis(Walk *box, npy_intp size, npy_intp from, npy_intp to)
{
    box->shape[box->ndim] = size;
    box->strides[SOURCE][box->ndim] = from;
    box->strides[TARGET][box->ndim++] = to;
}

/* Rows of fewer elements are copied by columns, if there are more rows. */
enum { SHORT_ROW = 8 };

static void copy_plane(Tile to, Tile from, npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    if (columns >= SHORT_ROW || rows <= columns) {
        copy_tile(to, from, itemsize, rows, columns);
        return;
    }
    for (npy_intp column = 0; column < columns; column++) {
        copy_row(to.data + column * to.column, to.row, from.data + column * from.column, from.row,
                 rows, itemsize);
    }
}

/* Put the axis with the shortest step in the target last, drop axes of one element, and merge
   neighbours that both sides step through as through one. */
static void simplify(Walk *box)
{
    const int ndim = box->ndim;
    box->ndim = 0;
    for (int axis = 0; axis < ndim; axis++) {
        const npy_intp size = box->shape[axis];
        const npy_intp from = box->strides[SOURCE][axis], to = box->strides[TARGET][axis];
        int place = box->ndim;
        if (size == 1) {
            continue;
        }
        for (; place > 0 && box->strides[TARGET][place - 1] < to; place--) {
            box->shape[place] = box->shape[place - 1];
            box->strides[SOURCE][place] = box->strides[SOURCE][place - 1];
            box->strides[TARGET][place] = box->strides[TARGET][place - 1];
        }
        box->shape[place] = size;
        box->strides[SOURCE][place] = from;
        box->strides[TARGET][place] = to;
        box->ndim++;
    }
    const npy_intp *const given[2] = {box->strides[SOURCE], box->strides[TARGET]};
    npy_intp *const merged[2] = {box->strides[SOURCE], box->strides[TARGET]};
    box->ndim = merge_axes(box->ndim, box->shape, 2, given, box->shape, merged);
}

static void copy_box(Walk *box, const char *source, char *target, npy_intp itemsize)
{
    npy_intp index[ARRAY_DIMS] = {0};
    int dim;
    simplify(box);
    const int column = box->ndim - 1, row = box->ndim - 2;
    const npy_intp *const strides[2] = {box->strides[SOURCE], box->strides[TARGET]};
    const npy_intp rows = row < 0 ? 1 : box->shape[row];
    const npy_intp columns = column < 0 ? 1 : box->shape[column];
    Tile from = {(char *)source, row < 0 ? 0 : strides[SOURCE][row],
                 column < 0 ? itemsize : strides[SOURCE][column]};
    Tile to = {target, row < 0 ? 0 : strides[TARGET][row],
               column < 0 ? itemsize : strides[TARGET][column]};
    do {
        copy_plane(to, from, itemsize, rows, columns);
        dim = next_index(row, box->shape, index);
        from.data += distance(dim, row, box->shape, strides[SOURCE]);
        to.data += distance(dim, row, box->shape, strides[TARGET]);
    } while (dim >= 0);
}

/* ------------------------------------------------------------------ one array */

/* The elements, if they are there and there are some, but not too many to be copied at once. */
static const char *few_elements(Tensor *x)
{
    return x->size > 0 && is_computed_now(x->size) ? data_of(x) : NULL;
}

/* A row-major copy of the elements in their order under another shape of as many. */
static PyObject *copy_into_shape(Tensor *x, int ndim, const npy_intp *shape)
{
    const npy_intp itemsize = dtypes[x->code].itemsize;
    const char *from = few_elements(x);
    char *to;
    if (from == NULL) {
        return DECLINED;
    }
    Walk box;
    start_box(&box);
    npy_intp step = itemsize * x->size;
    for (int axis = 0; axis < x->ndim; axis++) {
        step /= x->shape[axis];
        add_axis(&box, x->shape[axis], x->strides[axis], step);
    }
    PyObject *result = new_array_like_memory(ndim, shape, (DTypeCode)x->code, 0, &to);
    if (result != NULL) {
        copy_box(&box, from, to, itemsize);
    }
    return result;
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
    PyObject *sizes = count == 2 ? Py_NewRef(values[1]) : PyTuple_New(count - 1);
    for (Py_ssize_t i = 1; sizes != NULL && count > 2 && i < count; i++) {
        PyTuple_SET_ITEM(sizes, i - 1, Py_NewRef(values[i]));
    }
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

static PyObject *repeat(int which, PyObject *const *values, Py_ssize_t count)
{
    npy_intp shape[ARRAY_DIMS], times;
    int position;
    if (!take_number(values[1], &times)) {
        return DECLINED;
    }
    Tensor *x = layout_of_any(values[0]);
    const char *from = x == NULL ? NULL : few_elements(x);
    if (from == NULL || !take_axis_or_none(values[2], x->ndim, &position) || times < 1 ||
        times > limits.at_once / x->size || x->ndim == ARRAY_DIMS) {
        return DECLINED;
    }
    const npy_intp itemsize = dtypes[x->code].itemsize;
    npy_intp step = itemsize * x->size * times;
    int ndim = x->ndim;
    Walk box;
    start_box(&box);
    for (int axis = 0; axis < x->ndim; axis++) {
        shape[axis] = x->shape[axis];
        step /= x->shape[axis];
        add_axis(&box, x->shape[axis], x->strides[axis], step);
        if (axis == position) {
            shape[axis] *= times;
            step /= times;
            add_axis(&box, times, 0, step);
        }
    }
    if (position < 0) {
        shape[0] = x->size * times;
        ndim = 1;
        add_axis(&box, times, 0, itemsize);
    }
    char *to;
    PyObject *result = new_array_like_memory(ndim, shape, (DTypeCode)x->code, 0, &to);
    if (result != NULL) {
        copy_box(&box, from, to, itemsize);
    }
    return result;
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
    const char *from = x == NULL ? NULL : few_elements(x);
    if (from == NULL || x->ndim > ARRAY_DIMS / 2 || length > ARRAY_DIMS / 2) {
        return DECLINED;
    }
    const int ndim = x->ndim > length ? x->ndim : (int)length;
    npy_intp times[ARRAY_DIMS], size = x->size;
    for (int axis = 0; axis < ndim; axis++) {
        const Py_ssize_t item = axis - (ndim - length);
        times[axis] = 1;
        if (item >= 0 && (!take_number(items[item], &times[axis]) || times[axis] < 1 ||
                          times[axis] > limits.at_once / size)) {
            return DECLINED;
        }
        size *= times[axis];
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
        add_axis(&box, times[axis], 0, step);
        step /= length_here;
        add_axis(&box, length_here, old < 0 ? 0 : x->strides[old], step);
    }
    char *to;
    PyObject *result = new_array_like_memory(ndim, shape, (DTypeCode)x->code, 0, &to);
    if (result != NULL) {
        copy_box(&box, from, to, itemsize);
    }
    return result;
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
static void copy_rolled(const NewView *x, const char *from, const npy_intp *to_strides, char *to,
                        const npy_intp *shifts, npy_intp itemsize)
{
    npy_intp second[ARRAY_DIMS] = {0}, parts[ARRAY_DIMS]; /* whether it is the second part; how many */
    for (int axis = 0; axis < x->ndim; axis++) {
        parts[axis] = shifts[axis] == 0 ? 1 : 2;
    }
    do {
        const char *source = from;
        char *target = to;
        Walk box;
        start_box(&box);
        for (int axis = 0; axis < x->ndim; axis++) {
            const npy_intp size = x->shape[axis], shift = shifts[axis];
            /* The first part stays together at the end, the second one goes to the front. */
            if (second[axis]) {
                source += (size - shift) * x->strides[axis];
            } else {
                target += shift * to_strides[axis];
            }
            add_axis(&box, second[axis] ? shift : size - shift, x->strides[axis], to_strides[axis]);
        }
        copy_box(&box, source, target, itemsize);
    } while (next_index(x->ndim, parts, second) >= 0);
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
    const char *from = x == NULL ? NULL : few_elements(x);
    if (from == NULL || !(x->flags & (ROW_MAJOR | COLUMN_MAJOR))) {
        return DECLINED;
    }
    NewView source;
    copy_layout(x, &source);
    const int flat = !is_given(values[2]);
    if (flat) {
        if (!(x->flags & ROW_MAJOR)) {
            return DECLINED;
        }
        source.ndim = 1;
        source.shape[0] = x->size;
        source.strides[0] = dtypes[x->code].itemsize;
    } else if (!take_items(&values[2], &axis_count, &axis_items)) {
        return DECLINED;
    }
    /* One shift is for all axes, and one axis takes all shifts. */
    if (shift_count == 0 || (PyLong_CheckExact(values[1])
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
    const npy_intp itemsize = dtypes[x->code].itemsize;
    char *to;
    PyObject *result = new_array_like_memory(x->ndim, x->shape, (DTypeCode)x->code,
                                             !(x->flags & ROW_MAJOR), &to);
    if (result != NULL) {
        copy_rolled(&source, from, flat ? source.strides : tensor_of(result)->strides, to, shifts,
                    itemsize);
    }
    return result;
}

/* ------------------------------------------------------------------ concat and stack */

/* How arrays are joined along an axis: one that they have, or for stack a new one. */
typedef struct {
    int ndim, axis, is_new; /* of the result */
    DTypeCode code;
    npy_intp shape[ARRAY_DIMS];
} Joint;

/* The next array to be joined, if it fits: one with elements at hand that differs from the first
   only in its size along the axis. NULL if it does not. */
static Tensor *joinable(const Joint *joint, PyObject *object)
{
    Tensor *x = layout_of_any(object);
    if (x == NULL || x->code != joint->code || x->ndim != joint->ndim - joint->is_new ||
        x->size == 0 || data_of(x) == NULL) {
        return NULL;
    }
    for (int axis = 0, old = 0; axis < joint->ndim; axis++) {
        if (axis == joint->axis) {
            old += !joint->is_new;
        } else if (x->shape[old++] != joint->shape[axis]) {
            return NULL;
        }
    }
    return x;
}

/* Size and stride of an array to be joined along an axis of the result. */
static npy_intp size_along(const Joint *joint, const Tensor *x, int axis, npy_intp *stride)
{
    if (joint->is_new && axis == joint->axis) {
        *stride = 0;
        return 1;
    }
    const int old = axis - (joint->is_new && axis > joint->axis);
    *stride = x->strides[old];
    return x->shape[old];
}

/* Whether NumPy puts axis `first` inside of axis `second`, which comes before it: 1 or 0, or -1
   if no array moves along both. */
static int is_outer(const Joint *joint, PyObject *const *items, Py_ssize_t count, int first,
                    int second)
{
    int found = -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tensor *x = tensor_of(items[i]);
        npy_intp step, other;
        if (size_along(joint, x, first, &step) != 1 && size_along(joint, x, second, &other) != 1) {
            step = step < 0 ? -step : step;
            other = other < 0 ? -other : other;
            if (step <= other) {
                return 0; /* C's order wins where arrays differ */
            }
            found = 1;
        }
    }
    return found;
}

/* The order of the axes in the memory of the result, the outermost first, as np.concatenate
   chooses it: by the insertion sort of `order_axes` in pack.c, but of several arrays at a time, which
   may disagree. */
static void order_result(const Joint *joint, PyObject *const *items, Py_ssize_t count, int *order)
{
    for (int i = 0; i < joint->ndim; i++) {
        int place = i;
        for (int j = i - 1; j >= 0; j--) {
            const int outer = is_outer(joint, items, count, i, order[j]);
            if (outer == 0) {
                break;
            }
            place = outer > 0 ? j : place;
        }
        for (int j = i; j > place; j--) {
            order[j] = order[j - 1];
        }
        order[place] = i;
    }
}

/* An array for the result, in whose memory the axes lie in an order. */
static PyObject *new_result(const Joint *joint, const int *order, char **data)
{
    npy_intp sizes[ARRAY_DIMS], strides[ARRAY_DIMS];
    int sorted = 1;
    for (int i = 0; i < joint->ndim; i++) {
        sizes[i] = joint->shape[order[i]];
        sorted = sorted && order[i] == i;
    }
    PyObject *result = new_array_like_memory(joint->ndim, sizes, joint->code, 0, data);
    if (result == NULL || sorted) {
        return result;
    }
    Tensor *tensor = tensor_of(result);
    memcpy(strides, tensor->strides, (size_t)joint->ndim * sizeof(npy_intp));
    for (int i = 0; i < joint->ndim; i++) {
        tensor->shape[order[i]] = sizes[i];
        tensor->strides[order[i]] = strides[i];
    }
    finish_layout(tensor, 0);
    return result;
}

/* Copy many elements to their place in the result, by several threads. 1 if it is done; 0 if it is not; -1 with an
   exception set. */
static int copy_many(const Joint *joint, Tensor *x, Tensor *result, char *to)
{
    Region region = {.data = to, .ndim = x->ndim, .size = x->size, .itemsize = dtypes[x->code].itemsize};
    for (int axis = 0, old = 0; axis < joint->ndim; axis++) {
        if (!joint->is_new || axis != joint->axis) {
            region.shape[old] = x->shape[old];
            region.strides[old++] = result->strides[axis];
        }
    }
    PyObject *waiting = record_copy(x, joint->code);
    if (waiting == NULL || waiting == DECLINED) {
        return waiting == NULL ? -1 : 0;
    }
    const int done = ensure_storage(result) ? assign_expression(result, &region, tensor_of(waiting), 1) : -1;
    Py_DECREF(waiting);
    return done;
}

/* Copy the arrays to their places. 0 if one of them has become another since it was looked at; -1 with an exception
   set. */
static int copy_parts(const Joint *joint, PyObject *const *items, Py_ssize_t count, Tensor *result, char *to)
{
    npy_intp place = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Tensor *x = joinable(joint, items[i]);
        if (x == NULL) {
            return 0;
        }
        Walk box;
        start_box(&box);
        for (int axis = 0; axis < joint->ndim; axis++) {
            npy_intp stride;
            const npy_intp size = size_along(joint, x, axis, &stride);
            add_axis(&box, size, stride, result->strides[axis]);
        }
        const npy_intp size = box.shape[joint->axis];
        if (size > joint->shape[joint->axis] - place) {
            return 0;
        }
        char *target = to + place * result->strides[joint->axis];
        const int done = x->size > limits.at_once ? copy_many(joint, x, result, target) : 0;
        if (done < 0) {
            return -1;
        }
        if (!done) {
            copy_box(&box, data_of(x), target, dtypes[joint->code].itemsize);
        }
        place += size;
    }
    return place == joint->shape[joint->axis];
}

/* The arrays themselves, in a list or tuple. It may change when the result is made, which can run
   finalisers: so everything is looked at again afterwards. */
static PyObject *join(Joint *joint, PyObject *arrays)
{
    PyObject *const *items = PySequence_Fast_ITEMS(arrays);
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(arrays);
    npy_intp length = 0, size = 0, ignored;
    int order[ARRAY_DIMS], row_major = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tensor *x = joinable(joint, items[i]);
        if (x == NULL || x->size > MOST_ELEMENTS - size) {
            return decline_unless_raised();
        }
        size += x->size;
        length += size_along(joint, x, joint->axis, &ignored);
        row_major = row_major && (x->flags & ROW_MAJOR);
    }
    joint->shape[joint->axis] = length;
    for (int axis = 0; axis < joint->ndim; axis++) {
        order[axis] = axis;
    }
    if (!row_major) {
        order_result(joint, items, count, order);
    }
    char *to;
    PyObject *result = new_result(joint, order, &to);
    if (result == NULL) {
        return NULL;
    }
    items = PySequence_Fast_ITEMS(arrays);
    const int done = PySequence_Fast_GET_SIZE(arrays) != count
                         ? 0
                         : copy_parts(joint, items, count, tensor_of(result), to);
    if (done != 1) {
        Py_DECREF(result);
        return done < 0 ? NULL : decline_unless_raised();
    }
    return result;
}

/* concat, or stack if `is_new`. */
static PyObject *call_join(int is_new, PyObject *const *values, Py_ssize_t count)
{
    if (!(PyTuple_CheckExact(values[0]) || PyList_CheckExact(values[0])) ||
        PySequence_Fast_GET_SIZE(values[0]) == 0) {
        return DECLINED;
    }
    PyObject *first = PySequence_Fast_GET_ITEM(values[0], 0);
    const Tensor *x = layout_of_any(first);
    if (x == NULL || x->ndim + is_new > ARRAY_DIMS) {
        return DECLINED;
    }
    Joint joint;
    joint.ndim = x->ndim + is_new;
    joint.axis = 0;
    joint.is_new = is_new;
    joint.code = (DTypeCode)x->code;
    if (joint.ndim == 0 || (values[1] != NULL && !take_axis(values[1], joint.ndim, &joint.axis))) {
        return DECLINED;
    }
    for (int axis = 0, old = 0; axis < joint.ndim; axis++) {
        joint.shape[axis] = is_new && axis == joint.axis ? 1 : x->shape[old++];
    }
    return join(&joint, values[0]);
}

Implementation joining_functions[] = {
    {"concat", call_join, 0, "arrays, /, *, axis="},
    {"reshape", reshape, 0, "x, /, shape, *, copy="},
    {"reshape_to", reshape_to, 0, "*"},
    {"repeat", repeat, 0, "x, repeats, /, *, axis="},
    {"roll", roll, 0, "x, /, shift, *, axis="},
    {"stack", call_join, 1, "arrays, /, *, axis="},
    {"tile", tile, 0, "x, repetitions, /"},
    {NULL, NULL, 0, NULL},
};
