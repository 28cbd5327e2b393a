/* Sums and variances of floating-point numbers, in an order that is part of the result (see
   sums.c). */

#ifndef ARRAY_API_NX_SUMS_H
#define ARRAY_API_NX_SUMS_H

#include "kernel_types.h"

/* Fold `count` elements, at least one, that lie `step` bytes apart into moments. The elements are
   floats or doubles, as `itemsize` says. */
void fold_run(Moments *moments, const char *run, npy_intp step, npy_intp count, npy_intp itemsize);

/* Fold each of any number of adjacent columns, whose rows lie `step` bytes apart, into its own
   moments, which lie `moments_step` bytes apart. */
void fold_columns(char *moments, npy_intp moments_step, const char *tile, npy_intp step,
                  npy_intp rows, npy_intp columns, npy_intp itemsize);

/* Merge `copies` rows of moments, each of `count` results, into the first row. If some are empty, since
   the computation was interrupted, the result means nothing. Nor do the floating-point exceptions that
   are raised. */
void merge_parts(Moments *parts, npy_intp copies, npy_intp count);

/* Fill in the loop that sums numbers of a type; 0 if there is none. */
int find_sum(int type, int ignored, Loop *loop);

/* Fill in the loop for moments; 0 if there is none. It has no function: tiles.c calls fold_run and
   fold_columns, which fold many elements at a time. */
int find_moments(int type, int ignored, Loop *loop);

#endif
