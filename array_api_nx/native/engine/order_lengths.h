/* The functions that carry out orders on blocks of eight vectors, of four, and of single ones, of one KIND of elements.
   order_runs.h includes this; it says which KIND and for which RUN of processors, and defines what order_blocks.h lists but for
   EACH and BLOCKS. */

#define EACH EIGHT
#define BLOCKS JOIN_THREE(RUN, KIND, wide)
#include "order_blocks.h"
#define EACH FOUR
#define BLOCKS JOIN_THREE(RUN, KIND, half)
#include "order_blocks.h"
#define EACH ALONE
#define BLOCKS JOIN_THREE(RUN, KIND, narrow)
#include "order_blocks.h"

#undef KIND
#undef ELEMENT
#undef VECTOR
#undef TRUTHS
#undef LANES_HERE
#undef WIDEN
#undef NARROW
#undef PRODUCT
#undef QUOTIENT
#undef CONJUGATES
#undef SPREAD
#undef REALS
#undef SPREAD_REAL
#undef ROOT
#undef MAGNITUDE
#undef COMPARE
#undef LIMIT
