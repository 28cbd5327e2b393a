/* Chains: steps of a kernel, one after the other, each of which takes the result of the one before.
   They run as one (links.h). */

#ifndef ARRAY_API_NX_CHAINS_H
#define ARRAY_API_NX_CHAINS_H

#include "tiles.h"

/* Find the chains of a kernel whose steps are read. */
void find_chains(Kernel *kernel);

/* Run the chain that begins with this step on one tile, whose operands are packed. 0 if there was a
   floating-point exception: the steps are to be run one by one then, so that it can be said which of
   them met it. They find all that they read as it was before. */
int run_chain(Frame *frame, const Step *first, npy_intp rows, npy_intp columns);

#endif
