/* Sums of floating-point numbers, in an order that is part of the result.

   A run of elements is added up in blocks of LENGTH rows of as many lanes as 128 bytes hold: down the
   rows first, then the lanes by halves, then the blocks in pairs, and pairs of pairs. This order is the
   same on all processors, however many elements one instruction adds. */

#include "sums.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* GCC contracts nothing with -std=c11 */
#endif

enum { LENGTH = 16 };

/* Lanes that the tail of a run, shorter than a block, is added up in at a time: their sums stay in
   registers. */
enum { AT_ONCE = 8 };

/* Loops over runs of as many elements, which need no branches. */
#define ADD_SHORT(TYPE, COUNT)                                                                     \
    case COUNT:                                                                                    \
        for (npy_intp i = 0; i < runs; i++) {                                                      \
            const TYPE *x = (const TYPE *)(elements + i * row);                                    \
            *(TYPE *)(sums + i * step) += sum_short_##TYPE(x, COUNT);                              \
        }                                                                                          \
        return;
#define EACH_SHORT(X, TYPE)                                                                        \
    X(TYPE, 1) X(TYPE, 2) X(TYPE, 3) X(TYPE, 4) X(TYPE, 5) X(TYPE, 6) X(TYPE, 7) X(TYPE, 8)        \
    X(TYPE, 9) X(TYPE, 10) X(TYPE, 11) X(TYPE, 12) X(TYPE, 13) X(TYPE, 14) X(TYPE, 15) X(TYPE, 16)

#define DEFINE_SUMS(CODE, TYPE)                                                                    \
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
    /* Of a short run, the sum of the lanes that lie so far apart, from one on; lanes behind the run would add zeros. */ \
    static INLINE TYPE eight_apart_##TYPE(const TYPE *x, const int count, const int i)             \
    {                                                                                              \
        return (TYPE)(i + 8 < count ? (0 + x[i]) + (0 + x[i + 8]) : 0 + x[i]);                     \
    }                                                                                              \
                                                                                                   \
    static INLINE TYPE four_apart_##TYPE(const TYPE *x, const int count, const int i)              \
    {                                                                                              \
        const TYPE sum = eight_apart_##TYPE(x, count, i);                                          \
        return i + 4 < count ? (TYPE)(sum + eight_apart_##TYPE(x, count, i + 4)) : sum;            \
    }                                                                                              \
                                                                                                   \
    static INLINE TYPE two_apart_##TYPE(const TYPE *x, const int count, const int i)               \
    {                                                                                              \
        const TYPE sum = four_apart_##TYPE(x, count, i);                                           \
        return i + 2 < count ? (TYPE)(sum + four_apart_##TYPE(x, count, i + 2)) : sum;             \
    }                                                                                              \
                                                                                                   \
    /* The sum of 1 to 16 elements, as of a run. */                                                \
    static INLINE TYPE sum_short_##TYPE(const TYPE *x, const int count)                            \
    {                                                                                              \
        const TYPE sum = two_apart_##TYPE(x, count, 0);                                            \
        return 1 < count ? (TYPE)(sum + two_apart_##TYPE(x, count, 1)) : sum;                      \
    }                                                                                              \
                                                                                                   \
    /* Add runs of `count` elements, `row` bytes after each other, each to a sum of its own. */    \
    CLONED(static, void, add_runs_##TYPE,                                                          \
           (char *sums, npy_intp step, const char *elements, npy_intp row, npy_intp runs, npy_intp count), \
           (sums, step, elements, row, runs, count))                                               \
    {                                                                                              \
        switch (count) {                                                                           \
            EACH_SHORT(ADD_SHORT, TYPE)                                                            \
        default:                                                                                   \
            for (npy_intp i = 0; i < runs; i++) {                                                  \
                *(TYPE *)(sums + i * step) += sum_run_##TYPE((const TYPE *)(elements + i * row), count); \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
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

EACH_SUMMED(DEFINE_SUMS)

#define START(CODE, TYPE) start_##TYPE(&run->of_##TYPE);
#define EXTEND(CODE, TYPE)                                                             \
    case CODE:                                                                         \
        extend_##TYPE(&run->of_##TYPE, &run->last, (const TYPE *)elements, count);     \
        break;
#define FINISH(CODE, TYPE)                                       \
    case CODE:                                                   \
        *(TYPE *)sum += end_##TYPE(&run->of_##TYPE, &run->last); \
        break;
#define ADD_ALL(CODE, TYPE)                                         \
    case CODE:                                                      \
        add_runs_##TYPE(sums, step, elements, row, runs, count);    \
        break;
#define MERGE(CODE, TYPE)                                                    \
    case CODE:                                                               \
        *(TYPE *)sums = merge_##TYPE((const TYPE *)sums, step, count);       \
        break;

void begin_run(RunOfElements *run)
{
    /* The run will use one member of the union. To begin the others, too, only writes zeros to memory where that one has no
       parts yet. */
    EACH_SUMMED(START)
    run->last.count = 0;
}

void extend_run(RunOfElements *run, const char *elements, npy_intp count, DTypeCode code)
{
    switch (code) {
        EACH_SUMMED(EXTEND)
    default:
        break;
    }
}

void end_run(RunOfElements *run, char *sum, DTypeCode code)
{
    switch (code) {
        EACH_SUMMED(FINISH)
    default:
        break;
    }
}

void add_runs(char *sums, npy_intp step, const char *elements, npy_intp row, npy_intp runs, npy_intp count, DTypeCode code)
{
    switch (code) {
        EACH_SUMMED(ADD_ALL)
    default:
        break;
    }
}

void merge_sums(char *sums, npy_intp step, npy_intp count, DTypeCode code)
{
    switch (code) {
        EACH_SUMMED(MERGE)
    default:
        break;
    }
}
