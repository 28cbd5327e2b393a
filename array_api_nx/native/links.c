#include "links.h"
#include "compiler.h"
#include "sizes.h"

#ifdef HAS_CHAINS

#ifdef HAS_TARGET_CLONES
#include <immintrin.h>
#elif defined(HAS_SSE2)
#include <emmintrin.h>
#endif

/* Each product and each sum is rounded by itself, as in NumPy's loops. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

/* The operations on the numbers in the registers: in many cases with an operand, a vector of it for each
   vector of numbers, or one element for all. */
#define BOTH(CODE) CODE##_VECTOR, CODE##_SCALAR
typedef enum { BOTH(READ), BOTH(ADD), BOTH(SUBTRACT), BOTH(SUBTRACT_FROM), BOTH(MULTIPLY),
               BOTH(DIVIDE), BOTH(DIVIDE_INTO), DOUBLE_IT_CODE, SQUARE_CODE, NEGATE_CODE,
               SQRT_CODE, ABSOLUTE_CODE, KEEP_CODE, LAST_CODE, STREAM_CODE } Code;
#undef BOTH

/* One of the things that are done, one after the other, with a block of elements. */
typedef struct {
    Code code;
    char *data;   /* of the operand, or where the numbers are written */
    npy_intp row; /* bytes to the next row's */
} Order;

/* At most: to read the first operand, for each link to compute and to keep, and to end. */
enum { MAX_ORDERS = 2 + 2 * MAX_LINKS };

/* The numbers are a0, a1, ...; x is a vector of the operand, e an element of it. No product is added
   before it is rounded, as processors can: each of these is a statement of its own. */
#define DECLARE(i) VECTOR a##i;
#define READ(i) a##i = x[i];
#define READ_ONE(i) a##i = e - (VECTOR){0}; /* zero is subtracted: added, it would change -0.0 */
#define KEEP(i) x[i] = a##i;
#define PAST_CACHES(i) STREAM(x + i, a##i);
#define ADD(i) a##i = a##i + x[i];
#define ADD_ONE(i) a##i = a##i + e;
#define SUBTRACT(i) a##i = a##i - x[i];
#define SUBTRACT_ONE(i) a##i = a##i - e;
#define SUBTRACT_FROM(i) a##i = x[i] - a##i;
#define SUBTRACT_FROM_ONE(i) a##i = e - a##i;
#define MULTIPLY(i) a##i = a##i * x[i];
#define MULTIPLY_ONE(i) a##i = a##i * e;
#define DIVIDE(i) a##i = a##i / x[i];
#define DIVIDE_ONE(i) a##i = a##i / e;
#define DIVIDE_INTO(i) a##i = x[i] / a##i;
#define DIVIDE_INTO_ONE(i) a##i = e / a##i;
#define DOUBLE_IT(i) a##i = a##i + a##i;
#define SQUARE(i) a##i = a##i * a##i;
#define NEGATE(i) a##i = -a##i;
#define SQUARE_ROOT(i) a##i = ROOT(a##i);
#define ABSOLUTE(i) a##i = MAGNITUDE(a##i);

/* An operation with an operand of its own: with a vector of it, or with one element for all. */
#define CASES(CODE)                                                                                \
    case CODE##_VECTOR: {                                                                          \
        const VECTOR *x = (const VECTOR *)(order->data + offset);                                  \
        EACH(CODE)                                                                                 \
        break;                                                                                     \
    }                                                                                              \
    case CODE##_SCALAR: {                                                                          \
        const ELEMENT e = *(const ELEMENT *)order->data;                                           \
        EACH(CODE##_ONE)                                                                           \
        break;                                                                                     \
    }

#ifdef HAS_SSE2
#define FLOAT_ROOTS(x) _mm_sqrt_ps((__m128)(x))
#define DOUBLE_ROOTS(x) _mm_sqrt_pd((__m128d)(x))
#define STREAM_VECTOR(to, x) _mm_stream_si128((__m128i *)(to), (__m128i)(x))
#else
typedef npy_float ShortFloats __attribute__((vector_size(16)));
typedef npy_double ShortDoubles __attribute__((vector_size(16)));
#define FLOAT_ROOTS(x) (ShortFloats){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])}
#define DOUBLE_ROOTS(x) (ShortDoubles){sqrt(x[0]), sqrt(x[1])}
#define STREAM_VECTOR(to, x) (*(to) = (x))
#endif
#define RUN run_in_short_vectors
#define VECTOR_BYTES 16
#define TARGET
#include "link_runs.h"

#ifdef HAS_TARGET_CLONES

#define FLOAT_ROOTS(x) _mm256_sqrt_ps((__m256)(x))
#define DOUBLE_ROOTS(x) _mm256_sqrt_pd((__m256d)(x))
#define STREAM_VECTOR(to, x) _mm256_stream_si256((__m256i *)(to), (__m256i)(x))
#define RUN run_with_avx2
#define VECTOR_BYTES 32
#define TARGET __attribute__((target("avx2")))
#include "link_runs.h"

#define FLOAT_ROOTS(x) _mm512_sqrt_ps((__m512)(x))
#define DOUBLE_ROOTS(x) _mm512_sqrt_pd((__m512d)(x))
#define STREAM_VECTOR(to, x) _mm512_stream_si512((__m512i *)(to), (__m512i)(x))
#define RUN run_with_avx512
#define VECTOR_BYTES 64
#define TARGET __attribute__((target("avx512f")))
#include "link_runs.h"

/* Vectors as long as the processor has them (docs/tuning.md, 52). */
static void run_row(const Order *orders, npy_intp bytes, npy_intp itemsize)
{
    if (__builtin_cpu_supports("avx512f")) {
        run_with_avx512(orders, bytes, itemsize);
    } else if (__builtin_cpu_supports("avx2")) {
        run_with_avx2(orders, bytes, itemsize);
    } else {
        run_in_short_vectors(orders, bytes, itemsize);
    }
}

#else
#define run_row run_in_short_vectors
#endif

/* The code of an operation whose other operand is `is_scalar`. */
static Code code_of(const Link *link, int is_scalar)
{
    Code code;
    switch (link->operation) {
    case ADD_LINK:
        if (link->is_first && link->is_second) {
            return DOUBLE_IT_CODE;
        }
        code = ADD_VECTOR;
        break;
    case MULTIPLY_LINK:
        if (link->is_first && link->is_second) {
            return SQUARE_CODE;
        }
        code = MULTIPLY_VECTOR;
        break;
    case SUBTRACT_LINK:
        code = link->is_first ? SUBTRACT_VECTOR : SUBTRACT_FROM_VECTOR;
        break;
    case DIVIDE_LINK:
        code = link->is_first ? DIVIDE_VECTOR : DIVIDE_INTO_VECTOR;
        break;
    case SQUARE_LINK:
        return SQUARE_CODE;
    case SQRT_LINK:
        return SQRT_CODE;
    case ABSOLUTE_LINK:
        return ABSOLUTE_CODE;
    default:
        return NEGATE_CODE;
    }
    return (Code)(code + is_scalar);
}

void run_links(const Link *links, int count, Tile first, Tile target, int streams,
               npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    Order orders[MAX_ORDERS];
    int length = 0;
    orders[length++] = (Order){first.column ? READ_VECTOR : READ_SCALAR, first.data, first.row};
    for (int i = 0; i < count; i++) {
        const Link *link = &links[i];
        const Tile *other = &link->other;
        orders[length++] = (Order){code_of(link, other->column == 0), other->data, other->row};
        if (link->kept != NULL) {
            orders[length++] = (Order){KEEP_CODE, link->kept, columns * itemsize};
        }
    }
    orders[length++] = (Order){streams ? STREAM_CODE : LAST_CODE, target.data, target.row};
    for (npy_intp row = 0; row < rows; row++) {
        run_row(orders, columns * itemsize, itemsize);
        for (int i = 0; i < length; i++) {
            orders[i].data += orders[i].row;
        }
    }
}

#endif
