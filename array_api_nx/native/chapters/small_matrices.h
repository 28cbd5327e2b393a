/* Products and inverses of stacks of small matrices, which need no call of BLAS or LAPACK each. */

#ifndef ARRAY_API_NX_SMALL_MATRICES_H
#define ARRAY_API_NX_SMALL_MATRICES_H

#include "common.h"

/* A ufunc with the results of numpy.matmul, to rounding; a borrowed reference, NULL with an exception
   set if there is none. */
PyObject *get_matmul(void);

/* Whether that ufunc's loop computes products of arrays of a dtype without BLAS: `sizes` are the number of
   products, rows, the size of the axis that is summed, and columns. */
int is_computed_small(int code, const npy_intp *sizes);

/* Write the inverses of a stack of matrices of float32 (`is_single`) or float64 in one piece to `to`.
   0 if LAPACK must compute them: the inverses written until then mean nothing. */
int invert_stack(int is_single, const char *from, const npy_intp *strides, npy_intp count,
                 npy_intp size, void *to);

#endif
