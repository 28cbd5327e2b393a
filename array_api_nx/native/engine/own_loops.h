/* Loops in place of those of NumPy's that use no vectors, or short ones: maximum and minimum for an array and a
   number, square roots, degrees and radians, and fabs. */

#ifndef ARRAY_API_NX_OWN_LOOPS_H
#define ARRAY_API_NX_OWN_LOOPS_H

#include "inner_loops.h"

/* In place of NumPy's loop of the ufunc for operands of a type, with the same bits, a faster one, if there is one:
   `*function` and `*data`, which the function takes. Whether there is; `replace_half_loop` among others. */
int replace_loop(PyObject *ufunc, int type, PyUFuncGenericFunction *function, void **data);

#endif
