/* Sequence: several kernels run one after the other in one call from Python.

   The arrays that the kernels work on are numbered: first the given ones, which are arguments of
   each call, then the fixed ones, which are the same in every call. Kernels and fixed arrays are
   checked when the sequence is made, given arrays in each call. */

#ifndef ARRAY_API_NX_SEQUENCE_H
#define ARRAY_API_NX_SEQUENCE_H

#include "passes.h"

/* After so many runs that end at a function that declines, no more are tried: it will decline again, and
   the results until then are lost. */
enum { MAX_DECLINED = 8 };

/* Run all passes, each on so many threads at most. `bases` are the addresses of all arrays. 1 if all
   ran; 0 if a C implementation declined; -1 with an exception set. */
int run_sequence(const SequenceObject *self, char *const *bases, npy_uint8 (*flags)[MAX_STEPS],
                 npy_intp threads);

/* For each kernel a tuple of its steps' floating-point flags; or None, if no kernel raised any. */
PyObject *sequence_flags(const SequenceObject *self, npy_uint8 (*flags)[MAX_STEPS]);

/* Whether it is a Sequence. */
int is_sequence(PyObject *object);

#endif
