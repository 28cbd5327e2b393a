/* Rows that NumPy sorts, divided among threads. */

#ifndef ARRAY_API_NX_INTERVALS_H
#define ARRAY_API_NX_INTERVALS_H

#include "dtypes.h"

/* Write the sorted row to `to`, which may be `from` itself: elements of 4 or 8 bytes, on at most `threads` threads, for
   which the caller has the GIL. NaN is the last. -1 if there is no memory, or, on threads, if Python has another exception to
   raise. */
int sort_by_intervals(const char *from, DTypeCode code, npy_intp count, npy_intp threads, char *to);

#endif
