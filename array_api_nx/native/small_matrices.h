/* Products and inverses of stacks of small matrices, which need no call of BLAS or LAPACK each. */

#ifndef ARRAY_API_NX_SMALL_MATRICES_H
#define ARRAY_API_NX_SMALL_MATRICES_H

#include "common.h"

/* A ufunc that does what numpy.matmul does, to rounding; a borrowed reference, NULL with an exception
   set if there is none. */
PyObject *get_matmul(void);

/* Write the inverses of a stack of matrices of float32 (`is_single`) or float64 in one piece to `to`.
   0 if LAPACK must compute them: what was written does not count then. */
int invert_stack(int is_single, const char *from, const npy_intp *strides, npy_intp count,
                 npy_intp size, void *to);

int add_small_matrices(PyObject *module);

#endif
