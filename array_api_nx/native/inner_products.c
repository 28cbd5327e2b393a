/* Sums of products of the elements of two arrays, along any axes: a loop over the last two of them, and a nest around it.

   Where the last axis is summed, each row of it is an inner product, which is added up in lanes, and in blocks of them. Where
   it is not, products of rows are added to a row of sums. Integers wrap around in their own dtype, and no product
   is added before it is rounded, as in NumPy's einsum. */

#include "inner_products.h"
#include "compiler.h"
#include "elements.h"
#include "elementwise.h"
#include "flags.h"
#include "settings.h"
#include "threads.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* GCC contracts nothing with -std=c11 */
#endif

/* The last two axes. */
typedef struct {
    npy_intp rows, count, to_row[TERMS], steps[TERMS];
} Block;

/* A sum of many terms is one of blocks, so that it has the errors of short sums. */
enum { LANES = 16, FEW_LANES = 4, BLOCK = 1 << 12 };

#define AT(TYPE, start, index, step) (*(const TYPE *)((start) + (index) * (step)))

/* Rows of inner products. The compiler knows the steps of those that lie one after the other. */
#define DEFINE_INNER(NAME, TYPE)                                                                                       \
    CLONED(static, void, NAME##_inner, (char *const *data, const Block *block), (data, block))                         \
    {                                                                                                                  \
        const npy_intp size = sizeof(TYPE), *steps = block->steps;                                                     \
        const int is_dense = steps[0] == size && steps[1] == size;                                                     \
        for (npy_intp row = 0; row < block->rows; row++) {                                                             \
            const char *x = data[0] + row * block->to_row[0], *y = data[1] + row * block->to_row[1];                   \
            char *sum = data[2] + row * block->to_row[2];                                                              \
            if (is_dense) {                                                                                            \
                NAME##_dot(x, size, y, size, block->count, sum);                                                       \
            } else {                                                                                                   \
                NAME##_dot(x, steps[0], y, steps[1], block->count, sum);                                               \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Rows of products, added to rows of sums. */
#define DEFINE_ROWS(NAME, TYPE)                                                                                        \
    CLONED(static, void, NAME##_rows, (char *const *data, const Block *block), (data, block))                          \
    {                                                                                                                  \
        const npy_intp size = sizeof(TYPE), *steps = block->steps, count = block->count;                               \
        for (npy_intp row = 0; row < block->rows; row++) {                                                             \
            const char *x = data[0] + row * block->to_row[0], *y = data[1] + row * block->to_row[1];                   \
            char *sum = data[2] + row * block->to_row[2];                                                              \
            if (steps[2] == size && steps[1] == size && steps[0] == size) {                                            \
                NAME##_add(x, size, y, size, sum, size, count);                                                        \
            } else if (steps[2] == size && steps[1] == size && steps[0] == 0) {                                        \
                NAME##_add(x, 0, y, size, sum, size, count);                                                           \
            } else if (steps[2] == size && steps[1] == 0 && steps[0] == size) {                                        \
                NAME##_add(x, size, y, 0, sum, size, count);                                                           \
            } else {                                                                                                   \
                NAME##_add(x, steps[0], y, steps[1], sum, steps[2], count);                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Of integers, in the unsigned type of the same size: the compiler may add them up in any order. */
#define DEFINE_INTEGERS(NAME, TYPE)                                                                                    \
    static INLINE void NAME##_dot(const char *x, npy_intp x_step, const char *y, npy_intp y_step, npy_intp count, char *sum) \
    {                                                                                                                  \
        TYPE total = 0;                                                                                                \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            total = (TYPE)(total + WRAPPED(TYPE, AT(TYPE, x, i, x_step), AT(TYPE, y, i, y_step)));                     \
        }                                                                                                              \
        *(TYPE *)sum = (TYPE)(*(TYPE *)sum + total);                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    static INLINE void NAME##_add(const char *x, npy_intp x_step, const char *y, npy_intp y_step, char *sums,          \
                                  npy_intp sum_step, npy_intp count)                                                   \
    {                                                                                                                  \
        INDEPENDENT                                                                                                    \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            TYPE *sum = (TYPE *)(sums + i * sum_step);                                                                 \
            *sum = (TYPE)(*sum + WRAPPED(TYPE, AT(TYPE, x, i, x_step), AT(TYPE, y, i, y_step)));                       \
        }                                                                                                              \
    }                                                                                                                  \
    DEFINE_INNER(NAME, TYPE)                                                                                           \
    DEFINE_ROWS(NAME, TYPE)

/* Without the 1 a product of two short numbers would be one of ints, which may overflow. */
#define WRAPPED(TYPE, x, y) ((TYPE)(1u * (x) * (y)))

/* Each lane adds up terms so far apart. */
#define ADD_LANES(TYPE, MANY)                                                                                          \
    for (; count >= MANY; count -= done) {                                                                             \
        TYPE sums[MANY] = {0};                                                                                         \
        done = least(count, BLOCK) / MANY * MANY;                                                                      \
        for (npy_intp i = 0; i < done; i += MANY) {                                                                    \
            for (int lane = 0; lane < MANY; lane++) {                                                                  \
                sums[lane] += AT(TYPE, x, i + lane, x_step) * AT(TYPE, y, i + lane, y_step);                           \
            }                                                                                                          \
        }                                                                                                              \
        UNROLLED                                                                                                       \
        for (int half = MANY / 2; half > 0; half /= 2) {                                                               \
            for (int lane = 0; lane < half; lane++) {                                                                  \
                sums[lane] += sums[lane + half];                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        total += sums[0];                                                                                              \
        x += done * x_step;                                                                                            \
        y += done * y_step;                                                                                            \
    }

#define DEFINE_FLOATS(NAME, TYPE)                                                                                      \
    static INLINE void NAME##_dot(const char *x, npy_intp x_step, const char *y, npy_intp y_step, npy_intp count, char *sum) \
    {                                                                                                                  \
        TYPE total = 0;                                                                                                \
        npy_intp done;                                                                                                 \
        ADD_LANES(TYPE, LANES)                                                                                         \
        ADD_LANES(TYPE, FEW_LANES)                                                                                     \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            total += AT(TYPE, x, i, x_step) * AT(TYPE, y, i, y_step);                                                  \
        }                                                                                                              \
        *(TYPE *)sum += total;                                                                                         \
    }                                                                                                                  \
                                                                                                                       \
    static INLINE void NAME##_add(const char *x, npy_intp x_step, const char *y, npy_intp y_step, char *sums,          \
                                  npy_intp sum_step, npy_intp count)                                                   \
    {                                                                                                                  \
        INDEPENDENT                                                                                                    \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            *(TYPE *)(sums + i * sum_step) += AT(TYPE, x, i, x_step) * AT(TYPE, y, i, y_step);                         \
        }                                                                                                              \
    }                                                                                                                  \
    DEFINE_INNER(NAME, TYPE)                                                                                           \
    DEFINE_ROWS(NAME, TYPE)

/* The parts of a product of complex numbers at two places, which are pairs of a real dtype. */
#define READ_FACTORS(TYPE, i)                                                                                          \
    const TYPE a = AT(TYPE, x, i, x_step), b = AT(TYPE, x + sizeof(TYPE), i, x_step);                                  \
    const TYPE c = AT(TYPE, y, i, y_step), d = AT(TYPE, y + sizeof(TYPE), i, y_step);

#define DEFINE_COMPLEX(NAME, COMPLEX, TYPE)                                                                            \
    static INLINE void NAME##_dot(const char *x, npy_intp x_step, const char *y, npy_intp y_step, npy_intp count, char *sum) \
    {                                                                                                                  \
        TYPE real = 0, imaginary = 0;                                                                                  \
        for (npy_intp done; count >= FEW_LANES; count -= done) {                                                       \
            TYPE reals[FEW_LANES] = {0}, imaginaries[FEW_LANES] = {0};                                                 \
            done = least(count, BLOCK) / FEW_LANES * FEW_LANES;                                                        \
            for (npy_intp i = 0; i < done; i += FEW_LANES) {                                                           \
                for (int lane = 0; lane < FEW_LANES; lane++) {                                                         \
                    READ_FACTORS(TYPE, i + lane)                                                                       \
                    reals[lane] += a * c - b * d;                                                                      \
                    imaginaries[lane] += a * d + b * c;                                                                \
                }                                                                                                      \
            }                                                                                                          \
            real += (reals[0] + reals[1]) + (reals[2] + reals[3]);                                                     \
            imaginary += (imaginaries[0] + imaginaries[1]) + (imaginaries[2] + imaginaries[3]);                        \
            x += done * x_step;                                                                                        \
            y += done * y_step;                                                                                        \
        }                                                                                                              \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            READ_FACTORS(TYPE, i)                                                                                      \
            real += a * c - b * d;                                                                                     \
            imaginary += a * d + b * c;                                                                                \
        }                                                                                                              \
        ((TYPE *)sum)[0] += real;                                                                                      \
        ((TYPE *)sum)[1] += imaginary;                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static INLINE void NAME##_add(const char *x, npy_intp x_step, const char *y, npy_intp y_step, char *sums,          \
                                  npy_intp sum_step, npy_intp count)                                                   \
    {                                                                                                                  \
        INDEPENDENT                                                                                                    \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            TYPE *sum = (TYPE *)(sums + i * sum_step);                                                                 \
            READ_FACTORS(TYPE, i)                                                                                      \
            sum[0] += a * c - b * d;                                                                                   \
            sum[1] += a * d + b * c;                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    DEFINE_INNER(NAME, COMPLEX)                                                                                        \
    DEFINE_ROWS(NAME, COMPLEX)

DEFINE_INTEGERS(bytes, npy_uint8)
DEFINE_INTEGERS(shorts, npy_uint16)
DEFINE_INTEGERS(ints, npy_uint32)
DEFINE_INTEGERS(longs, npy_uint64)
DEFINE_FLOATS(floats, npy_float)
DEFINE_FLOATS(doubles, npy_double)
DEFINE_COMPLEX(complex_floats, npy_cfloat, npy_float)
DEFINE_COMPLEX(complex_doubles, npy_cdouble, npy_double)

static const struct {
    void (*inner)(char *const *data, const Block *block), (*rows)(char *const *data, const Block *block);
} kernels[DTYPE_COUNT] = {
    [NX_INT8] = {bytes_inner, bytes_rows},
    [NX_UINT8] = {bytes_inner, bytes_rows},
    [NX_INT16] = {shorts_inner, shorts_rows},
    [NX_UINT16] = {shorts_inner, shorts_rows},
    [NX_INT32] = {ints_inner, ints_rows},
    [NX_UINT32] = {ints_inner, ints_rows},
    [NX_INT64] = {longs_inner, longs_rows},
    [NX_UINT64] = {longs_inner, longs_rows},
    [FLOAT32] = {floats_inner, floats_rows},
    [FLOAT64] = {doubles_inner, doubles_rows},
    [COMPLEX64] = {complex_floats_inner, complex_floats_rows},
    [COMPLEX128] = {complex_doubles_inner, complex_doubles_rows},
};

int has_sums_of_products(DTypeCode code)
{
    return code < DTYPE_COUNT && kernels[code].inner != NULL;
}

/* How far all step along an axis; the most where both operands repeat their elements, which is no gain in a loop. */
static npy_intp reach(const SumsOfProducts *sums, int axis)
{
    const npy_intp of_both = magnitude(sums->strides[0][axis]) + magnitude(sums->strides[1][axis]);
    return of_both == 0 ? NPY_MAX_INTP : of_both + magnitude(sums->strides[SUM][axis]);
}

static void exchange(npy_intp *values, int i, int j)
{
    const npy_intp value = values[i];
    values[i] = values[j];
    values[j] = value;
}

void sort_axes(SumsOfProducts *sums, int *axes)
{
    for (int i = 1; i < sums->ndim; i++) {
        for (int j = i; j > 0 && reach(sums, j - 1) < reach(sums, j); j--) {
            exchange(sums->shape, j - 1, j);
            for (int term = 0; term < TERMS; term++) {
                exchange(sums->strides[term], j - 1, j);
            }
            if (axes != NULL) {
                const int axis = axes[j - 1];
                axes[j - 1] = axes[j];
                axes[j] = axis;
            }
        }
    }
}

/* Go through summed axes from the lowest address, where no operand steps up. */
static void turn_axes(SumsOfProducts *sums)
{
    for (int dim = 0; dim < sums->ndim; dim++) {
        npy_intp *const strides[2] = {sums->strides[0] + dim, sums->strides[1] + dim};
        if (sums->strides[SUM][dim] == 0 && *strides[0] <= 0 && *strides[1] <= 0) {
            for (int i = 0; i < 2; i++) {
                sums->data[i] += (sums->shape[dim] - 1) * *strides[i];
                *strides[i] = -*strides[i];
            }
        }
    }
}

static void run_nest(const SumsOfProducts *sums)
{
    const int last = sums->ndim - 1, outer = sums->ndim > 2 ? sums->ndim - 2 : 0;
    npy_intp index[ARRAY_DIMS] = {0};
    char *data[TERMS] = {sums->data[0], sums->data[1], sums->data[2]};
    Block block = {.rows = last > 0 ? sums->shape[last - 1] : 1, .count = last >= 0 ? sums->shape[last] : 1};
    for (int i = 0; i < TERMS; i++) {
        block.to_row[i] = last > 0 ? sums->strides[i][last - 1] : 0;
        block.steps[i] = last >= 0 ? sums->strides[i][last] : 0;
    }
    const int is_summed = block.steps[SUM] == 0;
    for (int dim = 0; dim >= 0;) {
        (is_summed ? kernels[sums->code].inner : kernels[sums->code].rows)(data, &block);
        dim = next_index(outer, sums->shape, index);
        for (int i = 0; i < TERMS; i++) {
            data[i] += distance(dim, outer, sums->shape, sums->strides[i]);
        }
    }
}

/* The products of a part that one thread adds up, and those from which there are parts (docs/tuning.md, 160). */
enum { PART_PRODUCTS = 1 << 14, DIVIDED_FROM = 1 << 16, PARTS_OF_THREAD = 4, MOST_PARTS = 64 };

/* A nest that threads share: each has indices of one axis. If there is but one sum, each part has its own. */
typedef struct {
    const SumsOfProducts *all;
    int axis, is_of_all;
    npy_intp each;
    _Alignas(LINE) char sums[MOST_PARTS][LINE];
} Division;

static void run_part(const void *division, npy_intp number, char *scratch)
{
    const Division *of = division;
    SumsOfProducts part = *of->all;
    const npy_intp from = number * of->each;
    part.shape[of->axis] = least(of->each, part.shape[of->axis] - from);
    for (int i = 0; i < TERMS; i++) {
        part.data[i] += from * part.strides[i][of->axis];
    }
    if (of->is_of_all) {
        part.data[SUM] = (char *)of->sums[number];
    }
    run_nest(&part);
}

/* Have threads share the products along an axis. 0, perhaps with an exception set, if that fails. */
static int run_parts_of(const SumsOfProducts *sums, int axis, double products)
{
    const ElementLoop *add = find_loop(OP_ADD, sums->code);
    const npy_intp size = sums->shape[axis], threads = add == NULL ? -1 : most_threads();
    if (threads <= 0) {
        return 0;
    }
    /* No more parts than threads can share evenly. */
    const int is_last = axis == sums->ndim - 1; /* then rows are cut, and the loops along them shorter */
    const npy_intp most = least(MOST_PARTS, is_last ? threads : PARTS_OF_THREAD * threads);
    Division division = {sums, axis, sums->strides[SUM][axis] == 0, 0, {{0}}};
    division.each = greatest((size - 1) / most + 1, (npy_intp)(PART_PRODUCTS / products * (double)size));
    division.each = is_last ? greatest(division.each, LINE) : division.each;
    npy_intp parts = (size - 1) / division.each + 1;
    if (!run_parts_freely(run_part, &division, parts, threads, 0)) {
        return 0;
    }
    if (division.is_of_all) {
        char *args[3] = {sums->data[SUM], division.sums[0], sums->data[SUM]};
        const npy_intp steps[3] = {0, LINE, 0};
        add->function(args, &parts, steps, add->data);
    }
    return 1;
}

int add_products_up(SumsOfProducts *sums)
{
    npy_intp *const merged[TERMS] = {sums->strides[0], sums->strides[1], sums->strides[2]};
    const npy_intp *const given[TERMS] = {sums->strides[0], sums->strides[1], sums->strides[2]};
    int axis = -1, is_done = 1;
    double products = 1; /* views that repeat elements may have any number */
    turn_axes(sums);
    sort_axes(sums, NULL);
    sums->ndim = merge_axes(sums->ndim, sums->shape, TERMS, given, sums->shape, merged);
    for (int dim = 0; dim < sums->ndim; dim++) {
        const int is_kept = sums->strides[SUM][dim] != 0, was_kept = axis >= 0 && sums->strides[SUM][axis] != 0;
        products *= (double)sums->shape[dim];
        axis = axis < 0 || is_kept > was_kept || (is_kept == was_kept && sums->shape[dim] > sums->shape[axis]) ? dim : axis;
    }
    if (products < DIVIDED_FROM) {
        run_nest(sums);
    } else {
        is_done = run_parts_of(sums, axis, products);
    }
    clear_vector_flags();
    return is_done;
}
