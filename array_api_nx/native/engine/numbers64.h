/* Blocks of random bits, and the numbers of float64 that are made of them.

   Reals come of operations that IEEE 754 rounds exactly (+, -, *, /, sqrt), in the same order as in
   contract/random_numbers.py and contract/distributions.py, so that the bits are those of every other
   backend. No product may be contracted with a sum: -std=c11 forbids it to GCC, the pragma to other
   compilers. All functions are inline, because those that call them are compiled for several
   processors. */

#ifndef ARRAY_API_NX_NUMBERS64_H
#define ARRAY_API_NX_NUMBERS64_H

#include "drawing.h"
#include "compiler.h"

#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#endif

#include <math.h>

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

/* ------------------------------------------------------------------ numbers of whole blocks */

static INLINE void write_uniform64(const Blocks *blocks, const Drawing *drawing, int count,
                                   void *target)
{
    npy_double *out = target;
    for (int i = 0; i < count; i++) {
        const npy_int32 high = (npy_int32)(blocks->x1[i] >> 5), low = (npy_int32)(blocks->x0[i] >> 6);
        out[i] = ((npy_double)high * 67108864.0 + (npy_double)low) * (1.0 / 9007199254740992.0);
    }
}

static INLINE void write_normal64(const Blocks *blocks, const Drawing *drawing, int count,
                                  void *target)
{
    npy_double *out = target, beyond[BLOCKS], tails[BLOCKS];
    int places[BLOCKS], found = 0;
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

#endif
