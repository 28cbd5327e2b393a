/* Copies of small arrays into others: joined, repeated, rolled, or in row-major order. */

#ifndef ARRAY_API_NX_JOINING_H
#define ARRAY_API_NX_JOINING_H

#include "functions.h"

extern const TwinEntry joining_twins[];

/* A row-major copy of the elements in their order under another shape of as many. */
PyObject *copy_into_shape(Tensor *x, int ndim, const npy_intp *shape);

#endif
