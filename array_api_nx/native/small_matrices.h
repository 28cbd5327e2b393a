/* Products and inverses of stacks of small matrices, which need no call of BLAS or LAPACK each. */

#ifndef ARRAY_API_NX_SMALL_MATRICES_H
#define ARRAY_API_NX_SMALL_MATRICES_H

#include "common.h"

/* A ufunc that does what numpy.matmul does, to rounding; a borrowed reference, NULL with an exception
   set if there is none. */
PyObject *get_matmul(void);

int add_small_matrices(PyObject *module);

#endif
