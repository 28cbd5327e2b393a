/* New arrays: of one value, of evenly spaced values, of a diagonal. */

#ifndef ARRAY_API_NX_CREATION_H
#define ARRAY_API_NX_CREATION_H

#include "functions.h"

extern const TwinEntry creation_twins[];

#endif
