/* What becomes of what the kernels of a sequence have accumulated: the accumulators of several tasks
   are combined, and sums divided. */

#ifndef ARRAY_API_NX_OUTCOMES_H
#define ARRAY_API_NX_OUTCOMES_H

#include "sequence.h"

/* Read the outcomes of a pass; 0 with an exception set if they are not of accumulators, or do not fill
   their arrays. What was read belongs to the pass in either case. */
int read_outcomes(SequenceObject *self, Pass *pass, PyObject *description);

/* Check that what each task accumulates for itself is combined; 0 with an exception set. */
int check_combined(const Pass *pass);

/* Compute the outcomes of a kernel that has run. `bases` are the addresses of all arrays, `addresses`
   those of its operands. It raises no floating-point errors that anybody is told of. */
void run_outcomes(const Pass *pass, char *const *bases, char *const *addresses);

/* Add `merge_moments` to the module; -1 with an exception set. */
int add_outcomes(PyObject *module);

#endif
