/* Sums, products, extremes, truth and counts along axes, and means and variances. */

#ifndef ARRAY_API_NX_REDUCTIONS_H
#define ARRAY_API_NX_REDUCTIONS_H

#include "elementwise.h"
#include "functions.h"
#include "names.h"

/* The dtype in which sums and products of elements of a dtype are computed. */
static inline DTypeCode accumulator_of(DTypeCode code)
{
    return is_inexact(code) ? code : is_unsigned(code) ? NX_UINT64 : NX_INT64;
}

/* The floating-point exceptions that division raised, and conversion of quotients to the dtype of the sums. */
typedef struct {
    int divided, cast;
} QuotientFlags;

/* Divide floating-point numbers in place, as NumPy's means are: in double precision. `loop` divides doubles, or complex
   numbers of two of them; the former of complex numbers both parts. */
void divide_numbers(const ElementLoop *loop, char *data, DTypeCode code, npy_intp size, double divisor,
                    QuotientFlags *flags);

/* The mean of an array of floating-point numbers of a size that is recorded, now or later; DECLINED if C does not compute
   it, NULL with an exception set. `is_temporary` says that nothing else needs the array; `divide` is of doubles. */
PyObject *average_large(Tensor *x, int is_temporary, const char *reduced, int keepdims, const ElementLoop *divide);

/* The same of variances. */
PyObject *find_variances(Tensor *x, int is_temporary, const char *reduced, int keepdims, double correction);

#endif
