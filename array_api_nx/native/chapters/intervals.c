/* A row is sorted on several threads: each sorts the elements of an interval of values, by NumPy's function.

   The borders of the intervals are elements of a sample. NaN belongs to the last interval. */

#include "intervals.h"
#include "compiler.h"
#include "elementwise.h"
#include "flags.h"
#include "masks.h"
#include "sorting.h"
#include "threads.h"

enum {
    MOST_INTERVALS = 16,
    MOST_PARTS = 64,
    PARTS_EACH = 4,       /* for each thread */
    SAMPLE_EACH = 128,    /* elements of the sample for each interval; the lengths of these then differ by some tenth,
                             unless many elements are equal */
    BLOCK = 1024,         /* elements whose intervals are found at a time */
    DIVIDED_FROM = 1 << 19, /* bytes (docs/tuning.md, 154) */
    DIVIDED_BYTES = 4,      /* of an element: shorter ones are sorted in little more time than they are divided */
};

typedef struct {
    const char *from;
    char *to;
    DTypeCode code;
    npy_intp count, itemsize, parts;
    npy_intp each; /* elements of a part of the row */
    int intervals;
    npy_uint64 borders[MOST_INTERVALS]; /* as elements: the least one of each interval but the first */
    npy_intp counts[MOST_INTERVALS][MOST_PARTS]; /* how many elements of an interval a part has */
    npy_intp starts[MOST_INTERVALS][MOST_PARTS]; /* where they begin in `to` */
    npy_intp ends[MOST_INTERVALS];
    _Atomic int failed;
} DividedRow;

/* The interval of each element: how many borders are not above it. */
#define NUMBER(CODE, TYPE, ...)                                                                                   \
    CLONED_FOR_ROTATIONS(static, void, number_##CODE,                                                             \
                         (const char *data, npy_intp count, const char *borders, int intervals, npy_uint8 *numbers), \
                         (data, count, borders, intervals, numbers))                                              \
    {                                                                                                             \
        const TYPE *elements = (const TYPE *)data;                                                                \
        memset(numbers, 0, (size_t)count);                                                                        \
        for (int k = 0; k < intervals - 1; k++) {                                                                 \
            const TYPE border = ((const TYPE *)borders)[k];                                                       \
            for (npy_intp i = 0; i < count; i++) {                                                                \
                numbers[i] += (npy_uint8)!(elements[i] < border);                                                 \
            }                                                                                                     \
        }                                                                                                         \
    }

EACH_INTEGER(NUMBER)
EACH_BROAD_FLOAT(NUMBER)

typedef void Number(const char *, npy_intp, const char *, int, npy_uint8 *);

static Number *const number[DTYPE_COUNT] = {
#define ENTRY(CODE, ...) [CODE] = number_##CODE,
    EACH_INTEGER(ENTRY)
    EACH_BROAD_FLOAT(ENTRY)
#undef ENTRY
};

CLONED(static, void, mark, (const npy_uint8 *numbers, npy_intp count, int interval, char *mask),
       (numbers, count, interval, mask))
{
    for (npy_intp i = 0; i < count; i++) {
        mask[i] = numbers[i] == interval;
    }
}

/* Go over a part of the row: count the elements of each interval, or where they are `written`, write them to their places. */
static void divide_part(DividedRow *row, npy_intp part, int written)
{
    const npy_intp end = least(row->count, (part + 1) * row->each), itemsize = row->itemsize;
    npy_intp found[MOST_INTERVALS] = {0};
    npy_uint8 numbers[BLOCK];
    char mask[BLOCK];
    for (npy_intp i = part * row->each; i < end; i += BLOCK) {
        const npy_intp count = least(BLOCK, end - i);
        const char *elements = row->from + i * itemsize;
        number[row->code](elements, count, (const char *)row->borders, row->intervals, numbers);
        for (int k = 0; k < row->intervals; k++) {
            mark(numbers, count, k, mask);
            if (written) {
                const npy_intp room = row->counts[k][part] - found[k];
                char *to = row->to + (row->starts[k][part] + found[k]) * itemsize;
                found[k] += compress_run(elements, itemsize, mask, count, to, room);
            } else {
                found[k] += count_true(mask, count);
            }
        }
    }
    for (int k = 0; k < row->intervals; k++) {
        if (written) { /* another thread may have written to the row since it was counted */
            const npy_intp missing = row->counts[k][part] - found[k];
            memset(row->to + (row->starts[k][part] + found[k]) * itemsize, 0, (size_t)(missing * itemsize));
        } else {
            row->counts[k][part] = found[k];
        }
    }
    clear_flags(); /* comparisons with NaN */
}

static void count_part(const void *shared, npy_intp part, char *scratch)
{
    divide_part((DividedRow *)shared, part, 0);
}

static void write_part(const void *shared, npy_intp part, char *scratch)
{
    divide_part((DividedRow *)shared, part, 1);
}

static void sort_interval(const void *shared, npy_intp k, char *scratch)
{
    DividedRow *row = (DividedRow *)shared;
    const npy_intp begin = row->starts[k][0];
    if (sort_by_numpy(row->to + begin * row->itemsize, row->code, row->ends[k] - begin) < 0) {
        row->failed = 1;
    }
}

/* Choose the borders of at most so many intervals: 1. 0 if half of a sample of the row equals other elements of it, for then
   NumPy sorts the row as fast on one thread; -1 if there is no memory. */
static int choose_borders(DividedRow *row, int intervals)
{
    npy_uint64 sample[MOST_INTERVALS * SAMPLE_EACH];
    const npy_intp size = intervals * SAMPLE_EACH, itemsize = row->itemsize;
    for (npy_intp i = 0; i < size; i++) {
        memcpy((char *)sample + i * itemsize, row->from + (row->count - 1) * i / (size - 1) * itemsize, (size_t)itemsize);
    }
    if (sort_by_numpy((char *)sample, row->code, size) < 0) {
        return -1;
    }
    npy_intp repeated = 0;
    for (npy_intp i = 1; i < size; i++) {
        repeated += memcmp((char *)sample + i * itemsize, (char *)sample + (i - 1) * itemsize, (size_t)itemsize) == 0;
    }
    row->intervals = 1;
    for (int k = 1; k < intervals; k++) {
        const char *border = (const char *)sample + k * SAMPLE_EACH * itemsize;
        if (!is_inexact(row->code) || !isnan(read_float(border, row->code))) {
            memcpy((char *)row->borders + (row->intervals++ - 1) * itemsize, border, (size_t)itemsize);
        }
    }
    return repeated < size / 2;
}

/* 1 if it is sorted, 0 if that is left to NumPy, -1 as `sort_by_intervals`. */
static int sort_on_threads(const char *from, DTypeCode code, npy_intp count, npy_intp threads, char *to)
{
    DividedRow row = {.from = from, .to = to, .code = code, .count = count, .itemsize = dtypes[code].itemsize};
    const int chosen = choose_borders(&row, (int)least(threads, MOST_INTERVALS));
    if (chosen <= 0) {
        return chosen;
    }
    char *copy = from == to ? PyMem_RawMalloc((size_t)(count * row.itemsize)) : NULL;
    if (from == to) {
        if (copy == NULL) {
            return -1;
        }
        row.from = memcpy(copy, from, (size_t)(count * row.itemsize));
    }
    row.parts = least(MOST_PARTS, PARTS_EACH * threads);
    row.each = ((count - 1) / row.parts / BLOCK + 1) * BLOCK;
    row.parts = (count - 1) / row.each + 1;
    int done = run_parts_freely(count_part, &row, row.parts, threads, 1) == 1;
    npy_intp begin = 0;
    for (int k = 0; k < row.intervals && done; k++) {
        for (npy_intp part = 0; part < row.parts; part++) {
            row.starts[k][part] = begin;
            begin += row.counts[k][part];
        }
        row.ends[k] = begin;
    }
    done = done && run_parts_freely(write_part, &row, row.parts, threads, 1) == 1 &&
           run_parts_freely(sort_interval, &row, row.intervals, threads, 1) == 1 && !row.failed;
    PyMem_RawFree(copy);
    return done ? 1 : -1;
}

int sort_by_intervals(const char *from, DTypeCode code, npy_intp count, npy_intp threads, char *to)
{
    const npy_intp itemsize = dtypes[code].itemsize, bytes = count * itemsize;
    const int is_divided = threads > 1 && bytes >= DIVIDED_FROM && itemsize >= DIVIDED_BYTES;
    const int divided = is_divided ? sort_on_threads(from, code, count, threads, to) : 0;
    if (divided != 0) {
        return divided < 0 ? -1 : 0;
    }
    PyThreadState *state = threads > 0 && bytes >= DIVIDED_FROM ? PyEval_SaveThread() : NULL;
    if (from != to) {
        memcpy(to, from, (size_t)bytes);
    }
    const int failed = sort_by_numpy(to, code, count);
    if (state != NULL) {
        PyEval_RestoreThread(state);
    }
    return failed;
}
