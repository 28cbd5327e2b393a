#include "orders.h"
#include "sizes.h"

#include <math.h>

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

/* The numbers are a0, a1, ...; o is an operand: a vector of x or y, or e, an element for all; or booleans at t. */
#define X_AT(i) x[i]
#define Y_AT(i) y[i]
#define E_AT(i) e
#define T_AT(i) t + i * LANES
#define NONE(i)
#define NOTHING
#define DECLARE(i, OP, o) VECTOR a##i = {0};
#define TAKE(i, OP, o) a##i = o;
#define APPLY(i, OP, o) a##i = OP(a##i, o);
#define REVERSE(i, OP, o) a##i = OP(o, a##i);
#define APPLY_TO_X(i, OP, o) a##i = OP(x[i], o);
#define REVERSE_TO_X(i, OP, o) a##i = OP(o, x[i]);
#define APPLY_ALONE(i, OP, o) a##i = OP(a##i);
#define BOTH_VECTORS(i, OP, o) a##i = CHOSEN(BITS(a##i), first[i], o);
#define FIRST_SCALAR(i, OP, o) a##i = CHOSEN(BITS(a##i), (SPREAD(first)), o);
#define PREFER_REGISTERS(i, OP, o) a##i = CHOSEN(WIDEN(T_AT(i)), a##i, o);
#define PREFER_OPERAND(i, OP, o) a##i = CHOSEN(WIDEN(T_AT(i)), o, a##i);
#define TAKE_TRUTHS(i, OP, o) a##i = NUMBERS(WIDEN(o));
#define APPLY_TRUTHS(i, OP, o) a##i = NUMBERS(BITS(a##i) OP WIDEN(o));
#define WRITE_TRUTHS(i, OP, o) NARROW(BITS(a##i), o);
#define WRITE(i, OP, o) o = a##i;
/* The second vector ends with the last element that is wanted: nothing behind it is read. */
#define TAKE_OTHERS(i, OP, o)                                            \
    a##i = SHUFFLED(*(const VECTOR *)(from + 2 * i * LANES),             \
                    *(const VECTOR *)(from + (2 * i + 1) * LANES - 1), JOIN(OTHERS, LANES_HERE));
#define TAKE_BACK(i, OP, o)                                              \
    a##i = SHUFFLED(*(const VECTOR *)(from - (i + 1) * LANES + 1),       \
                    *(const VECTOR *)(from - (i + 1) * LANES + 1), JOIN(BACK, LANES_HERE));
#define TAKE_REALS(i, OP, o) a##i = (VECTOR)REALS(from + i * sizeof(VECTOR) / 2);
#define STREAM_ONE(i, OP, o) STREAM_VECTOR(&o, a##i);
#define BOTH_BITS &
#define ANY_BITS |
#define DIFFERENT_BITS ^

#define SUM(p, q) p + q
#define DIFFERENCE(p, q) p - q
#define TIMES(p, q) p * q
#define RATIO(p, q) p / q
#define DOUBLED(p) p + p
#define SQUARED(p) PRODUCT(p, p)
#define OPPOSITE(p) -p
#define UNEQUAL_TO_ITSELF(p) NUMBERS(p != p)
#define BITS(p) ((TRUTHS)(p))
#define NUMBERS(t) ((VECTOR)(t))
#define INVERSE(p) NUMBERS(~BITS(p))
#define CHOSEN(t, p, q) NUMBERS((t & BITS(p)) | (~t & BITS(q)))
#define BOTH_SET(p, q) NUMBERS(BITS(p) & BITS(q))
#define ANY_SET(p, q) NUMBERS(BITS(p) | BITS(q))
#define ONE_SET(p, q) NUMBERS(BITS(p) ^ BITS(q))
#define IS_EQUAL(p, q) NUMBERS(p == q)
#define IS_LESS(p, q) NUMBERS(COMPARE(p, q, LT))
#define IS_AT_MOST(p, q) NUMBERS(COMPARE(p, q, LE))
/* As NumPy has it on x86: NaN if there is one, the first of two; of equal numbers, zeros included, the second. */
#define LARGER(p, q) LIMIT(p, q, GT)
#define SMALLER(p, q) LIMIT(p, q, LT)

typedef void Blocks(const Order *orders, npy_intp offset, npy_intp end, npy_intp by);
/* Of each dtype (`kinds`): on eight, on four, and on single vectors. */
typedef Blocks *BlockTable[6][3];

#define JOIN_NAMES(a, b) a##_##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#define JOIN_THREE_NAMES(a, b, c) a##_##b##_##c
#define JOIN_THREE(a, b, c) JOIN_THREE_NAMES(a, b, c)

/* The elements of two vectors at some places, which are those of one vector after the other. */
#if defined(__clang__)
#define SHUFFLED(p, q, PLACES) (VECTOR) __builtin_shufflevector(p, q, PLACES)
#else
#define SHUFFLED(p, q, PLACES) (VECTOR) __builtin_shuffle(p, q, (TRUTHS){PLACES})
#endif
#define OTHERS_1 0
#define OTHERS_2 0, 3
#define OTHERS_4 0, 2, 5, 7
#define OTHERS_8 0, 2, 4, 6, 9, 11, 13, 15
#define OTHERS_16 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#define REAL_2 0, 0
#define REAL_4 0, 0, 2, 2
#define REAL_8 0, 0, 2, 2, 4, 4, 6, 6
#define REAL_16 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14
#define IMAGINARY_2 1, 1
#define IMAGINARY_4 1, 1, 3, 3
#define IMAGINARY_8 1, 1, 3, 3, 5, 5, 7, 7
#define IMAGINARY_16 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15
#define SWAPPED_2 1, 0
#define SWAPPED_4 1, 0, 3, 2
#define SWAPPED_8 1, 0, 3, 2, 5, 4, 7, 6
#define SWAPPED_16 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#define BY_TURNS_2 0, 3
#define BY_TURNS_4 0, 5, 2, 7
#define BY_TURNS_8 0, 9, 2, 11, 4, 13, 6, 15
#define BY_TURNS_16 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31
#define BACK_1 0
#define BACK_2 1, 0
#define BACK_4 3, 2, 1, 0
#define BACK_8 7, 6, 5, 4, 3, 2, 1, 0
#define BACK_16 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0

/* A comparison with NaN raises a flag: instead, zeros are compared. */
#define LT_SIGN <
#define LE_SIGN <=
#define GT_SIGN >
#define ARE_NUMBERS(p, q) ((TRUTHS)(p == p) & (TRUTHS)(q == q))
#define COMPARE_QUIETLY(p, q, HOW)                                         \
    ((TRUTHS)(NUMBERS(BITS(p) & ARE_NUMBERS(p, q)) HOW##_SIGN NUMBERS(BITS(q) & ARE_NUMBERS(p, q))) & \
     ARE_NUMBERS(p, q))
#define LIMIT_QUIETLY(p, q, HOW) CHOSEN((COMPARE_QUIETLY(p, q, HOW) | (TRUTHS)(p != p)), p, q)

/* Truths of vectors of a few elements. Any byte but 0 is true. */
#define BYTES_AS(NAME, COUNT, TRUTH)                                                   \
    typedef npy_int8 NAME##Bytes __attribute__((vector_size(COUNT)));                  \
    typedef TRUTH NAME##Truths __attribute__((vector_size(COUNT * sizeof(TRUTH))));    \
    static inline NAME##Truths widen_##NAME(const char *from)                          \
    {                                                                                  \
        NAME##Bytes bytes;                                                             \
        memcpy(&bytes, from, sizeof(bytes));                                           \
        return __builtin_convertvector(bytes, NAME##Truths) != 0;                      \
    }                                                                                  \
    static inline void narrow_##NAME(NAME##Truths t, char *to)                         \
    {                                                                                  \
        const NAME##Bytes bytes = __builtin_convertvector(t, NAME##Bytes) & 1;         \
        memcpy(to, &bytes, sizeof(bytes));                                             \
    }

static inline npy_float float_root(npy_float x)
{
    ONLY_HERE(x)
    return sqrtf(x);
}

static inline npy_double double_root(npy_double x)
{
    ONLY_HERE(x)
    return sqrt(x);
}

/* A pair of floats. */
typedef npy_int64 PairBits __attribute__((aligned(sizeof(npy_float)), may_alias));

int are_products_fused[2];

/* The quotients of pairs of complex numbers as NumPy computes them, and x * y + z as its products need it. */
#define COMPLEX_ARITHMETIC(KIND, TYPE, WHICH, FUSED, MAGNITUDE_OF)                                    \
    static NO_INLINE void divide_##KIND(const TYPE *p, const TYPE *q, TYPE *to, int count)             \
    {                                                                                                  \
        for (int i = 0; i < 2 * count; i += 2) {                                                       \
            const TYPE real = MAGNITUDE_OF(q[i]), imaginary = MAGNITUDE_OF(q[i + 1]);                  \
            if (real == 0 && imaginary == 0) {                                                         \
                to[i] = p[i] / real;                                                                   \
                to[i + 1] = p[i + 1] / real;                                                           \
            } else if (real >= imaginary) {                                                            \
                const TYPE ratio = q[i + 1] / q[i], scale = 1 / (q[i] + q[i + 1] * ratio);             \
                to[i] = (p[i] + p[i + 1] * ratio) * scale;                                             \
                to[i + 1] = (p[i + 1] - p[i] * ratio) * scale;                                         \
            } else {                                                                                   \
                const TYPE ratio = q[i] / q[i + 1], scale = 1 / (q[i + 1] + q[i] * ratio);             \
                to[i] = (p[i] * ratio + p[i + 1]) * scale;                                             \
                to[i + 1] = (p[i + 1] * ratio - p[i]) * scale;                                         \
            }                                                                                          \
        }                                                                                              \
    }                                                                                                  \
    static INLINE TYPE add_product_##KIND(TYPE x, TYPE y, TYPE z)                                      \
    {                                                                                                  \
        return are_products_fused[WHICH] ? FUSED(x, y, z) : x * y + z;                                \
    }

COMPLEX_ARITHMETIC(floats, npy_float, 0, fmaf, fabsf)
COMPLEX_ARITHMETIC(doubles, npy_double, 1, fma, fabs)

/* Elements that fill no vector are vectors of one. */
BYTES_AS(one_short, 1, npy_int32)
BYTES_AS(one_long, 1, npy_int64)
#define RUN one_by_one
#define ONLY_ALONE
#define SHORT_LANES 1
#define LONG_LANES 1
#define VECTOR_BYTES(TYPE) sizeof(TYPE)
#define TARGET
#define FLOAT_ROOTS(x) {float_root((x)[0])}
#define DOUBLE_ROOTS(x) {double_root((x)[0])}
#define COMPARE_FLOATS COMPARE_QUIETLY
#define COMPARE_DOUBLES COMPARE_QUIETLY
#define LIMIT_FLOATS LIMIT_QUIETLY
#define LIMIT_DOUBLES LIMIT_QUIETLY
#define WIDEN_SHORT widen_one_short
#define WIDEN_LONG widen_one_long
#define NARROW_SHORT narrow_one_short
#define NARROW_LONG narrow_one_long
#define STREAM_VECTOR(to, x) (*(to) = (x))
#define REALS_OF_FLOATS(from) ((VECTOR){((const npy_float *)(from))[0]})
#define REALS_OF_DOUBLES(from) ((VECTOR){((const npy_double *)(from))[0]})
#define SHORT_PARTS 2
#define LONG_PARTS 2
#define SPREAD_LONG_PAIR(from) *(const VECTOR *)(from)
#include "order_runs.h"

#ifdef HAS_SSE2
#define FLOAT_ROOTS(x) _mm_sqrt_ps((__m128)(x))
#define DOUBLE_ROOTS(x) _mm_sqrt_pd((__m128d)(x))
#define STREAM_VECTOR(to, x) _mm_stream_si128((__m128i *)(to), (__m128i)(x))
#else
typedef npy_float FourFloats __attribute__((vector_size(16)));
typedef npy_double TwoDoubles __attribute__((vector_size(16)));

static inline FourFloats float_roots(FourFloats x)
{
    ONLY_HERE(x)
    return (FourFloats){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
}

static inline TwoDoubles double_roots(TwoDoubles x)
{
    ONLY_HERE(x)
    return (TwoDoubles){sqrt(x[0]), sqrt(x[1])};
}

#define FLOAT_ROOTS float_roots
#define DOUBLE_ROOTS double_roots
#define STREAM_VECTOR(to, x) (*(to) = (x))
#endif
BYTES_AS(four, 4, npy_int32)
BYTES_AS(two, 2, npy_int64)
#define RUN in_short_vectors
#define SHORT_LANES 4
#define LONG_LANES 2
#define VECTOR_BYTES(TYPE) 16
#define TARGET
#define COMPARE_FLOATS COMPARE_QUIETLY
#define COMPARE_DOUBLES COMPARE_QUIETLY
#define LIMIT_FLOATS LIMIT_QUIETLY
#define LIMIT_DOUBLES LIMIT_QUIETLY
#define WIDEN_SHORT widen_four
#define WIDEN_LONG widen_two
#define NARROW_SHORT narrow_four
#define NARROW_LONG narrow_two
#define REALS_OF_FLOATS(from) ((VECTOR){((const npy_float *)(from))[0], 0, ((const npy_float *)(from))[1]})
#define REALS_OF_DOUBLES(from) ((VECTOR){((const npy_double *)(from))[0]})
#define SHORT_PARTS 4
#define LONG_PARTS 2
#define SPREAD_LONG_PAIR(from) *(const VECTOR *)(from)
#include "order_runs.h"

#ifdef HAS_TARGETS

/* Bytes of which all bits are set where booleans are true. */
static inline __m128i read_booleans(const char *from, size_t count)
{
    __m128i bytes = _mm_setzero_si128();
    memcpy(&bytes, from, count);
    return _mm_sub_epi8(_mm_setzero_si128(), _mm_min_epu8(bytes, _mm_set1_epi8(1)));
}

/* Four bits as booleans. */
static inline void write_four(unsigned bits, char *to)
{
    const npy_uint32 bytes = (bits & 15) * 0x204081u & 0x1010101u;
    memcpy(to, &bytes, sizeof(bytes));
}

#define RUN with_avx2
#define SHORT_LANES 8
#define LONG_LANES 4
#define VECTOR_BYTES(TYPE) 32
#define TARGET __attribute__((target("avx2,fma")))
#define FLOAT_ROOTS(x) _mm256_sqrt_ps((__m256)(x))
#define DOUBLE_ROOTS(x) _mm256_sqrt_pd((__m256d)(x))
#define COMPARE_FLOATS(p, q, HOW) (TRUTHS)_mm256_cmp_ps((__m256)(p), (__m256)(q), _CMP_##HOW##_OQ)
#define COMPARE_DOUBLES(p, q, HOW) (TRUTHS)_mm256_cmp_pd((__m256d)(p), (__m256d)(q), _CMP_##HOW##_OQ)
#define IS_LIMIT(p, q, HOW, KIND) \
    _mm256_or_##KIND(_mm256_cmp_##KIND(p, q, _CMP_##HOW##_OQ), _mm256_cmp_##KIND(p, p, _CMP_UNORD_Q))
#define LIMIT_FLOATS(p, q, HOW) \
    NUMBERS(_mm256_blendv_ps((__m256)(q), (__m256)(p), IS_LIMIT((__m256)(p), (__m256)(q), HOW, ps)))
#define LIMIT_DOUBLES(p, q, HOW) \
    NUMBERS(_mm256_blendv_pd((__m256d)(q), (__m256d)(p), IS_LIMIT((__m256d)(p), (__m256d)(q), HOW, pd)))
#define WIDEN_SHORT(from) (TRUTHS)_mm256_cvtepi8_epi32(read_booleans(from, 8))
#define WIDEN_LONG(from) (TRUTHS)_mm256_cvtepi8_epi64(read_booleans(from, 4))
#define NARROW_SHORT(t, to)                                              \
    {                                                                    \
        const unsigned bits = (unsigned)_mm256_movemask_ps((__m256)(t)); \
        write_four(bits, to);                                            \
        write_four(bits >> 4, to + 4);                                   \
    }
#define NARROW_LONG(t, to) write_four((unsigned)_mm256_movemask_pd((__m256d)(t)), to)
#define STREAM_VECTOR(to, x) _mm256_stream_si256((__m256i *)(to), (__m256i)(x))
#define REALS_OF_FLOATS(from) _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(from)))
#define REALS_OF_DOUBLES(from) \
    ((VECTOR){((const npy_double *)(from))[0], 0, ((const npy_double *)(from))[1]})
#define SHORT_PARTS 8
#define LONG_PARTS 4
#define FUSES_PRODUCTS
#define SPREAD_LONG_PAIR(from) _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(from)))
#define SUBTRACT_AND_ADD_FLOATS(x, y, z) _mm256_fmaddsub_ps((__m256)(x), (__m256)(y), (__m256)(z))
#define ADD_AND_SUBTRACT_FLOATS(x, y, z) _mm256_fmsubadd_ps((__m256)(x), (__m256)(y), (__m256)(z))
#define SUBTRACT_AND_ADD_DOUBLES(x, y, z) _mm256_fmaddsub_pd((__m256d)(x), (__m256d)(y), (__m256d)(z))
#define ADD_AND_SUBTRACT_DOUBLES(x, y, z) _mm256_fmsubadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z))
#define ARE_ALL_TRUE(t) (_mm256_movemask_epi8((__m256i)(t)) == -1)
#include "order_runs.h"
#undef IS_LIMIT

#define RUN with_avx512
#define SHORT_LANES 16
#define LONG_LANES 8
#define VECTOR_BYTES(TYPE) 64
#define TARGET __attribute__((target("avx512f,avx512dq")))
#define FLOAT_ROOTS(x) _mm512_sqrt_ps((__m512)(x))
#define DOUBLE_ROOTS(x) _mm512_sqrt_pd((__m512d)(x))
#define COMPARE_FLOATS(p, q, HOW) \
    (TRUTHS)_mm512_movm_epi32(_mm512_cmp_ps_mask((__m512)(p), (__m512)(q), _CMP_##HOW##_OQ))
#define COMPARE_DOUBLES(p, q, HOW) \
    (TRUTHS)_mm512_movm_epi64(_mm512_cmp_pd_mask((__m512d)(p), (__m512d)(q), _CMP_##HOW##_OQ))
#define IS_LIMIT(p, q, HOW, KIND) \
    _mm512_cmp_##KIND##_mask(p, q, _CMP_##HOW##_OQ) | _mm512_cmp_##KIND##_mask(p, p, _CMP_UNORD_Q)
#define LIMIT_FLOATS(p, q, HOW) \
    NUMBERS(_mm512_mask_mov_ps((__m512)(q), IS_LIMIT((__m512)(p), (__m512)(q), HOW, ps), (__m512)(p)))
#define LIMIT_DOUBLES(p, q, HOW) \
    NUMBERS(_mm512_mask_mov_pd((__m512d)(q), IS_LIMIT((__m512d)(p), (__m512d)(q), HOW, pd), (__m512d)(p)))
#define WIDEN_SHORT(from) (TRUTHS)_mm512_cvtepi8_epi32(read_booleans(from, 16))
#define WIDEN_LONG(from) (TRUTHS)_mm512_cvtepi8_epi64(read_booleans(from, 8))
#define NARROW_SHORT(t, to) \
    _mm_storeu_si128((__m128i *)(to), _mm_and_si128(_mm512_cvtepi32_epi8((__m512i)(t)), _mm_set1_epi8(1)))
#define NARROW_LONG(t, to) \
    _mm_storel_epi64((__m128i *)(to), _mm_and_si128(_mm512_cvtepi64_epi8((__m512i)(t)), _mm_set1_epi8(1)))
#define STREAM_VECTOR(to, x) _mm512_stream_si512((__m512i *)(to), (__m512i)(x))
#define REALS_OF_FLOATS(from) _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(from)))
#define REALS_OF_DOUBLES(from) \
    _mm512_maskz_expand_pd(0x55, _mm512_castpd256_pd512(_mm256_loadu_pd((const npy_double *)(from))))
#define SHORT_PARTS 16
#define LONG_PARTS 8
#define FUSES_PRODUCTS
#define SPREAD_LONG_PAIR(from) _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)(from)))
#define SUBTRACT_AND_ADD_FLOATS(x, y, z) _mm512_fmaddsub_ps((__m512)(x), (__m512)(y), (__m512)(z))
#define ADD_AND_SUBTRACT_FLOATS(x, y, z) _mm512_fmsubadd_ps((__m512)(x), (__m512)(y), (__m512)(z))
#define SUBTRACT_AND_ADD_DOUBLES(x, y, z) _mm512_fmaddsub_pd((__m512d)(x), (__m512d)(y), (__m512d)(z))
#define ADD_AND_SUBTRACT_DOUBLES(x, y, z) _mm512_fmsubadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z))
#define ARE_ALL_TRUE(t) (_mm512_movepi64_mask((__m512i)(t)) == 0xff)
#include "order_runs.h"

#endif

/* Vectors as long as the processor has them (docs/tuning.md, 52). */
static const BlockTable *const tables[] = {
    &in_short_vectors_blocks,
#ifdef HAS_TARGETS
    &with_avx2_blocks,
    &with_avx512_blocks,
#endif
};

/* Blocks of eight vectors, then of four, then single vectors, then elements. Where elements may be computed
   again, the last block begins where it ends with the row instead. */
static void run_part(const Order *orders, npy_intp begin, npy_intp end, DTypeCode element, int again)
{
    static const npy_uint8 kinds[DTYPE_COUNT] = {[FLOAT64] = 1, [NX_INT32] = 2, [NX_INT64] = 3, [COMPLEX64] = 4, [COMPLEX128] = 5};
    const int kind = kinds[element];
    Blocks *const *of = (*tables[processor])[kind];
    const npy_intp first = begin, vector = (npy_intp)16 << processor, wide = 8 * vector, half = 4 * vector;
    if (end - begin >= wide) {
        const npy_intp blocks = (end - begin) - (end - begin) % wide;
        of[0](orders, begin, begin + blocks, wide);
        begin += blocks;
    }
    if (end - begin > half && again && begin > first) {
        of[0](orders, end - wide, end, wide);
        return;
    }
    if (end - begin >= half) {
        of[1](orders, begin, begin + half, half);
        begin += half;
    }
    if (begin < end && again && end - first >= half) {
        of[1](orders, end - half, end, half);
        return;
    }
    const npy_intp vectors = (end - begin) - (end - begin) % vector;
    if (vectors > 0) {
        of[2](orders, begin, begin + vectors, vector);
        begin += vectors;
    }
    if (begin < end && again && vectors > 0) {
        of[2](orders, end - vector, end, vector);
    } else if (begin < end) {
        one_by_one_blocks[kind][2](orders, begin, end, dtypes[element].itemsize);
    }
}

/* Rows of so many bytes are written from where a line of the caches begins: the first block ends behind
   that place, and the second one computes a few elements again. */
enum { ALIGNED_FROM = 8 * REGISTERS_BYTES };

void run_orders(const Order *orders, int count, npy_intp bytes, DTypeCode element, int again)
{
    const npy_intp past = (npy_intp)((npy_uintp)orders[count - 1].data % LINE);
    if (again && past != 0 && past % dtypes[element].itemsize == 0 && orders[count - 1].code != END && bytes >= ALIGNED_FROM) {
        run_part(orders, 0, REGISTERS_BYTES, element, 1);
        run_part(orders, LINE - past, bytes, element, 1);
        return;
    }
    run_part(orders, 0, bytes, element, again);
}

void end_streams(void)
{
#ifdef HAS_SSE2
    _mm_sfence();
#endif
}

#endif
