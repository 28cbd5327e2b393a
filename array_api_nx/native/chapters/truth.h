/* How many elements are not zero. */

#ifndef ARRAY_API_NX_TRUTH_H
#define ARRAY_API_NX_TRUTH_H

#include "elementwise.h"

typedef enum { IS_ANY_TRUE, IS_ALL_TRUE, COUNT_TRUE } TruthQuestion;

/* The answer for `size` elements that follow each other. */
npy_intp ask_truth(TruthQuestion question, const char *data, DTypeCode code, npy_intp size);

#endif
