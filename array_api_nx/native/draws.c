/* Random numbers from counters: Threefry-2x32 with 20 rounds, and what is made of its bits.

   Number i of a draw is a function of the key and of i alone. Reals come of operations that IEEE 754
   rounds exactly (+, -, *, /, sqrt), in the same order as in contract/random_numbers.py, so that the
   bits are those of every other backend. No product may be contracted with a sum: -std=c99 forbids
   it to GCC, the pragma to other compilers. */

#include "draws.h"
#include "compiler.h"

#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#endif

#include <math.h>

/* Processors with AVX-512 rotate in one instruction instead of three, and have vectors of twice the
   length: an even float64 takes 0.8 ns of one thread with it, and 2.2 ns with AVX2 alone (AMD EPYC). */
#ifdef HAS_TARGET_CLONES
#define CLONED_FOR_ROTATIONS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONED_FOR_ROTATIONS
#endif

/* Blocks of 64 bits that are made at a time. */
enum { BLOCKS = 512 };

typedef struct {
    npy_uint32 x0[BLOCKS], x1[BLOCKS];
} Blocks;

#define ROUND(rotation)                                                                            \
    x0 += x1;                                                                                      \
    x1 = (x1 << (rotation)) | (x1 >> (32 - (rotation)));                                           \
    x1 ^= x0

#define EVEN_ROUNDS ROUND(13); ROUND(15); ROUND(26); ROUND(6)
#define ODD_ROUNDS ROUND(17); ROUND(29); ROUND(16); ROUND(24)

/* The block of a counter of two words. */
static INLINE void make_block(const Drawing *drawing, npy_uint32 low, npy_uint32 high,
                              npy_uint32 *first, npy_uint32 *second)
{
    const npy_uint32 k0 = drawing->k0, k1 = drawing->k1, k2 = k0 ^ k1 ^ 0x1BD11BDAu;
    npy_uint32 x0 = low + k0, x1 = high + k1;
    EVEN_ROUNDS;
    x0 += k1;
    x1 += k2 + 1;
    ODD_ROUNDS;
    x0 += k2;
    x1 += k0 + 2;
    EVEN_ROUNDS;
    x0 += k0;
    x1 += k1 + 3;
    ODD_ROUNDS;
    x0 += k1;
    x1 += k2 + 4;
    EVEN_ROUNDS;
    *first = x0 + k2;
    *second = x1 + k0 + 5;
}

/* The blocks of `count` counters from `counter` on. */
static INLINE void make_blocks(Blocks *blocks, const Drawing *drawing, npy_uint64 counter,
                               int count)
{
    const npy_uint32 low = (npy_uint32)counter, high = (npy_uint32)(counter >> 32);
    if (low <= (npy_uint32)-count) {
        /* The upper word is the same for all. */
        for (int i = 0; i < count; i++) {
            make_block(drawing, low + (npy_uint32)i, high, &blocks->x0[i], &blocks->x1[i]);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        const npy_uint64 c = counter + (npy_uint64)i;
        make_block(drawing, (npy_uint32)c, (npy_uint32)(c >> 32), &blocks->x0[i], &blocks->x1[i]);
    }
}

/* ------------------------------------------------------------------ the normal distribution

   Its quantiles: M. J. Wichura, Algorithm AS 241, Applied Statistics 37 (1988), to 16 digits for
   float64 and to 7 for float32. */

static INLINE npy_double middle_over64(npy_double r)
{
    return (((((((2.5090809287301226727e3) * r + 3.3430575583588128105e4) * r +
        6.7265770927008700853e4) * r + 4.5921953931549871457e4) * r + 1.3731693765509461125e4) *
        r + 1.9715909503065514427e3) * r + 1.3314166789178437745e2) * r + 3.3871328727963666080;
}

static INLINE npy_double middle_under64(npy_double r)
{
    return (((((((5.2264952788528545610e3) * r + 2.8729085735721942674e4) * r +
        3.9307895800092710610e4) * r + 2.1213794301586595867e4) * r + 5.3941960214247511077e3) *
        r + 6.8718700749205790830e2) * r + 4.2313330701600911252e1) * r + 1.0;
}

static INLINE npy_double near_over64(npy_double r)
{
    return (((((((7.74545014278341407640e-4) * r + 2.27238449892691845833e-2) * r +
        2.41780725177450611770e-1) * r + 1.27045825245236838258) * r + 3.64784832476320460504) *
        r + 5.76949722146069140550) * r + 4.63033784615654529590) * r + 1.42343711074968357734;
}

static INLINE npy_double near_under64(npy_double r)
{
    return (((((((1.05075007164441684324e-9) * r + 5.47593808499534494600e-4) * r +
        1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r +
        6.89767334985100004550e-1) * r + 1.67638483018380384940) * r + 2.05319162663775882187) *
        r + 1.0;
}

static INLINE npy_double far_over64(npy_double r)
{
    return (((((((2.01033439929228813265e-7) * r + 2.71155556874348757815e-5) * r +
        1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r +
        2.96560571828504891230e-1) * r + 1.78482653991729133580) * r + 5.46378491116411436990) *
        r + 6.65790464350110377720;
}

static INLINE npy_double far_under64(npy_double r)
{
    return (((((((2.04426310338993978564e-15) * r + 1.42151175831644588870e-7) * r +
        1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r +
        1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r +
        5.99832206555887937690e-1) * r + 1.0;
}

static INLINE npy_double log_series64(npy_double r)
{
    return ((((((0.1479819860511658591) * r + 0.1531383769920937332) * r +
        0.1818357216161805012) * r + 0.2222219843214978396) * r + 0.2857142874366239149) * r +
        0.3999999999940941908) * r + 0.6666666666666735130;
}

/* The natural logarithm of a positive normal number, by operations that round exactly. */
static INLINE npy_double log64_exactly(npy_double x)
{
    npy_uint64 bits;
    memcpy(&bits, &x, sizeof(bits));
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & (((npy_uint64)1 << 52) - 1)) | (npy_uint64)1023 << 52;
    npy_double m;
    memcpy(&m, &bits, sizeof(m)); /* 1 <= m < 2 */
    if (m > 1.4142135623730951) {
        m = m * 0.5;
        exponent++;
    }
    const npy_double f = m - 1.0, k = (npy_double)exponent;
    const npy_double s = f / (f + 2.0);
    const npy_double z = s * s;
    const npy_double series = z * log_series64(z), half = f * f * 0.5;
    return k * 6.93147180369123816490e-01 - ((half - (s * (half + series) + k * 1.90821492927058770002e-10)) - f);
}

/* How far from 0 the normal distribution leaves the probabilities p beyond, all below 0.075. */
static INLINE void tails64(npy_double *p, int count)
{
    npy_double roots[BLOCKS];
    int any_far = 0;
    for (int i = 0; i < count; i++) {
        roots[i] = -log64_exactly(p[i]);
    }
    for (int i = 0; i < count; i++) {
        roots[i] = (npy_double)sqrt(roots[i]);
    }
    for (int i = 0; i < count; i++) {
        const npy_double near = roots[i] - 1.6;
        any_far |= roots[i] > 5.0;
        p[i] = near_over64(near) / near_under64(near);
    }
    for (int i = 0; any_far && i < count; i++) {
        if (roots[i] > 5.0) {
            const npy_double far = roots[i] - 5.0;
            p[i] = far_over64(far) / far_under64(far);
        }
    }
}

static INLINE npy_float middle_over32(npy_float r)
{
    return (((59.109374720f) * r + 159.29113202f) * r + 50.434271938f) * r + 3.3871327179f;
}

static INLINE npy_float middle_under32(npy_float r)
{
    return (((67.187563600f) * r + 78.757757664f) * r + 17.895169469f) * r + 1.0f;
}

static INLINE npy_float near_over32(npy_float r)
{
    return (((0.17023821103f) * r + 1.3067284816f) * r + 2.7568153900f) * r + 1.4234372777f;
}

static INLINE npy_float near_under32(npy_float r)
{
    return ((0.12021132975f) * r + 0.73700164250f) * r + 1.0f;
}

static INLINE npy_float far_over32(npy_float r)
{
    return (((0.017337203997f) * r + 0.42868294337f) * r + 3.0812263860f) * r + 6.6579051150f;
}

static INLINE npy_float far_under32(npy_float r)
{
    return ((0.012258202635f) * r + 0.24197894225f) * r + 1.0f;
}

static INLINE npy_float log_series32(npy_float r)
{
    return (((0.24279078841f) * r + 0.28498786688f) * r + 0.40000972152f) * r + 0.66666662693f;
}

/* The natural logarithm of a positive normal number, by operations that round exactly. */
static INLINE npy_float log32_exactly(npy_float x)
{
    npy_uint32 bits;
    memcpy(&bits, &x, sizeof(bits));
    int exponent = (int)(bits >> 23) - 127;
    bits = (bits & (((npy_uint32)1 << 23) - 1)) | (npy_uint32)127 << 23;
    npy_float m;
    memcpy(&m, &bits, sizeof(m)); /* 1 <= m < 2 */
    if (m > 1.41421356f) {
        m = m * 0.5f;
        exponent++;
    }
    const npy_float f = m - 1.0f, k = (npy_float)exponent;
    const npy_float s = f / (f + 2.0f);
    const npy_float z = s * s;
    const npy_float series = z * log_series32(z), half = f * f * 0.5f;
    return k * 0.693359375f - ((half - (s * (half + series) + k * -2.12194440e-4f)) - f);
}

/* How far from 0 the normal distribution leaves the probabilities p beyond, all below 0.075. */
static INLINE void tails32(npy_float *p, int count)
{
    npy_float roots[2 * BLOCKS];
    int any_far = 0;
    for (int i = 0; i < count; i++) {
        roots[i] = -log32_exactly(p[i]);
    }
    for (int i = 0; i < count; i++) {
        roots[i] = (npy_float)sqrtf(roots[i]);
    }
    for (int i = 0; i < count; i++) {
        const npy_float near = roots[i] - 1.6f;
        any_far |= roots[i] > 5.0f;
        p[i] = near_over32(near) / near_under32(near);
    }
    for (int i = 0; any_far && i < count; i++) {
        if (roots[i] > 5.0f) {
            const npy_float far = roots[i] - 5.0f;
            p[i] = far_over32(far) / far_under32(far);
        }
    }
}

/* ------------------------------------------------------------------ tiles

   Each writes the numbers of `count` blocks: as many, twice as many of 32 bits, or half as many wide
   integers. */

typedef void (*Tile)(const Blocks *blocks, const Drawing *drawing, int count, void *target);

static INLINE void write_words(const Blocks *blocks, const Drawing *drawing, int count,
                               void *target)
{
    npy_uint32 *out = target;
    (void)drawing;
    for (int i = 0; i < count; i++) {
        out[2 * i] = blocks->x0[i];
        out[2 * i + 1] = blocks->x1[i];
    }
}

static INLINE void write_uniform64(const Blocks *blocks, const Drawing *drawing, int count,
                                   void *target)
{
    npy_double *out = target;
    (void)drawing;
    for (int i = 0; i < count; i++) {
        const npy_int32 high = (npy_int32)(blocks->x1[i] >> 5), low = (npy_int32)(blocks->x0[i] >> 6);
        out[i] = ((npy_double)high * 67108864.0 + (npy_double)low) * (1.0 / 9007199254740992.0);
    }
}

static INLINE npy_float fraction32(npy_uint32 word)
{
    return (npy_float)(npy_int32)(word >> 8) * (1.0f / 16777216.0f);
}

static INLINE void write_uniform32(const Blocks *blocks, const Drawing *drawing, int count,
                                   void *target)
{
    npy_float *out = target;
    (void)drawing;
    for (int i = 0; i < count; i++) {
        out[2 * i] = fraction32(blocks->x0[i]);
        out[2 * i + 1] = fraction32(blocks->x1[i]);
    }
}

/* Integers of a span of at most 2**32: the upper part of 64 random bits times the span. */
static INLINE void write_integers(const Blocks *blocks, const Drawing *drawing, int count,
                                  void *target)
{
    npy_uint64 *out = target;
    const npy_uint64 low = drawing->low, span = drawing->span;
    for (int i = 0; i < count; i++) {
        out[i] = low + ((blocks->x1[i] * span + ((blocks->x0[i] * span) >> 32)) >> 32);
    }
}

/* The upper 64 bits of a product. */
static INLINE npy_uint64 upper_product(npy_uint64 a, npy_uint64 b)
{
    const npy_uint64 a0 = (npy_uint32)a, a1 = a >> 32, b0 = (npy_uint32)b, b1 = b >> 32;
    const npy_uint64 p01 = a0 * b1, p10 = a1 * b0;
    const npy_uint64 middle = (a0 * b0 >> 32) + (npy_uint32)p01 + (npy_uint32)p10;
    return a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

/* Integers of a wider span, which is 0 if it is 2**64: the upper part of 128 random bits, two
   blocks, times the span. */
static INLINE void write_wide(const Blocks *blocks, const Drawing *drawing, int count, void *target)
{
    npy_uint64 *out = target;
    const npy_uint64 low = drawing->low, span = drawing->span;
    for (int i = 0; i < count / 2; i++) {
        const npy_uint64 high = (npy_uint64)blocks->x1[2 * i] << 32 | blocks->x0[2 * i];
        const npy_uint64 rest = (npy_uint64)blocks->x1[2 * i + 1] << 32 | blocks->x0[2 * i + 1];
        const npy_uint64 lower = high * span, sum = lower + upper_product(rest, span);
        out[i] = low + (span == 0 ? high : upper_product(high, span) + (sum < lower));
    }
}

static INLINE void write_normal64(const Blocks *blocks, const Drawing *drawing, int count,
                                  void *target)
{
    npy_double *out = target, beyond[BLOCKS], tails[BLOCKS];
    int places[BLOCKS], found = 0;
    (void)drawing;
    for (int i = 0; i < count; i++) {
        const npy_double high = (npy_double)(npy_int32)(blocks->x1[i] >> 1);
        const npy_double low = (npy_double)(npy_int32)((blocks->x0[i] >> 1) | 1);
        const npy_double p = (high * 2147483648.0 + low) * (1.0 / 9223372036854775808.0);
        const npy_double q = 0.5 - p, r = 0.180625 - q * q;
        beyond[i] = p;
        out[i] = q * middle_over64(r) / middle_under64(r);
    }
    for (int i = 0; i < count; i++) {
        tails[found] = beyond[i];
        places[found] = i;
        found += beyond[i] < 0.075;
    }
    tails64(tails, found);
    for (int i = 0; i < found; i++) {
        out[places[i]] = tails[i];
    }
    for (int i = 0; i < count; i++) {
        out[i] = blocks->x1[i] & 1 ? -out[i] : out[i];
    }
}

static INLINE void write_normal32(const Blocks *blocks, const Drawing *drawing, int count,
                                  void *target)
{
    npy_float *out = target, beyond[2 * BLOCKS], tails[2 * BLOCKS];
    npy_uint32 words[2 * BLOCKS];
    int places[2 * BLOCKS], found = 0;
    write_words(blocks, drawing, count, words);
    for (int i = 0; i < 2 * count; i++) {
        const npy_float p =
            (npy_float)(npy_int32)((words[i] >> 2) * 2 + 1) * (1.0f / 4294967296.0f);
        const npy_float q = 0.5f - p, r = 0.180625f - q * q;
        beyond[i] = p;
        out[i] = q * middle_over32(r) / middle_under32(r);
    }
    for (int i = 0; i < 2 * count; i++) {
        tails[found] = beyond[i];
        places[found] = i;
        found += beyond[i] < 0.075f;
    }
    tails32(tails, found);
    for (int i = 0; i < found; i++) {
        out[places[i]] = tails[i];
    }
    for (int i = 0; i < 2 * count; i++) {
        out[i] = words[i] & 1 ? -out[i] : out[i];
    }
}

/* ------------------------------------------------------------------ runs of numbers */

/* Blocks with the words of `count` numbers of a draw, `step` apart from number `first` on; `pair` is
   how many numbers two blocks make. */
static INLINE void make_apart(Blocks *blocks, const Drawing *drawing, int pair, npy_uint64 first,
                              npy_uint64 step, int count)
{
    const int each = pair == 1 ? 2 : 1; /* blocks of a number, or one that it shares */
    for (int i = 0; i < each * count; i++) {
        const npy_uint64 number = first + (npy_uint64)(i / each) * step;
        const npy_uint64 c = drawing->base + (pair == 4   ? number / 2
                                              : pair == 2 ? number
                                                          : 2 * number + (npy_uint64)(i & 1));
        npy_uint32 x0, x1;
        make_block(drawing, (npy_uint32)c, (npy_uint32)(c >> 32), &x0, &x1);
        if (pair == 4) {
            (i & 1 ? blocks->x1 : blocks->x0)[i / 2] = number & 1 ? x1 : x0;
        } else {
            blocks->x0[i] = x0;
            blocks->x1[i] = x1;
        }
    }
}

/* Write `count` numbers of a draw, `step` apart from number `first` on. */
static INLINE void write_run(Tile tile, int pair, int itemsize, const Drawing *drawing,
                             npy_uint64 first, npy_uint64 step, npy_uint64 count, char *target)
{
    Blocks blocks;
    npy_uint64 numbers[BLOCKS]; /* a tile of which a part is wanted */
    const npy_uint64 whole = (npy_uint64)BLOCKS * (npy_uint64)pair / 2;
    for (npy_uint64 done = 0; done < count;) {
        /* Where number `first` is the second one of its block, the first one is made, too. */
        const npy_uint64 skipped = step == 1 && pair == 4 ? first & 1 : 0;
        const npy_uint64 some = (count - done < whole - skipped) ? count - done : whole - skipped;
        /* The blocks that are needed, or some more: a multiple of the words of a vector. */
        const int needed = (int)((2 * (some + skipped) + (npy_uint64)pair - 1) / (npy_uint64)pair);
        const int made = (needed + 15) / 16 * 16;
        char *place = target + done * (npy_uint64)itemsize;
        if (step == 1) {
            make_blocks(&blocks, drawing, drawing->base + 2 * first / (npy_uint64)pair, made);
        } else {
            make_apart(&blocks, drawing, pair, first, step, made * pair / 2);
        }
        if (some == whole) {
            tile(&blocks, drawing, BLOCKS, place);
        } else {
            tile(&blocks, drawing, made, numbers);
            memcpy(place, (char *)numbers + skipped * (npy_uint64)itemsize,
                   (size_t)(some * (npy_uint64)itemsize));
        }
        first += some * step;
        done += some;
    }
}

#define RUN(name, tile, pair, itemsize)                                                            \
    static CLONED_FOR_ROTATIONS void name(const Drawing *drawing, npy_uint64 first,                \
                                          npy_uint64 step, npy_uint64 count, char *target)         \
    {                                                                                              \
        write_run(tile, pair, itemsize, drawing, first, step, count, target);                      \
    }

RUN(draw_words, write_words, 4, 4)
RUN(draw_uniform64, write_uniform64, 2, 8)
RUN(draw_uniform32, write_uniform32, 4, 4)
RUN(draw_normal64, write_normal64, 2, 8)
RUN(draw_normal32, write_normal32, 4, 4)
RUN(draw_integers, write_integers, 2, 8)
RUN(draw_wide, write_wide, 1, 8)

static const struct {
    const char *kind;
    int dtype;
    npy_intp itemsize;
    void (*run)(const Drawing *drawing, npy_uint64 first, npy_uint64 step, npy_uint64 count,
                char *target);
} draws[] = {
    {"bits", NPY_UINT32, 4, draw_words},         {"uniform", NPY_FLOAT64, 8, draw_uniform64},
    {"uniform", NPY_FLOAT32, 4, draw_uniform32}, {"normal", NPY_FLOAT64, 8, draw_normal64},
    {"normal", NPY_FLOAT32, 4, draw_normal32},   {"integers", NPY_INT64, 8, draw_integers},
    {"integers", NPY_UINT64, 8, draw_integers},  {"wide", NPY_INT64, 8, draw_wide},
    {"wide", NPY_UINT64, 8, draw_wide},
};

enum { DRAWS = sizeof(draws) / sizeof(*draws) };

int find_draw(const char *kind, int dtype)
{
    for (int i = 0; i < DRAWS; i++) {
        if (strcmp(kind, draws[i].kind) == 0 && PyArray_EquivTypenums(dtype, draws[i].dtype)) {
            return i;
        }
    }
    return -1;
}

npy_intp drawn_itemsize(const Drawing *drawing)
{
    return drawing->which < DRAWS ? draws[drawing->which].itemsize : 0;
}

void draw_run(const Drawing *drawing, npy_uint64 first, npy_uint64 step, npy_uint64 count,
              char *target)
{
    draws[drawing->which].run(drawing, first, step, count, target);
}
