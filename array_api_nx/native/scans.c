/* Running sums and products, row by row. */

#include "chapters.h"
#include "elementwise.h"
#include "flags.h"
#include "movement.h"
#include "nest.h"
#include "reduce.h"
#include "reductions.h"

/* Along one axis: the first element of each row is copied, and the loop adds each of the others
   to the result before it. */
static void scan_rows(const ElementLoop *loop, int ndim, const npy_intp *shape, int axis,
                      const char *from, const npy_intp *from_strides, char *to,
                      const npy_intp *to_strides, npy_intp itemsize)
{
    npy_intp rows[ARRAY_DIMS], index[ARRAY_DIMS];
    int dim;
    const npy_intp step = from_strides[axis], to_step = to_strides[axis];
    for (dim = 0; dim < ndim; dim++) {
        rows[dim] = dim == axis ? 1 : shape[dim];
        index[dim] = 0;
    }
    do {
        memcpy(to, from, (size_t)itemsize);
        if (shape[axis] > 1) {
            char *args[3] = {to, (char *)from + step, to + to_step};
            npy_intp n = shape[axis] - 1, steps[3] = {to_step, step, to_step};
            loop->function(args, &n, steps, loop->data);
        }
        dim = next_index(ndim, rows, index);
        from += distance(dim, ndim, rows, from_strides);
        to += distance(dim, ndim, rows, to_strides);
    } while (dim >= 0);
}

static PyObject *scan(OperationCode op, Tensor *x, PyObject *axis_value, PyObject *dtype)
{
    npy_intp strides[ARRAY_DIMS];
    Ordered elements;
    const char *data;
    char *out;
    int axis = 0;
    /* As in policy.py, two threads are worth it for half as many elements. */
    if (x->size > limits.at_once / 2 || x->size == 0 || x->ndim == 0 ||
        (data = data_of(x)) == NULL || !is_aligned(x, data)) {
        return DECLINED;
    }
    if (axis_value == NULL || axis_value == Py_None ? x->ndim != 1
                                                    : !take_axis(axis_value, x->ndim, &axis)) {
        return DECLINED;
    }
    const DTypeCode code = accumulator_of((DTypeCode)x->code);
    DTypeCode asked = code;
    if (!take_dtype(dtype, &asked) || asked != code) {
        return DECLINED;
    }
    const ElementLoop *loop = find_loop(op, code);
    if (loop == NULL || loop->result != code) {
        return decline_unless_raised();
    }
    const npy_intp itemsize = dtypes[code].itemsize;
    if (order_elements(&elements, x, data, code) < 0) {
        return NULL;
    }
    dense_strides(x->ndim, x->shape, elements.order, itemsize, strides);
    PyObject *result = new_ordered(x->ndim, x->shape, strides, code, &out);
    if (result != NULL) {
        clear_flags();
        scan_rows(loop, x->ndim, x->shape, axis, elements.data, elements.strides, out, strides,
                  itemsize);
    }
    free_scratch(&elements.scratch);
    return settle(result, names_of.accumulate, result == NULL ? 0 : take_flags());
}

static PyObject *call_scan(int which, PyObject *const *values, Py_ssize_t count)
{
    int initial = 0;
    Tensor *x = layout_of_any(values[0]);
    return x == NULL || !take_flag(values[3], &initial) || initial
               ? DECLINED
               : scan((OperationCode)which, x, values[1], values[2]);
}

/* ------------------------------------------------------------------ differences */

static PyObject *call_diff(int which, PyObject *const *values, Py_ssize_t count)
{
    PyObject *upper = NULL, *lower = NULL, *result = NULL;
    NewView layout;
    Tensor *x = movable(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    int axis = x->ndim - 1;
    if (x->size == 0 || x->ndim == 0 ||
        (values[1] != NULL && !take_axis(values[1], x->ndim, &axis))) {
        return DECLINED;
    }
    const OperationCode op = x->code == BOOL ? OP_NOT_EQUAL : OP_SUBTRACT;
    const npy_intp pairs = x->shape[axis] - 1;
    copy_layout(x, &layout);
    step_along(&layout, axis, 0, pairs, 1);
    lower = show(x, &layout);
    if (lower != NULL) {
        copy_layout(x, &layout);
        step_along(&layout, axis, 1, pairs, 1);
        upper = show(x, &layout);
    }
    if (upper != NULL) {
        result = compute_binary(op, upper, lower);
    }
    Py_XDECREF(upper);
    Py_XDECREF(lower);
    return result;
}

Implementation scan_functions[] = {
    {"diff", call_diff, 0, "x, /, *, axis="},
    {"cumulative_sum", call_scan, OP_ADD, "x, /, *, axis=, dtype=, include_initial="},
    {"cumulative_prod", call_scan, OP_MULTIPLY, "x, /, *, axis=, dtype=, include_initial="},
    {NULL, NULL, 0, NULL},
};
