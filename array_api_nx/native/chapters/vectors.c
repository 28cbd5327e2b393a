#include "vectors.h"
#include "arguments.h"
#include "buckets.h"
#include "compiler.h"
#include "flags.h"
#include "half_loops.h"
#include "masks.h"
#include "parts.h"
#include "sorting.h"

/* ------------------------------------------------------------------ keys */

#define SIGN_BIT ((npy_uint64)1 << 63)

static inline npy_uint64 key_of_bool(npy_bool x)
{
    return (npy_uint64)truth_of(x);
}

static inline npy_uint64 key_of_signed(npy_int64 x)
{
    return (npy_uint64)x ^ SIGN_BIT;
}

static inline npy_uint64 key_of_unsigned(npy_uint64 x)
{
    return x;
}

static inline npy_uint64 key_of_float64(npy_double x)
{
    npy_uint64 bits;
    memcpy(&bits, &x, sizeof(bits));
    const npy_uint64 magnitude = bits & ~SIGN_BIT;
    const npy_uint64 key = magnitude == 0 ? SIGN_BIT : bits ^ ((0 - (bits >> 63)) | SIGN_BIT);
    return magnitude > (npy_uint64)0x7ff << 52 ? ~(npy_uint64)0 : key;
}

static inline npy_uint64 key_of_float32(npy_float x)
{
    const npy_uint32 sign = (npy_uint32)1 << 31;
    npy_uint32 bits;
    memcpy(&bits, &x, sizeof(bits));
    const npy_uint32 magnitude = bits & ~sign;
    const npy_uint32 key = magnitude == 0 ? sign : bits ^ ((0 - (bits >> 31)) | sign);
    return magnitude > (npy_uint32)0xff << 23 ? ~(npy_uint32)0 : key;
}

#define KEY_BOOL key_of_bool
#define KEY_SIGNED key_of_signed
#define KEY_UNSIGNED key_of_unsigned
#define KEY_FLOAT16 rank_of_half
#define KEY_FLOAT32 key_of_float32
#define KEY_FLOAT64 key_of_float64

#define DEFINE_KEYS(CODE, TYPE, KEY)                                                               \
    CLONED(static, void, scan_##CODE,                                                              \
           (const char *data, npy_intp count, npy_uint64 *least, npy_uint64 *greatest,             \
            npy_uint64 *varying),                                                                  \
           (data, count, least, greatest, varying))                                                \
    {                                                                                              \
        const TYPE *elements = (const TYPE *)data;                                                 \
        const npy_uint64 first = KEY(elements[0]);                                                 \
        npy_uint64 low = first, high = first, differing = 0;                                       \
        for (npy_intp i = 1; i < count; i++) {                                                     \
            const npy_uint64 key = KEY(elements[i]);                                               \
            low = key < low ? key : low;                                                           \
            high = key > high ? key : high;                                                        \
            differing |= key ^ first;                                                              \
        }                                                                                          \
        *least = low;                                                                              \
        *greatest = high;                                                                          \
        *varying = differing;                                                                      \
    }                                                                                              \
                                                                                                   \
    CLONED(static, void, write_##CODE,                                                             \
           (const char *data, npy_intp count, npy_uint64 least, int dropped, int index_bits,       \
            npy_uint64 first, npy_uint64 *keys),                                                   \
           (data, count, least, dropped, index_bits, first, keys))                                 \
    {                                                                                              \
        const TYPE *elements = (const TYPE *)data;                                                 \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            const npy_uint64 key = (KEY(elements[i]) - least) >> dropped;                          \
            keys[i] = key << index_bits | (first + (npy_uint64)i);                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static npy_uint64 key_##CODE(const char *data, npy_intp i)                                     \
    {                                                                                              \
        return KEY(((const TYPE *)data)[i]);                                                       \
    }                                                                                              \
                                                                                                   \
    /* The first of each run of equal elements; see number_runs. */                                \
    static npy_intp runs_##CODE(const char *data, const npy_int64 *order, npy_intp count,          \
                                npy_int64 *starts, npy_int64 *inverse)                             \
    {                                                                                              \
        const TYPE *elements = (const TYPE *)data;                                                 \
        npy_intp runs = 1;                                                                         \
        starts[0] = 0;                                                                             \
        TYPE before = elements[order == NULL ? 0 : order[0]];                                      \
        if (order == NULL) {                                                                       \
            for (npy_intp i = 1; i < count; i++) {                                                 \
                starts[runs] = i;                                                                  \
                runs += DIFFERS(elements[i], before);                                              \
                before = elements[i];                                                              \
            }                                                                                      \
            return runs;                                                                           \
        }                                                                                          \
        inverse[order[0]] = 0;                                                                     \
        for (npy_intp i = 1; i < count; i++) {                                                     \
            const TYPE element = elements[order[i]];                                               \
            starts[runs] = i;                                                                      \
            runs += DIFFERS(element, before);                                                      \
            before = element;                                                                      \
            inverse[order[i]] = runs - 1;                                                          \
        }                                                                                          \
        return runs;                                                                               \
    }

#define KEYS_BOOL(CODE, TYPE, ...) DEFINE_KEYS(CODE, TYPE, KEY_BOOL)
#define KEYS_SIGNED(CODE, TYPE, ...) DEFINE_KEYS(CODE, TYPE, KEY_SIGNED)
#define KEYS_UNSIGNED(CODE, TYPE, ...) DEFINE_KEYS(CODE, TYPE, KEY_UNSIGNED)
#define KEYS_FLOAT(CODE, TYPE, ...) DEFINE_KEYS(CODE, TYPE, KEY_##CODE)
EACH_BOOL(KEYS_BOOL)
EACH_SIGNED(KEYS_SIGNED)
EACH_UNSIGNED(KEYS_UNSIGNED)
EACH_FLOAT(KEYS_FLOAT)

/* Where to insert `values`: how many of the `length` sorted elements are before each. The searches of
   a group take turns, so that the memory that one waits for is fetched while the others go on.
   The elements from `length` to `all` are NaN, which is behind all others. A group of ascending values is looked up from
   the place of the last value of the group before on, if that is no greater. */
enum { GROUP = 16, AHEAD = 4 };

#define DEFINE_SEARCH(NAME, TYPE, IS_BEFORE, NAN_PLACE)                                            \
    CLONED(static, void, find_##NAME,                                                              \
           (const char *data, npy_intp length, npy_intp all, const char *wanted, npy_intp count,   \
            npy_int64 *places),                                                                    \
           (data, length, all, wanted, count, places))                                             \
    {                                                                                              \
        const TYPE *sorted = (const TYPE *)data, *values = (const TYPE *)wanted;                   \
        for (npy_intp first = 0; first < count; first += GROUP) {                                  \
            const int group = (int)(count - first < GROUP ? count - first : GROUP);                \
            TYPE value[GROUP] = {0};                                                               \
            npy_int64 place[GROUP] = {0};                                                          \
            memcpy(value, values + first, (size_t)group * sizeof(TYPE));                           \
            npy_intp left = length;                                                                \
            int descents = first == 0 || group < GROUP || !(RANK(values[first - 1]) <= RANK(value[0])); \
            for (int j = 1; j < GROUP; j++) {                                                      \
                descents |= !(RANK(value[j - 1]) <= RANK(value[j]));                               \
            }                                                                                      \
            if (!descents) {                                                                       \
                const npy_intp from = places[first - 1];                                           \
                npy_intp ahead = AHEAD;                                                            \
                while (from + ahead < length && RANK(sorted[from + ahead - 1]) IS_BEFORE RANK(value[GROUP - 1])) { \
                    ahead *= AHEAD;                                                                \
                }                                                                                  \
                left = from + ahead < length ? ahead : length - from;                              \
                for (int j = 0; j < GROUP; j++) {                                                  \
                    place[j] = from;                                                               \
                }                                                                                  \
            }                                                                                      \
            while (left > 1) {                                                                     \
                const npy_intp half = left >> 1;                                                   \
                for (int j = 0; j < GROUP; j++) {                                                  \
                    place[j] += RANK(sorted[place[j] + half - 1]) IS_BEFORE RANK(value[j]) ? half : 0; \
                }                                                                                  \
                left -= half;                                                                      \
            }                                                                                      \
            if (left > 0) {                                                                        \
                for (int j = 0; j < GROUP; j++) {                                                  \
                    place[j] += RANK(sorted[place[j]]) IS_BEFORE RANK(value[j]);                   \
                }                                                                                  \
            }                                                                                      \
            for (int j = 0; j < group; j++) {                                                      \
                places[first + j] = IS_NAN(value[j]) ? NAN_PLACE : place[j];                       \
            }                                                                                      \
        }                                                                                          \
    }

#define SEARCH(CODE, TYPE, ...)                 \
    DEFINE_SEARCH(left_##CODE, TYPE, <, length) \
    DEFINE_SEARCH(right_##CODE, TYPE, <=, all)
EACH_REAL(SEARCH)

typedef void Find(const char *, npy_intp, npy_intp, const char *, npy_intp, npy_int64 *);

/* Among elements that are evenly spaced, as edges of bins are, a division says between which two a value lies. If that is
   not so, by rounding, or because it is one of them, those beside them are compared; else it is looked up as above. There are
   at least three elements, and the last one lies above the first. */
enum { GUESSES = 256 };

#define DEFINE_EVEN_SEARCH(NAME, TYPE, IS_BEFORE, NAN_PLACE)                                       \
    CLONED(static, void, guess_##NAME,                                                             \
           (const char *wanted, npy_intp count, double begin, double scale, double last, npy_int32 *guesses), \
           (wanted, count, begin, scale, last, guesses))                                           \
    {                                                                                              \
        const TYPE *values = (const TYPE *)wanted;                                                 \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            double at = ((double)values[i] - begin) * scale;                                       \
            at = at > 0 ? at : 0; /* also if it is NaN */                                          \
            guesses[i] = (npy_int32)(at < last ? at : last);                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void find_evenly_##NAME(const char *data, npy_intp length, npy_intp all,                \
                                   const char *wanted, npy_intp count, npy_int64 *places)          \
    {                                                                                              \
        const TYPE *sorted = (const TYPE *)data, *values = (const TYPE *)wanted;                   \
        const double begin = sorted[0], scale = (double)(length - 1) / ((double)sorted[length - 1] - begin); \
        npy_int32 guesses[GUESSES];                                                                \
        for (npy_intp first = 0; first < count; first += GUESSES) {                                \
            const npy_intp end = count - first < GUESSES ? count : first + GUESSES;                \
            guess_##NAME((const char *)(values + first), end - first, begin, scale, (double)(length - 2), guesses); \
            for (npy_intp i = first; i < end; i++) {                                               \
                const TYPE value = values[i];                                                      \
                const npy_intp guess = guesses[i - first];                                         \
                const TYPE *near = sorted + guess;                                                 \
                const int before = (near[0] IS_BEFORE value) + (near[1] IS_BEFORE value);          \
                if (before == 1 ||                                                                 \
                    (before == 0 && value == value && (guess == 0 || near[-1] IS_BEFORE value)) || \
                    (before == 2 && (guess == length - 2 || !(near[2] IS_BEFORE value)))) {        \
                    places[i] = guess + before;                                                    \
                } else {                                                                           \
                    find_##NAME(data, length, all, (const char *)(values + i), 1, places + i);     \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define EVEN_SEARCH(CODE, TYPE, ...)                     \
    DEFINE_EVEN_SEARCH(left_##CODE, TYPE, <, length)     \
    DEFINE_EVEN_SEARCH(right_##CODE, TYPE, <=, all)
EACH_BROAD_FLOAT(EVEN_SEARCH)

static Find *const even_searches[DTYPE_COUNT][2] = {
#define ENTRY(CODE, ...) [CODE] = {find_evenly_left_##CODE, find_evenly_right_##CODE},
    EACH_BROAD_FLOAT(ENTRY)
#undef ENTRY
};

/* So many elements are compared with even spacing; fewer values are looked up without asking (docs/tuning.md, 111). */
enum { PROBES = 16, FEW_VALUES = 64 };
enum { READ_FOR_EACH = 16 };  /* the most elements for each value that are read to find out whether they are sorted */
enum { LEAST_EVEN = 3 }; /* elements that a division may say where to look among */

static double float_at(const char *elements, DTypeCode code, npy_intp i)
{
    return read_float(elements + i * dtypes[code].itemsize, code);
}

static int is_even(const char *sorted, DTypeCode code, npy_intp length)
{
    if (even_searches[code][0] == NULL || length < LEAST_EVEN || length > NPY_MAX_INT32) {
        return 0;
    }
    const double begin = float_at(sorted, code, 0), width = float_at(sorted, code, length - 1) - begin;
    const double step = width / (double)(length - 1);
    int even = step > 0 && isfinite(width) && isfinite((double)(length - 1) / width);
    for (npy_intp probe = 1; even && probe < PROBES; probe++) {
        const npy_intp i = length * probe / PROBES;
        const double expected = begin + step * (double)i;
        even = fabs(float_at(sorted, code, i) - expected) <= step;
    }
    return even;
}

typedef struct {
    void (*scan)(const char *, npy_intp, npy_uint64 *, npy_uint64 *, npy_uint64 *);
    void (*write)(const char *, npy_intp, npy_uint64, int, int, npy_uint64, npy_uint64 *);
    npy_uint64 (*key)(const char *, npy_intp);
    npy_intp (*runs)(const char *, const npy_int64 *, npy_intp, npy_int64 *, npy_int64 *);
    Find *find[2];
} VectorLoops;

static const VectorLoops loops[DTYPE_COUNT] = {
#define ENTRY(CODE, ...)                                    \
    [CODE] = {scan_##CODE, write_##CODE, key_##CODE, runs_##CODE, \
              {find_left_##CODE, find_right_##CODE}},
    EACH_REAL(ENTRY)
#undef ENTRY
};

static int bits_of(npy_uint64 number)
{
    int bits = 0;
    for (; number != 0; number >>= 1) {
        bits++;
    }
    return bits;
}

KeyScale scale_keys(const char *elements, DTypeCode code, npy_intp count)
{
    npy_uint64 least, greatest, varying;
    loops[code].scan(elements, count, &least, &greatest, &varying);
    const int index_bits = bits_of((npy_uint64)count - 1);
    const int excess = bits_of(greatest - least) + index_bits - 64;
    const int dropped = excess > 0 ? excess : 0;
    return (KeyScale){least, dropped, index_bits, (varying & (((npy_uint64)1 << dropped) - 1)) == 0};
}

void write_keys(const char *elements, DTypeCode code, npy_intp count, const KeyScale *scale,
                npy_intp first, npy_uint64 *keys)
{
    loops[code].write(elements, count, scale->least, scale->dropped, scale->index_bits,
                      (npy_uint64)first, keys);
}

/* Order a run whose keys are the same but for the dropped bits. */
static int order_run(const char *elements, DTypeCode code, npy_intp count, const KeyScale *scale,
                     npy_uint64 *keys)
{
    const npy_uint64 index_mask = ((npy_uint64)1 << scale->index_bits) - 1;
    const npy_uint64 dropped_mask = ((npy_uint64)1 << scale->dropped) - 1;
    int descends = 0;
    for (npy_intp i = 0; i < count; i++) {
        const npy_uint64 index = keys[i] & index_mask;
        const npy_uint64 key = loops[code].key(elements, (npy_intp)index) - scale->least;
        keys[i] = (key & dropped_mask) << scale->index_bits | index;
        descends |= i > 0 && keys[i] < keys[i - 1];
    }
    return descends ? sort_row((char *)keys, NX_UINT64, count) : 0;
}

int order_of_keys(const char *elements, DTypeCode code, npy_intp count, const KeyScale *scale,
                  npy_uint64 *keys)
{
    const npy_uint64 index_mask = ((npy_uint64)1 << scale->index_bits) - 1;
    if (!scale->is_exact) {
        for (npy_intp start = 0, end; start < count; start = end) {
            end = start + 1;
            while (end < count && (keys[end] ^ keys[start]) <= index_mask) {
                end++;
            }
            if (end - start > 1 &&
                order_run(elements, code, end - start, scale, keys + start) < 0) {
                return -1;
            }
        }
    }
    for (npy_intp i = 0; i < count; i++) {
        keys[i] &= index_mask;
    }
    return 0;
}

void find_places_of(const char *sorted, DTypeCode code, npy_intp all, const char *wanted, npy_intp count, int right,
                    npy_int64 *places)
{
    const VectorLoops *own = &loops[code];
    const npy_uint64 nan = is_inexact(code) ? ~(npy_uint64)0 >> (64 - 8 * dtypes[code].itemsize) : 0;
    npy_intp low = 0, length = all;
    while (nan != 0 && low < length) { /* to the first NaN */
        const npy_intp middle = low + ((length - low) >> 1);
        if (own->key(sorted, middle) == nan) {
            length = middle;
        } else {
            low = middle + 1;
        }
    }
    const int evenly = count >= FEW_VALUES && is_even(sorted, code, length);
    (evenly ? even_searches[code] : own->find)[right](sorted, length, all, wanted, count, places);
}

int is_worth_turns(const char *elements, DTypeCode code, npy_intp length, npy_intp count)
{
    if (code == BOOL || count < FEW_VALUES || length > READ_FOR_EACH * count) {
        return 0;
    }
    npy_intp i = 1;
    while (i < length && loops[code].key(elements, i - 1) <= loops[code].key(elements, i)) {
        i++;
    }
    return i >= length;
}

/* ------------------------------------------------------------------ for Python */

char *vector_data(PyObject *object, int type, int is_written, npy_intp *size)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object) || PyArray_NDIM(array) != 1 || !PyArray_ISCARRAY_RO(array) ||
        (is_written && !PyArray_ISWRITEABLE(array)) || (type >= 0 && PyArray_TYPE(array) != type) ||
        code_of_number(PyArray_TYPE(array)) == NO_DTYPE) {
        refuse("the operands must be vectors that lie in one piece, of the dtypes of the docstring");
        return NULL;
    }
    *size = PyArray_SIZE(array);
    return PyArray_BYTES(array);
}

static DTypeCode vector_code(PyObject *array)
{
    return code_of_number(PyArray_TYPE((PyArrayObject *)array));
}

static int check_real(PyObject *array)
{
    return loops[vector_code(array)].scan != NULL || refuse("the elements must be real");
}

static int check_sizes(int same)
{
    return same || refuse("the sizes of the operands do not fit");
}

static PyObject *number_runs(PyObject *module, PyObject *args)
{
    PyObject *vector, *given, *begins, *numbers;
    npy_intp count, indices = 0, room, places = 0;
    if (!PyArg_ParseTuple(args, "OOOO:number_runs", &vector, &given, &begins, &numbers)) {
        return NULL;
    }
    const char *elements = vector_data(vector, -1, 0, &count);
    char *starts = elements == NULL ? NULL : vector_data(begins, NPY_INT64, 1, &room);
    char *order = NULL, *inverse = NULL;
    if (starts == NULL || !check_real(vector)) {
        return NULL;
    }
    if (given != Py_None && ((order = vector_data(given, NPY_INT64, 0, &indices)) == NULL ||
                             (inverse = vector_data(numbers, NPY_INT64, 1, &places)) == NULL)) {
        return NULL;
    }
    if (!check_sizes(count > 0 && room == count &&
                     (order == NULL || (indices == count && places == count)))) {
        return NULL;
    }
    npy_intp runs;
    Py_BEGIN_ALLOW_THREADS
    runs = loops[vector_code(vector)].runs(elements, (const npy_int64 *)order, count,
                                           (npy_int64 *)starts, (npy_int64 *)inverse);
    clear_flags(); /* comparisons with NaN */
    Py_END_ALLOW_THREADS
    return PyLong_FromSsize_t(runs);
}

static PyObject *find_places(PyObject *module, PyObject *args)
{
    PyObject *array, *values, *out;
    int right;
    npy_intp count, room, all;
    if (!PyArg_ParseTuple(args, "OOpO:find_places", &array, &values, &right, &out)) {
        return NULL;
    }
    const char *sorted = vector_data(array, -1, 0, &all), *wanted = NULL;
    char *places = NULL;
    if (sorted == NULL || !check_real(array) ||
        (wanted = vector_data(values, PyArray_TYPE((PyArrayObject *)array), 0, &count)) == NULL ||
        (places = vector_data(out, NPY_INT64, 1, &room)) == NULL || !check_sizes(count == room)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    find_places_of(sorted, vector_code(array), all, wanted, count, right, (npy_int64 *)places);
    clear_flags(); /* comparisons with NaN */
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *compress(PyObject *module, PyObject *args)
{
    PyObject *vector, *chosen, *out;
    npy_intp count, marks, wanted;
    if (!PyArg_ParseTuple(args, "OOO:compress", &vector, &chosen, &out)) {
        return NULL;
    }
    char *elements = vector_data(vector, -1, 0, &count), *target = NULL;
    const char *mask = NULL;
    if (elements == NULL || (mask = vector_data(chosen, NPY_BOOL, 0, &marks)) == NULL ||
        (target = vector_data(out, PyArray_TYPE((PyArrayObject *)vector), 1, &wanted)) == NULL ||
        !check_sizes(count == marks)) {
        return NULL;
    }
    const npy_intp itemsize = dtypes[vector_code(vector)].itemsize;
    if (run_masked(COMPRESS, elements, itemsize, mask, count, target, wanted) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *assign_where(PyObject *module, PyObject *args)
{
    PyObject *vector, *chosen, *given;
    npy_intp count, marks, values;
    if (!PyArg_ParseTuple(args, "OOO:assign_where", &vector, &chosen, &given)) {
        return NULL;
    }
    char *elements = vector_data(vector, -1, 1, &count);
    const char *mask = NULL;
    char *value = NULL;
    if (elements == NULL || (mask = vector_data(chosen, NPY_BOOL, 0, &marks)) == NULL ||
        (value = vector_data(given, PyArray_TYPE((PyArrayObject *)vector), 0, &values)) == NULL ||
        !check_sizes(count == marks && values == 1)) {
        return NULL;
    }
    const npy_intp itemsize = dtypes[vector_code(vector)].itemsize;
    if (itemsize > (npy_intp)sizeof(npy_uint64)) {
        refuse("elements of complex128 are not assigned here");
        return NULL;
    }
    if (run_masked(ASSIGN, elements, itemsize, mask, count, value, 0) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef vectors_methods[] = {
    {"number_runs", number_runs, METH_VARARGS,
     "number_runs(vector, order, starts, inverse)\n--\n\n"
     "How many runs of equal elements there are in a vector, or in vector[order]; NaN is equal to "
     "no element. Writes where each run begins, and with an order for each element of the vector "
     "the number of its run. `starts` and `inverse` have the size of the vector; `order`, which "
     "must be a permutation, and `inverse` may be None."},
    {"find_places", find_places, METH_VARARGS,
     "find_places(array, values, right, places)\n--\n\n"
     "Write to `places` what array.searchsorted(values) returns for an array that is sorted."},
    {"compress", compress, METH_VARARGS,
     "compress(vector, mask, out)\n--\n\n"
     "Write vector[mask] to `out`, which has its size; if it does not, the rest is 0, or left out."},
    {"assign_where", assign_where, METH_VARARGS,
     "assign_where(vector, mask, value)\n--\n\n"
     "vector[mask] = value, which is a vector of one element of at most 8 bytes."},
    {NULL, NULL, 0, NULL},
};
