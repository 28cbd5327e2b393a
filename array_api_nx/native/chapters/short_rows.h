/* Rows of a few elements, sorted in registers. */

#ifndef ARRAY_API_NX_SHORT_ROWS_H
#define ARRAY_API_NX_SHORT_ROWS_H

#include "dtypes.h"

/* The most elements of such a row (docs/tuning.md, 164). */
enum { MOST_IN_REGISTERS = 8 };

/* Whether rows of a dtype are sorted here. */
int is_sorted_in_registers(DTypeCode code, npy_intp length);

/* Write each of so many rows, which lie one after the other, sorted to `to`, which may be `from`. Equal elements stay in
   order, and NaN is the last. */
void sort_short_rows(DTypeCode code, const char *from, char *to, npy_intp rows, npy_intp length);

#endif
