/* Copies of tiles: from memory into buffers and back. */

#ifndef ARRAY_API_NX_COPIES_H
#define ARRAY_API_NX_COPIES_H

#include "common.h"

/* Where the tile of an operand or a register lies. */
typedef struct {
    char *data;
    npy_intp row, column; /* bytes to step */
} View;

/* Copy a tile of elements of `itemsize` bytes. */
void copy_tile(View to, View from, npy_intp itemsize, npy_intp rows, npy_intp columns);

/* Copy a tile past the caches. Whoever does so calls end_streams before others read the result. */
void stream_tile(View to, View from, npy_intp itemsize, npy_intp rows, npy_intp columns);

/* Have all that this thread has streamed be seen by whoever sees what it writes from now on. */
void end_streams(void);

/* Write a value of `itemsize` bytes `count` times. */
void fill(char *to, const char *value, npy_intp itemsize, npy_intp count);

#endif
