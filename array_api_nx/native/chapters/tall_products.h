/* Products of a matrix of many rows with one of 2 to 4 rows and columns: of points that are transformed. */

#ifndef ARRAY_API_NX_TALL_PRODUCTS_H
#define ARRAY_API_NX_TALL_PRODUCTS_H

#include "dtypes.h"

/* Whether such products are computed here. `sizes` and `steps` are those of a loop of numpy.matmul (products.c). */
int is_tall_product(DTypeCode code, const npy_intp *sizes, const npy_intp *steps);

/* Compute all products of a stack, on one thread. The results lie apart from the operands. */
void multiply_tall(DTypeCode code, char *const *args, const npy_intp *sizes, const npy_intp *steps);

/* Compute one product, perhaps on several threads; `*flags` become its floating-point errors. 0 with an exception set. */
int multiply_tall_freely(DTypeCode code, char *const *args, const npy_intp *sizes, const npy_intp *steps, int *flags);

#endif
