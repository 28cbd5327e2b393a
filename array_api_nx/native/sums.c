/* Sums and variances of floating-point numbers, in an order that is part of the result.

   A run of elements is added up in blocks of LENGTH rows of as many lanes as 128 bytes hold: down the
   rows first, then the lanes by halves, then the blocks in pairs, and pairs of pairs. Columns are
   added up by GROUPs of rows. This order is the same on all processors, however many elements one
   instruction adds; test_kernel.py has the bits of some results. */

#include "sums.h"
#include "compiler.h"
#include "flags.h"

#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* GCC contracts nothing with -std=c11 */
#endif

enum { LENGTH = 16, GROUP = 8 };

/* Lanes that the tail of a run, shorter than a block, is added up in at a time: their sums stay in
   registers. */
enum { AT_ONCE = 8 };

/* Columns whose sums over the rows are computed together: they stay in the first-level cache. */
enum { BAND_COLUMNS = 128 };

#define IS_FINITE(x) ((x) - (x) == 0)

/* Merge the moments of more elements into those of the elements before. */
static INLINE void add_moments(Moments *moments, Moments more)
{
    const npy_double before = moments->count;
    const npy_double weight = more.count / (before + more.count);
    const npy_double reference = before == 0 ? more.reference : moments->reference;
    const npy_double step = (more.reference - reference) + (more.offset - moments->offset);
    const npy_double between = step * step * (weight * before);
    moments->count = before + more.count;
    moments->sum += more.sum;
    moments->reference = reference;
    moments->offset += step * weight;
    moments->squares += more.squares + (between == between ? between : 0);
}

/* Merge the moments of `count` more elements into those of the elements before.

   `mean` is their sum divided by their count, rounded. `distance` is the sum of their distances from
   it, which would be 0 without the rounding; `squares` is the sum of the squared distances. If an
   element or the sum is not finite, `squares` is not finite either, and is taken as it is. There
   are no branches, so that the compiler vectorizes loops over this function. The floating-point
   exceptions that it raises mean nothing: callers clear them. */
static INLINE void merge_moments(Moments *moments, npy_double count, npy_double sum,
                                 npy_double mean, npy_double distance, npy_double squares)
{
    const npy_double part = distance / count;
    const npy_double rest = squares - distance * part;
    squares = IS_FINITE(squares) ? (isgreater(rest, 0) ? rest : 0) : squares;
    add_moments(moments, (Moments){count, sum, mean, part, squares});
}

#define DEFINE_SUMS(TYPE)                                                                          \
    enum { LANES_##TYPE = 128 / sizeof(TYPE), BLOCK_##TYPE = LANES_##TYPE * LENGTH };              \
                                                                                                   \
    static INLINE void start_##TYPE(Pairs_##TYPE *pairs)                                           \
    {                                                                                              \
        pairs->depth = 0; /* no parts yet: to clear them would take as long as a short run */      \
        pairs->count = 0;                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Take the sum of the next block into the pairs, or that of as many blocks, a power of two, as\
       those before were. */                                                                       \
    static INLINE void add_part_##TYPE(Pairs_##TYPE *pairs, TYPE part)                             \
    {                                                                                              \
        for (npy_intp number = pairs->count++; number & 1; number >>= 1) {                         \
            part = pairs->parts[--pairs->depth] + part;                                            \
        }                                                                                          \
        pairs->parts[pairs->depth++] = part;                                                       \
    }                                                                                              \
                                                                                                   \
    /* Add up the lanes of a block, which are overwritten, and take the sum into the pairs. */     \
    static INLINE void add_lanes_##TYPE(Pairs_##TYPE *pairs, TYPE *lanes)                          \
    {                                                                                              \
        UNROLLED                                                                                   \
        for (int half = LANES_##TYPE / 2; half > 0; half /= 2) {                                   \
            for (int lane = 0; lane < half; lane++) {                                              \
                lanes[lane] += lanes[lane + half];                                                 \
            }                                                                                      \
        }                                                                                          \
        add_part_##TYPE(pairs, lanes[0]);                                                          \
    }                                                                                              \
                                                                                                   \
    static INLINE void add_block_##TYPE(Pairs_##TYPE *pairs, const TYPE *x)                        \
    {                                                                                              \
        TYPE lanes[LANES_##TYPE];                                                                  \
        for (int lane = 0; lane < LANES_##TYPE; lane++) {                                          \
            TYPE sum = x[lane];                                                                    \
            for (int row = 1; row < LENGTH; row++) {                                               \
                sum += x[row * LANES_##TYPE + lane];                                               \
            }                                                                                      \
            lanes[lane] = sum;                                                                     \
        }                                                                                          \
        add_lanes_##TYPE(pairs, lanes);                                                            \
    }                                                                                              \
                                                                                                   \
    /* The last elements of a run, fewer than a block. */                                          \
    static INLINE void add_rest_##TYPE(Pairs_##TYPE *pairs, const TYPE *x, npy_intp count)         \
    {                                                                                              \
        TYPE lanes[LANES_##TYPE];                                                                  \
        const npy_intp rows = count / LANES_##TYPE;                                                \
        for (int first = 0; first < LANES_##TYPE; first += AT_ONCE) {                              \
            TYPE sums[AT_ONCE] = {0};                                                              \
            for (npy_intp row = 0; row < rows; row++) {                                            \
                for (int lane = 0; lane < AT_ONCE; lane++) {                                       \
                    sums[lane] += x[row * LANES_##TYPE + first + lane];                            \
                }                                                                                  \
            }                                                                                      \
            memcpy(lanes + first, sums, sizeof(sums));                                             \
        }                                                                                          \
        for (npy_intp i = rows * LANES_##TYPE; i < count; i++) {                                   \
            lanes[i - rows * LANES_##TYPE] += x[i];                                                \
        }                                                                                          \
        add_lanes_##TYPE(pairs, lanes);                                                            \
    }                                                                                              \
                                                                                                   \
    static INLINE TYPE total_##TYPE(const Pairs_##TYPE *pairs)                                     \
    {                                                                                              \
        TYPE result = pairs->parts[pairs->depth - 1];                                              \
        for (int i = pairs->depth - 2; i >= 0; i--) {                                              \
            result = pairs->parts[i] + result;                                                     \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
                                                                                                   \
    /* The next `count` elements of a run, at most a block: copied if they are not adjacent. */    \
    static INLINE const TYPE *gather_##TYPE(const char *run, npy_intp step, npy_intp count,        \
                                            TYPE *room)                                            \
    {                                                                                              \
        if (step == sizeof(TYPE)) {                                                                \
            return (const TYPE *)run;                                                              \
        }                                                                                          \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            room[i] = *(const TYPE *)(run + i * step);                                             \
        }                                                                                          \
        return room;                                                                               \
    }                                                                                              \
                                                                                                   \
    /* The sum of `count` elements, at least one, that lie `step` bytes apart. */                  \
    CLONED(static, TYPE, sum_run_##TYPE, (const char *run, npy_intp step, npy_intp count),         \
           (run, step, count))                                                                     \
    {                                                                                              \
        TYPE room[BLOCK_##TYPE];                                                                   \
        Pairs_##TYPE pairs;                                                                        \
        start_##TYPE(&pairs);                                                                      \
        for (; count >= BLOCK_##TYPE; count -= BLOCK_##TYPE, run += BLOCK_##TYPE * step) {         \
            add_block_##TYPE(&pairs, gather_##TYPE(run, step, BLOCK_##TYPE, room));                \
        }                                                                                          \
        if (count > 0) {                                                                           \
            add_rest_##TYPE(&pairs, gather_##TYPE(run, step, count, room), count);                 \
        }                                                                                          \
        return total_##TYPE(&pairs);                                                               \
    }                                                                                              \
                                                                                                   \
    /* The sum of a run of WIDTH elements at most, a part of the lanes: the others would add zeros. */\
    static INLINE TYPE sum_short_##TYPE(const TYPE *x, npy_intp count, const int width)            \
    {                                                                                              \
        TYPE lanes[LANES_##TYPE];                                                                  \
        for (int i = 0; i < width; i++) {                                                          \
            lanes[i] = 0 + (i < count ? x[i] : 0);                                                 \
        }                                                                                          \
        UNROLLED                                                                                   \
        for (int half = width / 2; half > 0; half /= 2) {                                          \
            for (int i = 0; i < half; i++) {                                                       \
                lanes[i] += lanes[i + half];                                                       \
            }                                                                                      \
        }                                                                                          \
        return lanes[0];                                                                           \
    }                                                                                              \
                                                                                                   \
    /* Add runs of `count` elements, which follow each other, each to a sum of its own. */         \
    static void add_runs_##TYPE(char *sums, npy_intp step, const TYPE *x, npy_intp runs,           \
                                npy_intp count)                                                    \
    {                                                                                              \
        for (npy_intp i = 0; i < runs; i++, x += count, sums += step) {                            \
            *(TYPE *)sums += count <= 2   ? sum_short_##TYPE(x, count, 2)                          \
                             : count <= 4 ? sum_short_##TYPE(x, count, 4)                          \
                             : count <= 8 ? sum_short_##TYPE(x, count, 8)                          \
                                          : sum_run_##TYPE((const char *)x, sizeof(TYPE), count);  \
        }                                                                                          \
    }                                                                                              \
    /* Add more elements, which follow each other, to a run. */                                    \
    CLONED(static, void, extend_##TYPE,                                                            \
           (Pairs_##TYPE *pairs, LastElements *last, const TYPE *x, npy_intp count),               \
           (pairs, last, x, count))                                                                \
    {                                                                                              \
        TYPE *waiting = (TYPE *)last->bytes;                                                       \
        if (last->count > 0) {                                                                     \
            const npy_intp fitting = BLOCK_##TYPE - last->count;                                   \
            const npy_intp taken = fitting < count ? fitting : count;                              \
            memcpy(waiting + last->count, x, (size_t)taken * sizeof(TYPE));                        \
            last->count += (int)taken;                                                             \
            x += taken;                                                                            \
            count -= taken;                                                                        \
            if (last->count < BLOCK_##TYPE) {                                                      \
                return;                                                                            \
            }                                                                                      \
            add_block_##TYPE(pairs, waiting);                                                      \
        }                                                                                          \
        for (; count >= BLOCK_##TYPE; count -= BLOCK_##TYPE, x += BLOCK_##TYPE) {                  \
            add_block_##TYPE(pairs, x);                                                            \
        }                                                                                          \
        memcpy(waiting, x, (size_t)count * sizeof(TYPE));                                          \
        last->count = (int)count;                                                                  \
    }                                                                                              \
                                                                                                   \
    /* The sum of a run of at least one element. */                                                \
    static TYPE end_##TYPE(Pairs_##TYPE *pairs, const LastElements *last)                          \
    {                                                                                              \
        if (last->count > 0) {                                                                     \
            add_rest_##TYPE(pairs, (const TYPE *)last->bytes, last->count);                        \
        }                                                                                          \
        return total_##TYPE(pairs);                                                                \
    }                                                                                              \
                                                                                                   \
    static TYPE merge_##TYPE(const TYPE *parts, npy_intp step, npy_intp count)                     \
    {                                                                                              \
        Pairs_##TYPE pairs;                                                                        \
        start_##TYPE(&pairs);                                                                      \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            add_part_##TYPE(&pairs, *(const TYPE *)((const char *)parts + i * step));              \
        }                                                                                          \
        return total_##TYPE(&pairs);                                                               \
    }                                                                                              \
    /* The inner loop (accumulator, element) -> accumulator. */                                    \
    CLONED_LOOP(add_##TYPE)                                                                        \
    {                                                                                              \
        const npy_intp n = *count;                                                                 \
        const npy_intp size = sizeof(TYPE);                                                        \
        if (n == 0) {                                                                              \
            return;                                                                                \
        }                                                                                          \
        if (args[0] == args[2] && steps[0] == 0 && steps[2] == 0) {                                \
            *(TYPE *)args[2] += sum_run_##TYPE(args[1], steps[1], n);                              \
        } else if (args[0] == args[2] && steps[1] == size && steps[2] == size) {                   \
            TYPE *sums = (TYPE *)args[2];                                                          \
            const TYPE *x = (const TYPE *)args[1];                                                 \
            for (npy_intp i = 0; i < n; i++) {                                                     \
                sums[i] += x[i];                                                                   \
            }                                                                                      \
        } else {                                                                                   \
            for (npy_intp i = 0; i < n; i++) {                                                     \
                *(TYPE *)(args[2] + i * steps[2]) = *(const TYPE *)(args[0] + i * steps[0]) +      \
                                                    *(const TYPE *)(args[1] + i * steps[1]);       \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Fold `count` elements that lie `step` bytes apart into moments. */                          \
    CLONED(static, void, fold_run_##TYPE,                                                          \
           (Moments *moments, const char *run, npy_intp step, npy_intp count),                     \
           (moments, run, step, count))                                                            \
    {                                                                                              \
        const TYPE total = sum_run_##TYPE(run, step, count), mean = total / (TYPE)count;           \
        const npy_double all = (npy_double)count;                                                  \
        TYPE room[BLOCK_##TYPE], sums[LANES_##TYPE], squares[LANES_##TYPE];                        \
        Pairs_##TYPE distance, square;                                                             \
        start_##TYPE(&distance);                                                                   \
        start_##TYPE(&square);                                                                     \
        for (; count >= BLOCK_##TYPE; count -= BLOCK_##TYPE, run += BLOCK_##TYPE * step) {         \
            const TYPE *x = gather_##TYPE(run, step, BLOCK_##TYPE, room);                          \
            for (int lane = 0; lane < LANES_##TYPE; lane++) {                                      \
                const TYPE first = x[lane] - mean;                                                 \
                TYPE sum = first, sum_of_squares = first * first;                                  \
                for (int row = 1; row < LENGTH; row++) {                                           \
                    const TYPE each = x[row * LANES_##TYPE + lane] - mean;                         \
                    sum += each;                                                                   \
                    sum_of_squares += each * each;                                                 \
                }                                                                                  \
                sums[lane] = sum;                                                                  \
                squares[lane] = sum_of_squares;                                                    \
            }                                                                                      \
            add_lanes_##TYPE(&distance, sums);                                                     \
            add_lanes_##TYPE(&square, squares);                                                    \
        }                                                                                          \
        if (count > 0) {                                                                           \
            const TYPE *x = gather_##TYPE(run, step, count, room);                                 \
            memset(sums, 0, sizeof(sums));                                                         \
            memset(squares, 0, sizeof(squares));                                                   \
            for (npy_intp row = 0; row < count; row += LANES_##TYPE) {                             \
                const npy_intp length = count - row < LANES_##TYPE ? count - row : LANES_##TYPE;   \
                for (npy_intp lane = 0; lane < length; lane++) {                                   \
                    const TYPE each = x[row + lane] - mean;                                        \
                    sums[lane] += each;                                                            \
                    squares[lane] += each * each;                                                  \
                }                                                                                  \
            }                                                                                      \
            add_lanes_##TYPE(&distance, sums);                                                     \
            add_lanes_##TYPE(&square, squares);                                                    \
        }                                                                                          \
        const int raised = fetestexcept(EXCEPTIONS);                                               \
        merge_moments(moments, all, total, mean, total_##TYPE(&distance),                          \
                      total_##TYPE(&square));                                                      \
        keep_exceptions(raised);                                                                   \
    }                                                                                              \
                                                                                                   \
    /* Fold each of up to BAND_COLUMNS columns, whose rows lie `step` bytes apart, into its own. */ \
    CLONED(static, void, fold_columns_##TYPE,                                                      \
           (char *moments, npy_intp moments_step, const char *tile, npy_intp step, npy_intp rows,  \
            npy_intp columns),                                                                     \
           (moments, moments_step, tile, step, rows, columns))                                     \
    {                                                                                              \
        const npy_intp pitch = step / (npy_intp)sizeof(TYPE);                                      \
        TYPE totals[BAND_COLUMNS], means[BAND_COLUMNS];                                            \
        TYPE sums[BAND_COLUMNS], squares[BAND_COLUMNS];                                            \
        memset(totals, 0, sizeof(totals));                                                         \
        memset(sums, 0, sizeof(sums));                                                             \
        memset(squares, 0, sizeof(squares));                                                       \
        npy_intp row = 0;                                                                          \
        for (; row + GROUP <= rows; row += GROUP) {                                                \
            const TYPE *x = (const TYPE *)(tile + row * step);                                     \
            for (npy_intp column = 0; column < columns; column++) {                                \
                TYPE sum = x[column];                                                              \
                for (int next = 1; next < GROUP; next++) {                                         \
                    sum += x[next * pitch + column];                                               \
                }                                                                                  \
                totals[column] += sum;                                                             \
            }                                                                                      \
        }                                                                                          \
        for (; row < rows; row++) {                                                                \
            const TYPE *x = (const TYPE *)(tile + row * step);                                     \
            for (npy_intp column = 0; column < columns; column++) {                                \
                totals[column] += x[column];                                                       \
            }                                                                                      \
        }                                                                                          \
        for (npy_intp column = 0; column < columns; column++) {                                    \
            means[column] = totals[column] / (TYPE)rows;                                           \
        }                                                                                          \
        for (row = 0; row + GROUP <= rows; row += GROUP) {                                         \
            const TYPE *x = (const TYPE *)(tile + row * step);                                     \
            for (npy_intp column = 0; column < columns; column++) {                                \
                const TYPE mean = means[column], first = x[column] - mean;                         \
                TYPE sum = first, sum_of_squares = first * first;                                  \
                for (int next = 1; next < GROUP; next++) {                                         \
                    const TYPE each = x[next * pitch + column] - mean;                             \
                    sum += each;                                                                   \
                    sum_of_squares += each * each;                                                 \
                }                                                                                  \
                sums[column] += sum;                                                               \
                squares[column] += sum_of_squares;                                                 \
            }                                                                                      \
        }                                                                                          \
        for (; row < rows; row++) {                                                                \
            const TYPE *x = (const TYPE *)(tile + row * step);                                     \
            for (npy_intp column = 0; column < columns; column++) {                                \
                const TYPE each = x[column] - means[column];                                       \
                sums[column] += each;                                                              \
                squares[column] += each * each;                                                    \
            }                                                                                      \
        }                                                                                          \
        const int raised = fetestexcept(EXCEPTIONS);                                               \
        Moments merged[BAND_COLUMNS];                                                              \
        for (npy_intp column = 0; column < columns; column++) {                                    \
            merged[column] = *(Moments *)(moments + column * moments_step);                        \
        }                                                                                          \
        for (npy_intp column = 0; column < columns; column++) {                                    \
            merge_moments(&merged[column], (npy_double)rows, totals[column], means[column],        \
                          sums[column], squares[column]);                                          \
        }                                                                                          \
        for (npy_intp column = 0; column < columns; column++) {                                    \
            *(Moments *)(moments + column * moments_step) = merged[column];                        \
        }                                                                                          \
        keep_exceptions(raised);                                                                   \
    }

DEFINE_SUMS(npy_float)
DEFINE_SUMS(npy_double)

void fold_run(Moments *moments, const char *run, npy_intp step, npy_intp count,
                     npy_intp itemsize)
{
    (itemsize == sizeof(npy_float) ? fold_run_npy_float : fold_run_npy_double)(moments, run, step,
                                                                               count);
}

void fold_columns(char *moments, npy_intp moments_step, const char *tile, npy_intp step,
                         npy_intp rows, npy_intp columns, npy_intp itemsize)
{
    for (npy_intp column = 0; column < columns; column += BAND_COLUMNS) {
        const npy_intp width = columns - column < BAND_COLUMNS ? columns - column : BAND_COLUMNS;
        (itemsize == sizeof(npy_float) ? fold_columns_npy_float : fold_columns_npy_double)(
            moments + column * moments_step, moments_step, tile + column * itemsize, step, rows,
            width);
    }
}

void merge_parts(Moments *parts, npy_intp copies, npy_intp count)
{
    for (npy_intp i = 1; i < copies; i++) {
        for (npy_intp j = 0; j < count; j++) {
            add_moments(&parts[j], parts[i * count + j]);
        }
    }
}

void begin_run(RunOfElements *run)
{
    run->of_floats.depth = run->of_doubles.depth = 0;
    run->of_floats.count = run->of_doubles.count = 0;
    run->last.count = 0;
}

void extend_run(RunOfElements *run, const char *elements, npy_intp count, npy_intp itemsize)
{
    if (itemsize == sizeof(npy_float)) {
        extend_npy_float(&run->of_floats, &run->last, (const npy_float *)elements, count);
    } else {
        extend_npy_double(&run->of_doubles, &run->last, (const npy_double *)elements, count);
    }
}

void end_run(RunOfElements *run, char *sum, npy_intp itemsize)
{
    if (itemsize == sizeof(npy_float)) {
        *(npy_float *)sum += end_npy_float(&run->of_floats, &run->last);
    } else {
        *(npy_double *)sum += end_npy_double(&run->of_doubles, &run->last);
    }
}

void add_runs(char *sums, npy_intp step, const char *elements, npy_intp runs, npy_intp count, npy_intp itemsize)
{
    if (itemsize == sizeof(npy_float)) {
        add_runs_npy_float(sums, step, (const npy_float *)elements, runs, count);
    } else {
        add_runs_npy_double(sums, step, (const npy_double *)elements, runs, count);
    }
}

void merge_sums(char *sums, npy_intp step, npy_intp count, npy_intp itemsize)
{
    if (itemsize == sizeof(npy_float)) {
        *(npy_float *)sums = merge_npy_float((npy_float *)sums, step, count);
    } else {
        *(npy_double *)sums = merge_npy_double((npy_double *)sums, step, count);
    }
}

int find_sum(int type, int ignored, Loop *loop)
{
    switch (type) {
    case NPY_FLOAT:
        return set_binary(loop, add_npy_float, sizeof(npy_float), 0);
    case NPY_DOUBLE:
        return set_binary(loop, add_npy_double, sizeof(npy_double), 0);
    default:
        return 0;
    }
}

int find_moments(int type, int ignored, Loop *loop)
{
    const int found = find_sum(type, 0, loop);
    loop->function = NULL;
    loop->itemsizes[0] = loop->itemsizes[2] = sizeof(Moments);
    return found;
}
