/* Sums, products, extremes, truth and counts along axes, and means and variances. */

#ifndef ARRAY_API_NX_REDUCTIONS_H
#define ARRAY_API_NX_REDUCTIONS_H

#include "functions.h"
#include "names.h"

/* The dtype in which sums and products of elements of a dtype are computed. */
static inline DTypeCode accumulator_of(DTypeCode code)
{
    return is_inexact(code) ? code : is_unsigned(code) ? NX_UINT64 : NX_INT64;
}

/* The sum of an array of floating-point numbers of a size that is recorded; DECLINED if C does not compute it, NULL with
   an exception set. `is_temporary` says that nothing else needs the array. */
PyObject *sum_large(Tensor *x, int is_temporary, const char *reduced, int keepdims);

#endif
