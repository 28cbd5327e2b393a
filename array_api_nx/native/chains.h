/* Chains: successive steps of a kernel, each with the result of the one before as an operand, which run as
   one (orders.h). */

#ifndef ARRAY_API_NX_CHAINS_H
#define ARRAY_API_NX_CHAINS_H

#include "kernel_types.h"

/* Find the chains of a kernel whose steps are read. */
void find_chains(Kernel *kernel);

/* In so many parts a chain runs where tiles are fetched ahead, some of the next one before each. In one
   part it would be slower (docs/tuning.md, 13). */
enum { PARTS = 4 };

/* Whether the chain that begins with this step is to run on a tile, before anything is packed for it.
   One of a single step is no faster than that step, unless its result goes past the caches. */
int is_worth_chaining(const Frame *frame, const KernelStep *first, npy_intp rows, npy_intp columns);

/* The end of a chain: its steps have to run one by one, its result is in its target's tile, or it is in
   the target's memory. */
typedef enum { IN_STEPS, IN_TILE, IN_MEMORY } ChainEnd;

/* Run the chain that begins with this step, and is worth it, on one tile, whose operands are packed. After
   a floating-point exception the caller runs it in steps, which find their operands unchanged, so that
   the exception is one step's. */
ChainEnd run_chain(Frame *frame, const KernelStep *first, npy_intp rows, npy_intp columns);

#endif
