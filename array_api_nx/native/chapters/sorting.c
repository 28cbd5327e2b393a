/* sort and argsort by the functions that NumPy's dtypes have for rows. */

#include "sorting.h"
#include "boxes.h"
#include "buckets.h"
#include "chapters.h"
#include "conversion.h"
#include "copies.h"
#include "elements.h"
#include "flags.h"
#include "half_loops.h"
#include "pack.h"
#include "settings.h"
#include "short_rows.h"
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

/* Bits of the zeros among floating-point numbers of a size: 1 of positive ones, 2 of negative ones. */
#define FIND_ZEROS(BITS)                                                                                            \
    CLONED(static, int, find_zeros_##BITS, (const char *data, npy_intp size), (data, size))                         \
    {                                                                                                               \
        const npy_uint##BITS *elements = (const npy_uint##BITS *)data, minus = (npy_uint##BITS)1 << (BITS - 1);     \
        int positive = 0, negative = 0;                                                                             \
        for (npy_intp i = 0; i < size; i++) {                                                                       \
            positive |= elements[i] == 0;                                                                           \
            negative |= elements[i] == minus;                                                                       \
        }                                                                                                           \
        return positive | negative << 1;                                                                            \
    }

FIND_ZEROS(16)
FIND_ZEROS(32)
FIND_ZEROS(64)

int has_both_zeros(const Tensor *x, const char *data)
{
    Scratch scratch;
    scratch.heap = NULL;
    const npy_intp itemsize = dtypes[x->code].itemsize;
    if (!(x->flags & (ROW_MAJOR | COLUMN_MAJOR))) {
        if (take_scratch(&scratch, x->size * itemsize) < 0) {
            return -1;
        }
        pack_rows(x, data, scratch.data);
        data = scratch.data;
    }
    const int found = itemsize == 8 ? find_zeros_64(data, x->size)
                      : itemsize == 4 ? find_zeros_32(data, x->size) : find_zeros_16(data, x->size);
    free_scratch(&scratch);
    return found == 3;
}

/* Rows of a row-major array, which become those of another one, sorted; threads sort some at a time. */
typedef struct {
    const char *from; /* or the memory of `to` itself */
    char *to;
    DTypeCode code;
    Rows rows;
    npy_intp each; /* rows of a part, which begin side by side where elements of a row do not follow one another */
    int keeps_order; /* whether equal elements have to stay in the order in which they lie in the row */
    int finds_zeros; /* whether zeros are looked for, of which some may be negative */
    _Atomic int failed, repeats_zeros;
} SortedRows;

/* Elements of a part. Rows whose elements lie apart are copied for it: lines of the caches have elements of several such rows,
   so that a part has at least FEWEST_ROWS of them, but where they are LONG_ROW. */
enum { ELEMENTS_EACH = 1 << 13, FEWEST_ROWS = 8, LONG_ROW = 1 << 16 };

static void arrange_one(SortedRows *all, const char *from, char *to, npy_intp threads)
{
    const npy_intp length = all->rows.length;
    if (all->keeps_order) {
        memmove(to, from, (size_t)(length * dtypes[all->code].itemsize));
        if (functions_of(all->code)->sort[NPY_STABLESORT](to, length, NULL) < 0) {
            all->failed = 1;
        }
    } else if (arrange_row(from, all->code, length, SORTED, (Places){NULL, 0}, threads, to) < 0) {
        all->failed = 1;
    }
    if (all->finds_zeros && repeats_zero(to, all->code, length)) {
        all->repeats_zeros = 1;
    }
}

/* Sort rows that lie one after the other, on one thread. */
static void arrange_several(SortedRows *all, const char *from, char *to, npy_intp rows)
{
    const npy_intp length = all->rows.length, bytes = length * dtypes[all->code].itemsize;
    if (is_sorted_in_registers(all->code, length)) {
        sort_short_rows(all->code, from, to, rows, length);
        return;
    }
    for (npy_intp i = 0; i < rows; i++) {
        arrange_one(all, from + i * bytes, to + i * bytes, 0);
    }
}

/* How many parts the rows have that begin side by side. */
static npy_intp parts_abreast(const SortedRows *all)
{
    return (all->rows.step - 1) / all->each + 1;
}

static void sort_part(const void *shared, npy_intp part, char *scratch)
{
    SortedRows *all = (SortedRows *)shared;
    const npy_intp length = all->rows.length, step = all->rows.step, itemsize = dtypes[all->code].itemsize;
    const npy_intp bytes = length * itemsize;
    if (step == 1) {
        const npy_intp first = part * all->each, count = least(all->each, all->rows.rows - first);
        arrange_several(all, all->from + first * bytes, all->to + first * bytes, count);
        return;
    }
    const npy_intp abreast = parts_abreast(all), column = part % abreast * all->each;
    const npy_intp start = (part / abreast * step * length + column) * itemsize, count = least(all->each, step - column);
    char *block = PyMem_RawMalloc((size_t)(count * bytes));
    if (block == NULL) {
        all->failed = 1;
        return;
    }
    const Tile copy = {block, bytes, itemsize};
    copy_tile(copy, (Tile){(char *)all->from + start, itemsize, step * itemsize}, itemsize, count, length);
    arrange_several(all, block, block, count);
    copy_tile((Tile){all->to + start, itemsize, step * itemsize}, copy, itemsize, count, length);
    PyMem_RawFree(block);
}

static void sort_rows(SortedRows *all, npy_intp threads)
{
    const Rows *rows = &all->rows;
    const npy_intp fewest = rows->step > 1 && rows->length < LONG_ROW ? FEWEST_ROWS : 1;
    if (rows->rows == 1) {
        arrange_one(all, all->from, all->to, threads);
        return;
    }
    if (rows->length == 1) {
        memmove(all->to, all->from, (size_t)(rows->rows * dtypes[all->code].itemsize));
        return;
    }
    all->each = greatest(fewest, ELEMENTS_EACH / rows->length);
    const npy_intp parts = rows->step == 1 ? (rows->rows - 1) / all->each + 1 : rows->rows / rows->step * parts_abreast(all);
    if (threads > 1) {
        all->failed |= run_parts_freely(sort_part, all, parts, threads, 0) != 1;
        return;
    }
    for (npy_intp part = 0; part < parts; part++) {
        sort_part(all, part, NULL);
    }
}

static PyObject *sort_elements(Tensor *x, const char *data, const SortOptions *options)
{
    char *out;
    const DTypeCode code = (DTypeCode)x->code;
    const int is_read = !options->descending && (x->flags & ROW_MAJOR) != 0; /* where it lies */
    const Py_ssize_t threads = x->size > limits.at_once ? most_threads() : 0;
    if (threads < 0) {
        return NULL;
    }
    const int is_copied = !is_read && code != BOOL; /* on all cores */
    PyObject *result = is_copied ? copy_into_shape(x, x->ndim, x->shape)
                                 : new_array_like_memory(x->ndim, x->shape, code, 0, &out);
    if (result == NULL || result == DECLINED) {
        return result;
    }
    if (is_copied && (out = data_of(tensor_of(result))) == NULL) {
        Py_DECREF(result);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    if (!is_read && !is_copied) {
        pack_rows(x, data, out); /* which makes all that is true 1 */
    }
    if (options->descending) {
        reverse_order(out, code, x->size);
    }
    /* Equal integers are the same. Without `stable`, zeros of both signs lie in any order. */
    const int many = x->size >= STABLE_BELOW || !options->stable;
    SortedRows all = {.from = is_read ? data : out, .to = out, .code = code};
    all.rows = rows_along(x->ndim, x->shape, options->axis);
    all.keeps_order = is_inexact(code) && !many;
    all.finds_zeros = many && options->stable;
    sort_rows(&all, threads);
    const int both = !all.failed && all.repeats_zeros ? has_both_zeros(x, data) : 0;
    if (all.failed || both != 0) {
        Py_DECREF(result);
        return both > 0 ? DECLINED : PyErr_Occurred() ? NULL : PyErr_NoMemory();
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
    Tensor *x = take_sort(values, is_stable, most_sortable(), &options, &data);
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
    Scratch scratch;
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
    const npy_intp itemsize = dtypes[code].itemsize, length = x->shape[options.axis];
    const int copies = options.axis != x->ndim - 1; /* so that rows lie one after the other, and their indices */
    AxisOrder order;
    npy_intp strides[ARRAY_DIMS];
    order_rows(x->ndim, order);
    for (int i = x->ndim - 1 - options.axis; i > 0; i--) {
        order[i] = order[i - 1];
    }
    order[0] = (npy_uint8)options.axis;
    const npy_intp elements = (x->size * itemsize + 7) / 8 * 8, indices = copies ? x->size * (npy_intp)sizeof(npy_intp) : 0;
    if (take_scratch(&scratch, elements + indices + length * (npy_intp)sizeof(npy_intp)) < 0) {
        return NULL;
    }
    npy_intp *counts = (npy_intp *)(scratch.data + elements + indices);
    PyObject *result = new_array_like_memory(x->ndim, x->shape, NX_INT64, 0, &out);
    int failed = result == NULL;
    if (!failed) {
        pack(data, code, x->ndim, x->shape, x->strides, order, code, scratch.data);
        if (options.descending) {
            reverse_order(scratch.data, code, x->size);
        }
    }
    npy_intp *const first = (npy_intp *)(copies ? scratch.data + elements : out);
    for (npy_intp i = 0; i < x->size && !failed; i += length) {
        char *row = scratch.data + i * itemsize;
        if (options.stable && order_by_counting(row, code, length, counts, first + i)) {
            continue;
        }
        if (options.stable && itemsize >= KEYED_BYTES && length >= KEYED_FROM) {
            failed = arrange_row(row, code, length, ORDERED, (Places){NULL, 0}, 0, (char *)(first + i)) < 0;
        } else {
            number_in_order(first + i, length);
            failed = sort(row, first + i, length, NULL) < 0;
        }
    }
    if (!failed && copies) {
        dense_strides(x->ndim, x->shape, order, sizeof(npy_intp), strides);
        copy_elements(x->ndim, x->shape, out, tensor_of(result)->strides, (char *)first, strides, sizeof(npy_intp));
    }
    free_scratch(&scratch);
    if (failed && result != NULL) {
        Py_CLEAR(result);
        PyErr_NoMemory();
    }
    return result;
}

Implementation sorting_functions[] = {
    {"sort", call_sort, 1, "x, /, *, axis=, descending=, stable="},
    {"argsort", call_argsort, 1, "x, /, *, axis=, descending=, stable="},
    {"unstable_sort", call_sort, 0, "x, /, *, axis=, descending=, stable="},
    {"unstable_argsort", call_argsort, 0, "x, /, *, axis=, descending=, stable="},
    {NULL, NULL, 0, NULL},
};
