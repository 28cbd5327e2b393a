/* Which powers NumPy's loop computes as NumPy's function does. */

#ifndef ARRAY_API_NX_POWERS_H
#define ARRAY_API_NX_POWERS_H

#include "elementwise.h"

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
