/* Moments of floating-point numbers, by Welford's algorithm: in one pass, in an order that is part of the result. */

#ifndef ARRAY_API_NX_WELFORD_H
#define ARRAY_API_NX_WELFORD_H

#include "sums.h"

/* How many elements there are, their mean, and the sum of their squared distances from it. The mean is
   `reference + offset`: where elements lie near each other and far from 0, one double would not hold it exactly enough to
   subtract the mean of other elements from it. All are of elements that are multiplied by MOMENT_SCALE, so that no
   difference of two of them overflows. */
typedef struct {
    npy_double count, reference, offset, squares;
} Moments;

#define MOMENT_SCALE 0.0625

/* Element number i of a block belongs to lane i % MOMENT_LANES; the lanes of a block are merged at its end. */
enum { MOMENT_LANES = 32, MOMENT_BLOCK = 1 << 13 };

/* A run of floats or doubles that comes in pieces: its moments have the same bits as in one piece. */
typedef struct {
    npy_intp rows;  /* of lanes, in the block that is under way */
    int rest_count; /* elements of the next row */
    npy_double reference;
    npy_double rest[MOMENT_LANES], means[MOMENT_LANES], squares[MOMENT_LANES];
    Moments blocks[SUM_LEVELS]; /* merged in pairs as they come */
    int depth;
    npy_intp block_count;
} RunOfMoments;

void begin_moments(RunOfMoments *run);
void extend_moments(RunOfMoments *run, const char *elements, npy_intp count, npy_intp itemsize);

/* Merge the moments of the run's elements, if there are any, into others. */
void end_moments(RunOfMoments *run, Moments *moments);

/* Merge the moments of a row that comes in one piece into others; 0, with nothing done, if it has more than a few elements,
   of which a run is to be made. */
int add_short_row(Moments *moments, const char *elements, npy_intp count, npy_intp itemsize);

/* Merge the moments of adjacent columns, whose rows lie `step` bytes apart, into moments that follow each other: those of as
   many elements each. */
void fold_columns(Moments *moments, const char *elements, npy_intp step, npy_intp rows, npy_intp columns,
                  npy_intp itemsize);

/* From the moments of parts of a run, `step` bytes apart, to those of the run, in place of the first ones. All parts but
   the last have as many blocks, a power of two: then they have the same bits as of the run in one piece. */
void merge_moments(char *moments, npy_intp step, npy_intp count);

/* Write variances, each of moments, in the dtype of the elements, `itemsize` bytes each. */
void write_variances(const Moments *moments, char *variances, npy_intp size, double divisor, npy_intp itemsize);

#endif
