/* median, quantile and percentile, with and without NaN: elements at some places of rows, were these sorted, or what lies
   between two neighbours. */

#include "buckets.h"
#include "chapters.h"
#include "elements.h"
#include "flags.h"
#include "pack.h"
#include "reduce.h"
#include "short_rows.h"
#include "sorting.h"
#include "threads.h"
#include "truth.h"

/* The functions. SKIPS_NAN is added to one for its form that leaves NaN out, such as nanmedian. */
enum { MEDIAN, QUANTILE, PERCENTILE, SKIPS_NAN = 4 };

/* More quantiles of a row are left to Python. */
enum { MOST_QUANTILES = 16 };

/* Rows of at most SORTED_TO elements are sorted, which takes less time than to find the wanted elements alone. A thread takes
   rows of about PART elements together at a time (docs/tuning.md, 171). */
enum { SORTED_TO = 1 << 11, PART = 1 << 13 };

typedef struct {
    DTypeCode code, result;
    int is_median, skips_nan, count; /* of the quantiles of a row */
    double shares[MOST_QUANTILES];   /* of the elements that lie below; not used by medians */
    npy_intp length, rows;
    const char *from; /* the rows, one after the other */
    char *to;         /* memory of the same size, in which the rows are arranged; it may be the same memory */
    char *out;        /* the first quantile of each row, then the second one of each */
    int by_rows;      /* or else all of the first row, then all of the second one */
    _Atomic int is_left, failed; /* whether a row is left to Python, or there is no memory */
} Quantiles;

/* ------------------------------------------------------------------ one row */

/* The number that has a share of the way from an element to another one, which is not less; or the mean of both. NaN if the
   difference overflows in NumPy. */
typedef double (*Between)(const char *low, const char *high, double share, int is_median);

/* STEP is from x to y, and as large as LIMIT if it overflows. COMPUTED is the type of all else, as it is in NumPy. */
#define DEFINE_BETWEEN(NAME, TYPE, COMPUTED, STEP, LIMIT)                                        \
    static double between_##NAME(const char *low, const char *high, double share, int is_median) \
    {                                                                                            \
        const TYPE x = *(const TYPE *)low, y = *(const TYPE *)high;                              \
        if (is_median) {                                                                         \
            return low == high ? (double)x : ((COMPUTED)x + (COMPUTED)y) / 2;                    \
        }                                                                                        \
        if ((STEP) >= (LIMIT)) {                                                                 \
            return NPY_NAN;                                                                      \
        }                                                                                        \
        const COMPUTED step = (COMPUTED)(STEP);                                                  \
        return share >= 0.5 ? (COMPUTED)y - step * (COMPUTED)(1 - share)                         \
                            : (COMPUTED)x + step * (COMPUTED)share;                              \
    }
#define BETWEEN_SIGNED(CODE, TYPE, ...) \
    DEFINE_BETWEEN(CODE, TYPE, double, (npy_uint64)y - (npy_uint64)x, ldexp(1, 8 * sizeof(TYPE) - 1))
#define BETWEEN_UNSIGNED(CODE, TYPE, ...) DEFINE_BETWEEN(CODE, TYPE, double, y - x, NPY_INFINITY)
EACH_SIGNED(BETWEEN_SIGNED)
EACH_UNSIGNED(BETWEEN_UNSIGNED)
DEFINE_BETWEEN(FLOAT64, double, double, y - x, NPY_INFINITY)
DEFINE_BETWEEN(FLOAT32, float, float, y - x, NPY_INFINITY)
DEFINE_BETWEEN(FLOAT32_in_double, float, double, y - x, NPY_INFINITY)

static const Between between[DTYPE_COUNT] = {
#define ENTRY(CODE, ...) [CODE] = between_##CODE,
    EACH_INTEGER(ENTRY)
    ENTRY(FLOAT64) ENTRY(FLOAT32)
#undef ENTRY
};

static void write_quantile(const Quantiles *all, npy_intp row, int number, double value)
{
    const npy_intp place = all->by_rows ? row * all->count + number : number * all->rows + row;
    if (all->result == FLOAT32) {
        ((float *)all->out)[place] = (float)value;
    } else {
        ((double *)all->out)[place] = value;
    }
}

/* Between which elements of a sorted row each quantile lies, and its share of the way. */
static void find_places(const Quantiles *all, npy_intp size, npy_intp *places, double *shares)
{
    for (int i = 0; i < all->count; i++) {
        const double place = all->is_median ? (double)(size - 1) / 2 : (double)(size - 1) * all->shares[i];
        places[2 * i] = least((npy_intp)place, size - 1);
        places[2 * i + 1] = all->is_median ? size / 2 : least(places[2 * i] + 1, size - 1);
        shares[i] = place - (double)places[2 * i];
    }
}

/* Write the quantiles of a row. Infinities, numbers that overflow, and rows of nothing but NaN are left to Python, for the
   warnings. */
static void find_quantiles(Quantiles *all, npy_intp row, npy_intp threads, int is_sorted)
{
    npy_intp places[2 * MOST_QUANTILES];
    double shares[MOST_QUANTILES];
    const npy_intp itemsize = dtypes[all->code].itemsize;
    const npy_intp offset = row * all->length * itemsize;
    const char *from = all->from + offset;
    char *to = all->to + offset;
    const npy_intp nans = count_nan(all->code, from, all->length), size = all->length - nans;
    /* Where all shares are of double precision, NumPy gives NaN of single precision all the same. */
    const int is_odd = nans > 0 && !all->skips_nan && all->code == FLOAT32 && all->result == FLOAT64;
    if (is_odd || nans < 0 || (size == 0 && all->skips_nan)) {
        all->is_left = 1;
        return;
    }
    if (nans > 0 && !all->skips_nan) {
        for (int i = 0; i < all->count; i++) {
            write_quantile(all, row, i, NPY_NAN);
        }
        return;
    }
    find_places(all, size, places, shares);
    const Arrangement arrangement = all->length <= SORTED_TO ? SORTED : PARTED;
    const Places sought = {places, 2 * all->count};
    if (!is_sorted && arrange_row(from, all->code, all->length, arrangement, sought, threads, to) < 0) {
        all->failed = 1;
        return;
    }
    const Between find = all->code == FLOAT32 && all->result == FLOAT64 ? between_FLOAT32_in_double : between[all->code];
    for (int i = 0; i < all->count; i++) {
        const double value = find(to + places[2 * i] * itemsize, to + places[2 * i + 1] * itemsize, shares[i], all->is_median);
        if (!isfinite(value)) {
            all->is_left = 1;
        }
        write_quantile(all, row, i, value);
    }
}

/* ------------------------------------------------------------------ all rows */

static npy_intp rows_each(const Quantiles *all)
{
    return greatest(PART / all->length, 1);
}

static void find_part(const void *shared, npy_intp part, char *scratch)
{
    Quantiles *all = (Quantiles *)shared;
    const npy_intp first = part * rows_each(all), after = least(first + rows_each(all), all->rows);
    const int are_short = is_sorted_in_registers(all->code, all->length);
    if (are_short) {
        const npy_intp offset = first * all->length * dtypes[all->code].itemsize;
        sort_short_rows(all->code, all->from + offset, all->to + offset, after - first, all->length);
    }
    for (npy_intp row = first; row < after; row++) {
        find_quantiles(all, row, 0, are_short);
    }
    clear_flags(); /* comparisons with NaN */
}

/* Write all quantiles: 1; 0 if they are left to Python; -1 with an exception set. */
static int run(Quantiles *all)
{
    const npy_intp parts = (all->rows - 1) / rows_each(all) + 1, threads = most_threads();
    if (threads < 1) {
        return -1;
    }
    if (all->rows == 1) {
        find_quantiles(all, 0, threads, 0);
        clear_flags();
    } else if (parts == 1) {
        find_part(all, 0, NULL);
    } else if (!run_parts_freely(find_part, all, parts, threads, 0)) {
        return -1;
    }
    if (all->failed && !PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    return all->failed ? -1 : !all->is_left;
}

/* `run` for an array along the axes that are marked. */
static int run_along(Quantiles *all, const Tensor *x, const char *data, const char *marked)
{
    int lies_in_rows = (x->flags & ROW_MAJOR) || ((x->flags & COLUMN_MAJOR) && all->rows == 1);
    for (int dim = 1; dim < x->ndim; dim++) {
        lies_in_rows = lies_in_rows && marked[dim - 1] <= marked[dim];
    }
    if (!lies_in_rows) {
        Tensor *copy = copy_with_axes_last(x, data, marked);
        if (copy == NULL) {
            return -1;
        }
        all->from = all->to = (char *)data_of(copy);
        const int done = run(all);
        Py_DECREF(copy);
        return done;
    }
    Scratch scratch;
    if (take_scratch(&scratch, x->size * dtypes[x->code].itemsize) < 0) {
        return -1;
    }
    all->from = data;
    all->to = scratch.data;
    const int done = run(all);
    free_scratch(&scratch);
    return done;
}

/* ------------------------------------------------------------------ arguments */

/* A share of 1, or of 100: a number of Python's, or an instance of its class; 0 if it is something else, or not in range. An
   integer is none of 1, since NumPy takes elements then. */
static int take_share(PyObject *value, int which, double *share)
{
    const double whole = which == PERCENTILE ? 100 : 1;
    if (PyFloat_Check(value)) {
        *share = PyFloat_AS_DOUBLE(value) / whole;
    } else if (PyLong_CheckExact(value) && which == PERCENTILE) {
        *share = PyLong_AsDouble(value) / whole;
        PyErr_Clear(); /* too large for a double: -1 */
    } else {
        return 0;
    }
    return *share >= 0 && *share <= 1;
}

/* Whether NumPy computes quantiles of single precision as this file does: releases after 2.4.0 do, in which a share that is no
   number of Python's makes the result one of double precision. The others compute them themselves. */
static int promotes_singles(void)
{
    static int known = -1;
    const npy_intp size = 1;
    if (known < 0) {
        PyObject *numpy = PyImport_ImportModule("numpy"), *result = NULL;
        PyObject *share = numpy == NULL ? NULL : PyObject_CallMethod(numpy, "float64", "d", 0.5);
        PyObject *array = share == NULL ? NULL : PyArray_ZEROS(1, (npy_intp *)&size, NPY_FLOAT, 0);
        if (array != NULL) {
            result = PyObject_CallMethod(numpy, "quantile", "OO", array, share);
        }
        known = result != NULL && PyArray_IsScalar(result, Double);
        PyErr_Clear();
        Py_XDECREF(result);
        Py_XDECREF(array);
        Py_XDECREF(share);
        Py_XDECREF(numpy);
    }
    return known;
}

/* The shares of a number, a list or a tuple, or of an array of float64. 0 if they are left to Python. */
static int take_shares(PyObject *value, int which, Quantiles *all, int *are_several)
{
    all->count = 1;
    *are_several = 0;
    if (take_share(value, which, all->shares)) {
        if (all->code == FLOAT32 && !PyFloat_CheckExact(value) && !PyLong_CheckExact(value)) {
            all->result = FLOAT64;
        }
        return 1;
    }
    *are_several = 1;
    all->result = FLOAT64;
    const Tensor *x = layout_of_any(value);
    if (x != NULL) {
        const char *data = x->code == FLOAT64 && x->ndim == 1 && x->size <= MOST_QUANTILES ? data_of((Tensor *)x) : NULL;
        all->count = data == NULL || !is_aligned(x, data) ? 0 : (int)x->size;
        for (int i = 0; i < all->count; i++) {
            all->shares[i] = *(const double *)(data + i * x->strides[0]) / (which == PERCENTILE ? 100 : 1);
            if (!(all->shares[i] >= 0 && all->shares[i] <= 1)) {
                return 0;
            }
        }
        return all->count > 0;
    }
    if ((!PyList_CheckExact(value) && !PyTuple_CheckExact(value)) || PySequence_Fast_GET_SIZE(value) > MOST_QUANTILES) {
        return 0;
    }
    all->count = (int)PySequence_Fast_GET_SIZE(value);
    for (int i = 0; i < all->count; i++) {
        if (!take_share(PySequence_Fast_GET_ITEM(value, i), which, &all->shares[i])) {
            return 0;
        }
    }
    return all->count > 0;
}

static int is_linear(PyObject *method)
{
    return method == NULL || (PyUnicode_Check(method) && PyUnicode_CompareWithASCIIString(method, "linear") == 0);
}

/* Whether NumPy lays the result of a median out row by row: it does not change the order of the axes that are kept. */
static int keeps_row_order(const Tensor *x, const char *reduced)
{
    npy_intp outer = NPY_MAX_INTP;
    for (int dim = 0; dim < x->ndim; dim++) {
        if (x->shape[dim] > 1 && !reduced[dim]) {
            if (magnitude(x->strides[dim]) > outer) {
                return 0;
            }
            outer = magnitude(x->strides[dim]);
        }
    }
    return 1;
}

static void put_last_axis_first(Tensor *x)
{
    const int last = x->ndim - 1;
    const npy_intp size = x->shape[last], stride = x->strides[last];
    memmove(x->shape + 1, x->shape, (size_t)last * sizeof *x->shape);
    memmove(x->strides + 1, x->strides, (size_t)last * sizeof *x->strides);
    x->shape[0] = size;
    x->strides[0] = stride;
    finish_layout(x, 0);
}

static PyObject *call_quantiles(int which, PyObject *const *values, Py_ssize_t count)
{
    Quantiles all = {.skips_nan = (which & SKIPS_NAN) != 0, .count = 1, .rows = 1};
    int keepdims = 0, several = 0, ndim = 0;
    char reduced[ARRAY_DIMS];
    npy_intp shape[ARRAY_DIMS + 1];
    const char *data;
    which &= ~SKIPS_NAN;
    all.is_median = which == MEDIAN;
    Tensor *x = sortable(values[0], most_sortable(), &data);
    if (x == NULL || x->ndim == 0 || between[x->code] == NULL || !take_flag(values[all.is_median ? 2 : 4], &keepdims) ||
        !take_axes(values[all.is_median ? 1 : 2], x->ndim, reduced)) {
        return decline_unless_raised();
    }
    all.code = (DTypeCode)x->code;
    all.result = all.code == FLOAT32 ? FLOAT32 : FLOAT64;
    if (!all.is_median && (!is_linear(values[3]) || !take_shares(values[1], which, &all, &several) ||
                           (all.code == FLOAT32 && !promotes_singles()))) {
        return decline_unless_raised();
    }
    all.by_rows = several && all.skips_nan; /* as NumPy's result lies */
    if (several && !all.by_rows) {
        shape[ndim++] = all.count;
    }
    for (int dim = 0; dim < x->ndim; dim++) {
        all.rows *= reduced[dim] ? 1 : x->shape[dim];
        if (!reduced[dim] || keepdims) {
            shape[ndim++] = reduced[dim] ? 1 : x->shape[dim];
        }
    }
    if (all.by_rows) {
        shape[ndim++] = all.count;
    }
    if (ndim > ARRAY_DIMS || (all.is_median && !keeps_row_order(x, reduced))) {
        return DECLINED;
    }
    all.length = x->size / all.rows;
    Py_INCREF(x); /* whatever finalisers and other threads do meanwhile */
    int done = 0;
    PyObject *result = new_array_like_memory(ndim, shape, all.result, 0, &all.out);
    if (result != NULL && data_of(x) == data) {
        done = run_along(&all, x, data, reduced);
    }
    Py_DECREF(x);
    if (result != NULL && done == 1) {
        if (all.by_rows) {
            put_last_axis_first(tensor_of(result));
        }
        return result;
    }
    Py_XDECREF(result);
    return decline_unless_raised();
}

Implementation quantile_functions[] = {
    {"median", call_quantiles, MEDIAN, "x, /, axis=, *, keepdims="},
    {"nanmedian", call_quantiles, MEDIAN | SKIPS_NAN, "x, /, axis=, *, keepdims="},
    {"quantile", call_quantiles, QUANTILE, "x, /, q, axis=, *, method=, keepdims="},
    {"nanquantile", call_quantiles, QUANTILE | SKIPS_NAN, "x, /, q, axis=, *, method=, keepdims="},
    {"percentile", call_quantiles, PERCENTILE, "x, /, q, axis=, *, method=, keepdims="},
    {"nanpercentile", call_quantiles, PERCENTILE | SKIPS_NAN, "x, /, q, axis=, *, method=, keepdims="},
    {NULL, NULL, 0, NULL},
};
