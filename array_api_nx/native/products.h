/* Products of matrices and vectors. */

#ifndef ARRAY_API_NX_PRODUCTS_H
#define ARRAY_API_NX_PRODUCTS_H

#include "functions.h"

/* `x @ y` of two matrices, or of a matrix and a vector; DECLINED if Python has to compute. */
PyObject *multiply_matrices(PyObject *x, PyObject *y);

#endif
