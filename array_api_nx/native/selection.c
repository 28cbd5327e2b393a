/* where and clip. */

#include "chapters.h"
#include "element_walks.h"
#include "flags.h"
#include "loops.h"
#include "nodes.h"
#include "sizes.h"

/* An operand: an array, or a Python scalar, which has no tensor and lies in `scalar`. */
typedef struct {
    Tensor *tensor;
    char *data;
    npy_cdouble scalar; /* or whatever fits there */
} Choice;

/* ------------------------------------------------------------------ where */

/* Describe the two operands to choose from. Returns their dtype, which must be one; NO_DTYPE where
   Python has to look at them. */
static DTypeCode take_choices(PyObject *const *values, Choice *choices)
{
    DTypeCode code = NO_DTYPE;
    for (int i = 0; i < 2; i++) {
        Choice *choice = &choices[i];
        choice->tensor = NULL;
        if (!is_array(values[i])) {
            continue;
        }
        choice->tensor = layout_of(values[i]);
        if (choice->tensor == NULL || (code != NO_DTYPE && choice->tensor->code != code)) {
            return NO_DTYPE;
        }
        code = (DTypeCode)choice->tensor->code;
    }
    if (code == NO_DTYPE) {
        /* The order of the dtypes is that of what scalars promote to; NO_DTYPE is the last. */
        code = (DTypeCode)greatest(dtype_of_scalar(values[0]), dtype_of_scalar(values[1]));
    }
    for (int i = 0; code != NO_DTYPE && i < 2; i++) {
        Choice *choice = &choices[i];
        if (choice->tensor == NULL) {
            choice->data = (char *)&choice->scalar;
            if (!write_scalar(choice->data, code, values[i])) {
                return NO_DTYPE;
            }
        }
    }
    return code;
}

/* Whether an operand is a scalar, or its elements lie one after the other in the order that `flag`
   says, in the shape of `like`. */
static int lies_alike(const Tensor *x, const Tensor *like, int flag)
{
    return x == NULL ||
           ((x->flags & flag) && x->ndim == like->ndim &&
            memcmp(x->shape, like->shape, (size_t)x->ndim * sizeof(npy_intp)) == 0);
}

/* Where NumPy goes over the axes in the opposite order, it puts axes of size 1 elsewhere, which
   shows in the strides of its result. */
static int has_thin_axis(int ndim, const npy_intp *shape)
{
    for (int dim = 0; dim < ndim; dim++) {
        if (shape[dim] == 1) {
            return 1;
        }
    }
    return 0;
}

/* Elements up to which one thread chooses, or limits, as fast as several. */
enum { SERIAL_CHOICES = 1 << 15 };

/* Over operands of any layout, on several threads if there are many elements. */
static PyObject *select_by_walk(Tensor *condition, const char *mask, const Choice *choices,
                                PyUFuncGenericFunction select, DTypeCode code)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    const WalkLoop loop = {select, NULL, {1, itemsize, itemsize, itemsize}, NO_LINK, 1, SERIAL_CHOICES};
    Tensor *const sources[3] = {condition, choices[0].tensor, choices[1].tensor};
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    if (!start_walk(&walk, sources, 3, MOST_ELEMENTS, shape) || !order_walk(&walk, 1) ||
        (walk.turned && has_thin_axis(walk.ndim, shape))) {
        return DECLINED;
    }
    walk.data[0] = (char *)mask;
    walk.data[1] = choices[0].data;
    walk.data[2] = choices[1].data;
    PyObject *result = new_array_like_memory(walk.ndim, shape, code, walk.turned, &walk.data[3]);
    if (result != NULL) {
        int flags;
        lay_out(&walk, 3, itemsize);
        walk.operands = 4;
        if (!compute_walk(&walk, &loop, &flags)) {
            Py_CLEAR(result);
        }
    }
    return result;
}

/* Have it wait, or if it is computed `now`, have a pass compute it; DECLINED if that cannot be. */
static PyObject *record_where(Tensor *condition, const Choice *choices, PyUFuncGenericFunction select, DTypeCode code, int now)
{
    const Operation operation = {.function = select, .count = 3,
                                 .operands = {BOOL, (npy_uint8)code, (npy_uint8)code},
                                 .result = (npy_uint8)code, .time = 0.4f, .is_exact = 1, .link = NO_LINK, .row = where_row};
    Tensor *const operands[3] = {condition, choices[0].tensor, choices[1].tensor};
    char *const numbers[3] = {NULL, choices[0].data, choices[1].data};
    return (now ? compute_by_pass : record)(&operation, operands, numbers);
}

static PyObject *call_where(int which, PyObject *const *values, Py_ssize_t count)
{
    Choice choices[2];
    if (values[1] == NULL || values[2] == NULL) { /* NumPy's, of a condition alone */
        const Implementation *nonzero = find_implementation("nonzero");
        return values[1] == values[2] && nonzero != NULL ? nonzero->compute(nonzero->code, values, 1) : DECLINED;
    }
    Tensor *condition = layout_of_any(values[0]);
    char *mask;
    if (condition == NULL || condition->code != BOOL || condition->size == 0) {
        return DECLINED;
    }
    const DTypeCode code = take_choices(values + 1, choices);
    const PyUFuncGenericFunction select = code == NO_DTYPE ? NULL : select_function(dtypes[code].itemsize);
    if (select == NULL) {
        return DECLINED;
    }
    if (is_recorded_size(condition->size)) {
        PyObject *recorded = record_where(condition, choices, select, code, 0);
        if (recorded != DECLINED) {
            return recorded;
        }
    }
    if (condition->size > limits.at_once) {
        PyObject *computed = record_where(condition, choices, select, code, 1);
        if (computed != DECLINED) {
            return computed;
        }
    }
    mask = data_of(condition);
    for (int i = 0; mask != NULL && i < 2; i++) {
        if (choices[i].tensor != NULL && (choices[i].data = data_of(choices[i].tensor)) == NULL) {
            mask = NULL;
        }
    }
    if (mask == NULL) {
        return decline_unless_raised();
    }
    const int order = condition->flags & ROW_MAJOR ? ROW_MAJOR : COLUMN_MAJOR;
    if (condition->size > SERIAL_CHOICES || !(condition->flags & order) ||
        !lies_alike(choices[0].tensor, condition, order) ||
        !lies_alike(choices[1].tensor, condition, order)) {
        return select_by_walk(condition, mask, choices, select, code);
    }
    if (order == COLUMN_MAJOR && has_thin_axis(condition->ndim, condition->shape)) {
        return DECLINED;
    }
    char *operands[4] = {mask, choices[0].data, choices[1].data, NULL};
    PyObject *result = new_array_like_memory(condition->ndim, condition->shape, code,
                                             order == COLUMN_MAJOR, &operands[3]);
    if (result != NULL) {
        const npy_intp step = dtypes[code].itemsize;
        const npy_intp steps[4] = {1, choices[0].tensor == NULL ? 0 : step,
                                   choices[1].tensor == NULL ? 0 : step, step};
        const npy_intp size = condition->size;
        select(operands, &size, steps, NULL);
    }
    return result;
}

/* ------------------------------------------------------------------ clip */

/* Bounds that are scalars are repeated so many times, because NumPy's loops of maximum and minimum
   have vector instructions for two arrays only. (These may choose another one of two equal zeros
   than the loop for an array and a scalar: the result must be that of two arrays.) */
enum { REPEATED = 1024 };

/* Describe a bound: a scalar, an array of one element, or an array that lies like `x`. */
static int take_bound(PyObject *value, Tensor *x, Choice *bound)
{
    bound->tensor = NULL;
    bound->data = (char *)&bound->scalar;
    if (!is_array(value)) {
        return write_scalar(bound->data, (DTypeCode)x->code, value);
    }
    Tensor *tensor = layout_of(value);
    if (tensor == NULL || tensor->code != x->code || (bound->data = data_of(tensor)) == NULL) {
        return 0;
    }
    if (tensor->ndim == 0) {
        return 1;
    }
    bound->tensor = tensor;
    const int order = x->flags & tensor->flags & (ROW_MAJOR | COLUMN_MAJOR);
    return order != 0 && lies_alike(tensor, x, order);
}

/* One of the two operations, and its bound. */
typedef struct {
    const ElementLoop *loop; /* NULL if there is no bound */
    Choice bound;
    npy_uint64 repeated[REPEATED]; /* the bound if it is a scalar */
    atomic_uchar flags;            /* the floating-point errors met */
} Limit;

/* The two operations on elements of a dtype. */
typedef struct {
    Limit limits[2];
    DTypeCode code;
} Clipping;

/* Limit `size` elements of `args`: the source, the two bounds and the target, which may be the source.
   `args_steps` are those of all, 0 for a bound that is REPEATED scalars. Both operations compute a part
   before either goes on, while it is in the nearest cache. */
static void run_limits(Clipping *both, char *const *args, npy_intp size, const npy_intp *args_steps)
{
    const npy_intp itemsize = dtypes[both->code].itemsize;
    npy_intp steps[3] = {itemsize, itemsize, itemsize};
    for (npy_intp done = 0; done < size; done += REPEATED) {
        npy_intp part = least(size - done, REPEATED);
        char *from = args[0] + done * itemsize, *to = args[3] + done * itemsize;
        for (int i = 0; i < 2; i++) {
            Limit *limit = &both->limits[i];
            if (limit->loop != NULL) {
                char *operands[3] = {from, args[1 + i] + done * args_steps[1 + i], to};
                limit->loop->function(operands, &part, steps, limit->loop->data);
                note_flags(&limit->flags, take_flags());
                from = to;
            }
        }
    }
}

/* Limit elements that lie one after the other by two numbers that are no NaN. Whether one of them is
   zero: if a limit is zero, too, it depends on NumPy's loops which zero the result is. */
#define LIMIT(NAME, TYPE)                                                                          \
    CLONED(static, int, NAME,                                                                      \
           (const TYPE *source, TYPE low, TYPE high, npy_intp size, TYPE *target),                 \
           (source, low, high, size, target))                                                      \
    {                                                                                              \
        npy_uint8 zeros = 0;                                                                       \
        INDEPENDENT                                                                                \
        for (npy_intp i = 0; i < size; i++) {                                                      \
            const TYPE x = source[i];                                                              \
            const TYPE above = low > x ? low : x; /* x if it is NaN */                             \
            zeros |= x == 0;                                                                       \
            target[i] = high < above ? high : above;                                               \
        }                                                                                          \
        return zeros;                                                                              \
    }

LIMIT(limit_floats, npy_float)
LIMIT(limit_doubles, npy_double)

/* The number in a limit that is a scalar, or infinity if there is no limit; NaN if it is none. */
static double number_of(const Limit *limit, DTypeCode code, double none)
{
    if (limit->loop == NULL) {
        return none;
    }
    if (limit->bound.tensor != NULL) {
        return NPY_NAN;
    }
    return read_float(limit->bound.data, code);
}

/* As `run_limits`, in one loop, which takes half the time; 0 if only that gives the result. */
static int limit_by_numbers(const Clipping *both, char *const *args, npy_intp size)
{
    const DTypeCode code = both->code;
    const char *source = args[0];
    char *target = args[3];
    if ((code != FLOAT32 && code != FLOAT64) || source == target) {
        return 0;
    }
    const double low = number_of(&both->limits[0], code, -NPY_INFINITY);
    const double high = number_of(&both->limits[1], code, NPY_INFINITY);
    /* Of two limits that are zeros of opposite sign, NumPy's loops decide which one the result is. */
    if (isnan(low) || isnan(high) || (low == 0 && high == 0)) {
        return 0;
    }
    const int zeros =
        code == FLOAT32 ? limit_floats((const npy_float *)source, (npy_float)low, (npy_float)high,
                                       size, (npy_float *)target)
                        : limit_doubles((const npy_double *)source, low, high, size,
                                        (npy_double *)target);
    clear_flags(); /* comparisons with NaN raise one, which NumPy does not report */
    return !(zeros && (low == 0 || high == 0));
}

/* The loop of `clip`, whose data are Clipping. */
LOOP(clip_loop)
{
    if (!limit_by_numbers(data, args, *count)) {
        run_limits(data, args, *count, steps);
    }
}

/* Limit `size` elements that lie one after the other, on several threads if there are many. 0 with an
   exception set if a signal came. */
static int clip_elements(Clipping *both, char *source, npy_intp size, char *target)
{
    const npy_intp itemsize = dtypes[both->code].itemsize;
    char *args[4] = {source, NULL, NULL, target};
    npy_intp steps[4] = {itemsize, 0, 0, itemsize};
    for (int i = 0; i < 2; i++) {
        Limit *limit = &both->limits[i];
        if (limit->loop != NULL && limit->bound.tensor != NULL) {
            args[1 + i] = limit->bound.data;
            steps[1 + i] = itemsize;
        } else if (limit->loop != NULL) {
            memcpy(limit->repeated, limit->bound.data, (size_t)itemsize);
            repeat_bytes((char *)limit->repeated, itemsize, least(size, REPEATED) * itemsize);
            args[1 + i] = (char *)limit->repeated;
        }
    }
    if (size <= SERIAL_CHOICES) {
        clear_flags();
        clip_loop(args, &size, steps, both);
        return 1;
    }
    const WalkLoop loop = {clip_loop, both, {itemsize, itemsize, itemsize, itemsize}, NO_LINK, 0, SERIAL_CHOICES};
    Walk walk = {.ndim = 1, .operands = 4, .count = size, .shape = {size}};
    for (int i = 0; i < 4; i++) {
        walk.data[i] = args[i];
        walk.strides[i][0] = steps[i];
    }
    int flags; /* none: the loop takes them */
    return compute_walk(&walk, &loop, &flags);
}

/* Copy elements of any layout to where they lie one after the other, in the order in which NumPy
   would compute. The result, without its contents yet changed; DECLINED if that order is neither
   row-major nor column-major. */
static PyObject *copy_for_clip(Tensor *x, char *data, char **target)
{
    Walk walk;
    walk.ndim = x->ndim;
    walk.operands = 1;
    memcpy(walk.shape, x->shape, (size_t)x->ndim * sizeof(npy_intp));
    join_strides(&walk, 0, x);
    for (int dim = 0; dim < x->ndim; dim++) {
        if (walk.strides[0][dim] == 0 && x->shape[dim] > 1) {
            return DECLINED;
        }
    }
    if (!order_walk(&walk, 1)) {
        return DECLINED;
    }
    const DTypeCode code = (DTypeCode)x->code;
    PyObject *result = new_array_like_memory(x->ndim, x->shape, code, walk.turned, target);
    if (result != NULL) {
        walk.data[0] = data;
        walk.data[1] = *target;
        lay_out(&walk, 1, dtypes[code].itemsize);
        walk.operands = 2;
        run_walk(&walk, cast_function(code, code), NULL);
    }
    return result;
}

static PyObject *call_clip(int which, PyObject *const *values, Py_ssize_t count)
{
    static const OperationCode ops[2] = {OP_MAXIMUM, OP_MINIMUM};
    Clipping both;
    Limit *pair = both.limits;
    Tensor *x = layout_of_any(values[0]);
    char *data, *target;
    if (x == NULL || x->code == BOOL || is_complex(x->code) || !is_computed_now(x->size) ||
        x->size == 0 || (data = data_of(x)) == NULL) {
        return DECLINED;
    }
    int given = 0;
    for (int i = 0; i < 2; i++) {
        pair[i].loop = NULL;
        atomic_init(&pair[i].flags, 0);
        if (!is_given(values[1 + i])) {
            continue;
        }
        if (!take_bound(values[1 + i], x, &pair[i].bound)) {
            return DECLINED;
        }
        pair[i].loop = find_loop(ops[i], (DTypeCode)x->code);
        if (pair[i].loop == NULL) {
            return decline_unless_raised();
        }
        given = 1;
    }
    if (!given) {
        return DECLINED;
    }
    PyObject *result;
    if (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) {
        result = new_array_like_memory(x->ndim, x->shape, (DTypeCode)x->code,
                                       !(x->flags & ROW_MAJOR), &target);
    } else {
        result = copy_for_clip(x, data, &target);
        data = target;
    }
    if (result == NULL || result == DECLINED) {
        return result;
    }
    both.code = (DTypeCode)x->code;
    if (!clip_elements(&both, data, x->size, target)) {
        Py_DECREF(result);
        return NULL;
    }
    /* Not earlier: it may call Python code, which could change the operands. */
    for (int i = 0; i < 2; i++) {
        if (pair[i].flags != 0 && apply_errstate(pair[i].loop->name, (int)pair[i].flags) < 0) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

Implementation selection_functions[] = {
    {"where", call_where, 0, "condition, x1, x2, /"},
    {"clip", call_clip, 0, "x, /, min=, max="},
    {NULL, NULL, 0, NULL},
};
