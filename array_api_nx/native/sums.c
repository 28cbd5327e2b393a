/* Sums of floating-point numbers, in an order that is part of the result.

   A run of elements is added up in blocks of LENGTH rows of as many lanes as 128 bytes hold: down the
   rows first, then the lanes by halves, then the blocks in pairs, and pairs of pairs. This order is the
   same on all processors, however many elements one instruction adds. */

#include "sums.h"
#include "compiler.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* GCC contracts nothing with -std=c11 */
#endif

enum { LENGTH = 16 };

/* Lanes that the tail of a run, shorter than a block, is added up in at a time: their sums stay in
   registers. */
enum { AT_ONCE = 8 };

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
    /* The sum of `count` elements, at least one. */                                               \
    CLONED(static, TYPE, sum_run_##TYPE, (const TYPE *x, npy_intp count), (x, count))              \
    {                                                                                              \
        Pairs_##TYPE pairs;                                                                        \
        start_##TYPE(&pairs);                                                                      \
        for (; count >= BLOCK_##TYPE; count -= BLOCK_##TYPE, x += BLOCK_##TYPE) {                  \
            add_block_##TYPE(&pairs, x);                                                           \
        }                                                                                          \
        if (count > 0) {                                                                           \
            add_rest_##TYPE(&pairs, x, count);                                                     \
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
    /* Add runs of `count` elements, `row` bytes after each other, each to a sum of its own. */    \
    static void add_runs_##TYPE(char *sums, npy_intp step, const char *elements, npy_intp row,     \
                                npy_intp runs, npy_intp count)                                     \
    {                                                                                              \
        for (npy_intp i = 0; i < runs; i++, elements += row, sums += step) {                       \
            const TYPE *x = (const TYPE *)elements;                                                \
            *(TYPE *)sums += count <= 2   ? sum_short_##TYPE(x, count, 2)                          \
                             : count <= 4 ? sum_short_##TYPE(x, count, 4)                          \
                             : count <= 8 ? sum_short_##TYPE(x, count, 8)                          \
                                          : sum_run_##TYPE(x, count);                               \
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
    }

DEFINE_SUMS(npy_float)
DEFINE_SUMS(npy_double)

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

void add_runs(char *sums, npy_intp step, const char *elements, npy_intp row, npy_intp runs, npy_intp count,
              npy_intp itemsize)
{
    (itemsize == sizeof(npy_float) ? add_runs_npy_float : add_runs_npy_double)(sums, step, elements, row, runs, count);
}

void merge_sums(char *sums, npy_intp step, npy_intp count, npy_intp itemsize)
{
    if (itemsize == sizeof(npy_float)) {
        *(npy_float *)sums = merge_npy_float((npy_float *)sums, step, count);
    } else {
        *(npy_double *)sums = merge_npy_double((npy_double *)sums, step, count);
    }
}
