/* Sorting: sort, argsort; and what searchsorted, argmax and argmin share with them. */

#ifndef ARRAY_API_NX_SORTING_H
#define ARRAY_API_NX_SORTING_H

#include "functions.h"
#include "settings.h"

/* The functions that NumPy's dtypes have for rows of elements. */
static inline PyArray_ArrFuncs *functions_of(DTypeCode code)
{
    return PyDataType_GetArrFuncs(dtypes[code].descr);
}

/* The array of a call if C may look at it: elements of real dtypes, at most `most` of them, and not
   none. */
Tensor *sortable(PyObject *object, npy_intp most, const char **data);

/* So many elements are sorted and searched in C: any number, but none where Python is to see each call. */
static inline npy_intp most_sortable(void)
{
    return limits.at_once < 0 ? limits.at_once : NPY_MAX_INTP;
}

/* All elements in row-major order. */
void pack_rows(const Tensor *x, const char *data, char *out);

/* Whether an array of floating-point numbers has zeros of both signs, which are equal and can be told
   apart. Sorting functions with vector instructions may even make one of the other. -1 with an
   exception set if there is no memory. */
int has_both_zeros(const Tensor *x, const char *data);

/* Whether there are several zeros in a sorted row, which takes little time to find out. */
int repeats_zero(const char *row, DTypeCode code, npy_intp length);

/* The order of rows of so many elements, of so many bytes, is found by keys (docs/tuning.md, 110). NumPy sorts smaller
   elements digit by digit. */
enum { KEYED_FROM = 64, KEYED_BYTES = 4 };

/* Sort a row of real elements by NumPy's function. -1 if there is no memory. */
int sort_by_numpy(char *row, DTypeCode code, npy_intp length);

#endif
