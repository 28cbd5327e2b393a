/* Sequence: several kernels run one after the other in one call from Python.

   The arrays that the kernels work on are numbered: first the given ones, which are arguments of
   each call, then the fixed ones, which are the same in every call. Kernels and fixed arrays are
   checked when the sequence is made, given arrays in each call. */

#ifndef ARRAY_API_NX_SEQUENCE_H
#define ARRAY_API_NX_SEQUENCE_H

#include "passes.h"

#endif
