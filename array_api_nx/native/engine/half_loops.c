/* Loops of float16 that convert by instructions of the processor, where it has them.

   They convert a block of elements to float, compute, and round the results, which NumPy does with one
   element after the other: the bits are the same. A float has more than twice the digits of a float16, so
   that a sum, product, quotient or square root that was rounded to float rounds on as the exact one does. */

#include "half_loops.h"
#include "flags.h"
#include "ufunc_fields.h"

int sort_halves(char *row, npy_intp length, PyArray_SortFunc *sort_integers)
{
    npy_uint16 *elements = (npy_uint16 *)row;
    for (npy_intp i = 0; i < length; i++) {
        const npy_uint16 positive = elements[i] & 0x7fff, bits = positive > 0x7c00 ? positive : elements[i];
        elements[i] = bits ^ (bits & 0x8000 ? 0xffff : 0x8000);
    }
    const int failed = sort_integers(row, length, NULL);
    for (npy_intp i = 0; i < length; i++) {
        elements[i] ^= elements[i] & 0x8000 ? 0x8000 : 0xffff;
    }
    return failed;
}

#ifdef HAS_FLOAT16

/* The least and the greatest rank of some elements, at least one. */
CLONED(static, void, find_ranks, (const Half *elements, npy_intp count, npy_uint16 *least, npy_uint16 *greatest),
       (elements, count, least, greatest))
{
    npy_uint16 low = RANK_OF_NAN, high = 0;
    for (npy_intp i = 0; i < count; i++) {
        const npy_uint16 rank = rank_of_half(elements[i]);
        low = rank < low ? rank : low;
        high = rank > high ? rank : high;
    }
    *least = low;
    *greatest = high;
}

static int search_halves(const Half *elements, npy_intp count, int is_largest, npy_intp *place)
{
    npy_uint16 least, greatest;
    find_ranks(elements, count, &least, &greatest);
    const npy_uint16 wanted = is_largest || greatest == RANK_OF_NAN ? greatest : least;
    for (*place = 0; rank_of_half(elements[*place]) != wanted; (*place)++) {
    }
    return 0;
}

static int argmax_halves(void *data, npy_intp count, npy_intp *place, void *array)
{
    return search_halves(data, count, 1, place);
}

static int argmin_halves(void *data, npy_intp count, npy_intp *place, void *array)
{
    return search_halves(data, count, 0, place);
}

PyArray_ArgFunc *faster_search(DTypeCode code, int is_largest, PyArray_ArgFunc *numpys)
{
    return !is_float16(code) ? numpys : is_largest ? argmax_halves : argmin_halves;
}

#else

PyArray_ArgFunc *faster_search(DTypeCode code, int is_largest, PyArray_ArgFunc *numpys)
{
    return numpys;
}

#endif

#ifdef HAS_HALF_VECTORS

/* Elements that are converted at a time. */
enum { BLOCK = 64 };

typedef npy_half Halves[BLOCK];
typedef float Floats[BLOCK];

#ifdef HAS_F16C

#include <immintrin.h>

#define IN_VECTORS __attribute__((target("avx2,f16c")))

/* Elements that one instruction converts. */
enum { CONVERTED = 8 };

static inline int can_convert(void)
{
    return processor >= AVX2;
}

IN_VECTORS static INLINE void widen(const npy_half *from, float *to)
{
    for (int i = 0; i < BLOCK; i += CONVERTED) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    }
}

IN_VECTORS static INLINE void narrow(const float *from, npy_half *to)
{
    for (int i = 0; i < BLOCK; i += CONVERTED) {
        _mm_storeu_si128((__m128i *)(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    }
}

/* Round a number to float16, write it, and read it. */
IN_VECTORS static INLINE float write_half(float x, char *to)
{
    const npy_half rounded = _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
    *(npy_half *)to = rounded;
    return _cvtsh_ss(rounded);
}

#else

#define IN_VECTORS

static inline int can_convert(void)
{
    return 1;
}

static INLINE float write_half(float x, char *to)
{
    *(Half *)to = (Half)x;
    return (float)*(Half *)to;
}

static INLINE void widen(const npy_half *from, float *to)
{
    for (int i = 0; i < BLOCK; i++) {
        to[i] = (float)((const Half *)from)[i];
    }
}

static INLINE void narrow(const float *from, npy_half *to)
{
    for (int i = 0; i < BLOCK; i++) {
        ((Half *)to)[i] = (Half)from[i];
    }
}

#endif

/* Read up to a block. What is missing are copies of the last element, which raise no other flags. `to` itself. */
IN_VECTORS static INLINE const float *read_halves(const char *from, npy_intp step, npy_intp count, float *to)
{
    if (step == sizeof(npy_half) && count >= BLOCK) {
        widen((const npy_half *)from, to);
        return to;
    }
    Halves block;
    for (npy_intp i = 0; i < BLOCK; i++) {
        block[i] = *(const npy_half *)(from + (i < count ? i : count - 1) * step);
    }
    widen(block, to);
    return to;
}

IN_VECTORS static INLINE void write_halves(const float *from, npy_intp count, char *to, npy_intp step)
{
    if (step == sizeof(npy_half) && count >= BLOCK) {
        narrow(from, (npy_half *)to);
        return;
    }
    Halves block;
    narrow(from, block);
    for (npy_intp i = 0; i < count && i < BLOCK; i++) {
        *(npy_half *)(to + i * step) = block[i];
    }
}

static inline void write_bools(const npy_bool *from, npy_intp count, char *to, npy_intp step)
{
    const npy_intp n = count < BLOCK ? count : BLOCK;
    if (step == 1) {
        memcpy(to, from, (size_t)n);
        return;
    }
    for (npy_intp i = 0; i < n; i++) {
        to[i * step] = (char)from[i];
    }
}

/* Whether a block of the target can be written before the rest of a source is read: they are the same
   elements, or none. Accumulators and running totals are not. */
static inline int is_apart(const char *source, npy_intp step, const char *target, npy_intp target_step,
                           npy_intp count)
{
    if (source == target && step == target_step && step != 0) {
        return 1;
    }
    const npy_intp reach = step * (count - 1), target_reach = target_step * (count - 1);
    const char *low = source + (reach < 0 ? reach : 0), *high = source + (reach > 0 ? reach : 0);
    const char *target_low = target + (target_reach < 0 ? target_reach : 0);
    const char *target_high = target + (target_reach > 0 ? target_reach : 0);
    return high < target_low || target_high < low;
}

/* Whether each result is the first operand of the next one. */
static inline int is_running(char *const *args, const npy_intp *steps)
{
    return args[2] == args[0] + steps[0] && steps[2] == steps[0] && steps[0] != 0;
}

/* Reduce elements to one, which the accumulator stands for. NumPy's loops add up and multiply floats, and
   round the last: so do its loops of floats with all elements that were converted. 0 if it has to compute. */
IN_VECTORS static int reduce_halves(const HalfLoop *loop, char *accumulator, const char *from, npy_intp step,
                                  npy_intp count)
{
    float *floats = count < BLOCK || loop->floats == NULL ? NULL : PyMem_RawMalloc((size_t)(count + BLOCK) * sizeof(float));
    if (floats == NULL) {
        return 0;
    }
    for (npy_intp first = 0; first < count; first += BLOCK) {
        read_halves(from + first * step, step, count - first, floats + first);
    }
    Floats result;
    read_halves(accumulator, 0, 1, result);
    char *args[3] = {(char *)result, (char *)floats, (char *)result};
    const npy_intp steps[3] = {0, sizeof(float), 0};
    loop->floats(args, &count, steps, loop->floats_data);
    for (int i = 1; i < BLOCK; i++) {
        result[i] = result[0];
    }
    write_halves(result, 1, accumulator, sizeof(npy_half));
    PyMem_RawFree(floats);
    return 1;
}

/* The largest or smallest of adjacent elements and the accumulator. 0 if NumPy has to compute: which zero it
   is, and which NaN, its order tells. */
static int find_extreme(int is_largest, char *accumulator, const char *from, npy_intp step, npy_intp count)
{
    if (step != sizeof(npy_half) || count < BLOCK) {
        return 0;
    }
    const npy_uint16 so_far = rank_of_half(*(const Half *)accumulator);
    npy_uint16 least, greatest;
    find_ranks((const Half *)from, count, &least, &greatest);
    const npy_uint16 rank = is_largest ? (greatest > so_far ? greatest : so_far) : least < so_far ? least : so_far;
    if (greatest == RANK_OF_NAN || so_far == RANK_OF_NAN || rank == RANK_OF_ZERO) {
        return 0;
    }
    *(npy_half *)accumulator = (npy_half)(rank ^ (rank & 0x8000 ? 0x8000 : 0xffff));
    return 1;
}

#define HALF_UNARY(NAME, VALUE)                                                              \
    IN_VECTORS LOOP(NAME##_halves)                                                             \
    {                                                                                        \
        const npy_intp n = *count;                                                           \
        if (!is_apart(args[0], steps[0], args[1], steps[1], n)) {                            \
            ((const HalfLoop *)data)->numpys(args, count, steps, NULL);                      \
            return;                                                                          \
        }                                                                                    \
        for (npy_intp first = 0; first < n; first += BLOCK) {                                \
            Floats xs, results;                                                              \
            read_halves(args[0] + first * steps[0], steps[0], n - first, xs);                \
            for (int i = 0; i < BLOCK; i++) {                                                \
                const float x = xs[i];                                                       \
                results[i] = VALUE;                                                          \
            }                                                                                \
            write_halves(results, n - first, args[1] + first * steps[1], steps[1]);          \
        }                                                                                    \
    }

/* WRITE writes a block of results of a type. KEEPS says that comparisons with NaN raise no flag. IS_EXTREME is
   positive for the maximum, and negative for the minimum. */
#define HALF_BINARY(NAME, TYPE, WRITE, KEEPS, IS_EXTREME, VALUE)                             \
    IN_VECTORS LOOP(NAME##_halves)                                                             \
    {                                                                                        \
        const npy_intp n = *count;                                                           \
        if (!is_apart(args[0], steps[0], args[2], steps[2], n) ||                            \
            !is_apart(args[1], steps[1], args[2], steps[2], n)) {                            \
            const HalfLoop *loop = data;                                                     \
            if (sizeof(TYPE) == sizeof(float) && !IS_EXTREME &&                              \
                is_running(args, steps) && is_apart(args[1], steps[1], args[2], steps[2], n)) { \
                Floats ys;                                                                   \
                float x = *read_halves(args[0], 0, 1, ys);                                   \
                for (npy_intp i = 0; i < n; i++) {                                           \
                    if (i % BLOCK == 0) {                                                    \
                        read_halves(args[1] + i * steps[1], steps[1], n - i, ys);            \
                    }                                                                        \
                    const float y = ys[i % BLOCK];                                           \
                    x = write_half((float)(VALUE), args[2] + i * steps[2]);                  \
                }                                                                            \
            } else if (args[0] != args[2] || steps[0] != 0 || steps[2] != 0 ||               \
                !(IS_EXTREME ? find_extreme(IS_EXTREME > 0, args[0], args[1], steps[1], n)   \
                             : reduce_halves(loop, args[0], args[1], steps[1], n))) {        \
                loop->numpys(args, count, steps, NULL);                                      \
            }                                                                                \
            return;                                                                          \
        }                                                                                    \
        const int before = KEEPS ? fetestexcept(EXCEPTIONS) : 0;                             \
        Floats xs, ys;                                                                       \
        for (npy_intp first = 0; first < n; first += BLOCK) {                                \
            TYPE results[BLOCK];                                                             \
            if (first == 0 || steps[0] != 0) {                                               \
                read_halves(args[0] + first * steps[0], steps[0], n - first, xs);            \
            }                                                                                \
            if (first == 0 || steps[1] != 0) {                                               \
                read_halves(args[1] + first * steps[1], steps[1], n - first, ys);            \
            }                                                                                \
            for (int i = 0; i < BLOCK; i++) {                                                \
                const float x = xs[i], y = ys[i];                                            \
                results[i] = (TYPE)(VALUE);                                                  \
            }                                                                                \
            WRITE(results, n - first, args[2] + first * steps[2], steps[2]);                 \
        }                                                                                    \
        if (KEEPS) {                                                                         \
            keep_exceptions(before);                                                         \
        }                                                                                    \
    }

#define HALF_ARITHMETIC(NAME, VALUE) HALF_BINARY(NAME, float, write_halves, 0, 0, VALUE)
#define HALF_LARGEST(NAME, VALUE) HALF_BINARY(NAME, float, write_halves, 1, 1, VALUE)
#define HALF_SMALLEST(NAME, VALUE) HALF_BINARY(NAME, float, write_halves, 1, -1, VALUE)
#define HALF_COMPARISON(NAME, VALUE) HALF_BINARY(NAME, npy_bool, write_bools, 1, 0, VALUE)

/* X(the ufunc's name, its value), by the form of the loop. */
#define EACH_HALF_LOOP(UNARY, ARITHMETIC, LARGEST, SMALLEST, COMPARISON)                \
    UNARY(square, x *x)                                                                 \
    UNARY(reciprocal, 1.0F / x)                                                         \
    UNARY(sqrt, sqrtf(x))                                                               \
    ARITHMETIC(add, x + y)                                                              \
    ARITHMETIC(subtract, x - y)                                                         \
    ARITHMETIC(multiply, x *y)                                                          \
    ARITHMETIC(divide, x / y)                                                           \
    LARGEST(maximum, x >= y || x != x ? x : y)                                          \
    SMALLEST(minimum, x <= y || x != x ? x : y)                                          \
    COMPARISON(equal, x == y)                                                           \
    COMPARISON(not_equal, x != y)                                                       \
    COMPARISON(less, x < y)                                                             \
    COMPARISON(less_equal, x <= y)                                                      \
    COMPARISON(greater, x > y)                                                          \
    COMPARISON(greater_equal, x >= y)

EACH_HALF_LOOP(HALF_UNARY, HALF_ARITHMETIC, HALF_LARGEST, HALF_SMALLEST, HALF_COMPARISON)

#define HALF_ENTRY(NAME, VALUE) {.name = #NAME, .function = NAME##_halves},
static HalfLoop half_loops[] = {EACH_HALF_LOOP(HALF_ENTRY, HALF_ENTRY, HALF_ENTRY, HALF_ENTRY, HALF_ENTRY)};

/* ------------------------------------------------------------------ casts */

/* A double as a float that rounds on to float16 as the double does: of two neighbours the one whose last
   bit is set, unless it is exact. */
static INLINE float odd_float(double x)
{
    const float near = (float)x;
    npy_uint32 bits;
    memcpy(&bits, &near, sizeof(bits));
    bits -= fabs((double)near) > fabs(x);
    bits |= (double)near != x;
    float result;
    memcpy(&result, &bits, sizeof(result));
    return x != x ? near : result;
}

#define TO_HALF(CODE, TYPE, VALUE)                                                           \
    IN_VECTORS LOOP(halves_of_##CODE)                                                          \
    {                                                                                        \
        const npy_intp n = *count;                                                           \
        for (npy_intp first = 0; first < n; first += BLOCK) {                                \
            const char *from = args[0] + first * steps[0];                                   \
            Floats floats;                                                                   \
            if (steps[0] == sizeof(TYPE) && n - first >= BLOCK) {                            \
                for (int i = 0; i < BLOCK; i++) {                                            \
                    const TYPE x = ((const TYPE *)from)[i];                                  \
                    floats[i] = VALUE;                                                       \
                }                                                                            \
            } else {                                                                         \
                for (npy_intp i = 0; i < BLOCK; i++) {                                       \
                    const TYPE x = *(const TYPE *)(from + (i < n - first ? i : 0) * steps[0]); \
                    floats[i] = VALUE;                                                       \
                }                                                                            \
            }                                                                                \
            write_halves(floats, n - first, args[1] + first * steps[1], steps[1]);           \
        }                                                                                    \
    }

#define FROM_HALF(CODE, TYPE, VALUE)                                                         \
    IN_VECTORS LOOP(halves_to_##CODE)                                                          \
    {                                                                                        \
        const npy_intp n = *count;                                                           \
        for (npy_intp first = 0; first < n; first += BLOCK) {                                \
            char *to = args[1] + first * steps[1];                                           \
            Floats floats;                                                                   \
            read_halves(args[0] + first * steps[0], steps[0], n - first, floats);            \
            if (steps[1] == sizeof(TYPE) && n - first >= BLOCK) {                            \
                for (int i = 0; i < BLOCK; i++) {                                            \
                    const float x = floats[i];                                               \
                    ((TYPE *)to)[i] = VALUE;                                                 \
                }                                                                            \
            } else {                                                                         \
                for (npy_intp i = 0; i < BLOCK && i < n - first; i++) {                      \
                    const float x = floats[i];                                               \
                    *(TYPE *)(to + i * steps[1]) = VALUE;                                    \
                }                                                                            \
            }                                                                                \
        }                                                                                    \
    }

#define INTEGER_TO_HALF(CODE, TYPE, ...) TO_HALF(CODE, TYPE, (float)x)
EACH_INTEGER(INTEGER_TO_HALF)
TO_HALF(BOOL, npy_bool, (float)truth_of(x))
TO_HALF(FLOAT32, npy_float, x)
TO_HALF(FLOAT64, npy_double, odd_float(x))
FROM_HALF(BOOL, npy_bool, x != 0)
FROM_HALF(NX_INT32, npy_int32, (npy_int32)x)
FROM_HALF(NX_INT64, npy_int64, (npy_int64)x)
/* The lowest bits are kept, as by NumPy's loops. */
FROM_HALF(NX_INT8, npy_int8, (npy_int8)(npy_int32)x)
FROM_HALF(NX_INT16, npy_int16, (npy_int16)(npy_int32)x)
FROM_HALF(NX_UINT8, npy_uint8, (npy_uint8)(npy_int32)x)
FROM_HALF(NX_UINT16, npy_uint16, (npy_uint16)(npy_int32)x)
FROM_HALF(FLOAT32, npy_float, x)
FROM_HALF(FLOAT64, npy_double, x)
FROM_HALF(COMPLEX64, npy_cfloat, x)
FROM_HALF(COMPLEX128, npy_cdouble, x)

#define TO_ENTRY(CODE, ...) [CODE] = halves_of_##CODE,
#define FROM_ENTRY(CODE, ...) [CODE] = halves_to_##CODE,
static const PyUFuncGenericFunction to_half[DTYPE_COUNT] = {
    TO_ENTRY(BOOL) EACH_INTEGER(TO_ENTRY) TO_ENTRY(FLOAT32) TO_ENTRY(FLOAT64)
};
static const PyUFuncGenericFunction from_half[DTYPE_COUNT] = {
    FROM_ENTRY(BOOL) FROM_ENTRY(NX_INT8) FROM_ENTRY(NX_INT16) FROM_ENTRY(NX_INT32) FROM_ENTRY(NX_INT64)
    FROM_ENTRY(NX_UINT8) FROM_ENTRY(NX_UINT16)
    FROM_ENTRY(FLOAT32) FROM_ENTRY(FLOAT64) FROM_ENTRY(COMPLEX64) FROM_ENTRY(COMPLEX128)
};

int replace_half_loop(PyObject *ufunc, int type, PyUFuncGenericFunction *function, void **data)
{
    if (type != NPY_HALF || !can_convert()) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(half_loops) / sizeof(*half_loops); i++) {
        if (has_name(ufunc, half_loops[i].name)) {
            half_loops[i].numpys = *function;
            if (has_name(ufunc, "add") || has_name(ufunc, "multiply")) {
                find_ufunc_loop(ufunc, NPY_FLOAT, &half_loops[i].floats, &half_loops[i].floats_data);
            }
            *function = half_loops[i].function;
            *data = &half_loops[i];
            return 1;
        }
    }
    return 0;
}

PyUFuncGenericFunction half_cast(DTypeCode from, DTypeCode to)
{
    if (is_float16(from) == is_float16(to) || !can_convert()) {
        return NULL;
    }
    return is_float16(to) ? to_half[from] : from_half[to];
}

#else

int replace_half_loop(PyObject *ufunc, int type, PyUFuncGenericFunction *function, void **data)
{
    return 0;
}

PyUFuncGenericFunction half_cast(DTypeCode from, DTypeCode to)
{
    return NULL;
}

#endif
