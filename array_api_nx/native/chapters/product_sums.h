/* Sums of the products of two arrays' elements, along some of their axes. */

#ifndef ARRAY_API_NX_PRODUCT_SUMS_H
#define ARRAY_API_NX_PRODUCT_SUMS_H

#include "objects.h"

enum { SUMS, LEFT_FACTOR, RIGHT_FACTOR, PRODUCT_OPERANDS };

/* The most axes of a nest. To clear those of one takes a few nanoseconds. */
enum { PRODUCT_AXES = 16 };

/* Strides are in bytes, for each operand; those of the sums, which lie in one run, are 0 along an axis that is summed. The
   address of the right factor is NULL if there is none. */
typedef struct {
    DTypeCode code;
    int ndim;
    npy_intp shape[PRODUCT_AXES], strides[PRODUCT_OPERANDS][PRODUCT_AXES];
    char *data[PRODUCT_OPERANDS];
} ProductNest;

/* Append an axis of so many elements, along which the operands step so far. */
static inline void add_product_axis(ProductNest *nest, npy_intp size, npy_intp sums, npy_intp left, npy_intp right)
{
    nest->shape[nest->ndim] = size;
    nest->strides[SUMS][nest->ndim] = size == 1 ? 0 : sums;
    nest->strides[LEFT_FACTOR][nest->ndim] = left;
    nest->strides[RIGHT_FACTOR][nest->ndim++] = right;
}

/* Whether there are such sums of a dtype. */
int has_product_sums(DTypeCode code);

/* Compute the sums: integers wrap around, and floating-point exceptions are not reported.
   Large nests are divided among threads; no bit depends on their number. The axes are put into another order. 0 with an
   exception set. */
int sum_products(ProductNest *nest);

/* The same on this thread, which need not hold the GIL. */
void sum_products_alone(ProductNest *nest);

#endif
