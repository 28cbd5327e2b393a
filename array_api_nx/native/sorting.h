/* Sorting and searching: sort, argsort, searchsorted, argmax and argmin. */

#ifndef ARRAY_API_NX_SORTING_H
#define ARRAY_API_NX_SORTING_H

#include "functions.h"

extern const TwinEntry sorting_twins[];

/* The functions that NumPy's dtypes have for rows of elements. */
static inline PyArray_ArrFuncs *functions_of(DTypeCode code)
{
    return PyDataType_GetArrFuncs(dtypes[code].descr);
}

/* The array of a call if C may look at it: elements of real dtypes, and not none. */
Tensor *sortable(PyObject *object, const char **data);

/* All elements in row-major order. */
void pack_rows(const Tensor *x, const char *data, char *out);

/* Whether there are zeros of both signs, which are equal and can be told apart. Sorting functions
   with vector instructions may even make one of the other. */
int has_both_zeros(const char *elements, DTypeCode code, npy_intp size);

#endif
