/* Sets: the distinct elements of an array, and membership. */

#ifndef ARRAY_API_NX_DISTINCT_H
#define ARRAY_API_NX_DISTINCT_H

#include "functions.h"

extern const TwinEntry distinct_twins[];

int add_distinct(PyObject *module);

#endif
