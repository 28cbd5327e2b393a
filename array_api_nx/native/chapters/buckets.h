/* Sorts, stable orders and partitions of rows, whose elements are first distributed to buckets. */

#ifndef ARRAY_API_NX_BUCKETS_H
#define ARRAY_API_NX_BUCKETS_H

#include "dtypes.h"

/* What becomes of a row: it is sorted; the elements at some places are what they were if it were
   sorted, those before them are not greater, and those behind not less; or the indices of its
   elements in their stable order. */
typedef enum { SORTED, PARTED, ORDERED } Arrangement;

/* The places of PARTED, from 0 to the length of the row, in any order. */
typedef struct {
    const npy_intp *places;
    npy_intp count;
} Places;

/* Write the arranged row of `length` elements of a real dtype to `to`, which may be `from` itself;
   ORDERED writes npy_int64, and `from` is another row, of dtypes of at least 4 bytes, and fewer than
   2**32 elements. On at most `threads` threads, for which the caller has the GIL, or on this thread if it
   is 0. NaN is the last. -1 if there is no memory, and, on threads, if Python has another exception to raise. */
int arrange_row(const char *from, DTypeCode code, npy_intp length, Arrangement arrangement, Places places,
                npy_intp threads, char *to);

/* Whether a row ascends (1), or each element is less than the one before (-1); 0 if neither, or if it has NaN, or another
   dtype than integers and floating-point numbers of 4 and 8 bytes. Few elements of most other rows are read. */
int direction_of(const char *row, DTypeCode code, npy_intp length);

/* Sort a row on this thread. -1 if there is no memory. */
int sort_row(char *row, DTypeCode code, npy_intp length);

#endif
