/* Running sums and products, and differences of neighbours. */

#ifndef ARRAY_API_NX_SCANS_H
#define ARRAY_API_NX_SCANS_H

#include "functions.h"

extern const TwinEntry scan_twins[];

#endif
