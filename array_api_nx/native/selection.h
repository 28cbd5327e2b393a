/* Functions that take elements from one of several operands: where and clip. */

#ifndef ARRAY_API_NX_SELECTION_H
#define ARRAY_API_NX_SELECTION_H

#include "functions.h"

extern const TwinEntry selection_twins[];

#endif
