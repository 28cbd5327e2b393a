/* Reductions by one operation: sum, prod, max, min, any, all and count_nonzero. */

#include "reductions.h"
#include "chapters.h"
#include "conversion.h"
#include "evaluation.h"
#include "flags.h"
#include "layouts.h"
#include "reduce.h"
#include "scalars.h"
#include "truth.h"
#include "welford.h"

typedef enum { SUM, PROD, MAX, MIN, ANY, ALL, COUNT_NONZERO, REDUCTION_COUNT } ReductionCode;

/* The rows of primitives/table.py: in this order, and those of means and variances. */
enum { MEAN = REDUCTION_COUNT, VAR, ROW_COUNT };
static PyObject *rows[ROW_COUNT];

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
static PyObject *reduce_elements(ReductionCode op, const ElementLoop *loop, Ordered *x,
                                 const char *reduced, int keepdims)
{
    const DTypeCode code = x->code;
    const npy_intp itemsize = dtypes[code].itemsize;
    const int copies = op == MAX || op == MIN;
    ReductionPlan plan;
    char *out;
    plan_reduction(&plan, x->ndim, x->shape, x->strides, x->order, reduced, keepdims, itemsize);
    if (is_inexact(code) && !copies && may_be_buffered(&plan)) {
        const int packed = pack_as_buffer(&plan, x);
        if (packed <= 0) {
            return packed < 0 ? NULL : DECLINED;
        }
        plan_reduction(&plan, x->ndim, x->shape, x->strides, x->order, reduced, keepdims, itemsize);
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
    } else if (copies) {
        run_extremes(&plan, code, op == MIN, loop->function, loop->data, x->data, out);
    } else {
        run_reduction(&plan, loop->function, loop->data, x->data, out, 0, itemsize);
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

static PyObject *truth_array(int truth)
{
    char *out;
    PyObject *result = new_element(BOOL, &out);
    if (result != NULL) {
        *out = (char)truth;
    }
    return result;
}

/* any, all or count_nonzero of all elements, which follow each other. */
static PyObject *reduce_truth(ReductionCode op, Tensor *x, const char *data)
{
    char *out;
    const DTypeCode code = dtypes[x->code].itemsize == 1 ? BOOL : (DTypeCode)x->code; /* any byte but 0 is true */
    if (op != COUNT_NONZERO) {
        return truth_array(ask_truth(op == ANY ? IS_ANY_TRUE : IS_ALL_TRUE, data, code, x->size) != 0);
    }
    PyObject *result = new_element(NX_INT64, &out);
    if (result != NULL) {
        *(npy_int64 *)out = ask_truth(COUNT_TRUE, data, code, x->size);
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
    if (is_inexact(code)) {
        write_number(identity->bytes, code, op == MAX ? -NPY_INFINITY : NPY_INFINITY);
        return 1;
    }
    /* An integer's lowest and highest number differ in all bits. */
    const npy_intp bits = 8 * dtypes[code].itemsize;
    const npy_uint64 lowest = code == BOOL || is_unsigned(code) ? 0 : (npy_uint64)1 << (bits - 1);
    identity->words[0] = op == MAX ? lowest : code == BOOL ? 1 : ~lowest;
    return 1;
}

static PyObject *fold(Reduction *, Tensor *, int, const char *, int, double);

/* `fold` of an array whose axes have another order in memory than in rows: the result's axes have that order, too. */
static PyObject *fold_in_order(Reduction *reduction, Tensor *x, const npy_uint8 *order, const char *reduced, int keepdims,
                               double correction)
{
    char reordered[ARRAY_DIMS];
    AxisOrder kept;
    int count = 0;
    for (int i = 0; i < x->ndim; i++) {
        reordered[x->ndim - 1 - i] = reduced[order[i]];
        if (!reduced[order[i]] || keepdims) {
            kept[count] = 0; /* the axis of the result: as many are kept before it */
            for (int axis = 0; axis < order[i]; axis++) {
                kept[count] = (npy_uint8)(kept[count] + (!reduced[axis] || keepdims));
            }
            count++;
        }
    }
    Tensor *view = view_in_order(x, x->ndim, order);
    PyObject *result = view == NULL ? NULL : fold(reduction, view, 0, reordered, keepdims, correction);
    Py_XDECREF(view);
    return result_in_order(result, kept);
}

/* Fold an array of many elements along the axes that are marked, along with the operations that it waits for: now, if the
   result is one number that is likely to be read next; else when it is needed. The reduction's divisor is that of the
   number of elements for each result, which is less by the correction. */
static PyObject *fold(Reduction *reduction, Tensor *x, int is_temporary, const char *reduced, int keepdims,
                      double correction)
{
    AxisOrder order;
    order_axes(x->ndim, x->shape, x->strides, order);
    if (!is_row_order(x->ndim, order)) {
        return fold_in_order(reduction, x, order, reduced, keepdims, correction);
    }
    npy_intp results = 1;
    double count = 1;
    for (int axis = 0; axis < x->ndim; axis++) {
        reduction->reduced[axis] = reduced[axis];
        count *= reduced[axis] ? (double)x->shape[axis] : 1;
        results *= reduced[axis] ? 1 : x->shape[axis];
    }
    if (reduction->kind == ADD_MOMENTS && results * reduction->accumulator_bytes > x->size * dtypes[x->code].itemsize) {
        return DECLINED; /* moments of so few elements each would take more memory than these */
    }
    reduction->keepdims = keepdims;
    reduction->divisor = count - correction > 0 ? count - correction : NPY_NAN;
    PyObject *result = DECLINED;
    if (is_recorded_size(x->size) && x->size > (results > 1 ? limits.at_once : limits.large)) {
        result = record_reduction(reduction, x, 0);
    }
    if (result == DECLINED) {
        Recording before;
        record_all(&before);
        result = record_reduction(reduction, x, 1);
        record_as_before(&before);
        if (result != NULL && result != DECLINED &&
            !evaluate_reduction((Storage *)tensor_of(result)->storage, is_temporary)) {
            Py_CLEAR(result);
        }
    }
    return result;
}

/* Reduce an array of many elements. `divide` makes a mean of a sum. */
static PyObject *reduce_large(ReductionCode op, Tensor *x, int is_temporary, const char *reduced, DTypeCode code,
                              int keepdims, const ElementLoop *divide)
{
    Reduction reduction;
    const DTypeCode element = (DTypeCode)x->code;
    const int counts = element == BOOL && (op == SUM || op == COUNT_NONZERO);
    if (op == COUNT_NONZERO && !counts) {
        return DECLINED;
    }
    const ElementLoop *loop = find_loop(operations[op], code);
    if (loop == NULL || loop->result != code || (element != code && !counts) || (is_complex(code) && op != SUM) ||
        (op == SUM && is_inexact(code) && !is_summed(code)) || (is_float16(code) && op == PROD) || x->ndim > NODE_DIMS ||
        !find_identity(op, code, &reduction.identity)) {
        return decline_unless_raised();
    }
    reduction.kind = counts ? COUNT_ONES : op == SUM && is_inexact(code) ? ADD_RUNS : RUN_LOOP;
    reduction.operation = operations[op];
    reduction.row = rows[divide != NULL ? MEAN : op];
    reduction.loop = loop;
    reduction.is_divisible = op != PROD || !is_inexact(code);
    reduction.element = element;
    reduction.result = code;
    reduction.accumulator_bytes = dtypes[code].itemsize;
    reduction.divide = divide;
    return fold(&reduction, x, is_temporary, reduced, keepdims, 0);
}

PyObject *average_large(Tensor *x, int is_temporary, const char *reduced, int keepdims, const ElementLoop *divide)
{
    return reduce_large(SUM, x, is_temporary, reduced, (DTypeCode)x->code, keepdims, divide);
}

PyObject *find_variances(Tensor *x, int is_temporary, const char *reduced, int keepdims, double correction)
{
    Reduction reduction = {.kind = ADD_MOMENTS, .operation = OP_ADD, .row = rows[VAR], .is_divisible = 1,
                           .element = (DTypeCode)x->code, .result = (DTypeCode)x->code,
                           .accumulator_bytes = sizeof(Moments)};
    return x->ndim > NODE_DIMS ? DECLINED : fold(&reduction, x, is_temporary, reduced, keepdims, correction);
}

/* Whether an array is folded: of few elements, sums have the bits of NumPy's. */
static int is_folded(ReductionCode op, PyObject *array)
{
    return tensor_of(array)->size > limits.at_once ||
           (pending_of(array) != NULL && is_recorded_size(tensor_of(array)->size) && op != SUM && op != PROD);
}

/* So many booleans are asked by this thread, in 60 microseconds; of more the first ones, before several threads ask. */
enum { ASKED_ALONE = 1 << 22 };

/* Whether `any` or `all` of many elements is known without several threads. */
static int is_settled(ReductionCode op, Tensor *x, int *truth)
{
    const char *data = x->code == BOOL && (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) ? data_of(x) : NULL;
    if (data == NULL) {
        return 0;
    }
    const npy_intp asked = x->size <= ASKED_ALONE ? x->size : limits.at_once;
    *truth = ask_truth(op == ANY ? IS_ANY_TRUE : IS_ALL_TRUE, data, BOOL, asked) != 0;
    return asked == x->size || *truth == (op == ANY);
}

/* Whether it takes less time than NumPy to reduce the truths of many numbers: not of complex ones, and to ask rows of them
   whether they are true, not to find out column by column. */
static int is_found_by_truths(ReductionCode op, const Tensor *x, int is_asked, const char *reduced)
{
    return op >= ANY && !is_asked && !is_complex(x->code) && (op == COUNT_NONZERO || reduced[x->ndim - 1]);
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
    const int is_whole = !keepdims && memchr(reduced, 0, (size_t)x->ndim) == NULL;
    const int is_asked = op >= ANY && is_whole && (x->flags & (ROW_MAJOR | COLUMN_MAJOR));
    if (is_folded(op, array)) {
        int truth;
        if (is_whole && (op == ANY || op == ALL) && pending_of(array) == NULL && is_settled(op, x, &truth)) {
            return truth_array(truth);
        }
        PyObject *result = reduce_large(op, x, is_temporary(array), reduced, code, keepdims, NULL);
        const DTypeCode wanted = op <= PROD ? code : BOOL;
        if (result == DECLINED && x->code != wanted && (op <= PROD || is_found_by_truths(op, x, is_asked, reduced)) &&
            !PyErr_Occurred()) {
            PyObject *cast = cast_array(x, wanted); /* in the pass that reduces */
            if (cast != NULL && cast != DECLINED) {
                result = reduce_large(op, tensor_of(cast), 1, reduced, code, keepdims, NULL);
                Py_DECREF(cast);
            }
        }
        if (result != DECLINED) {
            return result;
        }
    }
    const int is_small = op == SUM && !is_complex(code) ? x->size <= limits.at_once : is_computed_now(x->size);
    if (!(is_asked || is_small) || (data = data_of(x)) == NULL || !is_aligned(x, data)) {
        return DECLINED;
    }
    if (is_asked) {
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

/* np.ptp(x): how far the largest element is from the smallest. */
static PyObject *call_ptp(int which, PyObject *const *values, Py_ssize_t count)
{
    int keepdims = 0;
    const Tensor *x = layout_of_any(values[0]);
    if (x == NULL || x->code == BOOL || is_complex(x->code) || !take_flag(values[2], &keepdims)) {
        return DECLINED;
    }
    PyObject *largest = reduce(MAX, values[0], values[1], NULL, keepdims);
    PyObject *smallest = is_answer(largest) ? reduce(MIN, values[0], values[1], NULL, keepdims) : Py_XNewRef(largest);
    PyObject *result = is_answer(smallest) ? compute_binary(OP_SUBTRACT, largest, smallest) : Py_XNewRef(smallest);
    drop_answer(largest);
    drop_answer(smallest);
    return result;
}

/* The root of the product of a vector and itself; of an array that lies row by row as one vector. */
static PyObject *norm_of_all(PyObject *array)
{
    FIND_ONCE(matmul, "matmul")
    FIND_ONCE(ravel, "ravel")
    PyObject *vector = tensor_of(array)->ndim == 1 ? Py_NewRef(array) : ravel->compute(ravel->code, &array, 1);
    if (vector == NULL || vector == DECLINED) {
        return vector;
    }
    PyObject *const operands[2] = {vector, vector};
    PyObject *square = matmul->compute(matmul->code, operands, 2);
    Py_DECREF(vector);
    if (square == NULL || square == DECLINED) {
        return square;
    }
    PyObject *norm = compute_unary(OP_SQRT, square);
    Py_DECREF(square);
    return norm;
}

/* The root of the sum of squares along axes: of squares and sums that wait, when it is needed. Squares may warn: what cannot
   be added up here is not squared. */
static PyObject *root_of_squares(PyObject *array, PyObject *axis, int keepdims)
{
    char reduced[ARRAY_DIMS];
    const Tensor *x = tensor_of(array);
    if (x->size == 0 || x->ndim > NODE_DIMS || !take_axes(axis, x->ndim, reduced)) {
        return decline_unless_raised();
    }
    PyObject *squares = compute_binary(OP_MULTIPLY, array, array);
    if (squares == NULL || squares == DECLINED) {
        return squares;
    }
    PyObject *sums = reduce(SUM, squares, axis, NULL, keepdims);
    Py_DECREF(squares);
    if (sums == NULL || sums == DECLINED) {
        return sums;
    }
    PyObject *norms = compute_unary(OP_SQRT, sums);
    Py_DECREF(sums);
    return norms;
}

/* Norms of real vectors. Of another order than 2 Python's; `takes_none` says that None stands for that, and that only one axis
   makes vectors. */
static PyObject *call_norm(int takes_none, PyObject *const *values, Py_ssize_t count)
{
    int keepdims = 0;
    const Tensor *x = layout_of_any(values[0]);
    PyObject *const ord = values[1], *const axis = values[2];
    const int is_euclidean = ord == NULL || (ord == Py_None ? takes_none : PyLong_CheckExact(ord) && PyLong_AsLong(ord) == 2);
    if (x == NULL || (x->code != FLOAT32 && x->code != FLOAT64) || !is_euclidean || !take_flag(values[3], &keepdims)) {
        return decline_unless_raised();
    }
    if (takes_none && x->ndim > 0 && x->size > 0 && (x->ndim == 1 || !is_given(ord)) && !is_given(axis) && values[3] == NULL) {
        return norm_of_all(values[0]);
    }
    return takes_none && (axis == NULL || !PyLong_CheckExact(axis)) ? DECLINED : root_of_squares(values[0], axis, keepdims);
}

/* Frobenius norms of real matrices. */
static PyObject *call_matrix_norm(int which, PyObject *const *values, Py_ssize_t count)
{
    int keepdims = 0;
    const Tensor *x = layout_of_any(values[0]);
    PyObject *const ord = values[2];
    const int is_frobenius =
        !is_given(ord) || (PyUnicode_Check(ord) && PyUnicode_CompareWithASCIIString(ord, "fro") == 0);
    if (x == NULL || (x->code != FLOAT32 && x->code != FLOAT64) || x->ndim < 2 || !is_frobenius ||
        !take_flag(values[1], &keepdims)) {
        return decline_unless_raised();
    }
    PyObject *axes = Py_BuildValue("(ii)", x->ndim - 2, x->ndim - 1);
    PyObject *norms = axes == NULL ? NULL : root_of_squares(values[0], axes, keepdims);
    Py_XDECREF(axes);
    return norms;
}

/* The reduction of arrays along a new first axis: one operation after the other, as NumPy computes it. */
static PyObject *fold_arrays(int op, PyObject *const *arrays, Py_ssize_t count)
{
    const OperationCode operation = op == SUM   ? OP_ADD
                                    : op == MAX ? OP_MAXIMUM
                                    : op == MIN ? OP_MINIMUM
                                    : op == ANY ? OP_LOGICAL_OR
                                                : OP_LOGICAL_AND;
    const Tensor *first = count < 2 ? NULL : layout_of_any(arrays[0]);
    PyObject *result = NULL;
    if (first == NULL || first->ndim == 0) {
        return decline_unless_raised();
    }
    const DTypeCode code = (DTypeCode)first->code;
    if (op == SUM ? accumulator_of(code) != code : (op == ANY || op == ALL) != (code == BOOL) || is_complex(code)) {
        return DECLINED;
    }
    for (Py_ssize_t i = 1; i < count; i++) {
        const Tensor *x = layout_of_any(arrays[i]);
        if (x == NULL || x->code != code || !has_shape(x, first->ndim, first->shape)) {
            return decline_unless_raised();
        }
    }
    for (Py_ssize_t i = 1; i < count; i++) {
        PyObject *next = compute_binary(operation, i == 1 ? arrays[0] : result, arrays[i]);
        Py_XDECREF(result);
        result = next;
        if (!is_answer(result)) {
            return result;
        }
    }
    return result;
}

/* The method `reduce` of a ufunc, along the first axis if none is given. */
static PyObject *call_method(int op, PyObject *const *values, Py_ssize_t count)
{
    if (PyList_CheckExact(values[0])) {
        if (values[1] != NULL || values[2] != NULL || values[3] != NULL) {
            return DECLINED;
        }
        PyObject *arrays = PyList_AsTuple(values[0]); /* the list may change where finalisers run */
        PyObject *result = arrays == NULL ? NULL : fold_arrays(op, &PyTuple_GET_ITEM(arrays, 0), PyTuple_GET_SIZE(arrays));
        Py_XDECREF(arrays);
        return result;
    }
    const Tensor *x = layout_of_any(values[0]);
    if (x == NULL || (is_complex(x->code) && op != SUM) || (is_given(values[2]) && op != SUM)) {
        return DECLINED;
    }
    PyObject *first = values[1] == NULL && x->ndim > 0 ? PyLong_FromLong(0) : NULL;
    PyObject *const given[4] = {values[0], first == NULL ? values[1] : first, values[3], values[2]};
    PyObject *result = PyErr_Occurred() ? NULL : call_reduction(op, given, 1);
    Py_XDECREF(first);
    return result;
}

Implementation reduction_functions[] = {
    {"add.reduce", call_method, SUM, "array, axis=, dtype=, *, keepdims="},
    {"maximum.reduce", call_method, MAX, "array, axis=, dtype=, *, keepdims="},
    {"minimum.reduce", call_method, MIN, "array, axis=, dtype=, *, keepdims="},
    {"logical_or.reduce", call_method, ANY, "array, axis=, dtype=, *, keepdims="},
    {"logical_and.reduce", call_method, ALL, "array, axis=, dtype=, *, keepdims="},
    {"sum", call_reduction, SUM, "x, /, *, axis=, keepdims=, dtype="},
    {"prod", call_reduction, PROD, "x, /, *, axis=, keepdims=, dtype="},
    {"max", call_reduction, MAX, "x, /, *, axis=, keepdims="},
    {"min", call_reduction, MIN, "x, /, *, axis=, keepdims="},
    {"any", call_reduction, ANY, "x, /, *, axis=, keepdims="},
    {"all", call_reduction, ALL, "x, /, *, axis=, keepdims="},
    {"count_nonzero", call_reduction, COUNT_NONZERO, "x, /, *, axis=, keepdims="},
    {"ptp", call_ptp, 0, "a, /, *, axis=, keepdims="},
    {"norm", call_norm, 1, "x, /, ord=, axis=, *, keepdims="},
    {"vector_norm", call_norm, 0, "x, /, *, ord=, axis=, keepdims="},
    {"matrix_norm", call_matrix_norm, 0, "x, /, *, keepdims=, ord="},
    {NULL, NULL, 0, NULL},
};

static PyObject *set_reductions(PyObject *module, PyObject *args)
{
    PyObject *given;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &given)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(given) != ROW_COUNT) {
        return PyErr_Format(PyExc_ValueError, "there must be %d rows", ROW_COUNT);
    }
    for (int i = 0; i < ROW_COUNT; i++) {
        Py_XSETREF(rows[i], Py_NewRef(PyTuple_GET_ITEM(given, i)));
    }
    Py_RETURN_NONE;
}

PyMethodDef reductions_methods[] = {
    {"set_reductions", set_reductions, METH_VARARGS,
     "set_reductions(rows)\n--\n\n"
     "The rows of primitives/table.py of sum, prod, max, min, any, all, count_nonzero and mean."},
    {NULL, NULL, 0, NULL},
};
