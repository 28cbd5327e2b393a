/* Loops over a mask and elements that follow each other. They go over words of the mask: most masks have long runs
   of elements that are all true, or all false. None touches Python. */

#ifndef ARRAY_API_NX_MASKS_H
#define ARRAY_API_NX_MASKS_H

#include "common.h"

/* Copy the elements where `mask` is true to `out`, which has room for `wanted`; returns how many were copied. */
npy_intp compress_vector(const char *elements, npy_intp itemsize, const char *mask, npy_intp count,
                         char *out, npy_intp wanted);

/* The opposite: copy `wanted` values to the elements where `mask` is true. */
npy_intp expand_vector(char *elements, npy_intp itemsize, const char *mask, npy_intp count,
                       const char *values, npy_intp wanted);

/* Write a value to the elements where `mask` is true. Like `expand_vector` it writes to no others, which other
   threads may write. */
void assign_vector(char *elements, npy_intp itemsize, const char *mask, npy_intp count,
                   const char *value);

#endif
