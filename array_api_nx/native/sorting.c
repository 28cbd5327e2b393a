/* sort and argsort by the functions that NumPy's dtypes have for rows, and searchsorted. */

#include "sorting.h"
#include "buckets.h"
#include "chapters.h"
#include "elements.h"
#include "half_loops.h"
#include "pack.h"
#include "settings.h"
#include "threads.h"
#include "vectors.h"

Tensor *sortable(PyObject *object, npy_intp most, const char **data)
{
    Tensor *x = layout_of_any(object);
    if (x == NULL || x->size > most || x->size == 0 || is_complex(x->code) ||
        (*data = data_of(x)) == NULL || !is_aligned(x, *data)) {
        return NULL;
    }
    return x;
}

/* ------------------------------------------------------------------ rows */

/* A walk over the rows along one axis of a row-major array. */
typedef struct {
    npy_intp length, step; /* of a row, in elements */
    npy_intp rows;
} Rows;

static Rows rows_along(int ndim, const npy_intp *shape, int axis)
{
    Rows rows = {ndim > 0 ? shape[axis] : 1, 1, 1};
    for (int i = 0; i < ndim; i++) {
        rows.step *= i > axis ? shape[i] : 1;
        rows.rows *= i != axis ? shape[i] : 1;
    }
    return rows;
}

/* Where a row begins, in elements. */
static inline npy_intp row_start(const Rows *rows, npy_intp i)
{
    return i / rows->step * rows->step * rows->length + i % rows->step;
}

/* Reverse the order of elements, in which NaN stays last: floating-point numbers change their
   sign, other elements are complemented. Done twice it gives the elements again. */
static void reverse_order(char *data, DTypeCode code, npy_intp size)
{
    const int bits = (int)(8 * dtypes[code].itemsize);
    const npy_uint64 mask = code == BOOL         ? 1
                            : is_inexact(code) ? (npy_uint64)1 << (bits - 1)
                                               : ~(npy_uint64)0;
#define FLIP(BITS)                                                     \
    case BITS:                                                         \
        for (npy_intp i = 0; i < size; i++) {                          \
            ((npy_uint##BITS *)data)[i] ^= (npy_uint##BITS)mask;       \
        }                                                              \
        return;
    switch (bits) {
        FLIP(8)
        FLIP(16)
        FLIP(32)
        FLIP(64)
    }
#undef FLIP
}

typedef struct {
    int axis, descending, stable;
} SortOptions;

/* sort and argsort have the same parameters; `stable` is the default of one. */
static Tensor *take_sort(PyObject *const *values, int stable, npy_intp most, SortOptions *options, const char **data)
{
    options->descending = 0;
    options->stable = stable;
    if (!take_flag(values[2], &options->descending) || !take_flag(values[3], &options->stable)) {
        return NULL;
    }
    Tensor *x = sortable(values[0], most, data);
    if (x == NULL || x->ndim == 0) {
        return NULL;
    }
    options->axis = x->ndim - 1;
    return values[1] == NULL || take_axis(values[1], x->ndim, &options->axis) ? x : NULL;
}

void pack_rows(const Tensor *x, const char *data, char *out)
{
    AxisOrder order;
    order_rows(x->ndim, order);
    pack(data, (DTypeCode)x->code, x->ndim, x->shape, x->strides, order, (DTypeCode)x->code, out);
}

/* ------------------------------------------------------------------ sort */

/* Fewer floating-point numbers than these are always sorted by a stable method, see backend.sort. */
enum { STABLE_BELOW = 1000 };

#define REPEATS_ZERO(CODE, TYPE, ...)                                           \
    static int repeats_zero_##CODE(const char *elements, npy_intp length)       \
    {                                                                           \
        const TYPE *row = (const TYPE *)elements;                               \
        npy_intp low = 0, high = length;                                        \
        while (low < high) {                                                    \
            const npy_intp middle = low + ((high - low) >> 1);                  \
            if (row[middle] < 0) {                                              \
                low = middle + 1;                                               \
            } else {                                                            \
                high = middle;                                                  \
            }                                                                   \
        }                                                                       \
        return low + 1 < length && row[low] == 0 && row[low + 1] == 0;          \
    }

EACH_FLOAT(REPEATS_ZERO)

int repeats_zero(const char *row, DTypeCode code, npy_intp length)
{
#define CALL(CODE, ...) \
    case CODE:          \
        return repeats_zero_##CODE(row, length);
    switch (code) {
        EACH_FLOAT(CALL)
    default:
        return 0;
    }
#undef CALL
}

int has_both_zeros(const Tensor *x, const char *data)
{
    Scratch scratch;
    int found[2] = {0, 0};
    if (take_scratch(&scratch, x->size * dtypes[x->code].itemsize) < 0) {
        return -1;
    }
    pack_rows(x, data, scratch.data);
    for (npy_intp i = 0; i < x->size; i++) {
        const double number = read_float(scratch.data + i * dtypes[x->code].itemsize, x->code);
        found[signbit(number) != 0] |= number == 0;
    }
    free_scratch(&scratch);
    return found[0] && found[1];
}

/* Rows that lie one after the other, which threads sort some at a time. */
typedef struct {
    const char *from;
    char *to;
    DTypeCode code;
    npy_intp length, rows, each;
    _Atomic int failed;
} SortedRows;

enum { ELEMENTS_EACH = 1 << 13 };

static void sort_part(const void *shared, npy_intp part, char *scratch)
{
    SortedRows *all = (SortedRows *)shared;
    const npy_intp bytes = all->length * dtypes[all->code].itemsize, end = least(all->rows, (part + 1) * all->each);
    for (npy_intp i = part * all->each; i < end; i++) {
        if (arrange_row(all->from + i * bytes, all->code, all->length, SORTED, (Places){NULL, 0}, 0, all->to + i * bytes) < 0) {
            all->failed = 1;
        }
    }
}

static int sort_rows_on_threads(const char *from, DTypeCode code, const Rows *rows, npy_intp threads, char *to)
{
    SortedRows all = {from, to, code, rows->length, rows->rows, greatest(1, ELEMENTS_EACH / rows->length), 0};
    const int complete = run_parts_freely(sort_part, &all, (all.rows - 1) / all.each + 1, threads, 0);
    return complete != 1 || all.failed ? -1 : 0;
}

static PyObject *sort_elements(const Tensor *x, const char *data, const SortOptions *options)
{
    char *out;
    Scratch scratch;
    const DTypeCode code = (DTypeCode)x->code;
    const int floating = is_inexact(code);
    const Rows rows = rows_along(x->ndim, x->shape, options->axis);
    const npy_intp itemsize = dtypes[code].itemsize;
    const int is_read = rows.step == 1 && !options->descending && (x->flags & ROW_MAJOR) != 0; /* where it lies */
    if (x->size > limits.at_once && !is_read) {
        return DECLINED; /* Python has several threads sort rows that lie otherwise */
    }
    const Py_ssize_t threads = x->size > limits.at_once ? most_threads() : 0;
    if (threads < 0) {
        return NULL;
    }
    /* Equal integers are the same. Without `stable`, zeros of both signs lie in any order. */
    const int many = x->size >= STABLE_BELOW || !options->stable;
    PyArray_SortFunc *stable = functions_of(code)->sort[NPY_STABLESORT];
    if (take_scratch(&scratch, rows.step == 1 ? 0 : rows.length * itemsize) < 0) {
        return NULL;
    }
    PyObject *result = new_array_like_memory(x->ndim, x->shape, code, 0, &out);
    if (result == NULL) {
        free_scratch(&scratch);
        return NULL;
    }
    if (!is_read) {
        pack_rows(x, data, out);
    }
    if (options->descending) {
        reverse_order(out, code, x->size);
    }
    int failed = 0, zeros = 0;
    if (threads > 1 && rows.rows > 1) {
        failed = sort_rows_on_threads(data, code, &rows, threads, out) < 0;
        for (npy_intp i = 0; i < rows.rows && !failed && options->stable; i++) {
            zeros = zeros || repeats_zero(out + i * rows.length * itemsize, code, rows.length);
        }
    } else {
        for (npy_intp i = 0; i < rows.rows && !failed; i++) {
            char *row = out + row_start(&rows, i) * itemsize;
            char *elements = rows.step == 1 ? row : scratch.data;
            const char *from = is_read ? data + (row - out) : elements;
            if (rows.step != 1) {
                copy_row(elements, itemsize, row, rows.step * itemsize, rows.length, itemsize);
            }
            if (floating && !many) {
                memmove(elements, from, (size_t)(rows.length * itemsize));
                failed = stable(elements, rows.length, NULL) < 0;
            } else {
                failed = arrange_row(from, code, rows.length, SORTED, (Places){NULL, 0}, threads, elements) < 0;
            }
            zeros = zeros || (many && options->stable && repeats_zero(elements, code, rows.length));
            if (rows.step != 1) {
                copy_row(row, rows.step * itemsize, elements, itemsize, rows.length, itemsize);
            }
        }
    }
    free_scratch(&scratch);
    if (failed) {
        Py_DECREF(result);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    const int both = zeros ? has_both_zeros(x, data) : 0;
    if (both != 0) {
        Py_DECREF(result);
        return both < 0 ? NULL : DECLINED;
    }
    if (options->descending) {
        reverse_order(out, code, x->size);
    }
    return result;
}

static PyObject *call_sort(int is_stable, PyObject *const *values, Py_ssize_t count)
{
    SortOptions options;
    const char *data;
    const npy_intp most = limits.at_once < 0 ? limits.at_once : NPY_MAX_INTP; /* none where Python is to see each call */
    Tensor *x = take_sort(values, is_stable, most, &options, &data);
    if (x == NULL) {
        return decline_unless_raised();
    }
    Py_INCREF((PyObject *)x); /* other threads, and finalisers, may give the array other memory meanwhile */
    PyObject *result = sort_elements(x, data, &options);
    Py_DECREF((PyObject *)x);
    return result;
}

/* ------------------------------------------------------------------ argsort */

/* Fewer integers than these are sorted by comparison, which then takes as long. */
enum { COUNTED_FROM = 48 };

static void number_in_order(npy_intp *indices, npy_intp length)
{
    for (npy_intp j = 0; j < length; j++) {
        indices[j] = j;
    }
}

/* The stable order of integers that ascend, or that span fewer values than there are of them: each
   value is counted. (docs/tuning.md, 57). `counts` has room for `length`. 0 for other integers. */
#define ORDER_BY_COUNTING(NAME, TYPE, UNSIGNED)                                              \
    static int NAME(const TYPE *row, npy_intp length, npy_intp *counts, npy_intp *indices)   \
    {                                                                                        \
        TYPE low = row[0], high = row[0];                                                    \
        int descends = 0;                                                                    \
        for (npy_intp j = 1; j < length; j++) {                                              \
            low = row[j] < low ? row[j] : low;                                               \
            high = row[j] > high ? row[j] : high;                                            \
            descends |= row[j] < row[j - 1];                                                 \
        }                                                                                    \
        if (!descends) {                                                                     \
            number_in_order(indices, length);                                                \
            return 1;                                                                        \
        }                                                                                    \
        const UNSIGNED span = (UNSIGNED)((UNSIGNED)high - (UNSIGNED)low);                    \
        if (span >= (npy_uintp)length) {                                                     \
            return 0;                                                                        \
        }                                                                                    \
        memset(counts, 0, ((size_t)span + 1) * sizeof(*counts));                             \
        for (npy_intp j = 0; j < length; j++) {                                              \
            counts[(UNSIGNED)((UNSIGNED)row[j] - (UNSIGNED)low)]++;                          \
        }                                                                                    \
        npy_intp place = 0; /* where the indices of a value begin */                         \
        for (npy_uintp value = 0; value <= span; value++) {                                  \
            const npy_intp count = counts[value];                                            \
            counts[value] = place;                                                           \
            place += count;                                                                  \
        }                                                                                    \
        for (npy_intp j = 0; j < length; j++) {                                              \
            indices[counts[(UNSIGNED)((UNSIGNED)row[j] - (UNSIGNED)low)]++] = j;             \
        }                                                                                    \
        return 1;                                                                            \
    }

ORDER_BY_COUNTING(count_int32, npy_int32, npy_uint32)
ORDER_BY_COUNTING(count_uint32, npy_uint32, npy_uint32)
ORDER_BY_COUNTING(count_int64, npy_int64, npy_uint64)
ORDER_BY_COUNTING(count_uint64, npy_uint64, npy_uint64)

/* Smaller integers NumPy sorts digit by digit. */
static int order_by_counting(const char *row, DTypeCode code, npy_intp length, npy_intp *counts,
                             npy_intp *indices)
{
    switch (length < COUNTED_FROM ? BOOL : code) {
    case NX_INT32:
        return count_int32((const npy_int32 *)row, length, counts, indices);
    case NX_UINT32:
        return count_uint32((const npy_uint32 *)row, length, counts, indices);
    case NX_INT64:
        return count_int64((const npy_int64 *)row, length, counts, indices);
    case NX_UINT64:
        return count_uint64((const npy_uint64 *)row, length, counts, indices);
    default:
        return 0;
    }
}

static PyObject *call_argsort(int stable, PyObject *const *values, Py_ssize_t count)
{
    SortOptions options;
    const char *data;
    char *out;
    Scratch copy, row;
    Tensor *x = take_sort(values, stable, limits.at_once, &options, &data);
    if (x == NULL) {
        return DECLINED;
    }
    const DTypeCode code = (DTypeCode)x->code;
    /* Without `stable`, equal elements lie in NumPy's order. */
    PyArray_ArgSortFunc *sort =
        functions_of(code)->argsort[options.stable ? NPY_STABLESORT : NPY_QUICKSORT];
    if (sort == NULL) {
        return DECLINED;
    }
    const Rows rows = rows_along(x->ndim, x->shape, options.axis);
    const npy_intp itemsize = dtypes[code].itemsize;
    const npy_intp row_bytes = rows.length * (npy_intp)sizeof(npy_intp);
    if (take_scratch(&copy, x->size * itemsize) < 0) {
        return NULL;
    }
    /* A row of counts after one of elements, and that after one of indices. */
    const npy_intp counts_at = row_bytes + (rows.length * itemsize + 7) / 8 * 8;
    if (take_scratch(&row, counts_at + row_bytes) < 0) {
        free_scratch(&copy);
        return NULL;
    }
    PyObject *result = new_array_like_memory(x->ndim, x->shape, NX_INT64, 0, &out);
    int failed = result == NULL;
    if (!failed) {
        pack_rows(x, data, copy.data);
        if (options.descending) {
            reverse_order(copy.data, code, x->size);
        }
    }
    for (npy_intp i = 0; i < rows.rows && !failed; i++) {
        const npy_intp start = row_start(&rows, i);
        npy_intp *indices = rows.step == 1 ? (npy_intp *)out + start : (npy_intp *)row.data;
        char *elements = copy.data + start * itemsize;
        if (rows.step != 1) {
            copy_row(row.data + row_bytes, itemsize, elements, rows.step * itemsize, rows.length, itemsize);
            elements = row.data + row_bytes;
        }
        npy_intp *counts = (npy_intp *)(row.data + counts_at);
        if (options.stable && order_by_counting(elements, code, rows.length, counts, indices)) {
            ;
        } else if (options.stable && itemsize >= KEYED_BYTES && rows.length >= KEYED_FROM) {
            failed = arrange_row(elements, code, rows.length, ORDERED, (Places){NULL, 0}, 0, (char *)indices) < 0;
        } else {
            number_in_order(indices, rows.length);
            failed = sort(elements, indices, rows.length, NULL) < 0;
        }
        if (rows.step != 1) {
            copy_row(out + start * (npy_intp)sizeof(npy_intp), rows.step * (npy_intp)sizeof(npy_intp),
                     row.data, sizeof(npy_intp), rows.length, sizeof(npy_intp));
        }
    }
    free_scratch(&row);
    free_scratch(&copy);
    if (failed && result != NULL) {
        Py_CLEAR(result);
        PyErr_NoMemory();
    }
    return result;
}

/* ------------------------------------------------------------------ searchsorted */

#define BOOL_LESS(a, b) (truth_of(a) < truth_of(b))
#define BOOL_UP_TO(a, b) (truth_of(a) <= truth_of(b))
/* Both orders put NaN last. */
#define NUMBER_LESS(a, b) (RANK(a) < RANK(b) || (IS_NAN(b) && !IS_NAN(a)))
#define NUMBER_UP_TO(a, b) (!NUMBER_LESS(b, a))

/* One after the other as NumPy does it, where each search begins with the bounds of the last one. It
   matters for arrays that are not sorted. */
#define SEARCH_SIDE(NAME, TYPE, IS_BEFORE)                                                        \
    static void search_##NAME(const char *sorted, npy_intp stride, npy_intp length,               \
                              const char *values, npy_intp count, npy_int64 *out)                 \
    {                                                                                             \
        npy_intp low = 0, high = length;                                                          \
        TYPE last = *(const TYPE *)values;                                                        \
        for (npy_intp i = 0; i < count; i++) {                                                    \
            const TYPE value = ((const TYPE *)values)[i];                                         \
            if (IS_BEFORE(last, value)) {                                                         \
                high = length;                                                                    \
            } else {                                                                              \
                low = 0;                                                                          \
                high = high < length ? high + 1 : length;                                         \
            }                                                                                     \
            last = value;                                                                         \
            while (low < high) {                                                                  \
                const npy_intp middle = low + ((high - low) >> 1);                                \
                const TYPE element = *(const TYPE *)(sorted + middle * stride);                   \
                if (IS_BEFORE(element, value)) {                                                  \
                    low = middle + 1;                                                             \
                } else {                                                                          \
                    high = middle;                                                                \
                }                                                                                 \
            }                                                                                     \
            out[i] = low;                                                                         \
        }                                                                                         \
    }

/* To the left of equal elements, or to the right of them. */
#define SEARCH(CODE, TYPE, KIND)                \
    SEARCH_SIDE(left_##CODE, TYPE, KIND##_LESS) \
    SEARCH_SIDE(right_##CODE, TYPE, KIND##_UP_TO)
#define SEARCH_BOOL(CODE, TYPE, ...) SEARCH(CODE, TYPE, BOOL)
#define SEARCH_NUMBER(CODE, TYPE, ...) SEARCH(CODE, TYPE, NUMBER)
EACH_BOOL(SEARCH_BOOL)
EACH_INTEGER(SEARCH_NUMBER)
EACH_FLOAT(SEARCH_NUMBER)

typedef void (*Search)(const char *sorted, npy_intp stride, npy_intp length, const char *values,
                       npy_intp count, npy_int64 *out);

/* By dtype, and by whether it is the right side. */
static const Search searches[DTYPE_COUNT][2] = {
#define ENTRY(CODE, ...) [CODE] = {search_left_##CODE, search_right_##CODE},
    EACH_REAL(ENTRY)
#undef ENTRY
};

/* "left" or "right"; 0 if it is another object. */
static int take_side(PyObject *value, int *right)
{
    if (value == NULL) {
        return 1;
    }
    if (!PyUnicode_CheckExact(value)) {
        return 0;
    }
    *right = PyUnicode_CompareWithASCIIString(value, "right") == 0;
    return *right || PyUnicode_CompareWithASCIIString(value, "left") == 0;
}

static PyObject *call_searchsorted(int which, PyObject *const *values, Py_ssize_t count)
{
    const char *sorted, *data;
    char *out;
    int right = 0;
    Scratch scratch;
    double number; /* or whatever fits there */
    if (is_given(values[3]) || !take_side(values[2], &right)) {
        return DECLINED;
    }
    Tensor *x = sortable(values[0], limits.at_once, &sorted);
    if (x == NULL || x->ndim != 1) {
        return DECLINED;
    }
    const DTypeCode code = (DTypeCode)x->code;
    if (!is_array(values[1])) {
        if (!write_scalar((char *)&number, code, values[1])) {
            return DECLINED;
        }
        PyObject *result = new_array_like_memory(0, NULL, NX_INT64, 0, &out);
        if (result != NULL) {
            searches[code][right](sorted, x->strides[0], x->size, (char *)&number, 1,
                                  (npy_int64 *)out);
        }
        return result;
    }
    Tensor *y = sortable(values[1], limits.at_once, &data);
    if (y == NULL || y->code != code) {
        return DECLINED;
    }
    const int copies = !(y->flags & ROW_MAJOR);
    if (copies && take_scratch(&scratch, y->size * dtypes[code].itemsize) < 0) {
        return NULL;
    }
    if (copies) {
        pack_rows(y, data, scratch.data);
        data = scratch.data;
    }
    PyObject *result = new_array_like_memory(y->ndim, y->shape, NX_INT64, 0, &out);
    if (result != NULL) {
        searches[code][right](sorted, x->strides[0], x->size, data, y->size, (npy_int64 *)out);
    }
    if (copies) {
        free_scratch(&scratch);
    }
    return result;
}

Implementation sorting_functions[] = {
    {"sort", call_sort, 1, "x, /, *, axis=, descending=, stable="},
    {"argsort", call_argsort, 1, "x, /, *, axis=, descending=, stable="},
    {"unstable_sort", call_sort, 0, "x, /, *, axis=, descending=, stable="},
    {"unstable_argsort", call_argsort, 0, "x, /, *, axis=, descending=, stable="},
    {"searchsorted", call_searchsorted, 0, "x1, x2, /, *, side=, sorter="},
    {NULL, NULL, 0, NULL},
};
