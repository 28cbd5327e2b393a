/* Running sums, products and extremes, along one axis. */

#include "chapters.h"
#include "elementwise.h"
#include "flags.h"
#include "inner_loops.h"
#include "movement.h"
#include "nest.h"
#include "reduce.h"
#include "reductions.h"
#include "threads.h"

/* ------------------------------------------------------------------ along rows */

/* As an operation's loop on operands of which the first is the target one element before. That is not read again: a processor
   takes three times as long to write a number and to read it as to add to it. */
#define RUNNING(NAME, TYPE, OP)                                                       \
    LOOP(NAME)                                                                        \
    {                                                                                 \
        const npy_intp n = *count, step = steps[1], to_step = steps[2];               \
        const char *source = args[1];                                                 \
        char *target = args[2];                                                       \
        TYPE total = *(const TYPE *)args[0];                                          \
        for (npy_intp i = 0; i < n; i++, source += step, target += to_step) {         \
            const TYPE number = *(const TYPE *)source;                                \
            total = OP(total, number);                                                \
            *(TYPE *)target = total;                                                  \
        }                                                                             \
    }

#define ADDED(a, b) (a + b)
#define MULTIPLIED(a, b) (a * b)
#define GREATER(a, b) (a >= b || a != a ? a : b)
#define LESSER(a, b) (a <= b || a != a ? a : b)
RUNNING(run_sum_of_floats, npy_float, ADDED)
RUNNING(run_sum_of_doubles, npy_double, ADDED)
RUNNING(run_sum_of_integers, npy_uint64, ADDED)
RUNNING(run_product_of_floats, npy_float, MULTIPLIED)
RUNNING(run_product_of_doubles, npy_double, MULTIPLIED)
RUNNING(run_product_of_integers, npy_uint64, MULTIPLIED)

RUNNING(run_maximum_of_floats, npy_float, GREATER)
RUNNING(run_maximum_of_doubles, npy_double, GREATER)
RUNNING(run_maximum_of_integers, npy_int64, GREATER)
RUNNING(run_minimum_of_floats, npy_float, LESSER)
RUNNING(run_minimum_of_doubles, npy_double, LESSER)
RUNNING(run_minimum_of_integers, npy_int64, LESSER)

/* NULL for dtypes and operations that have none. */
static PyUFuncGenericFunction running_loop(OperationCode op, DTypeCode code)
{
    enum { FLOATS, DOUBLES, INTEGERS, KINDS };
    static const PyUFuncGenericFunction sums[KINDS] = {run_sum_of_floats, run_sum_of_doubles, run_sum_of_integers},
        products[KINDS] = {run_product_of_floats, run_product_of_doubles, run_product_of_integers},
        maxima[KINDS] = {run_maximum_of_floats, run_maximum_of_doubles, run_maximum_of_integers},
        minima[KINDS] = {run_minimum_of_floats, run_minimum_of_doubles, run_minimum_of_integers};
    const PyUFuncGenericFunction *of_kinds = op == OP_ADD        ? sums
                                             : op == OP_MULTIPLY ? products
                                             : op == OP_MAXIMUM  ? maxima
                                             : op == OP_MINIMUM  ? minima
                                                                 : NULL;
    const int wraps = op == OP_ADD || op == OP_MULTIPLY; /* integers of either kind wrap in the same way */
    return of_kinds == NULL                                           ? NULL
           : code == FLOAT32                                          ? of_kinds[FLOATS]
           : code == FLOAT64                                          ? of_kinds[DOUBLES]
           : code == NX_INT64 || (code == NX_UINT64 && wraps) ? of_kinds[INTEGERS]
                                                                      : NULL;
}

/* ------------------------------------------------------------------ parts */

/* Another thread is worth it for so many elements, if there are more than two of them (docs/tuning.md, 78). */
enum { SCANNED_EACH = 1 << 14 };

/* Columns that lie next to each other are scanned together, row after row, if there are so many: fewer are not worth a call
   of the loop for each row, and more would leave the first-level cache before the next row reads them
   (docs/tuning.md, 76 and 77). */
enum { FEWEST_COLUMNS = 16, MOST_COLUMNS = 1 << 11 };

/* Elements up to which one thread scans as fast as several: half as many as are added in the time (docs/tuning.md, 21). */
#define SCANNED_AT_ONCE (limits.at_once / 2)

/* A scan along an axis, and how it is cut along another one into parts. */
typedef struct {
    const ElementLoop *loop;
    PyUFuncGenericFunction running;
    int ndim, axis;
    int columns; /* the axis of columns that are scanned together; or -1 */
    npy_intp shape[ARRAY_DIMS], from_strides[ARRAY_DIMS], to_strides[ARRAY_DIMS];
    const char *from;
    char *to;
    npy_intp itemsize;
    int cut;
    npy_intp each;
    atomic_uchar flags;
} Scan;

/* One element after the other: the first one is copied, and each of the others is added to the result before it. */
static void scan_row(const Scan *scan, const char *from, char *to)
{
    const npy_intp step = scan->from_strides[scan->axis], to_step = scan->to_strides[scan->axis];
    memcpy(to, from, (size_t)scan->itemsize);
    char *args[3] = {to, (char *)from + step, to + to_step};
    npy_intp n = scan->shape[scan->axis] - 1, steps[3] = {to_step, step, to_step};
    if (n > 0) {
        (scan->running != NULL ? scan->running : scan->loop->function)(args, &n, steps, scan->loop->data);
    }
}

/* Many columns, one row after the other. */
static void scan_columns(const Scan *scan, const char *from, char *to, npy_intp columns)
{
    const npy_intp step = scan->from_strides[scan->axis], to_step = scan->to_strides[scan->axis];
    const npy_intp size = scan->itemsize;
    for (npy_intp done = 0; done < columns; done += MOST_COLUMNS) {
        const npy_intp width = least(columns - done, MOST_COLUMNS);
        const char *row = from + done * size;
        char *target = to + done * size;
        memcpy(target, row, (size_t)(width * size));
        for (npy_intp i = 1; i < scan->shape[scan->axis]; i++) {
            row += step;
            target += to_step;
            char *args[3] = {target - to_step, (char *)row, target};
            npy_intp n = width, steps[3] = {size, size, size};
            scan->loop->function(args, &n, steps, scan->loop->data);
        }
    }
}

static void run_part(const void *parts, npy_intp number, char *scratch)
{
    Scan *all = (Scan *)parts, scan = *all;
    npy_intp rows[ARRAY_DIMS], index[ARRAY_DIMS] = {0};
    const npy_intp from = number * all->each;
    int dim;
    scan.from += from * all->from_strides[all->cut];
    scan.to += from * all->to_strides[all->cut];
    scan.shape[all->cut] = least(all->each, all->shape[all->cut] - from);
    for (dim = 0; dim < scan.ndim; dim++) {
        rows[dim] = dim == scan.axis || dim == scan.columns ? 1 : scan.shape[dim];
    }
    clear_flags();
    do {
        if (scan.columns < 0) {
            scan_row(&scan, scan.from, scan.to);
        } else {
            scan_columns(&scan, scan.from, scan.to, scan.shape[scan.columns]);
        }
        dim = next_index(scan.ndim, rows, index);
        scan.from += distance(dim, scan.ndim, rows, scan.from_strides);
        scan.to += distance(dim, scan.ndim, rows, scan.to_strides);
    } while (dim >= 0);
    note_flags(&all->flags, take_flags());
}

/* Find out whether columns are scanned together. Results are then computed by vector instructions, whose products of complex
   numbers may be rounded once less than NumPy's. */
static void choose_columns(Scan *scan, OperationCode op, DTypeCode code, const npy_uint8 *order)
{
    const int first = order[0];
    scan->columns = first != scan->axis && scan->shape[first] >= FEWEST_COLUMNS &&
                            scan->from_strides[first] == scan->itemsize &&
                            scan->to_strides[first] == scan->itemsize &&
                            (op == OP_ADD || !is_complex(code))
                        ? first
                        : -1;
}

/* Cut the longest axis that can be. */
static void cut(Scan *scan, npy_intp size, npy_intp threads)
{
    scan->cut = -1;
    for (int dim = 0; dim < scan->ndim; dim++) {
        if (dim != scan->axis && (scan->cut < 0 || scan->shape[dim] > scan->shape[scan->cut])) {
            scan->cut = dim;
        }
    }
    if (scan->cut < 0) {
        scan->cut = scan->axis;
        scan->each = scan->shape[scan->axis];
        return;
    }
    const npy_intp length = scan->shape[scan->cut], most = scan->cut == scan->columns ? length / FEWEST_COLUMNS : length;
    const npy_intp parts = greatest(1, least(least(4 * threads, size / SCANNED_EACH), most));
    scan->each = (length - 1) / parts + 1;
}

/* Compute a scan whose memory is there. 0 with an exception set. */
static int run_scan(Scan *scan, npy_intp size)
{
    const npy_intp threads = size > SCANNED_AT_ONCE ? most_threads() : 1;
    if (threads < 1) {
        return 0;
    }
    cut(scan, size, threads);
    const npy_intp parts = (scan->shape[scan->cut] - 1) / scan->each + 1;
    if (size > SCANNED_AT_ONCE) {
        return run_parts_freely(run_part, scan, parts, threads, 0);
    }
    for (npy_intp part = 0; part < parts; part++) {
        run_part(scan, part, NULL);
    }
    return 1;
}

/* `axis` is that of an array whose axis is not given. */
static PyObject *scan(OperationCode op, Tensor *x, PyObject *axis_value, int axis, PyObject *dtype)
{
    npy_intp strides[ARRAY_DIMS];
    Ordered elements;
    const char *data;
    Scan scan;
    if (x->size == 0 || x->ndim == 0 || (data = data_of(x)) == NULL || !is_aligned(x, data)) {
        return decline_unless_raised();
    }
    if (is_given(axis_value) ? !take_axis(axis_value, x->ndim, &axis) : axis < 0) {
        return DECLINED;
    }
    const int is_arithmetic = op == OP_ADD || op == OP_MULTIPLY;
    DTypeCode code = is_arithmetic ? accumulator_of((DTypeCode)x->code) : (DTypeCode)x->code;
    if (!take_dtype(dtype, &code) || code == BOOL || !can_pack((DTypeCode)x->code, code)) {
        return DECLINED;
    }
    const ElementLoop *loop = find_loop(op, code);
    if (loop == NULL || loop->operand != code || loop->result != code) {
        return decline_unless_raised();
    }
    const npy_intp itemsize = dtypes[code].itemsize;
    if (order_elements(&elements, x, data, code) < 0) {
        return NULL;
    }
    dense_strides(x->ndim, x->shape, elements.order, itemsize, strides);
    PyObject *result = new_ordered(x->ndim, x->shape, strides, code, &scan.to);
    if (result != NULL) {
        scan.loop = loop;
        scan.running = running_loop(op, code);
        scan.ndim = x->ndim;
        scan.axis = axis;
        scan.from = elements.data;
        scan.itemsize = itemsize;
        memcpy(scan.shape, x->shape, (size_t)x->ndim * sizeof(npy_intp));
        memcpy(scan.from_strides, elements.strides, (size_t)x->ndim * sizeof(npy_intp));
        memcpy(scan.to_strides, strides, (size_t)x->ndim * sizeof(npy_intp));
        atomic_init(&scan.flags, 0);
        choose_columns(&scan, op, code, elements.order);
        if (!run_scan(&scan, x->size)) {
            Py_CLEAR(result);
        }
    }
    free_scratch(&elements.scratch);
    /* NaN among numbers that are compared is no error. */
    return settle(result, names_of.accumulate, result != NULL && is_arithmetic ? scan.flags : 0);
}

static PyObject *call_scan(int which, PyObject *const *values, Py_ssize_t count)
{
    int initial = 0;
    Tensor *x = layout_of_any(values[0]);
    return x == NULL || !take_flag(values[3], &initial) || initial
               ? DECLINED
               : scan((OperationCode)which, x, values[1], x->ndim == 1 ? 0 : -1, values[2]);
}

/* The method `accumulate` of a ufunc, along the first axis if none is given. */
static PyObject *call_accumulate(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_of_any(values[0]);
    return x == NULL || values[1] == Py_None || is_complex(x->code) ? DECLINED
                                                                    : scan((OperationCode)which, x, values[1], 0, values[2]);
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
    {"add.accumulate", call_accumulate, OP_ADD, "array, axis=, dtype="},
    {"multiply.accumulate", call_accumulate, OP_MULTIPLY, "array, axis=, dtype="},
    {"maximum.accumulate", call_accumulate, OP_MAXIMUM, "array, axis=, dtype="},
    {"minimum.accumulate", call_accumulate, OP_MINIMUM, "array, axis=, dtype="},
    {"cumulative_sum", call_scan, OP_ADD, "x, /, *, axis=, dtype=, include_initial="},
    {"cumulative_prod", call_scan, OP_MULTIPLY, "x, /, *, axis=, dtype=, include_initial="},
    {NULL, NULL, 0, NULL},
};
