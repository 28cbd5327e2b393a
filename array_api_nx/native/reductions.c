/* Reductions by one operation: sum, prod, max, min, any, all and count_nonzero. */

#include "reductions.h"
#include "flags.h"
#include "reduce.h"
#include "scalars.h"
#include "truth.h"

ErrorNames error_names;

typedef enum { SUM, PROD, MAX, MIN, ANY, ALL, COUNT_NONZERO, REDUCTION_COUNT } ReductionCode;

static const OperationCode operations[REDUCTION_COUNT] = {
    [SUM] = OP_ADD,        [PROD] = OP_MULTIPLY,   [MAX] = OP_MAXIMUM, [MIN] = OP_MINIMUM,
    [ANY] = OP_LOGICAL_OR, [ALL] = OP_LOGICAL_AND, [COUNT_NONZERO] = OP_ADD,
};

/* The dtype of what is reduced and of the result; NO_DTYPE if Python has to compute. */
static DTypeCode computed_in(ReductionCode op, DTypeCode code)
{
    switch (op) {
    case SUM:
    case PROD:
        return accumulator_of(code);
    case MAX:
    case MIN:
        return is_complex(code) ? NO_DTYPE : code;
    case ANY:
    case ALL:
        return BOOL;
    default:
        return INT64;
    }
}

/* Write the number 0 or 1, `size` times. */
static void fill_identity(char *data, DTypeCode code, npy_intp size, int one)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    memset(data, 0, (size_t)(size * itemsize));
    for (npy_intp i = 0; one && i < size; i++) {
        write_number(data + i * itemsize, code, 1);
    }
}

/* Elements in the dtype in which they are reduced, without gaps, in the order of axes; 0 with an
   exception set if there is no memory. */
static int convert(ReductionCode op, Tensor *x, const char *data, DTypeCode to,
                   const npy_uint8 *order, Scratch *scratch)
{
    const DTypeCode from = (DTypeCode)x->code;
    if (take_scratch(scratch, x->size * dtypes[to].itemsize) < 0) {
        return 0;
    }
    if (op != COUNT_NONZERO || from == BOOL) {
        pack(data, from, x->ndim, x->shape, x->strides, order, to, scratch->data);
        return 1;
    }
    Scratch truth;
    if (take_scratch(&truth, x->size) < 0) {
        free_scratch(scratch);
        return 0;
    }
    const npy_intp step = 1;
    npy_uint8 first = 0;
    pack(data, from, x->ndim, x->shape, x->strides, order, BOOL, truth.data);
    pack(truth.data, BOOL, 1, &x->size, &step, &first, to, scratch->data);
    free_scratch(&truth);
    return 1;
}

/* Reduce elements that are in the right dtype by now. `strides` are theirs. */
static PyObject *reduce_elements(ReductionCode op, const ElementLoop *loop, Tensor *x,
                                 const char *data, const npy_intp *strides,
                                 const npy_uint8 *order, const char *reduced, int keepdims,
                                 DTypeCode code)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    const int copies = op == MAX || op == MIN;
    Reduction plan;
    char *out;
    plan_reduction(&plan, x->ndim, x->shape, strides, order, reduced, keepdims, itemsize);
    if (is_inexact(code) && may_be_buffered(&plan)) {
        return DECLINED;
    }
    PyObject *result = new_reduced(&plan, code, &out);
    if (result == NULL) {
        return NULL;
    }
    if (!copies) {
        fill_identity(out, code, plan.size, op == PROD || op == ALL);
    }
    clear_flags();
    if (op == SUM) {
        run_sum(&plan, code, loop->function, loop->data, data, out);
    } else {
        run_reduction(&plan, loop->function, loop->data, data, out, copies, itemsize);
    }
    return settle(result, error_names.reduce, take_flags());
}

/* any, all or count_nonzero of all elements, which follow each other. */
static PyObject *reduce_truth(ReductionCode op, Tensor *x, const char *data)
{
    char *out;
    const DTypeCode code = (DTypeCode)x->code;
    const ElementLoop *loop = find_loop(OP_NOT_EQUAL, code);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    PyObject *result = new_array_like_memory(0, NULL, op == COUNT_NONZERO ? INT64 : BOOL, 0, &out);
    if (result == NULL) {
        return NULL;
    }
    if (op == COUNT_NONZERO) {
        *(npy_int64 *)out = ask_truth(COUNT_TRUE, loop, data, code, x->size);
    } else {
        *(npy_bool *)out = (npy_bool)ask_truth(op == ANY ? IS_ANY_TRUE : IS_ALL_TRUE, loop, data,
                                               code, x->size);
    }
    return result;
}

static PyObject *reduce(ReductionCode op, Tensor *x, PyObject *axis, PyObject *dtype, int keepdims)
{
    char reduced[ARRAY_DIMS];
    AxisOrder order;
    const char *data;
    /* Larger sums several threads add up, in an order of their own. */
    if (!(op == SUM ? x->size <= limits.at_once : is_computed_now(x->size)) || x->size == 0 ||
        !take_axes(axis, x->ndim, reduced) ||
        (data = data_of(x)) == NULL || !is_aligned(x, data)) {
        return DECLINED;
    }
    const DTypeCode code = computed_in(op, (DTypeCode)x->code);
    DTypeCode asked = code;
    if (code == NO_DTYPE || !take_dtype(dtype, &asked) || asked != code) {
        return DECLINED;
    }
    if (op >= ANY && !keepdims && (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) &&
        memchr(reduced, 0, (size_t)x->ndim) == NULL) {
        return reduce_truth(op, x, data);
    }
    const ElementLoop *loop = find_loop(operations[op], code);
    if (loop == NULL || loop->result != code) {
        return decline_unless_raised();
    }
    if (code == x->code && op != COUNT_NONZERO) {
        order_axes(x->ndim, x->shape, x->strides, order);
        return reduce_elements(op, loop, x, data, x->strides, order, reduced, keepdims, code);
    }
    if (!can_pack((DTypeCode)x->code, code) && op != COUNT_NONZERO) {
        return DECLINED;
    }
    if (op == COUNT_NONZERO && !has_plain_order(x)) {
        return DECLINED;
    }
    Scratch scratch;
    npy_intp strides[ARRAY_DIMS];
    order_axes(x->ndim, x->shape, x->strides, order);
    dense_strides(x->ndim, x->shape, order, dtypes[code].itemsize, strides);
    if (!convert(op, x, data, code, order, &scratch)) {
        return NULL;
    }
    PyObject *result =
        reduce_elements(op, loop, x, scratch.data, strides, order, reduced, keepdims, code);
    free_scratch(&scratch);
    return result;
}

static PyObject *reduction_twin(int code, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *const wanted[] = {NULL, keyword.axis, keyword.keepdims, keyword.dtype};
    PyObject *values[4] = {NULL, NULL, NULL, NULL};
    int keepdims = 0;
    if (!take_arguments(args, count, names, wanted, code == SUM || code == PROD ? 4 : 3, 1,
                        values) ||
        values[0] == NULL || !is_array(values[0]) || !take_flag(values[2], &keepdims)) {
        return DECLINED;
    }
    Tensor *x = layout_of(values[0]);
    return x == NULL ? DECLINED
                     : reduce((ReductionCode)code, x, values[1], values[3], keepdims);
}

const TwinEntry reduction_twins[] = {
    {"sum", reduction_twin, SUM},
    {"prod", reduction_twin, PROD},
    {"max", reduction_twin, MAX},
    {"min", reduction_twin, MIN},
    {"any", reduction_twin, ANY},
    {"all", reduction_twin, ALL},
    {"count_nonzero", reduction_twin, COUNT_NONZERO},
    {NULL, NULL, 0},
};

int add_reductions(PyObject *module)
{
    (void)module;
    error_names.reduce = PyUnicode_InternFromString("reduce");
    error_names.accumulate = PyUnicode_InternFromString("accumulate");
    error_names.divide = PyUnicode_InternFromString("divide");
    error_names.cast = PyUnicode_InternFromString("cast");
    return error_names.reduce != NULL && error_names.accumulate != NULL &&
                   error_names.divide != NULL && error_names.cast != NULL
               ? 0
               : -1;
}
