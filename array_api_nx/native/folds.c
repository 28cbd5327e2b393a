#include "folds.h"
#include "compiler.h"
#include "flags.h"

/* ------------------------------------------------------------------ extremes among numbers */

/* The bytes that are compared side by side: GCC 12 makes no vectors of 128, and has no registers for 512
   (docs/tuning.md, 51). */
enum { LANE_BYTES = 256 };

/* No comparison with NaN is true, so that NaN is never the result. The exceptions that comparisons
   with NaN raise mean nothing here. */
#define EXTREME(NAME, TYPE, IS_BETTER)                                                   \
    CLONED_LOOP(NAME)                                                                    \
    {                                                                                    \
        enum { LANES = LANE_BYTES / sizeof(TYPE) };                                      \
        const npy_intp size = sizeof(TYPE);                                              \
        npy_intp n = *count;                                                             \
        if (args[0] == args[2] && steps[0] == 0 && steps[2] == 0) {                      \
            const char *source = args[1];                                                \
            TYPE best = *(const TYPE *)args[0];                                          \
            if (steps[1] == size && n >= LANES) {                                        \
                TYPE lanes[LANES];                                                       \
                for (int lane = 0; lane < LANES; lane++) {                               \
                    lanes[lane] = best;                                                  \
                }                                                                        \
                for (; n >= LANES; n -= LANES, source += LANES * size) {                 \
                    for (int lane = 0; lane < LANES; lane++) {                           \
                        const TYPE x = ((const TYPE *)source)[lane];                     \
                        lanes[lane] = x IS_BETTER lanes[lane] ? x : lanes[lane];         \
                    }                                                                    \
                }                                                                        \
                for (int lane = 0; lane < LANES; lane++) {                               \
                    best = lanes[lane] IS_BETTER best ? lanes[lane] : best;              \
                }                                                                        \
            }                                                                            \
            for (npy_intp i = 0; i < n; i++) {                                           \
                const TYPE x = *(const TYPE *)(source + i * steps[1]);                   \
                best = x IS_BETTER best ? x : best;                                      \
            }                                                                            \
            *(TYPE *)args[2] = best;                                                     \
        } else if (args[0] == args[2] && steps[0] == size && steps[1] == size &&         \
                   steps[2] == size) {                                                   \
            const TYPE *source = (const TYPE *)args[1];                                  \
            TYPE *best = (TYPE *)args[2];                                                \
            INDEPENDENT                                                                  \
            for (npy_intp i = 0; i < n; i++) {                                           \
                best[i] = source[i] IS_BETTER best[i] ? source[i] : best[i];             \
            }                                                                            \
        } else {                                                                         \
            for (npy_intp i = 0; i < n; i++) {                                           \
                const TYPE before = *(const TYPE *)(args[0] + i * steps[0]);             \
                const TYPE x = *(const TYPE *)(args[1] + i * steps[1]);                  \
                *(TYPE *)(args[2] + i * steps[2]) = x IS_BETTER before ? x : before;     \
            }                                                                            \
        }                                                                                \
        clear_vector_flags();                                                            \
    }

EXTREME(largest_float, npy_float, >)
EXTREME(largest_double, npy_double, >)
EXTREME(smallest_float, npy_float, <)
EXTREME(smallest_double, npy_double, <)

int find_extreme(int type, int largest, Loop *loop)
{
    switch (type) {
    case NPY_FLOAT:
        return set_binary(loop, largest ? largest_float : smallest_float, sizeof(npy_float), 1);
    case NPY_DOUBLE:
        return set_binary(loop, largest ? largest_double : smallest_double, sizeof(npy_double), 1);
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ running sums and products */

/* target = first OP second. If each first operand is the target before, that is not read again: a
   processor takes three times as long to write a number and to read it as to add to it. */
#define RUNNING(NAME, TYPE, OP)                                                             \
    LOOP(NAME)                                                                              \
    {                                                                                       \
        const npy_intp n = *count;                                                          \
        if (n > 0 && steps[0] == steps[2] && args[2] == args[0] + steps[2]) {               \
            TYPE total = *(const TYPE *)args[0];                                            \
            for (npy_intp i = 0; i < n; i++) {                                              \
                total = total OP *(const TYPE *)(args[1] + i * steps[1]);                   \
                *(TYPE *)(args[2] + i * steps[2]) = total;                                  \
            }                                                                               \
        } else {                                                                            \
            for (npy_intp i = 0; i < n; i++) {                                              \
                const TYPE first = *(const TYPE *)(args[0] + i * steps[0]);                 \
                *(TYPE *)(args[2] + i * steps[2]) =                                         \
                    first OP *(const TYPE *)(args[1] + i * steps[1]);                       \
            }                                                                               \
        }                                                                                   \
    }

RUNNING(sum_float, npy_float, +)
RUNNING(sum_double, npy_double, +)
RUNNING(sum_uint64, npy_uint64, +)
RUNNING(product_float, npy_float, *)
RUNNING(product_double, npy_double, *)
RUNNING(product_uint64, npy_uint64, *)

int find_running(int type, int multiplies, Loop *loop)
{
    switch (type) {
    case NPY_FLOAT:
        return set_binary(loop, multiplies ? product_float : sum_float, sizeof(npy_float), 1);
    case NPY_DOUBLE:
        return set_binary(loop, multiplies ? product_double : sum_double, sizeof(npy_double), 1);
    default: /* integers of either kind wrap in the same way */
        return (type == NPY_INT64 || type == NPY_UINT64) &&
               set_binary(loop, multiplies ? product_uint64 : sum_uint64, sizeof(npy_uint64), 1);
    }
}
