/* numpy.matmul, but that products of small matrices are computed here. */

#ifndef ARRAY_API_NX_SMALL_MATRICES_H
#define ARRAY_API_NX_SMALL_MATRICES_H

#include "common.h"

/* A ufunc that does what numpy.matmul does, with the same bits; a new reference, NULL with an
   exception set if there is none. */
PyObject *get_matmul(void);

int add_small_matrices(PyObject *module);

#endif
