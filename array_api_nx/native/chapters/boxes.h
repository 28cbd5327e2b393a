/* Copies of boxes, of which repeated, rolled and joined arrays are made: sizes along some axes, and steps in the source
   and in the result, whose axes need not be those of the arrays. Repeated elements are axes along which the source does
   not step. */

#ifndef ARRAY_API_NX_BOXES_H
#define ARRAY_API_NX_BOXES_H

#include "walk.h"

/* The operands of a box. */
enum { SOURCE, TARGET };

void start_box(Walk *box);

void add_box_axis(Walk *box, npy_intp size, npy_intp from, npy_intp to);

/* Copy elements of `x`, the first of which lies at `source`, to memory of `result`, which others do not see yet: many by a
   pass, on several threads. C casts them to the result's dtype. The axes of the box change. 0 with an exception set. */
int copy_box(Walk *box, Tensor *x, const char *source, Tensor *result, char *target);

/* A new array of this shape, for a copy of the elements of `x`, the first of which lies at `from`. Its allocation can run
   finalisers: DECLINED if they have moved the elements. The caller has a reference of its own to `x`, which they may
   take from its array. Of repeating.c, as the next two. */
PyObject *new_copy(Tensor *x, const char *from, int ndim, const npy_intp *shape, char **to);

/* A new row-major array of this shape, to which the elements from there on are copied. */
PyObject *copied_box(Walk *box, Tensor *x, const char *from, int ndim, const npy_intp *shape);

/* A row-major copy of the elements in their order under another shape of as many. DECLINED without elements,
   or if Python is to copy them; NULL with an exception set. */
PyObject *copy_into_shape(Tensor *x, int ndim, const npy_intp *shape);

#endif
