/* Loops that go on from what came of the elements before: extremes among numbers, and running sums
   and products.

   They compute the same as a ufunc's loop, but keep their accumulators in registers. */

#ifndef ARRAY_API_NX_FOLDS_H
#define ARRAY_API_NX_FOLDS_H

#include "kernel_types.h"

/* Fill in the loop (accumulator, real number) -> accumulator that finds the largest number, or the
   smallest, and passes over NaN; 0 if there is none. */
int find_extreme(int type, int largest, Loop *loop);

/* Fill in the loop that adds or multiplies numbers of a type, fast where each first operand is the
   result before; 0 if there is none. */
int find_running(int type, int multiplies, Loop *loop);

#endif
