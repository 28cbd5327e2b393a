/* Loops over a mask and elements that follow each other. They go over words of the mask: most masks have long runs
   of elements that are all true, or all false. */

#ifndef ARRAY_API_NX_MASKS_H
#define ARRAY_API_NX_MASKS_H

#include "common.h"

/* What happens to the elements where a mask is true: they are copied one after the other (COMPRESS), become such values
   (EXPAND) or one value (ASSIGN), or their indices are written, as int64 (LOCATE). */
typedef enum { COMPRESS, EXPAND, ASSIGN, LOCATE } MaskAction;

/* How many elements are true. */
npy_intp count_true(const char *mask, npy_intp count);

/* Copy the chosen elements one after the other, at most `wanted`, on this thread. Returns how many were found. */
npy_intp compress_run(const char *elements, npy_intp itemsize, const char *mask, npy_intp count, char *out, npy_intp wanted);

/* Write the next values, at most `wanted`, to the chosen elements, on this thread. Returns how many were written. */
npy_intp expand_run(char *elements, npy_intp itemsize, const char *mask, npy_intp count, const char *values, npy_intp wanted);

/* Write one value to the chosen elements, on this thread. */
void assign_run(char *elements, npy_intp itemsize, const char *mask, npy_intp count, const char *value);

/* Carry out an action, by several threads if the mask is long. `others` are the values, the one value, or where elements
   or indices go. There is room for `wanted` of them, as many as `count_true` has found; what is not found any more
   becomes zeros. No other elements are written, which other threads may write. -1 with an exception set. */
int run_masked(MaskAction action, char *elements, npy_intp itemsize, const char *mask, npy_intp count, char *others,
               npy_intp wanted);

#endif
