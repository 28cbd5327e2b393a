/* Reductions by one operation: sum, prod, max, min, any, all and count_nonzero. */

#include "reductions.h"
#include "chapters.h"
#include "evaluation.h"
#include "flags.h"
#include "reduce.h"
#include "scalars.h"
#include "truth.h"

typedef enum { SUM, PROD, MAX, MIN, ANY, ALL, COUNT_NONZERO, REDUCTION_COUNT } ReductionCode;

static const OperationCode operations[REDUCTION_COUNT] = {
    [SUM] = OP_ADD,        [PROD] = OP_MULTIPLY,   [MAX] = OP_MAXIMUM, [MIN] = OP_MINIMUM,
    [ANY] = OP_LOGICAL_OR, [ALL] = OP_LOGICAL_AND, [COUNT_NONZERO] = OP_ADD,
};

/* The dtype of the accumulators and of the result; NO_DTYPE if Python has to compute. */
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
        return NX_INT64;
    }
}

/* Write the number 0 or 1, `size` times. */
static void fill_identity(char *data, DTypeCode code, npy_intp size, int one)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    memset(data, 0, (size_t)(size * itemsize));
    if (one) {
        write_number(data, code, 1);
        repeat_bytes(data, itemsize, size * itemsize);
    }
}

/* Reduce elements that are in the right dtype by now. */
static PyObject *reduce_elements(ReductionCode op, const ElementLoop *loop, const Ordered *x,
                                 const char *reduced, int keepdims)
{
    const DTypeCode code = x->code;
    const npy_intp itemsize = dtypes[code].itemsize;
    const int copies = op == MAX || op == MIN;
    ReductionPlan plan;
    char *out;
    plan_reduction(&plan, x->ndim, x->shape, x->strides, x->order, reduced, keepdims, itemsize);
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
        run_sum(&plan, code, loop->function, loop->data, x->data, out);
    } else {
        run_reduction(&plan, loop->function, loop->data, x->data, out, copies, itemsize);
    }
    return settle(result, names_of.reduce, take_flags());
}

/* count_nonzero: the sum of whether they are true. */
static PyObject *count_elements(const ElementLoop *loop, const Tensor *x, const char *data,
                                const char *reduced, int keepdims)
{
    Ordered truth, ones;
    if (order_elements(&truth, x, data, BOOL) < 0) {
        return NULL;
    }
    Tensor layout = *x; /* of the truth */
    layout.code = BOOL;
    layout.strides = (npy_intp *)truth.strides;
    PyObject *result = NULL;
    if (order_elements(&ones, &layout, truth.data, NX_INT64) == 0) {
        result = reduce_elements(COUNT_NONZERO, loop, &ones, reduced, keepdims);
        free_scratch(&ones.scratch);
    }
    free_scratch(&truth.scratch);
    return result;
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
    PyObject *result = new_array_like_memory(0, NULL, op == COUNT_NONZERO ? NX_INT64 : BOOL, 0, &out);
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

/* The number that changes no number of a dtype by a reduction; 0 if there is none here. */
static int find_identity(ReductionCode op, DTypeCode code, Element *identity)
{
    *identity = (Element){{0, 0}};
    if (op == PROD || op == ALL) {
        write_number(identity->bytes, code, 1);
        return 1;
    }
    if (op != MAX && op != MIN) {
        return 1;
    }
    if (code == FLOAT64 || code == FLOAT32) {
        write_number(identity->bytes, code, op == MAX ? -NPY_INFINITY : NPY_INFINITY);
        return 1;
    }
    if (is_inexact(code)) {
        return 0;
    }
    /* An integer's lowest and highest number differ in all bits. */
    const npy_intp bits = 8 * dtypes[code].itemsize;
    const npy_uint64 lowest = code == BOOL || is_unsigned(code) ? 0 : (npy_uint64)1 << (bits - 1);
    identity->words[0] = op == MAX ? lowest : code == BOOL ? 1 : ~lowest;
    return 1;
}

/* Reduce an array of many elements along with the operations that it waits for. */
static PyObject *reduce_large(ReductionCode op, Tensor *x, int is_temporary, const char *reduced, DTypeCode code,
                              int keepdims)
{
    Element identity;
    const DTypeCode element = (DTypeCode)x->code;
    const int counts = element == BOOL && (op == SUM || op == COUNT_NONZERO);
    if (op == COUNT_NONZERO && !counts) {
        return DECLINED;
    }
    const ElementLoop *loop = find_loop(operations[op], code);
    if (loop == NULL || loop->result != code || (element != code && !counts) || is_complex(code) ||
        is_float16(code) ||
        !find_identity(op, code, &identity)) {
        return decline_unless_raised();
    }
    Fold fold = {.kind = counts                             ? COUNT_ONES
                         : op == SUM && is_inexact(code)    ? ADD_RUNS
                                                            : RUN_LOOP,
                 .operation = operations[op],
                 .loop = loop,
                 .is_divisible = op != PROD || !is_inexact(code),
                 .element = element,
                 .accumulator = code};
    return fold_array(x, is_temporary, reduced, keepdims, &fold, &identity);
}

PyObject *sum_large(Tensor *x, int is_temporary, const char *reduced, int keepdims)
{
    return reduce_large(SUM, x, is_temporary, reduced, (DTypeCode)x->code, keepdims);
}

/* Whether an array of a size that is folded is: of few elements, sums have the bits of NumPy's; of what is in
   memory, the first element may tell `any`. */
static int is_folded(ReductionCode op, PyObject *array)
{
    const int is_large = tensor_of(array)->size > limits.at_once;
    return pending_of(array) != NULL ? is_large || (op != SUM && op != PROD) : is_large && op != ANY && op != ALL;
}

static PyObject *reduce(ReductionCode op, PyObject *array, PyObject *axis, PyObject *dtype, int keepdims)
{
    char reduced[ARRAY_DIMS];
    Ordered elements;
    const char *data;
    Tensor *x = tensor_of(array);
    const DTypeCode code = computed_in(op, (DTypeCode)x->code);
    DTypeCode asked = code;
    if (code == NO_DTYPE || x->size == 0 || !take_axes(axis, x->ndim, reduced) || !take_dtype(dtype, &asked) ||
        asked != code) {
        return DECLINED;
    }
    if (is_folded_size(x->size) && is_folded(op, array)) {
        PyObject *result = reduce_large(op, x, is_temporary(array), reduced, code, keepdims);
        if (result != DECLINED) {
            return result;
        }
    }
    /* Larger sums several threads add up, in an order of their own. */
    if (!(op == SUM ? x->size <= limits.at_once : is_computed_now(x->size)) ||
        (data = data_of(x)) == NULL || !is_aligned(x, data)) {
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
    if (op == COUNT_NONZERO) {
        return has_plain_order(x) ? count_elements(loop, x, data, reduced, keepdims) : DECLINED;
    }
    if (!can_pack((DTypeCode)x->code, code)) {
        return DECLINED;
    }
    if (order_elements(&elements, x, data, code) < 0) {
        return NULL;
    }
    PyObject *result = reduce_elements(op, loop, &elements, reduced, keepdims);
    free_scratch(&elements.scratch);
    return result;
}

static PyObject *call_reduction(int which, PyObject *const *values, Py_ssize_t count)
{
    int keepdims = 0;
    Tensor *x = layout_of_any(values[0]);
    return x == NULL || !take_flag(values[2], &keepdims)
               ? DECLINED
               : reduce((ReductionCode)which, values[0], values[1], which <= PROD ? values[3] : NULL, keepdims);
}

Implementation reduction_functions[] = {
    {"sum", call_reduction, SUM, "x, /, *, axis=, keepdims=, dtype="},
    {"prod", call_reduction, PROD, "x, /, *, axis=, keepdims=, dtype="},
    {"max", call_reduction, MAX, "x, /, *, axis=, keepdims="},
    {"min", call_reduction, MIN, "x, /, *, axis=, keepdims="},
    {"any", call_reduction, ANY, "x, /, *, axis=, keepdims="},
    {"all", call_reduction, ALL, "x, /, *, axis=, keepdims="},
    {"count_nonzero", call_reduction, COUNT_NONZERO, "x, /, *, axis=, keepdims="},
    {NULL, NULL, 0, NULL},
};
