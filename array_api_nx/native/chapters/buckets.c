/* A bucket has the elements of an interval of values, and a product tells which one an element belongs
   to. The buckets follow each other as their intervals do, and each is arranged by NumPy's function for
   rows: it is several times faster where a row fits into the vector registers (docs/tuning.md, 116).

   The intervals divide the range of a sample evenly. Elements below and above it belong to the first and
   the last bucket, to which NaN belongs, too. A bucket with too many elements is distributed again, by turns
   by the bits of its elements as floating-point numbers: then intervals have the same ratio. */

#include "buckets.h"
#include "arguments.h"
#include "elements.h"
#include "elementwise.h"
#include "flags.h"
#include "half_loops.h"
#include "intervals.h"
#include "parts.h"
#include "sorting.h"
#include "threads.h"
#include "vectors.h"

enum {
    DISTRIBUTED_FROM = 5120, /* bytes of a row; shorter ones are NumPy's (docs/tuning.md, 116) */
    COUNTED_FROM = 1000,     /* integers of a row that are counted if they have one or two bytes */
    BUCKET = 64,             /* elements of a bucket on average: few have more than 256 */
    MOST_BUCKETS = 1 << 14,  /* their ends of lines of memory fit into the second-level cache */
    SAMPLE = 256,
    PARTS = 16,
    KEYS = 512,              /* keys that are written at a time */
    DEEPEST = 4,             /* times that an element is distributed */
};

typedef struct {
    const char *from; /* the elements, which are first copied to `copy` unless that is NULL */
    char *copy, *to;
    DTypeCode code;
    npy_intp count, itemsize;
    Places places;
    npy_intp start;   /* of the row, for its places */
    const KeyScale *keys; /* of ORDERED, or NULL */
    double low, scale;    /* the bucket of an element is its distance from `low` times `scale` */
    npy_intp buckets;
    npy_uint16 *numbers;  /* the bucket of each element */
    npy_uint32 *ends;     /* for each part, the end of its elements in each bucket; before, how many they are */
    npy_intp parts, each; /* of `from` */
    int depth;
    _Atomic int failed;
} Distribution;

/* A number in the order of the elements; where `by_bits`, with as many values between 1 and 2 as between 2 and 4.
   NaN is the last. */
static INLINE double number_of(double element, int by_bits)
{
    if (!by_bits) {
        return element;
    }
    npy_int64 bits;
    memcpy(&bits, &element, sizeof(bits));
    const double number = (double)(bits ^ (bits < 0 ? NPY_MAX_INT64 : 0));
    return element == element ? number : element;
}

#define NUMBER(CODE, TYPE, BY_BITS, NAME)                                                                  \
    CLONED_FOR_ROTATIONS(static, void, number_##NAME##_##CODE,                                             \
                         (const char *data, npy_intp count, double low, double scale, double last,         \
                          npy_uint16 *numbers),                                                            \
                         (data, count, low, scale, last, numbers))                                         \
    {                                                                                                      \
        const TYPE *elements = (const TYPE *)data;                                                         \
        for (npy_intp i = 0; i < count; i++) {                                                             \
            const double number = (number_of((double)elements[i], BY_BITS) - low) * scale;                 \
            const double bounded = number < last ? number : last; /* also of NaN */                        \
            numbers[i] = (npy_uint16)(npy_int32)(bounded > 0 ? bounded : 0);                               \
        }                                                                                                  \
    }                                                                                                      \
                                                                                                           \
    static void sample_##NAME##_##CODE(const char *data, npy_intp step, npy_intp count, double *sample)    \
    {                                                                                                      \
        for (npy_intp i = 0; i < count; i++) {                                                             \
            sample[i] = number_of((double)((const TYPE *)data)[i * step], BY_BITS);                        \
        }                                                                                                  \
    }

#define NUMBERS(CODE, TYPE, ...) NUMBER(CODE, TYPE, 0, evenly) NUMBER(CODE, TYPE, 1, by_bits)
EACH_INTEGER(NUMBERS)
EACH_BROAD_FLOAT(NUMBERS)

typedef struct {
    void (*number)(const char *, npy_intp, double, double, double, npy_uint16 *);
    void (*sample)(const char *, npy_intp, npy_intp, double *);
} BucketLoops;

/* By dtype, and by whether it is `by_bits`. */
static const BucketLoops loops[DTYPE_COUNT][2] = {
#define ENTRY(CODE, ...) [CODE] = {{number_evenly_##CODE, sample_evenly_##CODE}, {number_by_bits_##CODE, sample_by_bits_##CODE}},
    EACH_INTEGER(ENTRY)
    EACH_BROAD_FLOAT(ENTRY)
#undef ENTRY
};

/* ------------------------------------------------------------------ rows that are NumPy's */

int sort_by_numpy(char *row, DTypeCode code, npy_intp length)
{
    if (length < 2) {
        return 0;
    }
    if (is_float16(code)) {
        return sort_halves(row, length, functions_of(NX_UINT16)->sort[NPY_STABLESORT]);
    }
    /* The stable method counts short integers. */
    const int counts = dtypes[code].itemsize < least(4, vector_sorted_bytes) && length >= COUNTED_FROM;
    return functions_of(code)->sort[counts ? NPY_STABLESORT : NPY_QUICKSORT](row, length, NULL);
}

/* ------------------------------------------------------------------ rows that are in order */

#define DIRECTION(CODE, TYPE, ...)                                                                     \
    CLONED(static, int, direction_##CODE, (const char *data, npy_intp length), (data, length))         \
    {                                                                                                  \
        const TYPE *row = (const TYPE *)data;                                                          \
        const int descends = length > 1 && row[1] < row[0];                                            \
        for (npy_intp i = 1; i < length; i += BUCKET) {                                                \
            const npy_intp end = least(length, i + BUCKET);                                            \
            int breaks = 0;                                                                            \
            for (npy_intp k = i; k < end; k++) {                                                       \
                breaks |= descends ? !(row[k] < row[k - 1]) : !(row[k - 1] <= row[k]); /* also of NaN */ \
            }                                                                                          \
            if (breaks) {                                                                              \
                return 0;                                                                              \
            }                                                                                          \
        }                                                                                              \
        return descends ? -1 : 1;                                                                      \
    }

EACH_INTEGER(DIRECTION)
EACH_BROAD_FLOAT(DIRECTION)

static int (*const direction[DTYPE_COUNT])(const char *, npy_intp) = {
#define ENTRY(CODE, ...) [CODE] = direction_##CODE,
    EACH_INTEGER(ENTRY)
    EACH_BROAD_FLOAT(ENTRY)
#undef ENTRY
};

int direction_of(const char *row, DTypeCode code, npy_intp length)
{
    const int found = direction[code] == NULL ? 0 : direction[code](row, length);
    clear_flags(); /* comparisons with NaN */
    return found;
}

static void reverse(const char *from, npy_intp length, npy_intp itemsize, char *to)
{
    char element[16];
    for (npy_intp low = 0, high = length - 1; low <= high; low++, high--) {
        copy_element(element, from + low * itemsize, itemsize);
        copy_element(to + low * itemsize, from + high * itemsize, itemsize);
        copy_element(to + high * itemsize, element, itemsize);
    }
}

/* Arrange a row whose elements are in order, or in the opposite one. 0 if they are not. */
static int arrange_in_order(const char *from, DTypeCode code, npy_intp length, Arrangement arrangement, char *to)
{
    const int step = length < BUCKET ? 0 : direction_of(from, code, length);
    const npy_intp itemsize = dtypes[code].itemsize;
    if (step != 0 && arrangement == ORDERED) {
        for (npy_intp i = 0; i < length; i++) {
            ((npy_int64 *)to)[i] = step > 0 ? i : length - 1 - i;
        }
    } else if (step < 0) {
        reverse(from, length, itemsize, to);
    } else if (step > 0 && from != to) {
        memcpy(to, from, (size_t)(length * itemsize));
    }
    return step != 0;
}

/* ------------------------------------------------------------------ distribution */

static int distribute(Distribution *row, npy_intp threads);

/* Set the range of the buckets by a sample. 0 if its elements are too much alike. */
static int choose_range(Distribution *row)
{
    double sample[SAMPLE];
    const npy_intp size = least(SAMPLE, row->count / 8);
    loops[row->code][row->depth % 2].sample(row->from, row->count / size, size, sample);
    if (sort_by_numpy((char *)sample, FLOAT64, size) < 0) {
        return 0;
    }
    npy_intp first = 0, last = size - 1;
    while (first < last && !isfinite(sample[first])) {
        first++;
    }
    while (first < last && !isfinite(sample[last])) {
        last--;
    }
    row->low = sample[first];
    row->scale = (double)row->buckets / (sample[last] - sample[first]);
    clear_flags();
    return isfinite(row->scale) && row->scale > 0;
}

static void count_part(const void *shared, npy_intp number, char *scratch)
{
    const Distribution *row = shared;
    const npy_intp begin = number * row->each, count = least(row->each, row->count - begin);
    const char *from = row->from + begin * row->itemsize;
    if (row->copy != NULL) {
        char *copy = row->copy + begin * row->itemsize;
        memcpy(copy, from, (size_t)(count * row->itemsize));
        from = copy;
    }
    npy_uint16 *numbers = row->numbers + begin;
    npy_uint32 *counts = row->ends + number * row->buckets;
    loops[row->code][row->depth % 2].number(from, count, row->low, row->scale, (double)(row->buckets - 1), numbers);
    memset(counts, 0, (size_t)row->buckets * sizeof(*counts));
    for (npy_intp i = 0; i < count; i++) {
        counts[numbers[i]]++;
    }
    clear_flags(); /* comparisons with NaN */
}

/* From how many elements a part has in a bucket to where these begin. */
static void add_up_counts(Distribution *row)
{
    npy_uint32 begin = 0;
    for (npy_intp bucket = 0; bucket < row->buckets; bucket++) {
        for (npy_intp part = 0; part < row->parts; part++) {
            npy_uint32 *count = &row->ends[part * row->buckets + bucket];
            const npy_uint32 end = begin + *count;
            *count = begin;
            begin = end;
        }
    }
}

#define SCATTER(BITS)                                                                            \
    static void scatter_##BITS(const char *elements, const npy_uint16 *numbers, npy_intp count,  \
                               npy_uint32 *ends, char *to)                                       \
    {                                                                                            \
        for (npy_intp i = 0; i < count; i++) {                                                   \
            ((npy_uint##BITS *)to)[ends[numbers[i]]++] = ((const npy_uint##BITS *)elements)[i];  \
        }                                                                                        \
    }

SCATTER(32)
SCATTER(64)

static void scatter_part(const void *shared, npy_intp number, char *scratch)
{
    const Distribution *row = shared;
    const npy_intp begin = number * row->each, count = least(row->each, row->count - begin);
    const char *from = (row->copy == NULL ? row->from : row->copy) + begin * row->itemsize;
    const npy_uint16 *numbers = row->numbers + begin;
    npy_uint32 *ends = row->ends + number * row->buckets;
    if (row->keys == NULL) {
        (row->itemsize == 4 ? scatter_32 : scatter_64)(from, numbers, count, ends, row->to);
        return;
    }
    npy_uint64 keys[KEYS];
    for (npy_intp i = 0; i < count; i += KEYS) {
        const npy_intp some = least(KEYS, count - i);
        write_keys(from + i * row->itemsize, row->code, some, row->keys, begin + i, keys);
        scatter_64((const char *)keys, numbers + i, some, ends, row->to);
    }
}

/* Whether keys are sorted already, as those of equal elements are. */
static int are_sorted(const npy_uint64 *keys, npy_intp count)
{
    npy_intp i = 1;
    while (i < count && keys[i - 1] < keys[i]) {
        i++;
    }
    return i >= count;
}

/* Arrange the elements of a bucket, which lie together. */
static int arrange_bucket(const Distribution *row, npy_intp begin, npy_intp end)
{
    const DTypeCode code = row->keys == NULL ? row->code : NX_UINT64;
    const npy_intp count = end - begin;
    char *to = row->to + begin * dtypes[code].itemsize;
    int wanted = row->places.places == NULL;
    for (npy_intp i = 0; i < row->places.count && !wanted; i++) {
        wanted = row->places.places[i] - row->start >= begin && row->places.places[i] - row->start < end;
    }
    if (!wanted) {
        return 0;
    }
    Distribution part = {.from = to, .to = to, .code = code, .count = count, .places = row->places,
                         .start = row->start + begin, .depth = row->depth + 1};
    const int sorted = row->keys != NULL && are_sorted((const npy_uint64 *)to, count);
    if (!sorted && !distribute(&part, 0) && sort_by_numpy(to, code, count) < 0) {
        return -1;
    }
    return row->keys == NULL ? 0 : order_of_keys(row->from, row->code, count, row->keys, (npy_uint64 *)to);
}

/* Arrange some of the buckets: the result is divided into equal parts, one for each task, and a task takes the buckets
   whose first element lies in its part. */
static void arrange_part(const void *shared, npy_intp number, char *scratch)
{
    Distribution *row = (Distribution *)shared;
    const npy_uint32 *ends = row->ends + (row->parts - 1) * row->buckets;
    const npy_intp parts = row->parts == 1 ? 1 : PARTS;
    const npy_intp first = row->count * number / parts, after = row->count * (number + 1) / parts;
    npy_intp bucket = 0, high = row->buckets;
    while (bucket < high) { /* to the first one that ends after `first` */
        const npy_intp middle = (bucket + high) / 2;
        if ((npy_intp)ends[middle] <= first) {
            bucket = middle + 1;
        } else {
            high = middle;
        }
    }
    npy_intp begin = bucket == 0 ? 0 : ends[bucket - 1];
    for (; bucket < row->buckets && begin < after; begin = ends[bucket++]) {
        if (begin >= first && arrange_bucket(row, begin, ends[bucket]) < 0) {
            row->failed = 1;
        }
    }
    clear_flags();
}

static int run(RunPart part, Distribution *row, npy_intp parts, npy_intp threads)
{
    if (threads > 0) {
        return run_parts_freely(part, row, parts, threads, 0);
    }
    for (npy_intp i = 0; i < parts; i++) {
        part(row, i, NULL);
    }
    return 1;
}

/* Arrange a row by buckets: 1 if it is done, 0 if that is left to NumPy, since its elements are too
   much alike or there is no memory; -1 if Python has an exception to raise. */
static int distribute(Distribution *row, npy_intp threads)
{
    row->itemsize = dtypes[row->code].itemsize;
    if (row->count * row->itemsize < DISTRIBUTED_FROM || row->itemsize < 4 || row->depth == DEEPEST ||
        (npy_uint64)row->count >= (npy_uint64)1 << 32) {
        return 0;
    }
    row->buckets = 16;
    while (row->buckets < MOST_BUCKETS && row->buckets * BUCKET < row->count) {
        row->buckets *= 2;
    }
    if (!choose_range(row)) {
        return 0;
    }
    row->parts = threads > 1 ? least(4 * threads, PARTS) : 1;
    row->each = (row->count - 1) / row->parts + 1;
    row->parts = (row->count - 1) / row->each + 1;
    const npy_intp copied = row->from == row->to ? row->count * row->itemsize : 0;
    const npy_intp ends = row->parts * row->buckets * (npy_intp)sizeof(*row->ends);
    char *memory = PyMem_RawMalloc((size_t)(copied + ends + row->count * (npy_intp)sizeof(*row->numbers)));
    if (memory == NULL) {
        return 0;
    }
    row->copy = copied > 0 ? memory : NULL;
    row->ends = (npy_uint32 *)(memory + copied);
    row->numbers = (npy_uint16 *)(memory + copied + ends);
    int complete = run(count_part, row, row->parts, threads);
    if (complete) {
        add_up_counts(row);
        complete = run(scatter_part, row, row->parts, threads) &&
                   run(arrange_part, row, row->parts == 1 ? 1 : PARTS, threads);
    }
    PyMem_RawFree(memory);
    return complete ? 1 : -1;
}

int sort_row(char *row, DTypeCode code, npy_intp length)
{
    return arrange_row(row, code, length, SORTED, (Places){NULL, 0}, 0, row);
}

/* Rows of fewer elements are sorted by vectors in little more time than it takes to find out whether they are in order. */
enum { SHORT_ROW = 512 };

int arrange_row(const char *from, DTypeCode code, npy_intp length, Arrangement arrangement, Places places,
                npy_intp threads, char *to)
{
    Distribution row = {.from = from, .to = to, .code = code, .count = length};
    KeyScale keys;
    const int by_vectors = arrangement == SORTED && dtypes[code].itemsize >= vector_sorted_bytes && !is_float16(code);
    if (!(by_vectors && length < SHORT_ROW) && arrange_in_order(from, code, length, arrangement, to)) {
        return 0;
    }
    if (arrangement == ORDERED) {
        keys = scale_keys(from, code, length);
        row.keys = &keys;
    } else if (arrangement == PARTED) {
        row.places = places;
    }
    if (by_vectors) {
        return sort_by_intervals(from, code, length, threads, to);
    }
    const int done = distribute(&row, length <= limits.at_once ? least(threads, 1) : threads);
    if (done != 0) {
        return done < 0 || row.failed ? -1 : 0;
    }
    if (arrangement == ORDERED) {
        write_keys(from, code, length, &keys, 0, (npy_uint64 *)to);
        return arrange_row(to, NX_UINT64, length, SORTED, places, threads, to) < 0
                   ? -1
                   : order_of_keys(from, code, length, &keys, (npy_uint64 *)to);
    }
    if (from != to) {
        memcpy(to, from, (size_t)(length * dtypes[code].itemsize));
    }
    return sort_by_numpy(to, code, length);
}

/* ------------------------------------------------------------------ for Python */

/* Arrange each row of `length` elements of a vector. */
static PyObject *arrange_rows(PyObject *vector, npy_intp length, Arrangement arrangement, PyObject *chosen,
                              PyObject *out)
{
    npy_intp count, room;
    Places places = {NULL, 0};
    const char *from = vector_data(vector, -1, 0, &count);
    const int number = from == NULL ? 0 : PyArray_TYPE((PyArrayObject *)vector);
    char *to = from == NULL ? NULL : vector_data(out, arrangement == ORDERED ? NPY_INT64 : number, 1, &room);
    if (to == NULL || (chosen != NULL && (places.places = (const npy_intp *)vector_data(
                                              chosen, NPY_INTP, 0, &places.count)) == NULL)) {
        return NULL;
    }
    const DTypeCode code = code_of_number(number);
    if (is_complex(code) || length < 1 || count % length != 0 || room != count) {
        refuse("the elements must be real, and the sizes must fit");
        return NULL;
    }
    const npy_intp itemsize = dtypes[code].itemsize, written = arrangement == ORDERED ? 8 : itemsize;
    const npy_intp threads = most_threads();
    int failed = threads < 1;
    for (npy_intp i = 0; i < count && !failed; i += length) {
        failed = arrange_row(from + i * itemsize, code, length, arrangement, places, threads, to + i * written) < 0;
    }
    if (failed && !PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *sort_rows(PyObject *module, PyObject *args)
{
    PyObject *vector, *out;
    Py_ssize_t length;
    return PyArg_ParseTuple(args, "OnO:sort_rows", &vector, &length, &out)
               ? arrange_rows(vector, length, SORTED, NULL, out)
               : NULL;
}

static PyObject *part_rows(PyObject *module, PyObject *args)
{
    PyObject *vector, *places, *out;
    Py_ssize_t length;
    return PyArg_ParseTuple(args, "OnOO:part_rows", &vector, &length, &places, &out)
               ? arrange_rows(vector, length, PARTED, places, out)
               : NULL;
}

static PyObject *order_rows_of(PyObject *module, PyObject *args)
{
    PyObject *vector, *out;
    Py_ssize_t length;
    return PyArg_ParseTuple(args, "OnO:order_rows", &vector, &length, &out)
               ? arrange_rows(vector, length, ORDERED, NULL, out)
               : NULL;
}

PyMethodDef buckets_methods[] = {
    {"sort_rows", sort_rows, METH_VARARGS,
     "sort_rows(vector, length, out)\n--\n\n"
     "Write the rows of `length` elements that a vector consists of to `out`, which may be the vector "
     "itself, each of them sorted. Zeros of both signs lie in any order."},
    {"part_rows", part_rows, METH_VARARGS,
     "part_rows(vector, length, places, out)\n--\n\n"
     "The same, but sorted are no more than the elements at some places, as by numpy.partition."},
    {"order_rows", order_rows_of, METH_VARARGS,
     "order_rows(vector, length, out)\n--\n\n"
     "Write for each row the int64 indices that sort it, as numpy.argsort does with stable=True. Rows have "
     "fewer than 2**32 elements."},
    {NULL, NULL, 0, NULL},
};
