/* Movement: views that show the elements of an array through another layout. It reads no
   elements, so that arrays of any size, and deferred ones, are moved alike. */

#ifndef ARRAY_API_NX_MOVEMENT_H
#define ARRAY_API_NX_MOVEMENT_H

#include "functions.h"

/* The layout of a view to be made: shape, and strides and offset in bytes. It inherits `read_only`. */
typedef struct {
    int ndim, read_only;
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    npy_intp offset;
} NewView;

/* Sizes may be anything whose product over nonzero sizes is at most this: the limit of
   core/shape.py, under which no number of bytes overflows. */
#define MAX_ELEMENTS (NPY_MAX_INTP / 16)

/* The tensor of an array that can have views. NULL, perhaps with an exception set, if Python has to find
   out. */
Tensor *movable(PyObject *object);

/* Have a layout begin where that of `x` does. */
static inline void start_layout(const Tensor *x, NewView *layout)
{
    layout->offset = x->offset;
    layout->read_only = x->flags & READ_ONLY;
}

/* The layout of `x` as it is. */
void copy_layout(const Tensor *x, NewView *layout);

/* Keep `count` elements of an axis, from `start` on, `step` apart: View.slice for one axis. */
static inline void step_along(NewView *layout, int axis, npy_intp start, npy_intp count,
                              npy_intp step)
{
    layout->offset += start * layout->strides[axis];
    layout->shape[axis] = count;
    if (count > 1) { /* where nothing is stepped over, the stride stays */
        layout->strides[axis] *= step;
    }
}

/* Sizes, any of which may be -1; `*places` says how many are. Their product without these is `*known`. */
int take_sizes(PyObject *const *value, NewView *layout, npy_intp *known, int *places);

/* Strides and offset for the same elements under another shape of as many; 0 if no view has it. */
int find_strides(const Tensor *x, NewView *layout);

/* The view of a movable tensor through a layout. */
PyObject *show(Tensor *of, const NewView *layout);

/* The last two axes exchanged. Declined if there are fewer. */
PyObject *transpose_last(PyObject *array);

/* The order of all axes reversed. */
PyObject *reverse_axes(PyObject *array);

#endif
