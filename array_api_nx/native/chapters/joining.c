/* Arrays joined in memory of their own: concat and stack, and those of NumPy's names. */

#include "boxes.h"
#include "chapters.h"
#include "conversion.h"
#include "elements.h"
#include "face.h"
#include "loops.h"

/* How arrays are joined along an axis: one that they have, or for stack a new one. */
typedef struct {
    int ndim, axis, is_new; /* of the result */
    DTypeCode code;
    npy_intp shape[ARRAY_DIMS];
} Joint;

/* The next array to be joined, if it fits: one with elements at hand that differs from the first
   only in its size along the axis, and in its dtype if C casts that. NULL if it does not. */
static Tensor *joinable(const Joint *joint, PyObject *object)
{
    Tensor *x = layout_of_any(object);
    if (x == NULL || cast_function((DTypeCode)x->code, joint->code) == NULL || x->ndim != joint->ndim - joint->is_new ||
        (x->size > 0 && data_of(x) == NULL)) {
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
   chooses it: by the insertion sort of `order_axes` in axis_orders.c, but of several arrays at a time, which
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
static PyObject *new_result(const Joint *joint, const int *outermost, char **data)
{
    npy_intp sizes[ARRAY_DIMS];
    AxisOrder order;
    for (int i = 0; i < joint->ndim; i++) {
        sizes[i] = joint->shape[outermost[i]];
        order[joint->ndim - 1 - i] = (npy_uint8)outermost[i];
    }
    return new_array_in_order(joint->ndim, sizes, order, joint->code, data);
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
        const char *from = x->size == 1 && x->code == result->code ? data_of(x) : NULL;
        if (from != NULL && place < joint->shape[joint->axis]) {
            copy_element(to + place++ * result->strides[joint->axis], from, dtypes[x->code].itemsize);
            continue;
        }
        Walk box;
        start_box(&box);
        for (int axis = 0; axis < joint->ndim; axis++) {
            npy_intp stride;
            const npy_intp size = size_along(joint, x, axis, &stride);
            add_box_axis(&box, size, stride, result->strides[axis]);
        }
        const npy_intp size = box.shape[joint->axis];
        if (size > joint->shape[joint->axis] - place) {
            return 0;
        }
        if (x->size > 0 && !copy_box(&box, x, data_of(x), result, to + place * result->strides[joint->axis])) {
            return -1;
        }
        place += size;
    }
    return place == joint->shape[joint->axis];
}

/* Join the arrays of a tuple. They may change when the result is made, which can run finalisers: so each is looked at again
   afterwards. */
static PyObject *join(Joint *joint, PyObject *arrays)
{
    PyObject *const *items = &PyTuple_GET_ITEM(arrays, 0);
    const Py_ssize_t count = PyTuple_GET_SIZE(arrays);
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
    if (size == 0) {
        return DECLINED;
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
    const int done = copy_parts(joint, items, count, tensor_of(result), to);
    if (done != 1) {
        Py_DECREF(result);
        return done < 0 ? NULL : decline_unless_raised();
    }
    return result;
}

/* Set the dtype of the result to that which the dtypes of the arrays promote to; 0 if there is none. NumPy promotes the floats
   among them first, then each integer with what it has: int8, uint8 and float16 give float16. */
static int promote(Joint *joint, PyObject *const *items, Py_ssize_t count)
{
    joint->code = NO_DTYPE;
    for (int inexact = 1; inexact >= 0; inexact--) {
        for (Py_ssize_t i = 0; i < count; i++) {
            const DTypeCode code = (DTypeCode)tensor_of(items[i])->code;
            if ((is_inexact(code) != 0) == inexact) {
                joint->code = joint->code == NO_DTYPE ? code : promotions[joint->code][code];
                if (joint->code == NO_DTYPE) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

/* Join arrays along an axis, a new one if `is_new`: those of one dtype, and of NumPy's face as the dtype that they promote
   to. */
static PyObject *join_along(PyObject *arrays, int ndim, int axis, int is_new)
{
    PyObject *const *items = PySequence_Fast_ITEMS(arrays);
    const Tensor *first = tensor_of(items[0]);
    Joint joint = {.ndim = ndim, .axis = axis, .is_new = is_new, .code = (DTypeCode)first->code};
    for (int dim = 0, old = 0; dim < ndim; dim++) {
        joint.shape[dim] = is_new && dim == axis ? 1 : first->shape[old++];
    }
    int same = 1;
    for (Py_ssize_t i = 1; i < PySequence_Fast_GET_SIZE(arrays); i++) {
        const Tensor *x = layout_of_any(items[i]);
        if (x == NULL || (x->code != first->code && !(is_face(items[0]) && is_face(items[i])))) {
            return decline_unless_raised();
        }
        same = same && x->code == first->code;
    }
    if (!same && !promote(&joint, items, PySequence_Fast_GET_SIZE(arrays))) {
        return DECLINED;
    }
    PyObject *kept = keep_items(arrays);
    PyObject *result = kept == NULL ? NULL : join(&joint, kept);
    Py_XDECREF(kept);
    return result;
}

/* The first array of those to be joined; NULL if there is none. */
static const Tensor *first_of(PyObject *arrays)
{
    return (PyTuple_CheckExact(arrays) || PyList_CheckExact(arrays)) && PySequence_Fast_GET_SIZE(arrays) > 0
               ? layout_of_any(PySequence_Fast_GET_ITEM(arrays, 0))
               : NULL;
}

/* concat, or stack if `is_new`. */
static PyObject *call_join(int is_new, PyObject *const *values, Py_ssize_t count)
{
    const Tensor *x = first_of(values[0]);
    const int ndim = x == NULL ? 0 : x->ndim + is_new;
    int axis = 0;
    if (ndim == 0 || ndim > ARRAY_DIMS || (values[1] != NULL && !take_axis(values[1], ndim, &axis))) {
        return DECLINED;
    }
    return join_along(values[0], ndim, axis, is_new);
}

/* NumPy's hstack, vstack, column_stack and dstack: the axis along which they join arrays of `new_below` axes, a new one,
   and those of more. */
static const struct {
    int new_below, axis;
} stacks[] = {{0, 1}, {1, 0}, {1, 1}, {2, 2}};
enum { OF_COLUMNS, OF_ROWS, AS_COLUMNS, IN_DEPTH };

static PyObject *call_stack(int which, PyObject *const *values, Py_ssize_t count)
{
    const Tensor *x = first_of(values[0]);
    if (x == NULL || x->ndim == 0 || x->ndim < stacks[which].new_below) {
        return DECLINED;
    }
    const int is_new = x->ndim == stacks[which].new_below, ndim = x->ndim + is_new;
    return ndim > ARRAY_DIMS ? DECLINED : join_along(values[0], ndim, least(stacks[which].axis, ndim - 1), is_new);
}

/* An array as one of a single axis, a number as one of one element; a new reference. DECLINED if C makes none. */
static PyObject *as_vector(PyObject *object)
{
    FIND_ONCE(ravel, "ravel")
    const Tensor *x = layout_of_any(object);
    if (x != NULL && x->ndim == 1) {
        return Py_NewRef(object);
    }
    PyObject *array = new_array_of(object, NULL);
    PyObject *vector = is_answer(array) ? ravel->compute(ravel->code, &array, 1) : array;
    drop_answer(array);
    return face_of(vector, 0);
}

/* NumPy's append: along an axis, or without one the elements of both, one after the other. */
static PyObject *append(int which, PyObject *const *values, Py_ssize_t count)
{
    if (!is_face(values[0]) || (is_given(values[2]) && !is_face(values[1]))) {
        return DECLINED;
    }
    if (is_given(values[2])) {
        PyObject *both = PyTuple_Pack(2, values[0], values[1]);
        PyObject *const given[2] = {both, values[2]};
        PyObject *joined = both == NULL ? NULL : call_join(0, given, 2);
        Py_XDECREF(both);
        return joined;
    }
    PyObject *first = as_vector(values[0]), *second = is_answer(first) ? as_vector(values[1]) : first;
    PyObject *result = second;
    if (is_answer(second)) {
        PyObject *both = PyTuple_Pack(2, first, second);
        result = both == NULL ? NULL : first_of(both) == NULL ? DECLINED : join_along(both, 1, 0, 0);
        Py_XDECREF(both);
        Py_DECREF(second);
    }
    drop_answer(first);
    return result;
}

Implementation joining_functions[] = {
    {"append", append, 0, "arr, values, axis="},
    {"column_stack", call_stack, AS_COLUMNS, "tup, /"},
    {"concat", call_join, 0, "arrays, /, *, axis="},
    {"dstack", call_stack, IN_DEPTH, "tup, /"},
    {"hstack", call_stack, OF_COLUMNS, "tup, /"},
    {"stack", call_join, 1, "arrays, /, *, axis="},
    {"vstack", call_stack, OF_ROWS, "tup, /"},
    {NULL, NULL, 0, NULL},
};
