/* Random numbers from counters: Threefry-2x32 with 20 rounds, and numbers that are made of its bits.

   Number i of a draw is a function of the key and of i alone; numbers64.h tells why its bits are
   those of every other backend. */

#include "draws.h"
#include "distributions.h"
#include "numbers64.h"

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

typedef void (*WriteTile)(const Blocks *blocks, const Drawing *drawing, int count, void *target);

static INLINE void write_words(const Blocks *blocks, const Drawing *drawing, int count,
                               void *target)
{
    npy_uint32 *out = target;
    for (int i = 0; i < count; i++) {
        out[2 * i] = blocks->x0[i];
        out[2 * i + 1] = blocks->x1[i];
    }
}

static INLINE void write_exponential(const Blocks *blocks, const Drawing *drawing, int count,
                                     void *target)
{
    npy_double *out = target;
    write_uniform64(blocks, drawing, count, target);
    for (int i = 0; i < count; i++) {
        out[i] = -log64_exactly(1.0 - out[i]);
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
static INLINE void write_run(WriteTile tile, int pair, int itemsize, const Drawing *drawing,
                             npy_uint64 first, npy_uint64 step, npy_uint64 count, char *target)
{
    Blocks blocks;
    npy_uint64 numbers[BLOCKS]; /* a tile, if only a part of it is wanted */
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
    CLONED_FOR_ROTATIONS(static, void, name,                                                       \
                         (const Drawing *drawing, npy_uint64 first, npy_uint64 step,               \
                          npy_uint64 count, char *target),                                         \
                         (drawing, first, step, count, target))                                    \
    {                                                                                              \
        write_run(tile, pair, itemsize, drawing, first, step, count, target);                      \
    }

RUN(draw_words, write_words, 4, 4)
RUN(draw_uniform64, write_uniform64, 2, 8)
RUN(draw_uniform32, write_uniform32, 4, 4)
RUN(draw_normal64, write_normal64, 2, 8)
RUN(draw_normal32, write_normal32, 4, 4)
RUN(draw_exponential, write_exponential, 2, 8)
RUN(draw_integers, write_integers, 2, 8)
RUN(draw_wide, write_wide, 1, 8)

typedef void (*Run)(const Drawing *drawing, npy_uint64 first, npy_uint64 step, npy_uint64 count,
                    char *target);

static const struct {
    const char *kind;
    int dtype;
    npy_intp itemsize;
    int parameters;
    Run run; /* if there are none */
    Distribute distribute;
} draws[] = {
    {"bits", NPY_UINT32, 4, 0, draw_words, NULL},
    {"uniform", NPY_FLOAT64, 8, 0, draw_uniform64, NULL},
    {"uniform", NPY_FLOAT32, 4, 0, draw_uniform32, NULL},
    {"normal", NPY_FLOAT64, 8, 0, draw_normal64, NULL},
    {"normal", NPY_FLOAT32, 4, 0, draw_normal32, NULL},
    {"exponential", NPY_FLOAT64, 8, 0, draw_exponential, NULL},
    {"integers", NPY_INT64, 8, 0, draw_integers, NULL},
    {"integers", NPY_UINT64, 8, 0, draw_integers, NULL},
    {"wide", NPY_INT64, 8, 0, draw_wide, NULL},
    {"wide", NPY_UINT64, 8, 0, draw_wide, NULL},
    {"gamma", NPY_FLOAT64, 8, 1, NULL, draw_gamma},
    {"beta", NPY_FLOAT64, 8, 2, NULL, draw_beta},
    {"poisson", NPY_INT64, 8, 1, NULL, draw_poisson},
    {"binomial", NPY_INT64, 8, 2, NULL, draw_binomial},
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
    if (draws[drawing->which].run != NULL) {
        draws[drawing->which].run(drawing, first, step, count, target);
    } else {
        draws[drawing->which].distribute(drawing, NULL, first, step, count, target);
    }
}

int draw_parameters(const Drawing *drawing)
{
    return draws[drawing->which].parameters;
}

void draw_with(const Drawing *drawing, const Parameter *parameters, npy_uint64 first,
               npy_uint64 count, char *target)
{
    draws[drawing->which].distribute(drawing, parameters, first, 1, count, target);
}
