/* How many elements are not zero, and how many are NaN. */

#ifndef ARRAY_API_NX_TRUTH_H
#define ARRAY_API_NX_TRUTH_H

#include "elementwise.h"

typedef enum { IS_ANY_TRUE, IS_ALL_TRUE, COUNT_TRUE } TruthQuestion;

/* The answer for `size` elements that follow each other. */
npy_intp ask_truth(TruthQuestion question, const char *data, DTypeCode code, npy_intp size);

/* How many elements of a row are NaN, which integers are not; -1 if others are infinite. It may raise the flag of invalid
   operations. */
npy_intp count_nan(DTypeCode code, const char *row, npy_intp length);

#endif
