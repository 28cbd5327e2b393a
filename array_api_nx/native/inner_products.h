/* Sums of products of the elements of two arrays, along any axes. */

#ifndef ARRAY_API_NX_INNER_PRODUCTS_H
#define ARRAY_API_NX_INNER_PRODUCTS_H

#include "objects.h"

enum { FIRST_FACTOR, SECOND_FACTOR, SUM, TERMS };

/* Axes through which two operands and the sums step, in bytes. All products along an axis through which the sums do not step
   are added up. */
typedef struct {
    DTypeCode code;
    int ndim;
    npy_intp shape[ARRAY_DIMS], strides[TERMS][ARRAY_DIMS];
    char *data[TERMS];
} SumsOfProducts;

/* Whether sums of a dtype are computed here. */
int has_sums_of_products(DTypeCode code);

/* Put the axes into the order in which they are to be gone through: that through which the operands and the sums step least
   comes last. */
void sort_axes(SumsOfProducts *sums, int *axes);

/* Add the products to sums that are there. 0, perhaps with an exception set, if that fails. */
int add_products_up(SumsOfProducts *sums);

#endif
