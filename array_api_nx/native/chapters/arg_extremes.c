/* argmax and argmin, by several threads: the array is divided into blocks of rows along the searched axis, and
   long rows into pieces, whose extremes are then searched among themselves. */

#include "chapters.h"
#include "compiler.h"
#include "elements.h"
#include "elementwise.h"
#include "flags.h"
#include "half_loops.h"
#include "nest.h"
#include "pack.h"
#include "parts.h"
#include "sorting.h"
#include "threads.h"

/* With OF_ANY of complex numbers, too, which NumPy's functions order by their real parts. */
enum { ARGMAX, ARGMIN, OF_ANY };

/* For each of some rows its first NaN, or else the first of its extremes: of rows whose elements follow each other
   and that lie `step` bytes apart, or of columns next to each other, whose elements lie `step` bytes apart. */
typedef void (*FindAll)(const char *data, npy_intp step, npy_intp length, npy_intp rows, npy_int64 *places);

/* No branch depends on a comparison, which the processor could not predict. A row is searched for NaN only if it
   has one. */
#define DEFINE_FIND_IN_ROWS(NAME, TYPE, BETTER)                                                    \
    CLONED(static, void, NAME##_in_rows,                                                           \
           (const char *data, npy_intp step, npy_intp length, npy_intp rows, npy_int64 *places),   \
           (data, step, length, rows, places))                                                     \
    {                                                                                              \
        for (npy_intp i = 0; i < rows; i++) {                                                      \
            const TYPE *row = (const TYPE *)(data + i * step);                                     \
            TYPE best = row[0];                                                                    \
            npy_int64 place = 0;                                                                   \
            int has_nan = best != best;                                                            \
            for (npy_intp k = 1; k < length; k++) {                                                \
                const TYPE each = row[k];                                                          \
                const int better = each BETTER best;                                               \
                best = better ? each : best;                                                       \
                place = better ? k : place;                                                        \
                has_nan |= each != each;                                                           \
            }                                                                                      \
            if (has_nan) {                                                                         \
                for (place = 0; row[place] == row[place]; place++) {                               \
                }                                                                                  \
            }                                                                                      \
            places[i] = place;                                                                     \
        }                                                                                          \
    }

/* Columns that are searched at a time: their extremes so far stay in the first level of the cache. */
enum { COLUMNS = 128 };

/* All columns at a time, by integers as long as the elements. An element is worse than the best so far, or as
   good, or the best is NaN: only a comparison with NaN that comes first is false. */
#define DEFINE_FIND_IN_COLUMNS(NAME, TYPE, INTEGER, WORSE)                                         \
    CLONED(static, void, NAME##_in_columns,                                                        \
           (const char *data, npy_intp step, npy_intp length, npy_intp rows, npy_int64 *places),   \
           (data, step, length, rows, places))                                                     \
    {                                                                                              \
        TYPE best[COLUMNS];                                                                        \
        INTEGER found[COLUMNS];                                                                    \
        memcpy(best, data, (size_t)rows * sizeof(TYPE));                                           \
        memset(found, 0, sizeof(found));                                                           \
        for (npy_intp k = 1; k < length; k++) {                                                    \
            const TYPE *each = (const TYPE *)(data + k * step);                                    \
            const INTEGER here = (INTEGER)k;                                                       \
            INDEPENDENT                                                                            \
            for (npy_intp i = 0; i < rows; i++) {                                                  \
                const int kept = (each[i] WORSE best[i]) | (best[i] != best[i]);                   \
                best[i] = kept ? best[i] : each[i];                                                \
                found[i] = kept ? found[i] : here;                                                 \
            }                                                                                      \
        }                                                                                          \
        for (npy_intp i = 0; i < rows; i++) {                                                      \
            places[i] = found[i];                                                                  \
        }                                                                                          \
    }

#define EACH_SEARCHED(X)                    \
    X(FLOAT32, npy_float, npy_int32)        \
    X(FLOAT64, npy_double, npy_int64)       \
    X(NX_INT32, npy_int32, npy_int32)       \
    X(NX_INT64, npy_int64, npy_int64)

#define DEFINE_SEARCHES(CODE, TYPE, INTEGER)                 \
    DEFINE_FIND_IN_ROWS(greatest_##CODE, TYPE, >)            \
    DEFINE_FIND_IN_ROWS(least_##CODE, TYPE, <)               \
    DEFINE_FIND_IN_COLUMNS(greatest_##CODE, TYPE, INTEGER, <=) \
    DEFINE_FIND_IN_COLUMNS(least_##CODE, TYPE, INTEGER, >=)
EACH_SEARCHED(DEFINE_SEARCHES)

/* By dtype and function; NULL for dtypes that only NumPy's functions search. */
static const struct {
    FindAll rows, columns;
} searches[DTYPE_COUNT][2] = {
#define ENTRY(CODE, ...)                                            \
    [CODE] = {{greatest_##CODE##_in_rows, greatest_##CODE##_in_columns}, \
              {least_##CODE##_in_rows, least_##CODE##_in_columns}},
    EACH_SEARCHED(ENTRY)
#undef ENTRY
};

/* In rows of more elements NumPy's functions, which have vector instructions, take less time (docs/tuning.md, 50);
   of fewer columns those that are copied to follow each other. */
enum { SHORT_ROW = 48, FEW_COLUMNS = 8 };

/* Elements that a thread searches at a time, and elements of each of FEW_COLUMNS rows that are copied. */
enum { PART = 1 << 15, COPIED = 1 << 9 };

typedef struct {
    const char *data;
    npy_int64 *places;      /* of all rows, for each piece */
    PyArray_ArgFunc *find;  /* NumPy's function, for a row whose elements follow each other */
    FindAll find_all;       /* or a function for all rows of a block; or NULL */
    int copies;
    npy_intp itemsize;
    npy_intp length, step, piece, pieces; /* the searched axis */
    int ndim;                             /* the other axes; along the last one lie the rows of a block */
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    npy_intp rows, block, blocks;
    npy_intp units, each; /* a unit is a block of a piece; so many are computed at a time */
} Search;

static npy_intp parts_of(npy_intp size, npy_intp part)
{
    return (size - 1) / part + 1;
}

/* Begin the search along an axis: all but the places. */
static void begin_search(Search *search, int which, DTypeCode code, const char *data, int ndim, const npy_intp *shape,
                         const npy_intp *strides, int axis)
{
    const PyArray_ArrFuncs *functions = functions_of(code);
    npy_intp sizes[ARRAY_DIMS];
    const npy_intp *const given[1] = {strides};
    npy_intp *const merged[1] = {search->strides};
    memcpy(sizes, shape, (size_t)ndim * sizeof(*sizes));
    search->length = ndim > 0 ? shape[axis] : 1;
    search->itemsize = dtypes[code].itemsize;
    search->step = search->length > 1 ? strides[axis] : search->itemsize;
    if (ndim > 0) {
        sizes[axis] = 1;
    }
    search->ndim = merge_axes(ndim, sizes, 1, given, search->shape, merged);
    if (search->ndim == 0) {
        search->shape[0] = 1;
        search->strides[0] = search->itemsize;
        search->ndim = 1;
    }
    const int last = search->ndim - 1;
    npy_intp outer = 1;
    for (int dim = 0; dim < last; dim++) {
        outer *= search->shape[dim];
    }
    search->data = data;
    search->find = faster_search(code, which == ARGMAX, which == ARGMAX ? functions->argmax : functions->argmin);
    search->rows = outer * search->shape[last];
    const int are_columns = search->step != search->itemsize;
    search->find_all = !are_columns && search->length <= SHORT_ROW ? searches[code][which].rows
                       : are_columns && search->shape[last] >= FEW_COLUMNS &&
                               search->strides[last] == search->itemsize
                           ? searches[code][which].columns
                           : NULL;
    search->copies = are_columns && search->find_all == NULL;
    search->block = search->copies ? FEW_COLUMNS : are_columns ? COLUMNS : greatest(PART / search->length, 1);
    search->block = least(search->block, search->shape[last]);
    search->blocks = parts_of(search->shape[last], search->block);
    /* The search for a true element ends at the first one. */
    search->piece = search->copies ? COPIED : are_columns ? PART / FEW_COLUMNS : PART;
    search->piece = code == BOOL ? search->length : least(search->length, search->piece);
    search->pieces = parts_of(search->length, search->piece);
    search->units = search->pieces * outer * search->blocks;
    search->each = greatest(PART / (search->piece * search->block), 1);
}

static void search_unit(const Search *search, npy_intp unit, char *scratch)
{
    const int last = search->ndim - 1;
    const npy_intp units = search->units / search->pieces, piece = unit / units;
    const npy_intp begin = piece * search->piece, length = least(search->piece, search->length - begin);
    npy_intp row = unit % units % search->blocks * search->block, outer = unit % units / search->blocks;
    const npy_intp rows = least(search->block, search->shape[last] - row), apart = search->strides[last];
    npy_int64 *places = search->places + piece * search->rows + outer * search->shape[last] + row;
    const char *data = search->data + begin * search->step + row * apart;
    for (int dim = last - 1; dim >= 0; dim--) {
        data += outer % search->shape[dim] * search->strides[dim];
        outer /= search->shape[dim];
    }
    if (search->find_all != NULL) {
        search->find_all(data, search->step == search->itemsize ? apart : search->step, length, rows, places);
    } else {
        const int turns = search->copies && apart == search->itemsize && rows > 1;
        if (turns) {
            turn_columns(data, search->step, length, rows, search->itemsize, scratch);
        }
        for (npy_intp i = 0; i < rows; i++) {
            const char *elements = turns ? scratch + i * length * search->itemsize : data + i * apart;
            npy_intp place = 0;
            if (search->copies && !turns) {
                copy_row(scratch, search->itemsize, elements, search->step, length, search->itemsize);
                elements = scratch;
            }
            search->find((char *)elements, length, &place, NULL);
            places[i] = place;
        }
    }
    for (npy_intp i = 0; begin > 0 && i < rows; i++) {
        places[i] += begin;
    }
}

static void search_part(const void *parts, npy_intp number, char *scratch)
{
    const Search *search = parts;
    const npy_intp end = least((number + 1) * search->each, search->units);
    for (npy_intp unit = number * search->each; unit < end; unit++) {
        search_unit(search, unit, scratch);
    }
    clear_flags(); /* comparisons with NaN are invalid operations to the processor */
}

/* Which of some candidates is their first extreme. */
static npy_intp choose(const Search *search, const char *candidates, npy_intp count)
{
    npy_intp chosen = 0;
    search->find((char *)candidates, count, &chosen, NULL);
    return chosen;
}

/* Replace the places in pieces of rows by those in rows, and if `flat` these by the one in the whole array, whose
   first extreme is that of the extremes of its pieces and rows. */
static void join(const Search *search, npy_int64 *result, char *scratch, int flat)
{
    const int last = search->ndim - 1;
    const npy_intp itemsize = search->itemsize, rows = search->rows;
    npy_intp index[ARRAY_DIMS] = {0};
    const char *data = search->data;
    npy_int64 *places = search->places;
    int dim;
    do {
        for (npy_intp i = 0; i < search->shape[last]; i++, places++) {
            const char *row = data + i * search->strides[last];
            for (npy_intp p = 0; p < search->pieces; p++) {
                copy_element(scratch + p * itemsize, row + places[p * rows] * search->step, itemsize);
            }
            if (search->pieces > 1) {
                *places = places[choose(search, scratch, search->pieces) * rows];
            }
            if (flat) {
                copy_element(scratch, row + *places * search->step, itemsize);
                scratch += itemsize;
            }
        }
        dim = next_index(last, search->shape, index);
        data += distance(dim, last, search->shape, search->strides);
    } while (dim >= 0);
    if (flat) {
        const npy_intp row = choose(search, scratch - rows * itemsize, rows);
        *result = row * search->length + search->places[row];
    } else {
        memcpy(result, search->places, (size_t)rows * sizeof(*result));
    }
    clear_flags();
}

/* Write the places of all rows, or if `flat` the one of all of them. -1 with an exception set. */
static int run_search(Search *search, npy_int64 *result, int flat)
{
    Scratch scratch;
    const int joins = search->pieces > 1 || (flat && search->rows > 1);
    const npy_intp parts = parts_of(search->units, search->each);
    const npy_intp copied = search->copies ? search->block * search->piece * search->itemsize : 0;
    const npy_intp places = joins ? search->pieces * search->rows * (npy_intp)sizeof(npy_int64) : 0;
    const npy_intp candidates = joins ? (search->pieces + (flat ? search->rows : 0)) * search->itemsize : 0;
    const npy_intp threads = parts == 1 ? 1 : most_threads();
    if (threads < 1 || take_scratch(&scratch, places + greatest(copied, candidates)) < 0) {
        return -1;
    }
    int complete = 1;
    search->places = joins ? (npy_int64 *)scratch.data : result;
    if (parts == 1) {
        search_part(search, 0, scratch.data + places);
    } else {
        complete = run_parts(search_part, search, parts, copied, threads, 1);
    }
    if (complete == 1 && joins) {
        join(search, result, scratch.data + places, flat);
    }
    free_scratch(&scratch);
    if (complete == -1) {
        PyErr_SetInterrupt();
        return PyErr_CheckSignals() < 0 ? -1 : run_search(search, result, flat);
    }
    return complete == 1 ? 0 : (PyErr_NoMemory(), -1);
}

/* Begin the search of an array along an axis, or if `flat` of all of its elements. */
static void begin_search_of(Search *search, int which, const Tensor *x, const char *data, int flat, int axis)
{
    npy_intp merged[ARRAY_DIMS] = {1}, steps[ARRAY_DIMS];
    const npy_intp *const strides[1] = {x->strides};
    npy_intp *const into[1] = {steps};
    const int axes = flat ? merge_axes(x->ndim, x->shape, 1, strides, merged, into) : x->ndim;
    begin_search(search, which, (DTypeCode)x->code, data, axes, flat ? merged : x->shape, flat ? steps : x->strides,
                 flat ? axes - 1 : axis);
}

/* `sortable` of complex numbers, too. */
static Tensor *searchable(PyObject *object, const char **data)
{
    Tensor *x = layout_of_any(object);
    return x != NULL && x->size > 0 && (*data = data_of(x)) != NULL && is_aligned(x, *data) ? x : NULL;
}

static PyObject *call_extreme(int which, PyObject *const *values, Py_ssize_t count)
{
    int keepdims = 0, axis = 0, ndim = 0;
    npy_intp shape[ARRAY_DIMS];
    const char *data;
    char *out;
    Search search;
    Tensor *x;
    if (!take_flag(values[2], &keepdims) || !is_computed_now(1) ||
        (x = which & OF_ANY ? searchable(values[0], &data) : sortable(values[0], NPY_MAX_INTP, &data)) == NULL) {
        return decline_unless_raised();
    }
    which &= ~OF_ANY;
    const DTypeCode code = (DTypeCode)x->code;
    const int flat = !is_given(values[1]);
    if ((!flat && !take_axis(values[1], x->ndim, &axis)) || functions_of(code)->argmax == NULL) {
        return DECLINED;
    }
    for (int i = 0; i < x->ndim; i++) {
        const int searched = flat || i == axis;
        if (!searched || keepdims) {
            shape[ndim++] = searched ? 1 : x->shape[i];
        }
    }
    begin_search_of(&search, which, x, data, flat, axis);
    Tensor *copy = NULL;
    const int has_short_rows = flat && search.rows > 1 && search.length < PART;
    if ((search.copies || has_short_rows) && !(x->flags & (ROW_MAJOR | COLUMN_MAJOR))) {
        char searched[ARRAY_DIMS] = {0};
        searched[flat ? 0 : axis] = !flat;
        copy = copy_with_axes_last(x, data, searched); /* once, instead of each row for itself */
        if (copy == NULL) {
            return NULL;
        }
        begin_search_of(&search, which, copy, data_of(copy), flat, x->ndim - 1);
    }
    PyObject *result = new_array_like_memory(ndim, shape, NX_INT64, 0, &out);
    if (result != NULL && run_search(&search, (npy_int64 *)out, flat) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(copy);
    return result;
}

static PyObject *arg_extremes(PyObject *module, PyObject *args)
{
    PyArrayObject *array, *places;
    int greatest, axis;
    Search search;
    if (!PyArg_ParseTuple(args, "O!ipO!:arg_extremes", &PyArray_Type, &array, &axis, &greatest, &PyArray_Type,
                          &places)) {
        return NULL;
    }
    const DTypeCode code = code_of_number(PyArray_TYPE(array));
    if (code == NO_DTYPE || is_complex(code) || functions_of(code)->argmax == NULL ||
        !PyArray_ISBEHAVED_RO(array) || axis < 0 || axis >= PyArray_NDIM(array) || PyArray_SIZE(array) == 0 || PyArray_TYPE(places) != NPY_INT64 ||
        !PyArray_ISCARRAY(places) || PyArray_SIZE(places) != PyArray_SIZE(array) / PyArray_DIM(array, axis)) {
        Py_RETURN_FALSE;
    }
    begin_search(&search, greatest ? ARGMAX : ARGMIN, code, PyArray_BYTES(array), PyArray_NDIM(array),
                 PyArray_DIMS(array), PyArray_STRIDES(array), axis);
    if (run_search(&search, (npy_int64 *)PyArray_DATA(places), 0) < 0) {
        return NULL;
    }
    Py_RETURN_TRUE;
}

Implementation extreme_functions[] = {
    {"argmax", call_extreme, ARGMAX, "x, /, *, axis=, keepdims="},
    {"argmin", call_extreme, ARGMIN, "x, /, *, axis=, keepdims="},
    {"argmax_of_any", call_extreme, ARGMAX | OF_ANY, "x, /, *, axis=, keepdims="},
    {"argmin_of_any", call_extreme, ARGMIN | OF_ANY, "x, /, *, axis=, keepdims="},
    {NULL, NULL, 0, NULL},
};

PyMethodDef arg_extremes_methods[] = {
    {"arg_extremes", arg_extremes, METH_VARARGS,
     "arg_extremes(array, axis, greatest, places)\n--\n\n"
     "Write where along an axis the extremes are, as numpy.argmin and argmax tell it, to an array of int64 that "
     "lies in one piece. Whether that was done: not for dtypes and layouts that C does not read."},
    {NULL, NULL, 0, NULL},
};
