/* Draws of distributions with parameters, by rejection and by inversion.

   Attempt n of an element has random bits of its own: block `base` + i of the streams 4 n to 4 n + 3,
   i being the element's number. So no element depends on another one, and the elements that were
   rejected are gathered for the next attempt. contract/distributions.py has the same
   operations in the same order, and says where the methods come from. */

#include "distributions.h"
#include "numbers64.h"

#include <float.h>

enum {
    /* Elements at a time: their rows fit into the first cache, and into a frame of 64 kB, since threads of
       some C libraries (musl) have stacks of 128. */
    TILE = 224,
    STREAMS = 32 /* keys that are made once for all tiles; of further ones, one is made when needed */
};

/* The quantities of the elements that no attempt has settled yet: a row each. */
enum { MOST, FIRST, SECOND, CENTRE, SLOPE, WIDTH, ENOUGH, FACTOR, LESS, ROWS };
enum { GAMMA_CENTRE, GAMMA_SLOPE, GAMMA_ROWS };

typedef struct {
    npy_double rows[ROWS][TILE];
    npy_uint64 counters[TILE];
    int places[TILE]; /* in the tile */
    int count;
} Elements;

typedef struct {
    const Drawing *drawing;
    npy_uint32 k0[STREAMS], k1[STREAMS];
} Streams;

/* ------------------------------------------------------------------ random bits */

/* The key of a stream is a block that no draw uses: counters stay below 2**63. */
static INLINE void open_streams(Streams *streams, const Drawing *drawing)
{
    streams->drawing = drawing;
    for (int i = 0; i < STREAMS; i++) {
        make_block(drawing, (npy_uint32)i, 0x80000000u, &streams->k0[i], &streams->k1[i]);
    }
}

/* The blocks of a stream for `count` counters, at most TILE, and of some more. */
static INLINE void blocks_of(Blocks *blocks, const Streams *streams, npy_uint32 stream,
                             npy_uint64 *counters, int count)
{
    Drawing keyed = *streams->drawing;
    npy_uint32 k0, k1;
    if (stream < STREAMS) {
        k0 = streams->k0[stream];
        k1 = streams->k1[stream];
    } else {
        make_block(streams->drawing, stream, 0x80000000u, &k0, &k1);
    }
    keyed.k0 = k0;
    keyed.k1 = k1;
    const int made = (count + 15) / 16 * 16; /* whole vectors */
    for (int i = count; i < made; i++) {
        counters[i] = 0;
    }
    for (int i = 0; i < made; i++) {
        const npy_uint64 c = counters[i];
        make_block(&keyed, (npy_uint32)c, (npy_uint32)(c >> 32), &blocks->x0[i], &blocks->x1[i]);
    }
}

static INLINE void even_numbers(const Streams *streams, npy_uint32 stream, npy_uint64 *counters,
                                int count, npy_double *target)
{
    Blocks blocks;
    blocks_of(&blocks, streams, stream, counters, count);
    write_uniform64(&blocks, streams->drawing, (count + 15) / 16 * 16, target);
}

static INLINE void normal_numbers(const Streams *streams, npy_uint32 stream, npy_uint64 *counters,
                                  int count, npy_double *target)
{
    Blocks blocks;
    blocks_of(&blocks, streams, stream, counters, count);
    write_normal64(&blocks, streams->drawing, (count + 15) / 16 * 16, target);
}

/* ------------------------------------------------------------------ functions */

/* The logarithm of 1 plus a number above -1. */
static INLINE npy_double log1p64(npy_double x)
{
    const int near = x > -0.25 && x < 0.25;
    const npy_double far = log64_exactly(near ? 1.0 : x + 1.0);
    const npy_double f = near ? x : 0.0;
    const npy_double s = f / (f + 2.0), z = s * s;
    const npy_double series = z * log_series64(z), half = f * f * 0.5;
    return near ? f - (half - s * (half + series)) : far;
}

/* The exponential function of a number of at most 0; 0 below -700. */
static INLINE npy_double exp64(npy_double x)
{
    const npy_double inside = x < -700.0 ? -700.0 : x;
    /* Of NaN, which is no int, there are none: it remains NaN. */
    const npy_double halvings = x == x ? floor(inside * -1.4426950408889634 + 0.5) : 0.0;
    const npy_double r =
        (inside + halvings * 6.93147180369123816490e-01) + halvings * 1.90821492927058770002e-10;
    const npy_double value =
        ((((((((((((1.0 / 6227020800.0 * r + 1.0 / 479001600.0) * r + 1.0 / 39916800.0) * r +
        1.0 / 3628800.0) * r + 1.0 / 362880.0) * r + 1.0 / 40320.0) * r + 1.0 / 5040.0) * r +
        1.0 / 720.0) * r + 1.0 / 120.0) * r + 1.0 / 24.0) * r + 1.0 / 6.0) * r + 0.5) * r + 1.0) *
        r + 1.0;
    const npy_uint64 bits = (npy_uint64)(1023 - (npy_int32)halvings) << 52;
    npy_double power;
    memcpy(&power, &bits, sizeof(power));
    return x <= -700.0 ? 0.0 : value * power;
}

/* By how much log(gamma(x)) exceeds (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= 1. */
static INLINE npy_double stirling64(npy_double x)
{
    npy_double value = 2.26948897420495996 / x;
    value = 1.51747364915328740 / (x + value);
    value = 1.01152306812684171 / (x + value);
    value = 0.525606469002695418 / (x + value);
    value = 0.252380952380952381 / (x + value);
    value = 0.0333333333333333333 / (x + value);
    return 0.0833333333333333333 / (x + value);
}

/* ------------------------------------------------------------------ elements */

/* Bring the elements in `list`, which ascends, to the front; the others are settled. */
static INLINE void keep(Elements *elements, int rows, const int *list, int count)
{
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < count; i++) {
            elements->rows[row][i] = elements->rows[row][list[i]];
        }
    }
    for (int i = 0; i < count; i++) {
        elements->counters[i] = elements->counters[list[i]];
        elements->places[i] = elements->places[list[i]];
    }
    elements->count = count;
}

/* How many elements need their quantities computed: where all have the same parameters, one; then
   `repeat` gives them to the others. */
static INLINE int to_compute(const Elements *elements, int alike)
{
    return alike && elements->count > 1 ? 1 : elements->count;
}

static INLINE void repeat(Elements *elements, int rows, int computed)
{
    for (int row = 0; computed < elements->count && row < rows; row++) {
        for (int i = 1; i < elements->count; i++) {
            elements->rows[row][i] = elements->rows[row][0];
        }
    }
}

/* ------------------------------------------------------------------ gamma and beta

   G. Marsaglia and W. W. Tsang, ACM TOMS 26 (2000). */

/* Gamma-distributed numbers of scale 1 for the elements, whose shapes below 1 are raised by 1;
   `stream` is 0 or 2. */
static INLINE void raised_gamma(const Streams *streams, npy_uint32 stream, Elements *elements,
                                const npy_double *shapes, int alike, npy_double *target)
{
    npy_double normal[TILE], even[TILE], cubes[TILE];
    int unsure[TILE], inside[TILE], list[TILE];
    const int computed = to_compute(elements, alike);
    for (int i = 0; i < computed; i++) {
        const npy_double shape = shapes[elements->places[i]];
        const npy_double centre = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
        elements->rows[GAMMA_CENTRE][i] = centre;
        elements->rows[GAMMA_SLOPE][i] = 1.0 / (sqrt(centre) * 3.0);
    }
    repeat(elements, GAMMA_ROWS, computed);
    for (npy_uint32 n = 1; elements->count > 0; n++) {
        const int count = elements->count;
        const npy_double *centre = elements->rows[GAMMA_CENTRE];
        const npy_double *slope = elements->rows[GAMMA_SLOPE];
        normal_numbers(streams, 4 * n + stream, elements->counters, count, normal);
        even_numbers(streams, 4 * n + stream + 1, elements->counters, count, even);
        for (int i = 0; i < count; i++) {
            const npy_double root = normal[i] * slope[i] + 1.0, square = normal[i] * normal[i];
            const int above = root > 0.0;
            even[i] = 1.0 - even[i];
            cubes[i] = above ? root * root * root : 1.0;
            inside[i] = above;
            unsure[i] = !(above & (even[i] < 1.0 - (square * square) * 0.0331));
        }
        for (int i = 0; i < count; i++) {
            target[elements->places[i]] = cubes[i] * centre[i];
        }
        int doubtful = 0, left = 0;
        for (int i = 0; i < count; i++) {
            list[doubtful] = i;
            doubtful += unsure[i];
        }
        /* `even` and `normal` become both sides of the comparison, in the order of the list. */
        for (int k = 0; k < doubtful; k++) {
            const int i = list[k];
            const npy_double half = normal[i] * normal[i] * 0.5;
            even[k] = log64_exactly(even[i]);
            normal[k] = half + ((1.0 - cubes[i]) + log64_exactly(cubes[i])) * centre[i];
        }
        for (int k = 0; k < doubtful; k++) {
            const int i = list[k];
            list[left] = i;
            left += !(inside[i] & (even[k] < normal[k]));
        }
        keep(elements, GAMMA_ROWS, list, left);
    }
}

/* The logarithms of gamma-distributed numbers, made of ones whose shapes may have been raised; `even`
   numbers are for the latter. */
static INLINE void gamma_logarithms(npy_double *raised, const npy_double *shapes, npy_double *even,
                                    int count)
{
    for (int i = 0; i < count; i++) {
        raised[i] = log64_exactly(raised[i]);
    }
    for (int i = 0; i < count; i++) {
        even[i] = log64_exactly(1.0 - even[i]);
    }
    for (int i = 0; i < count; i++) {
        const npy_double sum = raised[i] + even[i] / shapes[i];
        raised[i] = shapes[i] < 1.0 ? sum : raised[i];
    }
}

static INLINE int is_shape(npy_double x)
{
    return x > 0.0 && x <= DBL_MAX;
}

/* The elements of a tile at whose places both parameters are positive and finite. */
static INLINE void all_with_shapes(Elements *elements, const npy_uint64 *counters,
                                   const npy_double *p, const npy_double *q, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        elements->counters[found] = counters[i];
        elements->places[found] = i;
        found += is_shape(p[i]) & is_shape(q[i]);
    }
    elements->count = found;
}

static INLINE void gamma_tile(const Streams *streams, npy_uint64 *counters, npy_double *p,
                              npy_double *q, int alike, int count, void *target)
{
    npy_double *out = target, even[TILE], powers[TILE];
    Elements elements;
    int any_raised = 0;
    all_with_shapes(&elements, counters, p, p, count);
    raised_gamma(streams, 0, &elements, p, alike, out);
    for (int i = 0; i < count; i++) {
        any_raised |= p[i] < 1.0;
    }
    if (any_raised) {
        even_numbers(streams, 1, counters, count, even);
        for (int i = 0; i < count; i++) {
            powers[i] = is_shape(p[i]) ? out[i] : 1.0;
        }
        gamma_logarithms(powers, p, even, count);
        for (int i = 0; i < count; i++) {
            const npy_double value = exp64(-fabs(powers[i]));
            const npy_double other = 1.0 / (powers[i] > 0.0 ? value : 1.0);
            powers[i] = powers[i] > 0.0 ? other : value;
        }
        for (int i = 0; i < count; i++) {
            out[i] = p[i] < 1.0 ? powers[i] : out[i];
        }
    }
    for (int i = 0; i < count; i++) {
        out[i] = is_shape(p[i]) ? out[i] : (npy_double)NAN;
    }
}

static INLINE void beta_tile(const Streams *streams, npy_uint64 *counters, npy_double *p,
                             npy_double *q, int alike, int count, void *target)
{
    npy_double *out = target, first[TILE], second[TILE], even[TILE], other[TILE];
    Elements elements;
    for (int i = 0; i < count; i++) {
        first[i] = second[i] = 1.0; /* numbers without a distribution have a logarithm */
    }
    all_with_shapes(&elements, counters, p, q, count);
    raised_gamma(streams, 0, &elements, p, alike, first);
    all_with_shapes(&elements, counters, p, q, count);
    raised_gamma(streams, 2, &elements, q, alike, second);
    even_numbers(streams, 1, counters, count, even);
    even_numbers(streams, 3, counters, count, other);
    gamma_logarithms(first, p, even, count);
    gamma_logarithms(second, q, other, count);
    for (int i = 0; i < count; i++) {
        const npy_double ratio = exp64(-fabs(first[i] - second[i]));
        out[i] = (first[i] < second[i] ? ratio : 1.0) / (1.0 + ratio);
    }
    for (int i = 0; i < count; i++) {
        out[i] = is_shape(p[i]) & is_shape(q[i]) ? out[i] : (npy_double)NAN;
    }
}

/* ------------------------------------------------------------------ Poisson and binomial */

/* Means below this one are drawn by inversion. */
static const npy_double LEAST_MEAN = 10.0;

/* The greatest mean of numbers that are all but certainly below 2**63: ten standard deviations less. */
static const npy_double GREATEST_MEAN = 9223372006484770816.0;

static const npy_double MOST_TRIALS = 9007199254740992.0; /* 2**53 */

/* The logarithm of a probability; for binomial numbers, less a number that is the same for all k. */
static INLINE npy_double poisson_weight(npy_double k, npy_double mean)
{
    const npy_double distance = (k - mean) + 1.0;
    return (distance - (k + 0.5) * log1p64(distance / mean)) - stirling64(k + 1.0);
}

static INLINE npy_double binomial_weight(npy_double k, npy_double trials, npy_double successes,
                                         npy_double failures)
{
    const npy_double other = trials - k;
    const npy_double first = (k + 0.5) * log1p64(((k + 1.0) - successes) / successes);
    const npy_double second = (other + 0.5) * log1p64(((other + 1.0) - failures) / failures);
    return -((first + second) + (stirling64(k + 1.0) + stirling64(other + 1.0)));
}

/* Settle all elements by transformed rejection: W. Hörmann, Insurance: Mathematics and Economics 12,
   and Journal of Statistical Computation and Simulation 46 (1993). All rows are set; MOST is the
   greatest number, FIRST and SECOND are arguments of the weight, and LESS is taken from it. */
static INLINE void transformed(const Streams *streams, Elements *elements, int is_binomial,
                               npy_double *target)
{
    npy_double even[TILE], other[TILE], edges[TILE], numbers[TILE];
    int unsure[TILE], inside[TILE], list[TILE];
    for (npy_uint32 n = 1; elements->count > 0; n++) {
        const int count = elements->count;
        const npy_double *centre = elements->rows[CENTRE], *a = elements->rows[SLOPE],
                         *b = elements->rows[WIDTH], *enough = elements->rows[ENOUGH],
                         *most = elements->rows[MOST], *first = elements->rows[FIRST],
                         *second = elements->rows[SECOND], *less = elements->rows[LESS],
                         *factor = elements->rows[FACTOR];
        even_numbers(streams, 4 * n, elements->counters, count, even);
        even_numbers(streams, 4 * n + 1, elements->counters, count, other);
        for (int i = 0; i < count; i++) {
            const npy_double centred = even[i] - 0.5, half = 0.5 - fabs(centred);
            const npy_double edge = half == 0.0 ? 1.0 / 18014398509481984.0 : half;
            const npy_double k = floor((a[i] * 2.0 / edge + b[i]) * centred + centre[i]);
            const int within = (k >= 0.0) & (k <= most[i]);
            other[i] = 1.0 - other[i];
            edges[i] = edge;
            numbers[i] = within ? k : 0.0;
            inside[i] = within;
            unsure[i] = !(within & (edge >= 0.07) & (other[i] <= enough[i]));
        }
        for (int i = 0; i < count; i++) {
            target[elements->places[i]] = numbers[i];
        }
        int doubtful = 0, left = 0;
        for (int i = 0; i < count; i++) {
            list[doubtful] = i;
            doubtful += unsure[i];
        }
        /* `other` and `even` become both sides of the comparison, in the order of the list. */
        for (int j = 0; j < doubtful; j++) {
            const int i = list[j];
            const npy_double edge = edges[i];
            other[j] = log64_exactly(other[i] * factor[i] / (a[i] / (edge * edge) + b[i]));
        }
        for (int j = 0; j < doubtful; j++) {
            const int i = list[j];
            const npy_double k = numbers[i];
            even[j] = (is_binomial ? binomial_weight(k, most[i], first[i], second[i])
                                   : poisson_weight(k, first[i])) - less[i];
        }
        for (int j = 0; j < doubtful; j++) {
            const int i = list[j];
            list[left] = i;
            left += !(inside[i] & (other[j] <= even[j]));
        }
        keep(elements, ROWS, list, left);
    }
}

/* The least k for which the probabilities up to k sum to more than an even number: `term` is the
   probability of 0, and that of k is `factor` / k times the one before, for binomial numbers also
   times `trials` - (k - 1). They are the rows FIRST, SECOND and MOST. */
static INLINE void inverted(const Streams *streams, Elements *elements, int is_binomial,
                            npy_double *target)
{
    npy_double even[TILE], total[TILE], found[TILE];
    npy_double *term = elements->rows[FIRST];
    const npy_double *factor = elements->rows[SECOND], *trials = elements->rows[MOST];
    const int count = elements->count;
    even_numbers(streams, 0, elements->counters, count, even);
    for (int i = 0; i < count; i++) {
        total[i] = term[i];
        found[i] = 0.0;
    }
    for (npy_double k = 1.0; count > 0; k += 1.0) {
        const npy_double share = 1.0 / k;
        int any = 0;
        for (int i = 0; i < count; i++) {
            /* What lacks of a sum of 1 by rounding must not count on for ever. */
            const int beyond = (even[i] >= total[i]) & (term[i] > 1.0 / 1152921504606846976.0);
            found[i] += beyond ? 1.0 : 0.0;
            any |= beyond;
            const npy_double ratio =
                is_binomial ? (trials[i] - (k - 1.0)) * share * factor[i] : factor[i] * share;
            term[i] = term[i] * ratio;
            total[i] = total[i] + term[i];
        }
        if (!any) {
            break;
        }
    }
    for (int i = 0; i < count; i++) {
        target[elements->places[i]] = found[i];
    }
}

static INLINE void poisson_tile(const Streams *streams, npy_uint64 *counters, npy_double *p,
                                npy_double *q, int alike, int count, void *target)
{
    npy_double found[TILE];
    npy_int64 *out = target;
    Elements few, many;
    few.count = many.count = 0;
    for (int i = 0; i < count; i++) {
        const npy_double mean = p[i];
        Elements *one = mean < LEAST_MEAN ? &few : &many;
        found[i] = -1.0;
        one->counters[one->count] = counters[i];
        one->places[one->count] = i;
        one->count += (mean >= 0.0) & (mean <= GREATEST_MEAN);
    }
    int computed = to_compute(&few, alike);
    for (int i = 0; i < computed; i++) {
        const npy_double mean = p[few.places[i]];
        few.rows[FIRST][i] = exp64(-mean);
        few.rows[SECOND][i] = mean;
        few.rows[MOST][i] = 0.0;
    }
    repeat(&few, SECOND + 1, computed);
    inverted(streams, &few, 0, found);
    computed = to_compute(&many, alike);
    for (int i = 0; i < computed; i++) {
        const npy_double mean = p[many.places[i]], b = sqrt(mean) * 2.53 + 0.931;
        many.rows[CENTRE][i] = mean + 0.43;
        many.rows[SLOPE][i] = b * 0.02483 - 0.059;
        many.rows[WIDTH][i] = b;
        many.rows[ENOUGH][i] = 0.9277 - 3.6224 / (b - 2.0);
        many.rows[MOST][i] = (npy_double)INFINITY;
        many.rows[FIRST][i] = mean;
        many.rows[SECOND][i] = 0.0;
        many.rows[LESS][i] = log64_exactly(mean) * 0.5 + 0.5 * 1.8378770664093453;
        many.rows[FACTOR][i] = 1.1239 + 1.1328 / (b - 3.4);
    }
    repeat(&many, ROWS, computed);
    transformed(streams, &many, 0, found);
    for (int i = 0; i < count; i++) {
        out[i] = (npy_int64)found[i];
    }
}

static INLINE void binomial_tile(const Streams *streams, npy_uint64 *counters, npy_double *p,
                                 npy_double *q, int alike, int count, void *target)
{
    npy_double found[TILE];
    npy_int64 *out = target;
    Elements few, many;
    few.count = many.count = 0;
    for (int i = 0; i < count; i++) {
        /* The failures are counted where they are fewer. */
        const npy_double least = q[i] > 0.5 ? 1.0 - q[i] : q[i];
        Elements *one = p[i] * least < LEAST_MEAN ? &few : &many;
        found[i] = -1.0;
        one->counters[one->count] = counters[i];
        one->places[one->count] = i;
        one->count += (p[i] >= 0.0) & (p[i] <= MOST_TRIALS) & (q[i] >= 0.0) & (q[i] <= 1.0);
    }
    int computed = to_compute(&few, alike);
    for (int i = 0; i < computed; i++) {
        const npy_double n = p[few.places[i]], given = q[few.places[i]];
        const npy_double least = given > 0.5 ? 1.0 - given : given;
        few.rows[FIRST][i] = exp64(n * log1p64(-least));
        few.rows[SECOND][i] = least / (1.0 - least);
        few.rows[MOST][i] = n;
    }
    repeat(&few, SECOND + 1, computed);
    inverted(streams, &few, 1, found);
    computed = to_compute(&many, alike);
    for (int i = 0; i < computed; i++) {
        const npy_double n = p[many.places[i]], given = q[many.places[i]];
        const npy_double least = given > 0.5 ? 1.0 - given : given, rest = 1.0 - least;
        const npy_double deviation = sqrt(n * least * rest), b = deviation * 2.53 + 1.15;
        const npy_double successes = (n + 1.0) * least, failures = (n + 1.0) * rest;
        many.rows[CENTRE][i] = n * least + 0.5;
        many.rows[SLOPE][i] = (b * 0.0248 - 0.0873) + least * 0.01;
        many.rows[WIDTH][i] = b;
        many.rows[ENOUGH][i] = 0.92 - 4.2 / b;
        many.rows[MOST][i] = n;
        many.rows[FIRST][i] = successes;
        many.rows[SECOND][i] = failures;
        many.rows[LESS][i] = binomial_weight(floor(successes), n, successes, failures);
        many.rows[FACTOR][i] = (2.83 + 5.1 / b) * deviation;
    }
    repeat(&many, ROWS, computed);
    transformed(streams, &many, 1, found);
    for (int i = 0; i < count; i++) {
        const npy_double number = q[i] > 0.5 && found[i] >= 0.0 ? p[i] - found[i] : found[i];
        out[i] = (npy_int64)number;
    }
}

/* ------------------------------------------------------------------ runs of numbers

   A tile writes the numbers of `count` counters, at most TILE; `p` and `q` are their parameters, which
   are the same for all if `alike`. */

typedef void (*DistributedTile)(const Streams *streams, npy_uint64 *counters, npy_double *p,
                                npy_double *q, int alike, int count, void *target);

static INLINE void load(npy_double *target, const Parameter *parameter, npy_double common,
                        npy_uint64 first, int count)
{
    for (int i = 0; i < count; i++) {
        target[i] = parameter == NULL || parameter->data == NULL
                        ? common
                        : *(const npy_double *)(parameter->data +
                                                (npy_intp)(first + (npy_uint64)i) *
                                                    parameter->stride);
    }
}

static INLINE void distribute(DistributedTile tile, const Drawing *drawing,
                              const Parameter *parameters, npy_uint64 first, npy_uint64 step,
                              npy_uint64 count, char *target)
{
    Streams streams;
    npy_double p[TILE], q[TILE];
    npy_uint64 counters[TILE];
    open_streams(&streams, drawing);
    for (npy_uint64 done = 0; done < count; done += TILE) {
        const int some = count - done < TILE ? (int)(count - done) : TILE;
        for (int i = 0; i < some; i++) {
            counters[i] = drawing->base + first + (done + (npy_uint64)i) * step;
        }
        load(p, parameters, drawing->p, done, some);
        load(q, parameters == NULL ? NULL : parameters + 1, drawing->q, done, some);
        tile(&streams, counters, p, q, parameters == NULL, some, target + 8 * done);
    }
}

#define DISTRIBUTE(name, tile)                                                                     \
    CLONED_FOR_ROTATIONS(extern, void, name,                                                       \
                         (const Drawing *drawing, const Parameter *parameters, npy_uint64 first,   \
                          npy_uint64 step, npy_uint64 count, char *target),                        \
                         (drawing, parameters, first, step, count, target))                        \
    {                                                                                              \
        distribute(tile, drawing, parameters, first, step, count, target);                         \
    }

DISTRIBUTE(draw_gamma, gamma_tile)
DISTRIBUTE(draw_beta, beta_tile)
DISTRIBUTE(draw_poisson, poisson_tile)
DISTRIBUTE(draw_binomial, binomial_tile)
