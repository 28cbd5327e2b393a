/* Copies of boxes, of which repeated, rolled and joined arrays are made: sizes along some axes, and steps in the source
   and in the result, whose axes need not be those of the arrays. Repeated elements are axes along which the source does
   not step. */

#ifndef ARRAY_API_NX_BOXES_H
#define ARRAY_API_NX_BOXES_H

#include "walk.h"

/* The operands of a box. */
enum { SOURCE, TARGET };

void start_box(Walk *box);

void add_axis(Walk *box, npy_intp size, npy_intp from, npy_intp to);

/* Copy the elements. The axes of the box change. */
void copy_box(Walk *box, const char *source, char *target, npy_intp itemsize);

#endif
