/* Means, variances and standard deviations, in the steps of backends/cpu/backend.py: each step
   rounds as NumPy's does, and notes its floating-point errors under NumPy's name. */

#include "chapters.h"
#include "conversion.h"
#include "elementwise.h"
#include "face.h"
#include "flags.h"
#include "nodes.h"
#include "reduce.h"
#include "reductions.h"

enum { MEAN, VAR, STD };

/* The loops of the steps, on elements of one dtype. */
typedef struct {
    const ElementLoop *add, *divide, *subtract, *multiply, *sqrt;
} Loops;

/* Floating-point errors in the order in which they came. */
enum { MOST_STEPS = 9 };

typedef struct {
    int count;
    struct {
        PyObject *name;
        int flags;
    } steps[MOST_STEPS];
} Errors;

static void add_errors(Errors *errors, PyObject *name, int flags)
{
    if (flags != 0 && errors->count < MOST_STEPS) {
        errors->steps[errors->count].name = name;
        errors->steps[errors->count++].flags = flags;
    }
}

/* Note the exceptions raised since the last call. */
static void note_errors(Errors *errors, PyObject *name)
{
    add_errors(errors, name, take_flags());
}

/* -1 with an exception set if numpy.errstate raises one of them. */
static int treat_noted(const Errors *errors)
{
    for (int i = 0; i < errors->count; i++) {
        if (apply_errstate(errors->steps[i].name, errors->steps[i].flags) < 0) {
            return -1;
        }
    }
    return 0;
}

/* 0, perhaps with an exception set, if Python has to compute. `is_numpys` says that an infinite part of a complex number
   makes both parts of a mean NaN, since NumPy divides by a complex number. */
static int find_loops(int code, DTypeCode dtype, int is_numpys, Loops *loops)
{
    /* Division is in double precision for either dtype. */
    loops->add = find_loop(OP_ADD, dtype);
    loops->divide = find_loop(OP_DIVIDE, is_complex(dtype) && is_numpys ? COMPLEX128 : FLOAT64);
    if (loops->add == NULL || loops->divide == NULL) {
        return 0;
    }
    if (code == MEAN) {
        return 1;
    }
    loops->subtract = find_loop(OP_SUBTRACT, dtype);
    loops->multiply = find_loop(OP_MULTIPLY, dtype);
    loops->sqrt = find_loop(OP_SQRT, dtype);
    return loops->subtract != NULL && loops->multiply != NULL && loops->sqrt != NULL;
}

void divide_numbers(const ElementLoop *loop, char *data, DTypeCode code, npy_intp size, double divisor,
                    QuotientFlags *flags)
{
    enum { PART = 64 };
    const int parts = is_complex(loop->operand) ? 2 : 1;
    if (is_complex(code) && parts == 1) {
        code = part_of(code);
        size *= 2;
    }
    const npy_intp bytes = parts * (npy_intp)sizeof(double);
    double part[2 * PART], by[2] = {divisor, 0};
    clear_flags();
    if (code == FLOAT64 || code == COMPLEX128) {
        char *args[3] = {data, (char *)by, data};
        npy_intp steps[3] = {bytes, 0, bytes};
        loop->function(args, &size, steps, loop->data);
        flags->divided |= take_flags();
        return;
    }
    for (npy_intp done = 0; done < size; done += PART) {
        npy_intp n = size - done < PART ? size - done : PART;
        npy_float *numbers = (npy_float *)data + parts * done;
        char *args[3] = {(char *)part, (char *)by, (char *)part};
        npy_intp steps[3] = {bytes, 0, bytes}, count = n;
        for (npy_intp i = 0; i < parts * n; i++) {
            part[i] = (double)numbers[i];
        }
        loop->function(args, &count, steps, loop->data);
        flags->divided |= take_flags();
        for (npy_intp i = 0; i < parts * n; i++) {
            /* The compiler must not move the conversion to where flags are not looked at. */
            volatile npy_float number = (npy_float)part[i];
            numbers[i] = number;
        }
        flags->cast |= take_flags();
    }
}

/* Divide `size` numbers in place. */
static void divide(const Loops *loops, char *data, DTypeCode code, npy_intp size, double divisor,
                   Errors *errors)
{
    QuotientFlags flags = {0, 0};
    divide_numbers(loops->divide, data, code, size, divisor, &flags);
    add_errors(errors, names_of.divide, flags.divided);
    add_errors(errors, names_of.cast, flags.cast);
}

/* Sums, divided. `out` has room for the result of the plan. */
static void average(const Loops *loops, const ReductionPlan *plan, const char *data, DTypeCode code,
                    double divisor, char *out, Errors *errors)
{
    memset(out, 0, (size_t)(plan->size * dtypes[code].itemsize));
    clear_flags();
    run_sum(plan, code, loops->add->function, loops->add->data, data, out);
    note_errors(errors, names_of.reduce);
    divide(loops, out, code, plan->size, divisor, errors);
}

/* Squared distances from the means along the axes that are marked, without gaps, in the order of
   axes. `plan` is that of the means, which keep the axes. 0 with an exception set if there is no
   memory. */
static int square_distances(const Loops *loops, const ReductionPlan *plan, const Ordered *x,
                            const char *reduced, char *out, Errors *errors)
{
    Scratch means;
    Walk walk;
    const npy_intp itemsize = dtypes[x->code].itemsize;
    if (take_scratch(&means, plan->size * itemsize) < 0) {
        return 0;
    }
    average(loops, plan, x->data, x->code, (double)plan->count, means.data, errors);
    walk.ndim = x->ndim;
    walk.operands = 3;
    for (int i = 0; i < x->ndim; i++) {
        const int axis = x->order[x->ndim - 1 - i];
        walk.shape[i] = x->shape[axis];
        walk.strides[0][i] = x->strides[axis];
        walk.strides[1][i] = reduced[axis] ? 0 : plan->strides[axis];
    }
    lay_out(&walk, 2, itemsize);
    walk.data[0] = (char *)x->data;
    walk.data[1] = means.data;
    walk.data[2] = out;
    clear_flags();
    const npy_intp itemsizes[3] = {itemsize, itemsize, itemsize};
    run_walk_in_blocks(&walk, itemsizes, loops->subtract->link, 1, loops->subtract->function, loops->subtract->data);
    note_errors(errors, loops->subtract->name);
    char *args[3] = {out, out, out};
    npy_intp steps[3] = {itemsize, itemsize, itemsize}, size = x->size;
    loops->multiply->function(args, &size, steps, loops->multiply->data);
    note_errors(errors, loops->multiply->name);
    free_scratch(&means);
    return 1;
}

/* The moment of elements in the dtype in which they are computed. */
static PyObject *compute_moment(int code, const Loops *loops, Ordered *x, const char *reduced,
                                int keepdims, double correction)
{
    const npy_intp itemsize = dtypes[x->code].itemsize;
    npy_intp strides[ARRAY_DIMS];
    ReductionPlan plan, means;
    Scratch squares;
    Errors errors;
    char *out;
    errors.count = 0;
    plan_reduction(&means, x->ndim, x->shape, x->strides, x->order, reduced,
                   code != MEAN || keepdims, itemsize);
    if (may_be_buffered(&means)) {
        const int packed = pack_as_buffer(&means, x);
        if (packed <= 0) {
            return packed < 0 ? NULL : DECLINED;
        }
        plan_reduction(&means, x->ndim, x->shape, x->strides, x->order, reduced, code != MEAN || keepdims, itemsize);
    }
    plan = means;
    if (code != MEAN) {
        dense_strides(x->ndim, x->shape, x->order, itemsize, strides);
        plan_reduction(&plan, x->ndim, x->shape, strides, x->order, reduced, keepdims, itemsize);
    }
    if (!settle_strides(&plan, itemsize)) {
        return DECLINED;
    }
    if (code != MEAN) {
        if (take_scratch(&squares, x->size * itemsize) < 0) {
            return NULL;
        }
        if (!square_distances(loops, &means, x, reduced, squares.data, &errors)) {
            free_scratch(&squares);
            return NULL;
        }
    }
    PyObject *result = new_reduced(&plan, x->code, &out);
    if (result != NULL) {
        const double count = (double)plan.count - correction;
        average(loops, &plan, code == MEAN ? x->data : squares.data, x->code,
                code == MEAN || count > 0 || isnan(count) ? count : NPY_NAN, out, &errors);
    }
    if (code != MEAN) {
        free_scratch(&squares);
    }
    if (result != NULL && treat_noted(&errors) < 0) {
        Py_CLEAR(result);
    }
    if (result != NULL && code == STD) {
        char *args[2] = {out, out};
        npy_intp steps[2] = {itemsize, itemsize}, size = plan.size;
        clear_flags();
        loops->sqrt->function(args, &size, steps, loops->sqrt->data);
        result = settle(result, loops->sqrt->name, take_flags());
    }
    return result;
}

/* Integers beyond this magnitude may be no doubles. */
#define EXACT_DOUBLE (1LL << 53)

static int take_correction(PyObject *value, double *correction)
{
    if (value == NULL) {
        return 1;
    }
    if (PyFloat_CheckExact(value)) {
        *correction = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    npy_intp number;
    if (!take_number(value, &number) || number < 0 || (double)number > EXACT_DOUBLE / 2) {
        return 0;
    }
    *correction = (double)number;
    return 1;
}

/* Variances of more elements are found in one pass, in which two threads are worth it for half as many elements as
   otherwise (docs/tuning.md, 21). */
#define VARIANCES_AT_ONCE (limits.at_once / 2)

/* The most elements in rows of less than four whose variances are computed on this thread, by NumPy's algorithm, which cannot
   be interrupted: it takes some tenths of a second. */
enum { MOST_ALONE = 1 << 24 };

/* The moment of an array of many elements, now or later. */
static PyObject *moment_of_many(int code, PyObject *array, PyObject *axis, int keepdims, double correction)
{
    char reduced[ARRAY_DIMS];
    Tensor *x = tensor_of(array);
    Loops loops;
    if (is_integer(x->code)) {
        PyObject *cast = cast_array(x, FLOAT64), *result; /* in the pass that reduces */
        if (cast == NULL || cast == DECLINED) {
            return cast;
        }
        result = moment_of_many(code, cast, axis, keepdims, correction);
        Py_DECREF(cast);
        return result;
    }
    if (!(x->code == FLOAT64 || x->code == FLOAT32 || (code == MEAN && is_complex(x->code))) ||
        !take_axes(axis, x->ndim, reduced)) {
        return DECLINED;
    }
    if (!find_loops(code, (DTypeCode)x->code, is_face(array), &loops)) {
        return decline_unless_raised();
    }
    if (code == MEAN) {
        return average_large(x, is_temporary(array), reduced, keepdims, loops.divide);
    }
    PyObject *variances = find_variances(x, is_temporary(array), reduced, keepdims, correction);
    if (code == VAR || variances == NULL || variances == DECLINED) {
        return variances;
    }
    PyObject *deviations = compute_unary(OP_SQRT, variances);
    Py_DECREF(variances);
    return deviations;
}

/* The shares of true elements: how many there are, over how many elements. */
static PyObject *average_booleans(PyObject *array, PyObject *axis, int keepdims)
{
    FIND_ONCE(count, "count_nonzero")
    PyObject *const values[3] = {array, axis, keepdims ? Py_True : Py_False};
    const npy_intp size = tensor_of(array)->size;
    PyObject *counts = size == 0 ? DECLINED : count->compute(count->code, values, 3);
    if (counts == NULL || counts == DECLINED) {
        return counts;
    }
    PyObject *number = PyFloat_FromDouble((double)(size / tensor_of(counts)->size));
    PyObject *shares = number == NULL ? NULL : compute_binary(OP_DIVIDE, counts, number);
    Py_XDECREF(number);
    Py_DECREF(counts);
    return shares;
}

static PyObject *moment(int code, PyObject *array, PyObject *axis, int keepdims, double correction)
{
    char reduced[ARRAY_DIMS];
    Tensor *x = tensor_of(array);
    Loops loops;
    Ordered elements;
    const char *data;
    if (code == MEAN && x->code == BOOL) {
        return average_booleans(array, axis, keepdims);
    }
    if (x->size > (code == MEAN ? limits.at_once : VARIANCES_AT_ONCE)) {
        PyObject *result = moment_of_many(code, array, axis, keepdims, correction);
        const int is_few_each = code != MEAN && (x->code == FLOAT64 || x->code == FLOAT32 || is_integer(x->code));
        if (result != DECLINED || !is_few_each || x->size > MOST_ALONE || PyErr_Occurred()) {
            return result;
        }
    }
    if (x->size == 0 || (is_complex(x->code) && code != MEAN) ||
        !take_axes(axis, x->ndim, reduced) || (data = data_of(x)) == NULL || !is_aligned(x, data)) {
        return DECLINED;
    }
    const DTypeCode dtype = is_complex(x->code)                          ? (DTypeCode)x->code
                            : x->code == FLOAT32 || is_float16(x->code) ? FLOAT32
                                                                         : FLOAT64;
    if (!find_loops(code, dtype, is_face(array), &loops)) {
        return decline_unless_raised();
    }
    if ((x->code != dtype || code != MEAN) && !has_plain_order(x)) {
        return DECLINED;
    }
    for (int i = 0; code != MEAN && i < x->ndim; i++) {
        if (x->shape[i] > 1 && x->strides[i] < 0) {
            return DECLINED;
        }
    }
    if (order_elements(&elements, x, data, dtype) < 0) {
        return NULL;
    }
    PyObject *result = compute_moment(code, &loops, &elements, reduced, keepdims, correction);
    free_scratch(&elements.scratch);
    if (is_float16(x->code) && result != NULL && result != DECLINED) {
        Py_SETREF(result, cast_array(tensor_of(result), (DTypeCode)x->code));
    }
    return result;
}

/* Whether NumPy warns of a correction, since it leaves no degrees of freedom; also where the axes cannot be read. */
static int is_too_large(double correction, const Tensor *x, PyObject *axis)
{
    char reduced[ARRAY_DIMS];
    npy_intp count = 1;
    if (!take_axes(axis, x->ndim, reduced)) {
        return 1;
    }
    for (int dim = 0; dim < x->ndim; dim++) {
        count *= reduced[dim] ? x->shape[dim] : 1;
    }
    return correction >= (double)count;
}

static PyObject *call_moment(int which, PyObject *const *values, Py_ssize_t count)
{
    int keepdims = 0;
    double correction = 0;
    Tensor *x = layout_of_any(values[0]);
    if (x == NULL || !take_flag(values[2], &keepdims) ||
        (which != MEAN && !take_correction(values[3], &correction)) ||
        (correction > 0 && is_face(values[0]) && is_too_large(correction, x, values[1]))) {
        return DECLINED;
    }
    return moment(which, values[0], values[1], keepdims, correction);
}

Implementation moment_functions[] = {
    {"mean", call_moment, MEAN, "x, /, *, axis=, keepdims="},
    {"var", call_moment, VAR, "x, /, *, axis=, keepdims=, correction="},
    {"std", call_moment, STD, "x, /, *, axis=, keepdims=, correction="},
    {NULL, NULL, 0, NULL},
};
