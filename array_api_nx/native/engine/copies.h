/* Copies of tiles: from memory into buffers and back. */

#ifndef ARRAY_API_NX_COPIES_H
#define ARRAY_API_NX_COPIES_H

#include "inner_loops.h"

/* Copy a tile of elements of `itemsize` bytes. */
void copy_tile(Tile to, Tile from, npy_intp itemsize, npy_intp rows, npy_intp columns);

#endif
