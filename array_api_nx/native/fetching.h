/* The operands of the next tile are fetched into the caches while this one is computed. */

#ifndef ARRAY_API_NX_FETCHING_H
#define ARRAY_API_NX_FETCHING_H

#include "kernel_types.h"

/* Plan what to fetch while the tile at (row, column) is computed: the tile after it. */
void look_ahead(Frame *frame, npy_intp row, npy_intp column, npy_intp all_rows, npy_intp all_columns);

/* Fetch the share of one step, or of one part of a chain, of the operands of the next tile. */
void fetch_ahead(Frame *frame);

#endif
