#include "folds.h"
#include "compiler.h"
#include "flags.h"

/* ------------------------------------------------------------------ extremes among numbers */

/* What is compared side by side. Of 128 bytes GCC 12 makes no vectors, of 512 it keeps not all in
   registers: 0.18, 0.038 and 0.044 ns for a double, with AVX2. */
enum { LANE_BYTES = 256 };

/* No comparison with NaN is true, so that NaN takes nobody's place. The exceptions that comparisons
   with NaN raise mean nothing here. */
#define EXTREME(NAME, TYPE, IS_BETTER)                                                   \
    CLONED LOOP(NAME)                                                                    \
    {                                                                                    \
        enum { LANES = LANE_BYTES / sizeof(TYPE) };                                      \
        const npy_intp size = sizeof(TYPE);                                              \
        npy_intp n = *count;                                                             \
        (void)data;                                                                      \
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
    if (type == NPY_FLOAT) {
        const npy_intp size = sizeof(npy_float);
        *loop = (Loop){largest ? largest_float : smallest_float, NULL, 2, {size, size, size}, 1,
                       NO_LINK};
        return 1;
    }
    if (type == NPY_DOUBLE) {
        const npy_intp size = sizeof(npy_double);
        *loop = (Loop){largest ? largest_double : smallest_double, NULL, 2, {size, size, size}, 1,
                       NO_LINK};
        return 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ running sums and products */

/* target = first OP second. If each first operand is the target before, that is not read again: a
   processor takes three times as long to write a number and to read it as to add to it. */
#define RUNNING(NAME, TYPE, OP)                                                             \
    LOOP(NAME)                                                                              \
    {                                                                                       \
        const npy_intp n = *count;                                                          \
        (void)data;                                                                         \
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
    if (type == NPY_FLOAT) {
        const npy_intp size = sizeof(npy_float);
        *loop = (Loop){multiplies ? product_float : sum_float, NULL, 2, {size, size, size}, 1,
                       NO_LINK};
        return 1;
    }
    if (type == NPY_DOUBLE) {
        const npy_intp size = sizeof(npy_double);
        *loop = (Loop){multiplies ? product_double : sum_double, NULL, 2, {size, size, size}, 1,
                       NO_LINK};
        return 1;
    }
    if (type == NPY_INT64 || type == NPY_UINT64) { /* integers of either kind wrap in the same way */
        const npy_intp size = sizeof(npy_uint64);
        *loop = (Loop){multiplies ? product_uint64 : sum_uint64, NULL, 2, {size, size, size}, 1,
                       NO_LINK};
        return 1;
    }
    return 0;
}
