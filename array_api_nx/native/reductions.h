/* Sums, products, extremes, truth and counts along axes, and means and variances. */

#ifndef ARRAY_API_NX_REDUCTIONS_H
#define ARRAY_API_NX_REDUCTIONS_H

#include "functions.h"

extern const TwinEntry reduction_twins[];
extern const TwinEntry moment_twins[];

/* The dtype in which sums and products of elements of a dtype are computed. */
static inline DTypeCode accumulator_of(DTypeCode code)
{
    return is_inexact(code) ? code : is_unsigned(code) ? UINT64 : INT64;
}

/* NumPy's names in warnings. */
typedef struct {
    PyObject *reduce, *accumulate, *divide, *cast;
} ErrorNames;

extern ErrorNames error_names;

int add_reductions(PyObject *module);

#endif
