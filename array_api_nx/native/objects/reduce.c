/* The order in which NumPy reduces. */

#include "reduce.h"
#include "compiler.h"
#include "copies.h"
#include "elements.h"
#include "flags.h"
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

/* The elements of NumPy's buffer, by default. */
enum { NUMPYS_BUFFER = 8192 };

int pack_as_buffer(const ReductionPlan *plan, Ordered *x)
{
    return plan->size != 1 || x->size > NUMPYS_BUFFER ? 0 : pack_elements(x) < 0 ? -1 : 1;
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
        if (copies && reduced == 0 && to_step == 0) {
            copy_element(to, from, itemsize);
            skipped = 1;
        } else if (copies && reduced == 0) {
            copy_row(to, to_step, from, from_step, length, itemsize);
            skipped = length;
        }
        n -= skipped;
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

#define SUM_OF(x, y) ((x) + (y))
#define LARGEST_OF(x, y) ((x) >= (y) || (x) != (x) ? (x) : (y)) /* NaN if one of them is */
#define SMALLEST_OF(x, y) ((x) <= (y) || (x) != (x) ? (x) : (y))

/* Combine WIDTH columns of one row or more, in vector registers, with what they are reduced to. The first row is combined with
   that where it lies: compilers copy it to the stack by halves of registers, and the processor waits to read whole ones. */
#define COMBINE_COLUMNS(TYPE, COMBINED, WIDTH)                                                     \
    for (; columns - done >= (WIDTH); done += (WIDTH)) {                                           \
        TYPE results[WIDTH], *const target = to + done;                                            \
        const TYPE *first = (const TYPE *)from + done;                                             \
        for (int i = 0; i < (WIDTH); i++) {                                                        \
            results[i] = COMBINED(target[i], first[i]);                                            \
        }                                                                                          \
        for (npy_intp row = 1; row < rows; row++) {                                                \
            const TYPE *elements = (const TYPE *)(from + row * step) + done;                       \
            for (int i = 0; i < (WIDTH); i++) {                                                    \
                results[i] = COMBINED(results[i], elements[i]);                                    \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < (WIDTH); i++) {                                                        \
            target[i] = results[i];                                                                \
        }                                                                                          \
    }

#define COMBINE_ROWS(NAME, TYPE, COMBINED)                                                         \
    CLONED(static, void, NAME,                                                                     \
           (const char *from, npy_intp step, TYPE *to, npy_intp rows, npy_intp columns),           \
           (from, step, to, rows, columns))                                                        \
    {                                                                                              \
        npy_intp done = 0;                                                                         \
        COMBINE_COLUMNS(TYPE, COMBINED, 32)                                                        \
        COMBINE_COLUMNS(TYPE, COMBINED, 16)                                                        \
        COMBINE_COLUMNS(TYPE, COMBINED, 8)                                                         \
        COMBINE_COLUMNS(TYPE, COMBINED, 4)                                                         \
        COMBINE_COLUMNS(TYPE, COMBINED, 1)                                                         \
    }

COMBINE_ROWS(add_floats, npy_float, SUM_OF)
COMBINE_ROWS(add_doubles, npy_double, SUM_OF)
COMBINE_ROWS(find_largest_floats, npy_float, LARGEST_OF)
COMBINE_ROWS(find_largest_doubles, npy_double, LARGEST_OF)
COMBINE_ROWS(find_smallest_floats, npy_float, SMALLEST_OF)
COMBINE_ROWS(find_smallest_doubles, npy_double, SMALLEST_OF)

int combine_rows(OperationCode op, DTypeCode code, const char *from, npy_intp step, char *to, npy_intp rows,
                 npy_intp columns)
{
    if (op == OP_ADD && is_complex(code)) { /* as their parts */
        code = part_of(code);
        columns *= 2;
    }
    if ((op != OP_ADD && op != OP_MAXIMUM && op != OP_MINIMUM) || (code != FLOAT32 && code != FLOAT64)) {
        return 0;
    }
    if (code == FLOAT32) {
        (op == OP_ADD       ? add_floats
         : op == OP_MAXIMUM ? find_largest_floats
                            : find_smallest_floats)(from, step, (npy_float *)to, rows, columns);
    } else {
        (op == OP_ADD       ? add_doubles
         : op == OP_MAXIMUM ? find_largest_doubles
                            : find_smallest_doubles)(from, step, (npy_double *)to, rows, columns);
    }
    if (op != OP_ADD) {
        clear_vector_flags(); /* comparisons with NaN raise them */
    }
    return 1;
}

/* NumPy adds up rows of fewer elements one by one. */
enum { ONE_BY_ONE = 8 };

/* Add the elements of each row to a sum. */
#define ADD_SHORT_ROWS(NAME, TYPE)                                                                 \
    static void NAME(const char *from, npy_intp step, char *to, npy_intp to_step, npy_intp rows,   \
                     npy_intp columns)                                                             \
    {                                                                                              \
        for (npy_intp row = 0; row < rows; row++, from += step, to += to_step) {                   \
            TYPE sum = *(const TYPE *)from;                                                        \
            for (npy_intp i = 1; i < columns; i++) {                                               \
                sum += ((const TYPE *)from)[i];                                                    \
            }                                                                                      \
            *(TYPE *)to += sum;                                                                    \
        }                                                                                          \
    }

ADD_SHORT_ROWS(add_short_floats, npy_float)
ADD_SHORT_ROWS(add_short_doubles, npy_double)

void run_sum(const ReductionPlan *plan, DTypeCode code, PyUFuncGenericFunction function, void *data,
             const char *from, char *to)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    const int last = plan->axes - 1, outer = last - 1;
    const int adjacent = (code == FLOAT32 || code == FLOAT64) && last >= 1 && plan->from[last] == itemsize;
    const int in_columns = adjacent && plan->lengths[last] <= FEW_SUMS && plan->to[last] == itemsize &&
                           plan->to[outer] == 0;
    const int in_rows = adjacent && plan->lengths[last] < ONE_BY_ONE && plan->to[last] == 0;
    if (!in_columns && !in_rows) {
        run_reduction(plan, function, data, from, to, 0, 0);
        return;
    }
    const npy_intp rows = plan->lengths[outer], columns = plan->lengths[last], step = plan->from[outer];
    npy_intp index[ARRAY_DIMS] = {0};
    int dim;
    do {
        if (in_columns) {
            combine_rows(OP_ADD, code, from, step, to, rows, columns);
        } else if (code == FLOAT32) {
            add_short_floats(from, step, to, plan->to[outer], rows, columns);
        } else {
            add_short_doubles(from, step, to, plan->to[outer], rows, columns);
        }
        dim = next_index(outer, plan->lengths, index);
        from += distance(dim, outer, plan->lengths, plan->from);
        to += distance(dim, outer, plan->lengths, plan->to);
    } while (dim >= 0);
}

/* ------------------------------------------------------------------ largest and smallest elements of short rows */

/* Up to so many elements, the largest or smallest of a row is found by a loop in this file instead of a call of NumPy's loop
   (docs/tuning.md, 152). */
enum { FEW_COMPARED = 24 };

/* Rows of adjacent elements, `step` bytes apart, and what they are reduced to; and NumPy's loop. */
typedef struct {
    const char *from;
    char *to;
    npy_intp step, to_step, rows, columns, itemsize;
    PyUFuncGenericFunction function;
    void *data;
} ShortRows;

static void reduce_row(const ShortRows *rows, const char *from, char *to)
{
    char *args[3] = {to, (char *)from + rows->itemsize, to};
    npy_intp steps[3] = {0, rows->itemsize, 0}, n = rows->columns - 1;
    copy_element(to, from, rows->itemsize);
    rows->function(args, &n, steps, rows->data);
}

/* Which of several NaN or zeros is taken, NumPy's loop decides; but if all zeros are positive it does not matter. */
#define FIND_EXTREMES(NAME, CODE, TYPE, BETTER)                                                    \
    static void NAME##_##CODE(const ShortRows *rows)                                               \
    {                                                                                              \
        const char *from = rows->from;                                                             \
        char *to = rows->to;                                                                       \
        for (npy_intp row = 0; row < rows->rows; row++, from += rows->step, to += rows->to_step) { \
            const TYPE *elements = (const TYPE *)from;                                             \
            TYPE best = elements[0];                                                               \
            int is_unclear = best != best;                                                         \
            for (npy_intp i = 1; i < rows->columns; i++) {                                         \
                const TYPE element = elements[i];                                                  \
                best = element BETTER best ? element : best;                                       \
                is_unclear |= element != element;                                                  \
            }                                                                                      \
            for (npy_intp i = 0; is_inexact(CODE) && best == 0 && i < rows->columns; i++) {        \
                is_unclear |= elements[i] == 0 && signbit((double)elements[i]);                    \
            }                                                                                      \
            if (is_unclear) {                                                                      \
                reduce_row(rows, from, to);                                                        \
            } else {                                                                               \
                *(TYPE *)to = best;                                                                \
            }                                                                                      \
        }                                                                                          \
    }

#define FIND_BOTH(CODE, TYPE, ...) FIND_EXTREMES(largest, CODE, TYPE, >) FIND_EXTREMES(smallest, CODE, TYPE, <)
EACH_INTEGER(FIND_BOTH)
EACH_BROAD_FLOAT(FIND_BOTH)

#define BOTH(CODE, ...) [CODE] = {largest_##CODE, smallest_##CODE},
static void (*const find_extremes[DTYPE_COUNT][2])(const ShortRows *) = {EACH_INTEGER(BOTH) EACH_BROAD_FLOAT(BOTH)};

/* Reduce all elements to one, in blocks that are copied to lie one after the other. */
static void reduce_blocks(const ReductionPlan *plan, PyUFuncGenericFunction function, void *data, const char *from, char *to,
                          npy_intp itemsize)
{
    npy_uint64 block[512];
    npy_intp index[ARRAY_DIMS] = {0};
    const int last = plan->axes - 1, outer = last - 1;
    const npy_intp most = (npy_intp)sizeof(block) / itemsize, row = plan->from[outer], column = plan->from[last];
    const npy_intp all_rows = plan->lengths[outer], all_columns = plan->lengths[last];
    const npy_intp columns_each = least(all_columns, most), rows_each = greatest(1, most / all_columns);
    int dim;
    copy_element(to, from, itemsize);
    do {
        for (npy_intp i = 0; i < all_rows; i += rows_each) {
            for (npy_intp j = 0; j < all_columns; j += columns_each) {
                const npy_intp rows = least(rows_each, all_rows - i), columns = least(columns_each, all_columns - j);
                const Tile source = {(char *)from + i * row + j * column, row, column};
                copy_tile((Tile){(char *)block, columns * itemsize, itemsize}, source, itemsize, rows, columns);
                char *args[3] = {to, (char *)block, to};
                npy_intp steps[3] = {0, itemsize, 0}, n = rows * columns;
                function(args, &n, steps, data);
            }
        }
        dim = next_index(outer, plan->lengths, index);
        from += distance(dim, outer, plan->lengths, plan->from);
    } while (dim >= 0);
}

void run_extremes(const ReductionPlan *plan, DTypeCode code, int smallest, PyUFuncGenericFunction function, void *data,
                  const char *from, char *to)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    const int last = plan->axes - 1, outer = last - 1;
    int short_rows = find_extremes[code][0] != NULL && last >= 1 && plan->to[last] == 0 &&
                     plan->from[last] == itemsize && plan->lengths[last] <= FEW_COMPARED;
    for (int axis = 0; axis < last; axis++) {
        short_rows = short_rows && plan->to[axis] != 0;
    }
    if (!short_rows && plan->size == 1 && last >= 1) {
        reduce_blocks(plan, function, data, from, to, itemsize);
        return;
    }
    if (!short_rows) {
        run_reduction(plan, function, data, from, to, 1, itemsize);
        return;
    }
    ShortRows rows = {from, to, plan->from[outer], plan->to[outer], plan->lengths[outer], plan->lengths[last], itemsize,
                      function, data};
    npy_intp index[ARRAY_DIMS] = {0};
    int dim;
    do {
        find_extremes[code][smallest](&rows);
        dim = next_index(outer, plan->lengths, index);
        rows.from += distance(dim, outer, plan->lengths, plan->from);
        rows.to += distance(dim, outer, plan->lengths, plan->to);
    } while (dim >= 0);
    clear_vector_flags(); /* comparisons with NaN raise them */
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
