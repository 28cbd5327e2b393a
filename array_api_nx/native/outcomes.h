/* Outcomes of the kernels of a sequence: the accumulators of several tasks are combined, and sums
   divided. */

#ifndef ARRAY_API_NX_OUTCOMES_H
#define ARRAY_API_NX_OUTCOMES_H

#include "passes.h"

/* Read the outcomes of a pass; 0 with an exception set if they are not of accumulators, or do not fill
   their arrays. The outcomes that were read belong to the pass in either case. */
int read_outcomes(SequenceObject *self, Pass *pass, PyObject *description);

/* Check that the accumulators of several tasks are combined; 0 with an exception set. */
int check_combined(const Pass *pass);

/* Compute the outcomes of a kernel that has run. `bases` are the addresses of all arrays, `addresses`
   those of its operands. It reports no floating-point errors. */
void run_outcomes(const Pass *pass, char *const *bases, char *const *addresses);

#endif
