/* where and clip. */

#include "chapters.h"
#include "element_walks.h"
#include "loops.h"
#include "nodes.h"
#include "orders.h"
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

/* Whether an operand is a scalar, or a row-major array in the shape of `like`. */
static int lies_in_one_run(const Tensor *x, const Tensor *like)
{
    return x == NULL || ((x->flags & ROW_MAJOR) && has_shape(x, like->ndim, like->shape));
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
    if (!start_walk(&walk, sources, 3, MOST_ELEMENTS, shape) || !order_walk(&walk, 1)) {
        return DECLINED;
    }
    walk.data[0] = (char *)mask;
    walk.data[1] = choices[0].data;
    walk.data[2] = choices[1].data;
    PyObject *result = new_array_in_order(walk.ndim, walk.shape, walk.order, code, &walk.data[3]);
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
        FIND_ONCE(nonzero, "nonzero")
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
    if (condition->size > SERIAL_CHOICES || !(condition->flags & ROW_MAJOR) ||
        !lies_in_one_run(choices[0].tensor, condition) || !lies_in_one_run(choices[1].tensor, condition)) {
        return select_by_walk(condition, mask, choices, select, code);
    }
    char *operands[4] = {mask, choices[0].data, choices[1].data, NULL};
    PyObject *result = new_array_like_memory(condition->ndim, condition->shape, code, 0, &operands[3]);
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

/* Whether limiting elements of `x` leaves them their dtype. */
static int is_limit_of(const Tensor *x, PyObject *limit)
{
    ScalarMemory number;
    if (!is_array(limit)) {
        return write_scalar((char *)&number, (DTypeCode)x->code, limit) || dtype_of_numpy_scalar(limit) == (DTypeCode)x->code;
    }
    const Tensor *tensor = layout_of(limit);
    return tensor != NULL && tensor->code == x->code;
}

/* Of more elements NumPy's clip limits the integers that are not computed in vector registers here (`fits_registers`): 300,000
   int16 take it 16 microseconds, and its ufuncs maximum and minimum 171. */
enum { FEW_CLIPPED = 1 << 12 };

static int is_clipped_by_numpy(const Tensor *x)
{
    return x->size > FEW_CLIPPED && !is_inexact(x->code) && !fits_registers(x->code);
}

static PyObject *call_clip(int which, PyObject *const *values, Py_ssize_t count)
{
    PyObject *const object = values[0], *const low = values[1], *const high = values[2];
    const int has_low = is_given(low), has_high = is_given(high);
    const Tensor *x = layout_of_any(object);
    if (x == NULL || x->code == BOOL || is_complex(x->code) || is_clipped_by_numpy(x) || !(has_low || has_high) ||
        (has_low && !is_limit_of(x, low)) || (has_high && !is_limit_of(x, high))) {
        return decline_unless_raised();
    }
    PyObject *above = has_low ? compute_binary(OP_MAXIMUM, object, low) : Py_NewRef(object);
    if (!has_high || above == NULL || above == DECLINED) {
        return above;
    }
    PyObject *result = compute_binary(OP_MINIMUM, above, high);
    Py_DECREF(above);
    return result;
}

Implementation selection_functions[] = {
    {"where", call_where, 0, "condition, x1, x2, /"},
    {"clip", call_clip, 0, "x, /, min=, max="},
    {NULL, NULL, 0, NULL},
};
