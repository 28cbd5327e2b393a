/* Loops that add the products of elements to sums, two axes at a time.

   Along the inner axis either all products belong to one sum, or each to a sum of its own. Where elements are adjacent,
   compilers make vectors of them; the products of one sum are added up in several sums. */

#include "product_sums.h"
#include "elements.h"
#include "flags.h"
#include "nest.h"
#include "scalars.h"
#include "settings.h"
#include "sizes.h"
#include "threads.h"

/* Products of a part that a thread computes, and up to how many one thread takes as long as several (docs/tuning.md, 160). */
enum { PART_PRODUCTS = 1 << 14, SERIAL_PRODUCTS = 1 << 15 };

/* The most parts with sums of their own, which together have as many elements as a part has products at most. */
enum { MOST_PARTS = 64 };

/* An axis of fewer elements is short: the loop around it takes as long as its products (docs/tuning.md, 163). */
enum { SHORT_AXIS = 16 };

/* The last two axes of a nest, and how far the operands step along them: in bytes, and in elements along the inner one. */
typedef struct {
    npy_intp outer, inner;
    npy_intp outer_steps[PRODUCT_OPERANDS], inner_steps[PRODUCT_OPERANDS];
} Rows;

/* Do something for each index of the outer axis, from the first elements of the operands there. */
#define EACH_ROW(ROWS, TYPE, ...)                                                                               \
    for (npy_intp row = 0; row < (ROWS)->outer; row++) {                                                        \
        TYPE *sums = (TYPE *)(data[SUMS] + row * (ROWS)->outer_steps[SUMS]);                                    \
        const TYPE *x = (const TYPE *)(data[LEFT_FACTOR] + row * (ROWS)->outer_steps[LEFT_FACTOR]);             \
        const TYPE *y = (const TYPE *)(data[RIGHT_FACTOR] + row * (ROWS)->outer_steps[RIGHT_FACTOR]);           \
        __VA_ARGS__                                                                                             \
    }

/* Loops of a type whose products are computed in another one, in which integers wrap around. */
#define DEFINE_REAL_SUMS(NAME, TYPE, WIDE)                                                                      \
    static INLINE TYPE term_##NAME(TYPE x, TYPE y)                                                              \
    {                                                                                                           \
        return (TYPE)((WIDE)x * (WIDE)y);                                                                       \
    }                                                                                                           \
                                                                                                                \
    /* The sum of the products of adjacent elements; or of those of `x`, all times the same element. */         \
    static INLINE TYPE add_adjacent_##NAME(const TYPE *x, const TYPE *y, npy_intp count, int is_same)           \
    {                                                                                                           \
        enum { LANES = sizeof(TYPE) < 4 ? 32 : 128 / sizeof(TYPE) };                                            \
        TYPE fours[4] = {0}, sum = 0;                                                                           \
        npy_intp i = 0;                                                                                         \
        if (count >= LANES) {                                                                                   \
            TYPE lanes[LANES] = {0};                                                                            \
            for (; i + LANES <= count; i += LANES) {                                                            \
                for (int lane = 0; lane < LANES; lane++) {                                                      \
                    lanes[lane] += is_same ? x[i + lane] : term_##NAME(x[i + lane], y[i + lane]);               \
                }                                                                                               \
            }                                                                                                   \
            for (int half = LANES / 2; half >= 4; half /= 2) {                                                  \
                for (int lane = 0; lane < half; lane++) {                                                       \
                    lanes[lane] += lanes[lane + half];                                                          \
                }                                                                                               \
            }                                                                                                   \
            memcpy(fours, lanes, sizeof(fours));                                                                \
        }                                                                                                       \
        for (; i + 4 <= count; i += 4) {                                                                        \
            for (int lane = 0; lane < 4; lane++) {                                                              \
                fours[lane] += is_same ? x[i + lane] : term_##NAME(x[i + lane], y[i + lane]);                   \
            }                                                                                                   \
        }                                                                                                       \
        for (; i < count; i++) {                                                                                \
            sum += is_same ? x[i] : term_##NAME(x[i], y[i]);                                                    \
        }                                                                                                       \
        sum += (fours[0] + fours[1]) + (fours[2] + fours[3]);                                                   \
        return is_same ? term_##NAME(sum, *y) : sum;                                                            \
    }                                                                                                           \
                                                                                                                \
    /* Rows of so few products of one sum each; */                                                              \
    static INLINE void add_few_##NAME(char *const *data, const Rows *rows, const int count)                     \
    {                                                                                                           \
        EACH_ROW(rows, TYPE, {                                                                                  \
            TYPE sum = *sums;                                                                                   \
            for (int i = 0; i < count; i++) {                                                                   \
                sum += term_##NAME(x[i], y[i]);                                                                 \
            }                                                                                                   \
            *sums = sum;                                                                                        \
        })                                                                                                      \
    }                                                                                                           \
                                                                                                                \
    /* or of so few sums, the same ones for all rows, to which a product each is added; */                      \
    static INLINE void add_to_same_##NAME(char *const *data, const Rows *rows, const int count)                 \
    {                                                                                                           \
        const npy_intp left = rows->outer_steps[LEFT_FACTOR], right = rows->outer_steps[RIGHT_FACTOR];          \
        const char *x = data[LEFT_FACTOR], *y = data[RIGHT_FACTOR];                                             \
        TYPE *const sums = (TYPE *)data[SUMS], kept[4][4] = {{0}}; /* of every fourth row each */               \
        npy_intp row = 0;                                                                                       \
        for (; row + 4 <= rows->outer; row += 4) {                                                              \
            for (int k = 0; k < 4; k++, x += left, y += right) {                                                \
                for (int i = 0; i < count; i++) {                                                               \
                    kept[k][i] += term_##NAME(((const TYPE *)x)[i], *(const TYPE *)y);                          \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
        for (; row < rows->outer; row++, x += left, y += right) {                                               \
            for (int i = 0; i < count; i++) {                                                                   \
                kept[0][i] += term_##NAME(((const TYPE *)x)[i], *(const TYPE *)y);                              \
            }                                                                                                   \
        }                                                                                                       \
        for (int i = 0; i < count; i++) {                                                                       \
            sums[i] += (kept[0][i] + kept[1][i]) + (kept[2][i] + kept[3][i]);                                   \
        }                                                                                                       \
    }                                                                                                           \
                                                                                                                \
    /* or of other sums for each row. */                                                                        \
    static INLINE void add_to_few_##NAME(char *const *data, const Rows *rows, const int count)                  \
    {                                                                                                           \
        if (rows->outer_steps[SUMS] == 0) {                                                                     \
            add_to_same_##NAME(data, rows, count);                                                              \
            return;                                                                                             \
        }                                                                                                       \
        EACH_ROW(rows, TYPE, {                                                                                  \
            for (int i = 0; i < count; i++) {                                                                   \
                sums[i] += term_##NAME(x[i], *y);                                                               \
            }                                                                                                   \
        })                                                                                                      \
    }                                                                                                           \
                                                                                                                \
    CLONED_FOR_FUSED(static, void, add_rows_##NAME, (char *const *data, const Rows *rows), (data, rows))        \
    {                                                                                                           \
        const npy_intp count = rows->inner, to = rows->inner_steps[SUMS];                                       \
        const npy_intp left = rows->inner_steps[LEFT_FACTOR], right = rows->inner_steps[RIGHT_FACTOR];          \
        if (to == 0 && left == 1 && right == 1) {                                                               \
            switch (count) {                                                                                    \
            case 2: add_few_##NAME(data, rows, 2); return;                                                      \
            case 3: add_few_##NAME(data, rows, 3); return;                                                      \
            case 4: add_few_##NAME(data, rows, 4); return;                                                      \
            default: EACH_ROW(rows, TYPE, { *sums += add_adjacent_##NAME(x, y, count, 0); })                    \
            }                                                                                                   \
        } else if (to == 1 && left == 1 && right == 0 && count <= 4) {                                          \
            switch (count) {                                                                                    \
            case 2: add_to_few_##NAME(data, rows, 2); return;                                                   \
            case 3: add_to_few_##NAME(data, rows, 3); return;                                                   \
            default: add_to_few_##NAME(data, rows, 4); return; /* axes of one element are none */               \
            }                                                                                                   \
        } else if (to == 0 && left == 1 && right == 0) {                                                        \
            EACH_ROW(rows, TYPE, { *sums += add_adjacent_##NAME(x, y, count, 1); })                             \
        } else if (to == 0) {                                                                                   \
            EACH_ROW(rows, TYPE, {                                                                              \
                TYPE sum = 0;                                                                                   \
                for (npy_intp i = 0; i < count; i++) {                                                          \
                    sum += term_##NAME(x[i * left], y[i * right]);                                              \
                }                                                                                               \
                *sums += sum;                                                                                   \
            })                                                                                                  \
        } else if (to == 1 && left == 1 && right == 1) {                                                        \
            EACH_ROW(rows, TYPE, {                                                                              \
                INDEPENDENT                                                                                     \
                for (npy_intp i = 0; i < count; i++) {                                                          \
                    sums[i] += term_##NAME(x[i], y[i]);                                                         \
                }                                                                                               \
            })                                                                                                  \
        } else if (to == 1 && left == 1 && right == 0) {                                                        \
            EACH_ROW(rows, TYPE, {                                                                              \
                const TYPE factor = *y;                                                                         \
                INDEPENDENT                                                                                     \
                for (npy_intp i = 0; i < count; i++) {                                                          \
                    sums[i] += term_##NAME(x[i], factor);                                                       \
                }                                                                                               \
            })                                                                                                  \
        } else {                                                                                                \
            EACH_ROW(rows, TYPE, {                                                                              \
                for (npy_intp i = 0; i < count; i++) {                                                          \
                    sums[i * to] += term_##NAME(x[i * left], y[i * right]);                                     \
                }                                                                                               \
            })                                                                                                  \
        }                                                                                                       \
    }

/* Complex numbers, whose parts are added up apart. */
#define DEFINE_COMPLEX_SUMS(NAME, TYPE)                                                                         \
    CLONED_FOR_FUSED(static, void, add_rows_##NAME, (char *const *data, const Rows *rows), (data, rows))        \
    {                                                                                                           \
        const npy_intp count = rows->inner, to = 2 * rows->inner_steps[SUMS];                                   \
        const npy_intp left = 2 * rows->inner_steps[LEFT_FACTOR], right = 2 * rows->inner_steps[RIGHT_FACTOR];  \
        if (to == 0) {                                                                                          \
            EACH_ROW(rows, TYPE, {                                                                              \
                TYPE real = 0, imaginary = 0, next_real = 0, next_imaginary = 0; /* they do not wait for each other */ \
                npy_intp i = 0;                                                                                 \
                for (; i + 2 <= count; i += 2, x += 2 * left, y += 2 * right) {                                 \
                    const TYPE *a = x + left, *b = y + right;                                                   \
                    real += x[0] * y[0] - x[1] * y[1];                                                          \
                    imaginary += x[0] * y[1] + x[1] * y[0];                                                     \
                    next_real += a[0] * b[0] - a[1] * b[1];                                                     \
                    next_imaginary += a[0] * b[1] + a[1] * b[0];                                                \
                }                                                                                               \
                if (i < count) {                                                                                \
                    real += x[0] * y[0] - x[1] * y[1];                                                          \
                    imaginary += x[0] * y[1] + x[1] * y[0];                                                     \
                }                                                                                               \
                sums[0] += real + next_real;                                                                    \
                sums[1] += imaginary + next_imaginary;                                                          \
            })                                                                                                  \
        } else if (to == 2 && left == 2 && right == 0) {                                                        \
            EACH_ROW(rows, TYPE, {                                                                              \
                const TYPE real = y[0], imaginary = y[1];                                                       \
                INDEPENDENT                                                                                     \
                for (npy_intp i = 0; i < count; i++) {                                                          \
                    sums[2 * i] += x[2 * i] * real - x[2 * i + 1] * imaginary;                                  \
                    sums[2 * i + 1] += x[2 * i] * imaginary + x[2 * i + 1] * real;                              \
                }                                                                                               \
            })                                                                                                  \
        } else if (to == 2 && left == 2 && right == 2) {                                                        \
            EACH_ROW(rows, TYPE, {                                                                              \
                INDEPENDENT                                                                                     \
                for (npy_intp i = 0; i < count; i++) {                                                          \
                    sums[2 * i] += x[2 * i] * y[2 * i] - x[2 * i + 1] * y[2 * i + 1];                           \
                    sums[2 * i + 1] += x[2 * i] * y[2 * i + 1] + x[2 * i + 1] * y[2 * i];                       \
                }                                                                                               \
            })                                                                                                  \
        } else {                                                                                                \
            EACH_ROW(rows, TYPE, {                                                                              \
                for (npy_intp i = 0; i < count; i++) {                                                          \
                    const TYPE *a = x + i * left, *b = y + i * right;                                           \
                    sums[i * to] += a[0] * b[0] - a[1] * b[1];                                                  \
                    sums[i * to + 1] += a[0] * b[1] + a[1] * b[0];                                              \
                }                                                                                               \
            })                                                                                                  \
        }                                                                                                       \
    }

FUSED_BEGIN /* as in BLAS: a sum of products that overflow is infinite, not NaN */
DEFINE_REAL_SUMS(bytes, npy_uint8, npy_uint32)
DEFINE_REAL_SUMS(shorts, npy_uint16, npy_uint32)
DEFINE_REAL_SUMS(ints, npy_uint32, npy_uint32)
DEFINE_REAL_SUMS(longs, npy_uint64, npy_uint64)
DEFINE_REAL_SUMS(floats, npy_float, npy_float)
DEFINE_REAL_SUMS(doubles, npy_double, npy_double)
DEFINE_COMPLEX_SUMS(complex_floats, npy_float)
DEFINE_COMPLEX_SUMS(complex_doubles, npy_double)
FUSED_END

typedef void (*AddRows)(char *const *data, const Rows *rows);

static AddRows find_loop(DTypeCode code)
{
    const int is_whole = is_integer(code);
    switch (dtypes[code].itemsize) {
    case 1:
        return is_whole ? add_rows_bytes : NULL;
    case 2:
        return is_whole ? add_rows_shorts : NULL;
    case 4:
        return is_whole ? add_rows_ints : add_rows_floats;
    case 8:
        return is_whole ? add_rows_longs : is_complex(code) ? add_rows_complex_floats : add_rows_doubles;
    default:
        return add_rows_complex_doubles;
    }
}

int has_product_sums(DTypeCode code)
{
    return find_loop(code) != NULL;
}

/* How far the operands step along an axis, all together. */
static npy_intp reach_along(const ProductNest *nest, int axis)
{
    npy_intp bytes = 0;
    for (int k = 0; k < PRODUCT_OPERANDS; k++) {
        bytes += magnitude(nest->strides[k][axis]);
    }
    return bytes;
}

static inline void swap(npy_intp *one, npy_intp *other)
{
    const npy_intp kept = *one;
    *one = *other;
    *other = kept;
}

static void swap_axes(ProductNest *nest, int first, int second)
{
    swap(&nest->shape[first], &nest->shape[second]);
    for (int k = 0; k < PRODUCT_OPERANDS; k++) {
        swap(&nest->strides[k][first], &nest->strides[k][second]);
    }
}

/* Put the axes in order, those along which elements are closest together last; merge those that are one; and let the factor
   that is the same along the last one be the right one. */
static void arrange_axes(ProductNest *nest)
{
    const npy_intp *given[PRODUCT_OPERANDS];
    npy_intp *merged[PRODUCT_OPERANDS];
    for (int dim = 1; dim < nest->ndim; dim++) {
        for (int at = dim; at > 0 && reach_along(nest, at - 1) < reach_along(nest, at); at--) {
            swap_axes(nest, at, at - 1);
        }
    }
    for (int k = 0; k < PRODUCT_OPERANDS; k++) {
        given[k] = merged[k] = nest->strides[k];
    }
    nest->ndim = merge_axes(nest->ndim, nest->shape, PRODUCT_OPERANDS, given, nest->shape, merged);
    if (nest->ndim > 0 && nest->strides[LEFT_FACTOR][nest->ndim - 1] == 0) {
        char *const left = nest->data[LEFT_FACTOR];
        nest->data[LEFT_FACTOR] = nest->data[RIGHT_FACTOR];
        nest->data[RIGHT_FACTOR] = left;
        for (int dim = 0; dim < nest->ndim; dim++) {
            swap(&nest->strides[LEFT_FACTOR][dim], &nest->strides[RIGHT_FACTOR][dim]);
        }
    }
}

/* Let the last axis but one be the longest one, if it is short: the loops then run longer. */
static void lengthen_rows(ProductNest *nest)
{
    const int outer = nest->ndim - 2;
    int longest = outer;
    for (int dim = outer - 1; dim >= 0 && nest->shape[outer] < SHORT_AXIS; dim--) {
        longest = nest->shape[dim] > nest->shape[longest] ? dim : longest;
    }
    if (longest != outer) {
        swap_axes(nest, outer, longest);
    }
}

/* Add all products of a nest, whose axes are arranged. */
static void add_all(ProductNest *nest)
{
    lengthen_rows(nest);
    const AddRows add_rows = find_loop(nest->code);
    const npy_intp itemsize = dtypes[nest->code].itemsize;
    const int inner = nest->ndim - 1, outer = nest->ndim - 2;
    npy_intp index[PRODUCT_AXES] = {0};
    char *data[PRODUCT_OPERANDS];
    Rows rows = {.outer = outer < 0 ? 1 : nest->shape[outer], .inner = inner < 0 ? 1 : nest->shape[inner]};
    for (int k = 0; k < PRODUCT_OPERANDS; k++) {
        data[k] = nest->data[k];
        rows.outer_steps[k] = outer < 0 ? 0 : nest->strides[k][outer];
        rows.inner_steps[k] = inner < 0 ? 0 : nest->strides[k][inner] / itemsize;
    }
    int dim;
    do {
        add_rows(data, &rows);
        dim = next_index(outer, nest->shape, index);
        for (int k = 0; k < PRODUCT_OPERANDS && dim >= 0; k++) {
            data[k] += distance(dim, outer, nest->shape, nest->strides[k]);
        }
    } while (dim >= 0);
    clear_flags();
}

/* A nest and the axis that threads share. If that is summed, each part has sums of its own. */
typedef struct {
    const ProductNest *nest;
    int axis;
    npy_intp each, apart; /* of the axis in a part; bytes from the sums of a part to the next */
    char *sums;
} SharedNest;

static void run_part(const void *shared, npy_intp part, char *scratch)
{
    const SharedNest *all = shared;
    ProductNest nest = *all->nest;
    const npy_intp from = part * all->each;
    nest.shape[all->axis] = least(all->each, nest.shape[all->axis] - from);
    nest.data[SUMS] = all->sums + part * all->apart;
    for (int k = 0; k < PRODUCT_OPERANDS; k++) {
        nest.data[k] += from * nest.strides[k][all->axis];
    }
    add_all(&nest);
}

/* The axis that threads share: the first one; where that is summed, and there are many sums, the first one that is not. */
static int find_shared_axis(const ProductNest *nest, npy_intp sums)
{
    int axis = 0;
    while (sums > PART_PRODUCTS / MOST_PARTS && axis < nest->ndim - 1 && nest->strides[SUMS][axis] == 0) {
        axis++;
    }
    return axis;
}

/* The same on several threads; 0 with an exception set. */
static int add_together(ProductNest *nest, npy_intp products, npy_intp sums)
{
    SharedNest all = {.nest = nest, .axis = find_shared_axis(nest, sums), .sums = nest->data[SUMS]};
    const npy_intp itemsize = dtypes[nest->code].itemsize, length = nest->shape[all.axis];
    const int is_kept = nest->strides[SUMS][all.axis] != 0;
    /* The parts of an axis behind others have rows that are not short. */
    const npy_intp longest = all.axis == 0 ? length : length / SHORT_AXIS;
    const npy_intp most = least(longest, least(is_kept ? NPY_MAX_INTP : MOST_PARTS, products / PART_PRODUCTS));
    if (most < 2) {
        add_all(nest);
        return 1;
    }
    all.each = (length - 1) / most + 1;
    const npy_intp parts = (length - 1) / all.each + 1, threads = most_threads();
    if (threads <= 0) {
        return 0;
    }
    if (is_kept) {
        return run_parts_freely(run_part, &all, parts, threads, 0);
    }
    all.apart = sums * itemsize;
    all.sums = PyMem_Calloc((size_t)parts, (size_t)all.apart);
    if (all.sums == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    const int complete = run_parts_freely(run_part, &all, parts, threads, 0);
    ProductNest whole = {.code = nest->code, .ndim = 2, .shape = {parts, sums}, .data = {nest->data[SUMS], all.sums, NULL},
                         .strides = {{0, itemsize}, {all.apart, itemsize}, {0, 0}}};
    const int added = complete && sum_products(&whole);
    PyMem_Free(all.sums);
    return added;
}

/* Sums of complex numbers are sums of real ones: along an axis more, of their two parts. */
static void split_numbers(ProductNest *nest)
{
    nest->code = part_of(nest->code);
    const npy_intp part = dtypes[nest->code].itemsize;
    add_product_axis(nest, 2, part, part, 0);
}

/* Have the sums be zeros, the axes in order, and the right factor, if there is none, be `one`. Returns how many products there
   are. */
static npy_intp begin_sums(ProductNest *nest, Element *one, npy_intp *sums)
{
    npy_intp products = 1;
    *sums = 1;
    if (nest->data[RIGHT_FACTOR] == NULL) {
        if (is_complex(nest->code)) {
            split_numbers(nest);
        }
        write_number(one->bytes, nest->code, 1);
        nest->data[RIGHT_FACTOR] = (char *)one;
        memset(nest->strides[RIGHT_FACTOR], 0, sizeof(nest->strides[RIGHT_FACTOR]));
    }
    for (int dim = 0; dim < nest->ndim; dim++) {
        products *= nest->shape[dim];
        *sums *= nest->strides[SUMS][dim] == 0 ? 1 : nest->shape[dim];
    }
    arrange_axes(nest);
    memset(nest->data[SUMS], 0, (size_t)(*sums * dtypes[nest->code].itemsize));
    return products;
}

int sum_products(ProductNest *nest)
{
    Element one;
    npy_intp sums;
    const npy_intp products = begin_sums(nest, &one, &sums);
    if (products > SERIAL_PRODUCTS) {
        return add_together(nest, products, sums);
    }
    add_all(nest);
    return 1;
}

void sum_products_alone(ProductNest *nest)
{
    Element one;
    npy_intp sums;
    begin_sums(nest, &one, &sums);
    add_all(nest);
}
