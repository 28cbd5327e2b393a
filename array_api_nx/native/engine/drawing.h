/* What describes a draw of random numbers. */

#ifndef ARRAY_API_NX_DRAWING_H
#define ARRAY_API_NX_DRAWING_H

#include "common.h"

/* What all numbers of a draw are made of. Python keeps it as an array of uint64. */
typedef struct {
    npy_uint64 which; /* of `find_draw` */
    npy_uint64 k0, k1; /* the key: two words of 32 bits */
    npy_uint64 base;   /* the counter of the first block */
    npy_uint64 low, span; /* of integers, modulo 2**64 */
    npy_double p, q; /* parameters of a distribution */
} Drawing;

/* A parameter for each number of a draw; NULL for the drawing's. */
typedef struct {
    const char *data;
    npy_intp stride; /* in bytes */
} Parameter;

#endif
