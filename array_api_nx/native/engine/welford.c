#include "welford.h"
#include "compiler.h"
#include "sizes.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* GCC contracts nothing with -std=c11 */
#endif

/* Lanes, and columns, whose means and squares stay in registers. */
enum { AT_ONCE = 16 };

/* ------------------------------------------------------------------ merging */

/* Merge the moments of more elements into those of the elements before. */
static void add_moments(Moments *moments, const Moments *more)
{
    const npy_double before = moments->count;
    if (before == 0 || more->count == 0) {
        *moments = before == 0 ? *more : *moments;
        return;
    }
    const npy_double weight = more->count / (before + more->count);
    const npy_double step = (more->reference - moments->reference) + (more->offset - moments->offset);
    moments->count = before + more->count;
    moments->offset += step * weight;
    moments->squares += more->squares + step * step * (weight * before);
}

/* Merge the lanes from `half` on into the ones before them. The compiler has to know how many there are. */
static INLINE void merge_half(npy_double *means, npy_double *squares, const int half, npy_double half_count)
{
    for (int lane = 0; lane < half; lane++) {
        const npy_double step = means[lane + half] - means[lane];
        means[lane] += step / 2;
        squares[lane] += squares[lane + half] + step * step * half_count;
    }
}

/* Merge lanes of `rows` elements each into the first one. */
CLONED(static, void, merge_lanes, (RunOfMoments *run), (run))
{
    _Static_assert(MOMENT_LANES == 32, "the halves below");
    const npy_double half_count = (npy_double)run->rows / 2;
    merge_half(run->means, run->squares, 16, half_count);
    merge_half(run->means, run->squares, 8, 2 * half_count);
    merge_half(run->means, run->squares, 4, 4 * half_count);
    merge_half(run->means, run->squares, 2, 8 * half_count);
    merge_half(run->means, run->squares, 1, 16 * half_count);
}

/* The moments of the block that is under way, or whole. */
static Moments moments_of_lanes(RunOfMoments *run)
{
    merge_lanes(run);
    return (Moments){(npy_double)(run->rows * MOMENT_LANES), run->reference, run->means[0], run->squares[0]};
}

/* The moments of a few elements, less the reference. */
static Moments moments_of_rest(const RunOfMoments *run)
{
    Moments moments = {run->rest_count, run->reference, 0, 0};
    for (int i = 0; i < run->rest_count; i++) {
        moments.offset += run->rest[i];
    }
    moments.offset /= moments.count;
    for (int i = 0; i < run->rest_count; i++) {
        const npy_double distance = run->rest[i] - moments.offset;
        moments.squares += distance * distance;
    }
    return moments;
}

/* Take the moments of the next block, or of as many blocks, a power of two, as those before were. */
static void add_block(RunOfMoments *run, Moments block)
{
    for (npy_intp number = run->block_count++; number & 1; number >>= 1) {
        Moments *before = &run->blocks[--run->depth];
        add_moments(before, &block);
        block = *before;
    }
    run->blocks[run->depth++] = block;
}

/* The moments of all blocks. */
static Moments total_moments(const RunOfMoments *run)
{
    Moments total = run->blocks[run->depth - 1];
    for (int i = run->depth - 1; i > 0; i--) {
        Moments before = run->blocks[i - 1];
        add_moments(&before, &total);
        total = before;
    }
    return total;
}

void merge_moments(char *moments, npy_intp step, npy_intp count)
{
    RunOfMoments run;
    begin_moments(&run);
    npy_intp i = 0;
    do { /* there is one part at least */
        add_block(&run, *(const Moments *)(moments + i * step));
    } while (++i < count);
    *(Moments *)moments = total_moments(&run);
}

/* ------------------------------------------------------------------ elements */

#define DEFINE_MOMENTS(TYPE)                                                                                          \
    /* Take rows of elements, `step` bytes apart, into the moments of AT_ONCE lanes, or of the first ones of them, that have \
       had `count` elements each. The compiler keeps these in registers where the width is a constant. */             \
    static INLINE void advance_##TYPE(const npy_double *references, const int step_on, npy_double *all_means,         \
                                      npy_double *all_squares, const char *x, npy_intp step, npy_intp rows,           \
                                      npy_double count, const int width)                                              \
    {                                                                                                                 \
        npy_double means[AT_ONCE], squares[AT_ONCE];                                                                  \
        memcpy(means, all_means, sizeof(means));                                                                      \
        memcpy(squares, all_squares, sizeof(squares));                                                                \
        for (npy_intp row = 0; row < rows; row++, x += step) {                                                        \
            const npy_double share = 1 / ++count;                                                                     \
            const TYPE *elements = (const TYPE *)x;                                                                   \
            for (int lane = 0; lane < width; lane++) {                                                                \
                const npy_double element = (npy_double)elements[lane] * MOMENT_SCALE - references[lane * step_on];    \
                const npy_double distance = element - means[lane];                                                    \
                means[lane] += distance * share;                                                                      \
                squares[lane] += distance * (element - means[lane]);                                                  \
            }                                                                                                         \
        }                                                                                                             \
        memcpy(all_means, means, sizeof(means));                                                                      \
        memcpy(all_squares, squares, sizeof(squares));                                                                \
    }                                                                                                                 \
                                                                                                                      \
    /* Take whole rows of the elements of a block into its lanes. */                                                  \
    CLONED(static, void, add_rows_##TYPE, (RunOfMoments *run, const TYPE *x, npy_intp rows), (run, x, rows))          \
    {                                                                                                                 \
        for (int first = 0; first < MOMENT_LANES; first += AT_ONCE) {                                                 \
            advance_##TYPE(&run->reference, 0, run->means + first, run->squares + first, (const char *)(x + first),   \
                           MOMENT_LANES * sizeof(TYPE), rows, (npy_double)run->rows, AT_ONCE);                        \
        }                                                                                                             \
        run->rows += rows;                                                                                            \
    }                                                                                                                 \
                                                                                                                      \
    static void extend_##TYPE(RunOfMoments *run, const TYPE *x, npy_intp count)                                       \
    {                                                                                                                 \
        while (count > 0) {                                                                                           \
            if (run->rows == 0 && run->rest_count == 0) {                                                             \
                run->reference = (npy_double)*x * MOMENT_SCALE;                                                       \
                memset(run->means, 0, sizeof(run->means));                                                            \
                memset(run->squares, 0, sizeof(run->squares));                                                        \
            }                                                                                                         \
            const npy_intp rows = least(count / MOMENT_LANES, MOMENT_BLOCK / MOMENT_LANES - run->rows);               \
            if (run->rest_count == 0 && rows > 0) {                                                                   \
                add_rows_##TYPE(run, x, rows);                                                                        \
                x += rows * MOMENT_LANES;                                                                             \
                count -= rows * MOMENT_LANES;                                                                         \
            } else {                                                                                                  \
                for (; count > 0 && run->rest_count < MOMENT_LANES; count--) {                                        \
                    run->rest[run->rest_count++] = (npy_double)*x++ * MOMENT_SCALE - run->reference;                  \
                }                                                                                                     \
                if (run->rest_count == MOMENT_LANES) {                                                                \
                    add_rest(run);                                                                                    \
                }                                                                                                     \
            }                                                                                                         \
            if (run->rows == MOMENT_BLOCK / MOMENT_LANES) {                                                           \
                add_block(run, moments_of_lanes(run));                                                                \
                run->rows = 0;                                                                                        \
            }                                                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
                                                                                                                      \
    CLONED(static, void, fold_columns_##TYPE,                                                                         \
           (Moments *moments, const char *elements, npy_intp step, npy_intp rows, npy_intp columns),                  \
           (moments, elements, step, rows, columns))                                                                  \
    {                                                                                                                 \
        const npy_double count = moments->count;                                                                      \
        for (npy_intp first = 0; first < columns; first += AT_ONCE, moments += AT_ONCE) {                             \
            npy_double references[AT_ONCE], means[AT_ONCE] = {0}, squares[AT_ONCE] = {0};                             \
            const int width = (int)least(columns - first, AT_ONCE);                                                   \
            const TYPE *row = (const TYPE *)elements + first;                                                         \
            for (int i = 0; i < width; i++) {                                                                         \
                references[i] = count == 0 ? (npy_double)row[i] * MOMENT_SCALE : moments[i].reference;                \
                means[i] = moments[i].offset;                                                                         \
                squares[i] = moments[i].squares;                                                                      \
            }                                                                                                         \
            if (width == AT_ONCE) {                                                                                   \
                advance_##TYPE(references, 1, means, squares, (const char *)row, step, rows, count, AT_ONCE);         \
            } else {                                                                                                  \
                advance_##TYPE(references, 1, means, squares, (const char *)row, step, rows, count, width);           \
            }                                                                                                         \
            for (int i = 0; i < width; i++) {                                                                         \
                moments[i] = (Moments){count + (npy_double)rows, references[i], means[i], squares[i]};                \
            }                                                                                                         \
        }                                                                                                             \
    }

/* Elements of short rows whose sums are formed beside each other: no sum waits for the one before. */
enum { ROW_LANES = 4 };

#define DEFINE_ROW(TYPE)                                                                                              \
    static Moments moments_of_##TYPE##s(const TYPE *x, npy_intp count)                                                \
    {                                                                                                                 \
        const npy_double reference = (npy_double)x[0] * MOMENT_SCALE;                                                 \
        npy_double sums[ROW_LANES] = {0}, squares[ROW_LANES] = {0};                                                   \
        npy_intp i = 0;                                                                                               \
        for (; i + ROW_LANES <= count; i += ROW_LANES) {                                                              \
            for (int lane = 0; lane < ROW_LANES; lane++) {                                                            \
                sums[lane] += (npy_double)x[i + lane] * MOMENT_SCALE - reference;                                     \
            }                                                                                                         \
        }                                                                                                             \
        for (; i < count; i++) {                                                                                      \
            sums[i % ROW_LANES] += (npy_double)x[i] * MOMENT_SCALE - reference;                                       \
        }                                                                                                             \
        const npy_double offset = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (npy_double)count;                    \
        for (i = 0; i + ROW_LANES <= count; i += ROW_LANES) {                                                         \
            for (int lane = 0; lane < ROW_LANES; lane++) {                                                            \
                const npy_double distance = (npy_double)x[i + lane] * MOMENT_SCALE - reference - offset;              \
                squares[lane] += distance * distance;                                                                 \
            }                                                                                                         \
        }                                                                                                             \
        for (; i < count; i++) {                                                                                      \
            const npy_double distance = (npy_double)x[i] * MOMENT_SCALE - reference - offset;                         \
            squares[i % ROW_LANES] += distance * distance;                                                            \
        }                                                                                                             \
        return (Moments){(npy_double)count, reference, offset, (squares[0] + squares[1]) + (squares[2] + squares[3])}; \
    }

DEFINE_ROW(npy_float)
DEFINE_ROW(npy_double)

/* Take the row that has filled up. */
static void add_rest(RunOfMoments *run);

DEFINE_MOMENTS(npy_float)
DEFINE_MOMENTS(npy_double)

static void add_rest(RunOfMoments *run)
{
    const npy_double share = 1 / (npy_double)++run->rows;
    for (int lane = 0; lane < MOMENT_LANES; lane++) {
        const npy_double distance = run->rest[lane] - run->means[lane];
        run->means[lane] += distance * share;
        run->squares[lane] += distance * (run->rest[lane] - run->means[lane]);
    }
    run->rest_count = 0;
}

/* ------------------------------------------------------------------ runs and columns */

void begin_moments(RunOfMoments *run)
{
    run->rows = run->block_count = 0;
    run->rest_count = run->depth = 0;
}

void extend_moments(RunOfMoments *run, const char *elements, npy_intp count, npy_intp itemsize)
{
    if (itemsize == sizeof(npy_float)) {
        extend_npy_float(run, (const npy_float *)elements, count);
    } else {
        extend_npy_double(run, (const npy_double *)elements, count);
    }
}

void end_moments(RunOfMoments *run, Moments *moments)
{
    Moments block = {0, 0, 0, 0};
    if (run->rows > 0) {
        block = moments_of_lanes(run);
    }
    if (run->rest_count > 0) {
        const Moments rest = moments_of_rest(run);
        add_moments(&block, &rest);
    }
    if (block.count > 0) {
        add_block(run, block);
    }
    if (run->depth > 0) {
        const Moments total = total_moments(run);
        add_moments(moments, &total);
    }
}

/* Rows of fewer elements are not divided into lanes (docs/tuning.md, 153). */
enum { SHORT_ROW = 2 * MOMENT_LANES };

int add_short_row(Moments *moments, const char *elements, npy_intp count, npy_intp itemsize)
{
    if (count >= SHORT_ROW) {
        return 0;
    }
    const Moments row = itemsize == sizeof(npy_float) ? moments_of_npy_floats((const npy_float *)elements, count)
                                                      : moments_of_npy_doubles((const npy_double *)elements, count);
    add_moments(moments, &row);
    return 1;
}

void fold_columns(Moments *moments, const char *elements, npy_intp step, npy_intp rows, npy_intp columns,
                  npy_intp itemsize)
{
    (itemsize == sizeof(npy_float) ? fold_columns_npy_float : fold_columns_npy_double)(moments, elements, step, rows, columns);
}

void write_variances(const Moments *moments, char *variances, npy_intp size, double divisor, npy_intp itemsize)
{
    for (npy_intp i = 0; i < size; i++) {
        const npy_double variance = moments[i].squares / (MOMENT_SCALE * MOMENT_SCALE) / divisor;
        if (itemsize == sizeof(npy_float)) {
            /* The compiler must not move the conversion to where flags are not looked at. */
            volatile npy_float rounded = (npy_float)variance;
            ((npy_float *)variances)[i] = rounded;
        } else {
            ((npy_double *)variances)[i] = variance;
        }
    }
}
