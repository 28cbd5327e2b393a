/* BLAS writes zeros to the result and copies both matrices before it multiplies them: where sums have few terms, that takes
   longer than the arithmetic (docs/tuning.md, 158). The results agree to rounding. */

#include "tall_products.h"
#include "compiler.h"
#include "flags.h"
#include "settings.h"
#include "sizes.h"
#include "threads.h"

/* Rows and columns of the small matrix, whose elements stay in registers, and the least number of rows of the other one. */
enum { FEWEST = 2, MOST = 4, MANY = 9 };

/* Rows of a part that one thread computes, which takes some 10 microseconds, and those from which there are parts. */
enum { PART_ROWS = 1 << 14, DIVIDED_FROM = 2 * PART_ROWS };

static int is_few(npy_intp size)
{
    return size >= FEWEST && size <= MOST;
}

int is_tall_product(DTypeCode code, const npy_intp *sizes, const npy_intp *steps)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    return (code == FLOAT32 || code == FLOAT64) && sizes[1] >= MANY && is_few(sizes[2]) && is_few(sizes[3]) &&
           steps[4] == itemsize && steps[3] == sizes[2] * itemsize && steps[8] == itemsize &&
           steps[7] == sizes[3] * itemsize;
}

/* The compiler knows the numbers of terms and columns, and makes vectors of several rows. */
#define DEFINE_PRODUCTS(type)                                                                                          \
    static INLINE void multiply_rows_##type(const type *restrict x, const type *restrict factors,                      \
                                            type *restrict result, npy_intp rows, const int terms, const int columns)  \
    {                                                                                                                  \
        for (npy_intp i = 0; i < rows; i++) {                                                                          \
            UNROLLED                                                                                                   \
            for (int j = 0; j < columns; j++) {                                                                        \
                type sum = x[i * terms] * factors[j];                                                                  \
                UNROLLED                                                                                               \
                for (int k = 1; k < terms; k++) {                                                                      \
                    sum += x[i * terms + k] * factors[k * columns + j];                                                \
                }                                                                                                      \
                result[i * columns + j] = sum;                                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    CLONED_FOR_FUSED(static, void, multiply_all_##type,                                                                \
                     (const type *x, const type *factors, type *result, const npy_intp *sizes),                        \
                     (x, factors, result, sizes))                                                                      \
    {                                                                                                                  \
        const npy_intp rows = sizes[1];                                                                                \
        switch (10 * sizes[2] + sizes[3]) {                                                                            \
        case 22: multiply_rows_##type(x, factors, result, rows, 2, 2); break;                                          \
        case 23: multiply_rows_##type(x, factors, result, rows, 2, 3); break;                                          \
        case 24: multiply_rows_##type(x, factors, result, rows, 2, 4); break;                                          \
        case 32: multiply_rows_##type(x, factors, result, rows, 3, 2); break;                                          \
        case 33: multiply_rows_##type(x, factors, result, rows, 3, 3); break;                                          \
        case 34: multiply_rows_##type(x, factors, result, rows, 3, 4); break;                                          \
        case 42: multiply_rows_##type(x, factors, result, rows, 4, 2); break;                                          \
        case 43: multiply_rows_##type(x, factors, result, rows, 4, 3); break;                                          \
        default: multiply_rows_##type(x, factors, result, rows, 4, 4);                                                 \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* The elements of the small matrix may lie anywhere: a copy has them row by row. */                               \
    static void multiply_tall_##type(char *const *args, const npy_intp *sizes, const npy_intp *steps)                  \
    {                                                                                                                  \
        type factors[MOST * MOST];                                                                                     \
        for (npy_intp n = 0; n < sizes[0]; n++) {                                                                      \
            const char *small = args[1] + n * steps[1];                                                                \
            for (npy_intp k = 0; k < sizes[2]; k++) {                                                                  \
                for (npy_intp j = 0; j < sizes[3]; j++) {                                                              \
                    factors[k * sizes[3] + j] = *(const type *)(small + k * steps[5] + j * steps[6]);                  \
                }                                                                                                      \
            }                                                                                                          \
            multiply_all_##type((const type *)(args[0] + n * steps[0]), factors, (type *)(args[2] + n * steps[2]),     \
                                sizes);                                                                                \
        }                                                                                                              \
    }

FUSED_BEGIN /* as in BLAS: a sum of products that overflow is infinite, not NaN */
DEFINE_PRODUCTS(npy_float)
DEFINE_PRODUCTS(npy_double)
FUSED_END

void multiply_tall(DTypeCode code, char *const *args, const npy_intp *sizes, const npy_intp *steps)
{
    (code == FLOAT32 ? multiply_tall_npy_float : multiply_tall_npy_double)(args, sizes, steps);
}

/* A product whose rows threads share. */
typedef struct {
    DTypeCode code;
    char *const *args;
    const npy_intp *sizes, *steps;
    atomic_uchar flags;
} TallProduct;

static void run_part(const void *product, npy_intp number, char *scratch)
{
    TallProduct *all = (TallProduct *)product;
    const npy_intp from = number * PART_ROWS;
    const npy_intp sizes[4] = {1, least(PART_ROWS, all->sizes[1] - from), all->sizes[2], all->sizes[3]};
    char *const args[3] = {all->args[0] + from * all->steps[3], all->args[1], all->args[2] + from * all->steps[7]};
    clear_flags();
    multiply_tall(all->code, args, sizes, all->steps);
    note_flags(&all->flags, take_flags());
}

int multiply_tall_freely(DTypeCode code, char *const *args, const npy_intp *sizes, const npy_intp *steps, int *flags)
{
    TallProduct product = {code, args, sizes, steps, 0};
    const npy_intp parts = (sizes[1] - 1) / PART_ROWS + 1, threads = sizes[1] < DIVIDED_FROM ? 1 : most_threads();
    const int complete = threads > 0 && run_parts_freely(run_part, &product, parts, threads, 0);
    *flags = product.flags;
    return complete;
}
