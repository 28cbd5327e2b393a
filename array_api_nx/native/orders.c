#include "orders.h"
#include "sizes.h"

#ifdef HAS_ORDERS

#ifdef HAS_TARGETS
#include <immintrin.h>
#elif defined(HAS_SSE2)
#include <emmintrin.h>
#endif

/* Each product and each sum is rounded by itself, as in NumPy's loops. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
/* GCC would have all orders share one jump. */
#pragma GCC optimize("no-gcse", "no-crossjumping")
#endif

#define NO_INLINE __attribute__((noinline))

/* The numbers are a0, a1, ...; x is a vector of the operand, e an element of it; of two operands the
   first is x, the second y or e. */
#define DECLARE(i) VECTOR a##i = {0};
#define READ_ALL(i) a##i = x[i];
#define READ_ONE(i) a##i = e - (VECTOR){0}; /* zero is subtracted: added, it would change -0.0 */
#define WRITE_ALL(i) x[i] = a##i;
#define STREAM_ALL(i) PAST_CACHES(x + i, a##i);
#define ADD_ALL(i) a##i = a##i + x[i];
#define ADD_ONE(i) a##i = a##i + e;
#define SUBTRACT_ALL(i) a##i = a##i - x[i];
#define SUBTRACT_ONE(i) a##i = a##i - e;
#define SUBTRACT_FROM_ALL(i) a##i = x[i] - a##i;
#define SUBTRACT_FROM_ONE(i) a##i = e - a##i;
#define MULTIPLY_ALL(i) a##i = a##i * x[i];
#define MULTIPLY_ONE(i) a##i = a##i * e;
#define DIVIDE_ALL(i) a##i = a##i / x[i];
#define DIVIDE_ONE(i) a##i = a##i / e;
#define DIVIDE_INTO_ALL(i) a##i = x[i] / a##i;
#define DIVIDE_INTO_ONE(i) a##i = e / a##i;
#define ADD_BOTH(i) a##i = x[i] + y[i];
#define ADD_BOTH_ONE(i) a##i = x[i] + e;
#define SUBTRACT_BOTH(i) a##i = x[i] - y[i];
#define SUBTRACT_BOTH_ONE(i) a##i = x[i] - e;
#define MULTIPLY_BOTH(i) a##i = x[i] * y[i];
#define MULTIPLY_BOTH_ONE(i) a##i = x[i] * e;
#define DIVIDE_BOTH(i) a##i = x[i] / y[i];
#define DIVIDE_BOTH_ONE(i) a##i = x[i] / e;
#define DOUBLE_ALL(i) a##i = a##i + a##i;
#define SQUARE_ALL(i) a##i = a##i * a##i;
#define NEGATE_ALL(i) a##i = -a##i;
#define ROOT_ALL(i) a##i = ROOT(a##i);
#define ABSOLUTE_ALL(i) a##i = MAGNITUDE(a##i);

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
#include "order_runs.h"

#ifdef HAS_TARGETS

#define FLOAT_ROOTS(x) _mm256_sqrt_ps((__m256)(x))
#define DOUBLE_ROOTS(x) _mm256_sqrt_pd((__m256d)(x))
#define STREAM_VECTOR(to, x) _mm256_stream_si256((__m256i *)(to), (__m256i)(x))
#define RUN run_with_avx2
#define VECTOR_BYTES 32
#define TARGET __attribute__((target("avx2")))
#include "order_runs.h"

#define FLOAT_ROOTS(x) _mm512_sqrt_ps((__m512)(x))
#define DOUBLE_ROOTS(x) _mm512_sqrt_pd((__m512d)(x))
#define STREAM_VECTOR(to, x) _mm512_stream_si512((__m512i *)(to), (__m512i)(x))
#define RUN run_with_avx512
#define VECTOR_BYTES 64
#define TARGET __attribute__((target("avx512f")))
#include "order_runs.h"

/* Vectors as long as the processor has them (docs/tuning.md, 52). */
static void run_part(const Order *orders, npy_intp begin, npy_intp end, npy_intp itemsize, int again)
{
    if (processor >= AVX512) {
        run_with_avx512(orders, begin, end, itemsize, again);
    } else if (processor >= AVX2) {
        run_with_avx2(orders, begin, end, itemsize, again);
    } else {
        run_in_short_vectors(orders, begin, end, itemsize, again);
    }
}

#else
#define run_part run_in_short_vectors
#endif

/* Rows of so many bytes are written from where a line of the caches begins: the first block ends behind
   that place, and the second one computes a few elements again. */
enum { ALIGNED_FROM = 8 * REGISTERS_BYTES };

void run_orders(const Order *orders, int count, npy_intp bytes, npy_intp itemsize, int again)
{
    const npy_intp past = (npy_intp)((npy_uintp)orders[count - 1].data % LINE);
    if (again && past != 0 && bytes >= ALIGNED_FROM) {
        run_part(orders, 0, REGISTERS_BYTES, itemsize, 1);
        run_part(orders, LINE - past, bytes, itemsize, 1);
        return;
    }
    run_part(orders, 0, bytes, itemsize, again);
}

#endif
