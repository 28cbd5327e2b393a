/* The order in which NumPy reduces. */

#include "reduce.h"
#include "compiler.h"
#include "elements.h"
#include "functions.h"
#include "nest.h"

int take_axes(PyObject *value, int ndim, char *reduced)
{
    int axis;
    if (value == NULL || value == Py_None) {
        memset(reduced, 1, (size_t)ndim);
        return 1;
    }
    memset(reduced, 0, (size_t)ndim);
    if (!PyTuple_CheckExact(value)) {
        if (!take_axis(value, ndim, &axis)) {
            return 0;
        }
        reduced[axis] = 1;
        return 1;
    }
    const Py_ssize_t count = PyTuple_GET_SIZE(value);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!take_axis(PyTuple_GET_ITEM(value, i), ndim, &axis) || reduced[axis]) {
            return 0;
        }
        reduced[axis] = 1;
    }
    return count > 0 || ndim == 0;
}

void plan_reduction(ReductionPlan *plan, int ndim, const npy_intp *shape, const npy_intp *strides,
                    const npy_uint8 *order, const char *reduced, int keepdims, npy_intp itemsize)
{
    npy_uint8 places[ARRAY_DIMS];
    const npy_intp *const given[2] = {plan->from, plan->to};
    npy_intp *const merged[2] = {plan->from, plan->to};
    plan->ndim = 0;
    plan->size = plan->count = 1;
    for (int axis = 0; axis < ndim; axis++) {
        places[axis] = (npy_uint8)plan->ndim;
        if (!reduced[axis] || keepdims) {
            plan->shape[plan->ndim++] = reduced[axis] ? 1 : shape[axis];
        }
    }
    for (int i = 0; i < ndim; i++) {
        const int axis = order[i];
        const npy_intp stride = plan->size * itemsize;
        if (!reduced[axis] || keepdims) {
            plan->strides[places[axis]] = stride;
        }
        plan->lengths[ndim - 1 - i] = shape[axis];
        plan->from[ndim - 1 - i] = strides[axis];
        plan->to[ndim - 1 - i] = reduced[axis] ? 0 : stride;
        *(reduced[axis] ? &plan->count : &plan->size) *= shape[axis];
    }
    plan->axes = merge_axes(ndim, plan->lengths, 2, given, plan->lengths, merged);
}

int may_be_buffered(const ReductionPlan *plan)
{
    return plan->axes > 1 && plan->to[plan->axes - 1] == 0 && plan->to[plan->axes - 2] == 0;
}

int has_plain_order(const Tensor *x)
{
    if (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) {
        return 1;
    }
    for (int i = 0; i < x->ndim; i++) {
        for (int j = 0; j <= i && x->shape[i] > 1; j++) {
            const npy_intp one = x->strides[i], other = x->strides[j];
            if (one == 0 || (j < i && x->shape[j] > 1 && (one == other || one == -other))) {
                return 0;
            }
        }
    }
    return 1;
}

int settle_strides(ReductionPlan *plan, npy_intp itemsize)
{
    npy_intp strides[ARRAY_DIMS];
    AxisOrder order;
    int ones = 0;
    for (int i = 0; i < plan->ndim; i++) {
        ones += plan->shape[i] == 1;
    }
    /* Row-major results stay so, then column-major ones. */
    for (int turned = 0; turned < 2; turned++) {
        int same = 1;
        order_rows(plan->ndim, order);
        for (int i = 0; turned && i < plan->ndim; i++) {
            order[i] = (npy_uint8)i;
        }
        dense_strides(plan->ndim, plan->shape, order, itemsize, strides);
        for (int i = 0; i < plan->ndim; i++) {
            same = same && (plan->shape[i] == 1 || strides[i] == plan->strides[i]);
        }
        if (same) {
            memcpy(plan->strides, strides, (size_t)plan->ndim * sizeof(npy_intp));
            return 1;
        }
    }
    return ones == 0;
}

void run_reduction(const ReductionPlan *plan, PyUFuncGenericFunction function, void *data,
                   const char *from, char *to, int copies, npy_intp itemsize)
{
    npy_intp index[ARRAY_DIMS];
    int reduced = 0; /* how many of the outer axes are reduced and not at their beginning */
    const int last = plan->axes - 1;
    const npy_intp length = last >= 0 ? plan->lengths[last] : 1;
    const npy_intp from_step = last >= 0 ? plan->from[last] : 0;
    const npy_intp to_step = last >= 0 ? plan->to[last] : 0;
    memset(index, 0, (size_t)plan->axes * sizeof(npy_intp));
    for (;;) {
        npy_intp n = length, skipped = 0;
        if (copies && reduced == 0) {
            skipped = to_step == 0 ? 1 : length;
            copy_row(to, to_step, from, from_step, skipped, itemsize);
            n -= skipped;
        }
        if (n > 0) {
            /* Loops may change their arguments. */
            char *args[3] = {to, (char *)from + skipped * from_step, to};
            npy_intp steps[3] = {to_step, from_step, to_step};
            function(args, &n, steps, data);
        }
        /* As next_index, with which sums of rows of five elements take 1.2 times as long. */
        int dim = last - 1;
        while (dim >= 0 && ++index[dim] == plan->lengths[dim]) {
            from -= plan->from[dim] * (plan->lengths[dim] - 1);
            to -= plan->to[dim] * (plan->lengths[dim] - 1);
            reduced -= plan->to[dim] == 0;
            index[dim--] = 0;
        }
        if (dim < 0) {
            return;
        }
        from += plan->from[dim];
        to += plan->to[dim];
        reduced += plan->to[dim] == 0 && index[dim] == 1;
    }
}

/* Rows of at most so many columns are added to each other here, without calls (docs/tuning.md, 16). */
enum { FEW_SUMS = 32 };

/* Add WIDTH columns, in vector registers, to their sums. */
#define ADD_COLUMNS(TYPE, WIDTH)                                                                   \
    for (; columns - done >= (WIDTH); done += (WIDTH)) {                                           \
        TYPE sums[WIDTH];                                                                          \
        memcpy(sums, to + done, sizeof(sums));                                                     \
        for (npy_intp row = 0; row < rows; row++) {                                                \
            const TYPE *elements = (const TYPE *)(from + row * step) + done;                       \
            for (int i = 0; i < (WIDTH); i++) {                                                    \
                sums[i] += elements[i];                                                            \
            }                                                                                      \
        }                                                                                          \
        memcpy(to + done, sums, sizeof(sums));                                                     \
    }

#define ADD_ROWS(NAME, TYPE)                                                                       \
    CLONED static void NAME(const char *from, npy_intp step, TYPE *to, npy_intp rows,              \
                            npy_intp columns)                                                      \
    {                                                                                              \
        npy_intp done = 0;                                                                         \
        ADD_COLUMNS(TYPE, 32)                                                                      \
        ADD_COLUMNS(TYPE, 16)                                                                      \
        ADD_COLUMNS(TYPE, 8)                                                                       \
        ADD_COLUMNS(TYPE, 4)                                                                       \
        ADD_COLUMNS(TYPE, 1)                                                                       \
    }

ADD_ROWS(add_rows_4, npy_float)
ADD_ROWS(add_rows_8, npy_double)

void run_sum(const ReductionPlan *plan, DTypeCode code, PyUFuncGenericFunction function, void *data,
             const char *from, char *to)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    const int last = plan->axes - 1, rows = last - 1;
    if ((code != FLOAT32 && code != FLOAT64) || last < 1 || plan->lengths[last] > FEW_SUMS ||
        plan->from[last] != itemsize || plan->to[last] != itemsize || plan->to[rows] != 0) {
        run_reduction(plan, function, data, from, to, 0, 0);
        return;
    }
    npy_intp index[ARRAY_DIMS] = {0};
    int dim;
    do {
        if (code == FLOAT32) {
            add_rows_4(from, plan->from[rows], (npy_float *)to, plan->lengths[rows], plan->lengths[last]);
        } else {
            add_rows_8(from, plan->from[rows], (npy_double *)to, plan->lengths[rows], plan->lengths[last]);
        }
        dim = next_index(rows, plan->lengths, index);
        from += distance(dim, rows, plan->lengths, plan->from);
        to += distance(dim, rows, plan->lengths, plan->to);
    } while (dim >= 0);
}

PyObject *new_ordered(int ndim, const npy_intp *shape, const npy_intp *strides, DTypeCode code,
                      char **data)
{
    PyObject *result = new_array_like_memory(ndim, shape, code, 0, data);
    if (result == NULL) {
        return NULL;
    }
    Tensor *tensor = tensor_of(result);
    if (memcmp(tensor->strides, strides, (size_t)ndim * sizeof(npy_intp)) != 0) {
        memcpy(tensor->strides, strides, (size_t)ndim * sizeof(npy_intp));
        finish_layout(tensor, 0);
    }
    return result;
}

PyObject *new_reduced(const ReductionPlan *plan, DTypeCode code, char **data)
{
    return new_ordered(plan->ndim, plan->shape, plan->strides, code, data);
}
