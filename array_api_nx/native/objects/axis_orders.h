/* In which order the axes of arrays lie in memory. */

#ifndef ARRAY_API_NX_AXIS_ORDERS_H
#define ARRAY_API_NX_AXIS_ORDERS_H

#include "objects.h"

/* An order of axes, the fastest first. */
typedef npy_uint8 AxisOrder[ARRAY_DIMS];

/* The order of NumPy's iterators (order "K") over one array: by the distance of neighbours, and
   the last axis first where that says nothing. */
void order_axes(int ndim, const npy_intp *shape, const npy_intp *strides, npy_uint8 *order);

/* The same over several arrays, by their strides along the axes: 0 where an array has but one element. Where arrays differ, the
   order is that of row-major ones. */
void order_axes_of(int ndim, int count, const npy_intp *const *strides, npy_uint8 *order);

/* Whether it is the order of row-major arrays. */
static inline int is_row_order(int ndim, const npy_uint8 *order)
{
    int same = 1;
    for (int i = 0; i < ndim; i++) {
        same &= order[i] == ndim - 1 - i;
    }
    return same;
}

/* The order of row-major arrays. */
static inline void order_rows(int ndim, npy_uint8 *order)
{
    for (int i = 0; i < ndim; i++) {
        order[i] = (npy_uint8)(ndim - 1 - i);
    }
}

/* Give a Tensor that nothing else refers to, whose first axis is the slowest in this order and its last one the fastest, the
   axes of an array. */
void reorder_axes(Tensor *tensor, const npy_uint8 *order);

/* The same for an Array that was just made, which is returned; NULL and DECLINED stay what they are. */
PyObject *result_in_order(PyObject *result, const npy_uint8 *order);

/* The sizes of an array, that of its slowest axis in this order first. */
void sizes_in_order(const Tensor *x, const npy_uint8 *order, npy_intp *sizes);

/* A new Array, whose axes have this order in memory, by such sizes. As `new_array_like_memory`. */
PyObject *new_array_in_order(int ndim, const npy_intp *sizes, const npy_uint8 *order, DTypeCode code, char **data);

/* A view of so many axes, with those first that are slow in this order; some have length 1 if there are more than the array
   has. NULL with an exception set. */
Tensor *view_in_order(Tensor *x, int ndim, const npy_uint8 *order);

/* Strides in bytes of an array without gaps whose axes have this order. */
void dense_strides(int ndim, const npy_intp *shape, const npy_uint8 *order, npy_intp itemsize,
                   npy_intp *strides);

#endif
