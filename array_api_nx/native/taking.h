/* take, take_along_axis and nonzero on small arrays. */

#ifndef ARRAY_API_NX_TAKING_H
#define ARRAY_API_NX_TAKING_H

#include "functions.h"

extern const TwinEntry taking_twins[];

#endif
