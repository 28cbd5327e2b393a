/* Layouts, for the types of objects; objects.h is for all others. */

#ifndef ARRAY_API_NX_LAYOUTS_H
#define ARRAY_API_NX_LAYOUTS_H

#include "objects.h"

/* As `set_views` left it. */
extern ViewSlots views;

/* Make a Tensor know no layout any more. */
static inline void forget_layout(Tensor *tensor)
{
    if (tensor->shape != tensor->inside) {
        PyMem_Free(tensor->shape);
        tensor->shape = tensor->inside;
    }
    Py_CLEAR(tensor->shape_tuple);
    tensor->flags = 0;
}

/* A Tensor with room for a layout, and nothing else yet. NULL with an exception set. */
Tensor *new_tensor(int ndim, DTypeCode code);

/* A new ndarray over the elements of a storage, or None if they are not there. */
PyObject *make_ndarray(Tensor *tensor);

/* Sizes or strides in a unit, as a tuple; NULL with an exception set if there is no memory. */
PyObject *tuple_of_sizes(int ndim, const npy_intp *values, npy_intp unit);

/* Whether sizes are not negative, and their product, those of 0 left out, fits an npy_intp for any
   dtype. */
int can_be_counted(int ndim, const npy_intp *shape);

/* `make_room` for more axes than lie in the Tensor itself. */
int allocate_room(Tensor *tensor, int ndim);

/* Make room for a layout; 0 with an exception set if there is none. */
static inline int make_room(Tensor *tensor, int ndim)
{
    tensor->ndim = (npy_uint8)ndim;
    if (ndim <= INLINE_DIMS) {
        tensor->shape = tensor->inside;
        tensor->strides = tensor->inside + INLINE_DIMS;
        return 1;
    }
    return allocate_room(tensor, ndim);
}

/* Whether in each row of a result of a shape, which has several columns, the elements of an operand follow one another, or
   are one and the same. */
int lies_in_rows(const Tensor *x, int ndim, const npy_intp *shape);

#endif
