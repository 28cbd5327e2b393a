/* Sorting and searching: sort, argsort, searchsorted, argmax and argmin. */

#ifndef ARRAY_API_NX_SORTING_H
#define ARRAY_API_NX_SORTING_H

#include "functions.h"

extern const TwinEntry sorting_twins[];

#endif
