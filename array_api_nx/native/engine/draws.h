/* Random numbers from counters. Nothing here touches Python. */

#ifndef ARRAY_API_NX_DRAWS_H
#define ARRAY_API_NX_DRAWS_H

#include "drawing.h"

/* The number of a kind of draws (see `Backend.draw`; "wide" are integers of a span above 2**32) with
   a NumPy dtype; -1 if there is none. */
int find_draw(const char *kind, int dtype);

/* Bytes of a number; 0 if there is no such draw. */
npy_intp drawn_itemsize(const Drawing *drawing);

/* Write `count` numbers of a draw, `step` apart from number `first` on. */
void draw_run(const Drawing *drawing, npy_uint64 first, npy_uint64 step, npy_uint64 count,
              char *target);

/* How many parameters the numbers of a draw have. */
int draw_parameters(const Drawing *drawing);

/* Write `count` numbers of a draw that has parameters, from number `first` on; there are two
   parameters, whatever their number. */
void draw_with(const Drawing *drawing, const Parameter *parameters, npy_uint64 first,
               npy_uint64 count, char *target);

#endif
