/* Operations whose results by NumPy's loop have to be corrected for some operands: these C declines. */

#ifndef ARRAY_API_NX_CORRECTIONS_H
#define ARRAY_API_NX_CORRECTIONS_H

#include "elementwise.h"

/* Whether an operand of a quotient that is rounded down may be infinite: an array, or the number at its place in
   `numbers` where that is NULL. */
int may_be_infinite(DTypeCode code, Tensor *const *operands, char *const *numbers, int count);

/* The three below are 0, perhaps with an exception set, where the result has to be corrected, where integers
   have negative exponents, and for other dtypes than real numbers. */

/* The operation that computes `x ** exponent` in a dtype, which is OP_POW or that of a faster function that NumPy
   calls. The exponent is a Python scalar. */
int choose_power(Tensor *x, PyObject *exponent, DTypeCode code, OperationCode *op);

/* Whether the loop computes `base ** x` in a dtype. The base is a Python scalar. */
int is_plain_power_of(PyObject *base, Tensor *x, DTypeCode code);

/* Whether the loop computes `x ** y`. */
int is_plain_power(Tensor *x, Tensor *y);

#endif
