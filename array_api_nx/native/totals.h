/* `total`: all elements of an array reduced to one number, in one call, by several threads.

   It computes reductions whose bits are the same in any order, which are those of integers and
   booleans. */

#ifndef ARRAY_API_NX_TOTALS_H
#define ARRAY_API_NX_TOTALS_H

#include "common.h"

/* Add `total` to the module; -1 with an exception set. */
int add_totals(PyObject *module);

#endif
