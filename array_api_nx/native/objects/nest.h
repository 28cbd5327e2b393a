/* Loop nests: axes along which several operands step at a time. Operands are broadcast to each other,
   neighbouring axes are merged, and all of their indices are gone through in row-major order. */

#ifndef ARRAY_API_NX_NEST_H
#define ARRAY_API_NX_NEST_H

#include "common.h"
#include "compiler.h"

/* Broadcast a shape, which has room for more axes, with another. 0 if they do not broadcast. */
static inline int broadcast_shape(int *ndim, npy_intp *shape, int other_ndim, const npy_intp *other)
{
    const int surplus = other_ndim - *ndim;
    if (surplus > 0) {
        for (int dim = *ndim - 1; dim >= 0; dim--) {
            shape[surplus + dim] = shape[dim];
        }
        for (int dim = 0; dim < surplus; dim++) {
            shape[dim] = 1;
        }
        *ndim = other_ndim;
    }
    npy_intp *sizes = shape + *ndim - other_ndim;
    for (int dim = 0; dim < other_ndim; dim++) {
        if (sizes[dim] == 1) {
            sizes[dim] = other[dim];
        } else if (other[dim] != 1 && other[dim] != sizes[dim]) {
            return 0;
        }
    }
    return 1;
}

/* The strides of an operand along the axes of a nest to which it broadcasts: 0 where it is repeated. Its
   first axes may be superfluous if their size is 1. 0 if it does not broadcast. */
static inline int broadcast_strides(int ndim, const npy_intp *shape, int own_ndim,
                                    const npy_intp *own_shape, const npy_intp *own_strides,
                                    npy_intp *strides)
{
    const int missing = ndim - own_ndim;
    for (int dim = 0; dim < missing; dim++) {
        strides[dim] = 0;
    }
    for (int dim = 0; dim < own_ndim; dim++) {
        const int axis = missing + dim;
        if (own_shape[dim] != 1 && (axis < 0 || own_shape[dim] != shape[axis])) {
            return 0;
        }
        if (axis >= 0) {
            strides[axis] = own_shape[dim] == 1 ? 0 : own_strides[dim];
        }
    }
    return 1;
}

/* Merge neighbouring axes through which all of some operands step as through one, and leave out those of
   size 1. Returns how many axes remain; 0 if there is but one element. The merged sizes and strides
   may be written over the given ones. */
static inline int merge_axes(int ndim, const npy_intp *shape, int count,
                             const npy_intp *const *strides, npy_intp *merged,
                             npy_intp *const *merged_strides)
{
    int kept = 0;
    for (int dim = 0; dim < ndim; dim++) {
        const npy_intp size = shape[dim];
        if (size == 1) {
            continue;
        }
        int joins = kept > 0;
        for (int i = 0; joins && i < count; i++) {
            joins = merged_strides[i][kept - 1] == size * strides[i][dim];
        }
        if (joins) {
            merged[kept - 1] *= size;
        } else {
            merged[kept++] = size;
        }
        for (int i = 0; i < count; i++) {
            merged_strides[i][kept - 1] = strides[i][dim];
        }
    }
    return kept;
}

/* Step to the next index of the first `ndim` axes. Returns the axis along which it steps: those after it
   are at their beginning again; -1 behind the last index, when all are. */
static INLINE int next_index(int ndim, const npy_intp *shape, npy_intp *index)
{
    int dim = ndim - 1;
    while (dim >= 0 && ++index[dim] == shape[dim]) {
        index[dim--] = 0;
    }
    return dim;
}

/* How far an operand steps then. (Each in a statement of its own: a loop over two operands becomes vector
   instructions, which take longer.) */
static INLINE npy_intp distance(int dim, int ndim, const npy_intp *shape, const npy_intp *strides)
{
    npy_intp bytes = dim < 0 ? 0 : strides[dim];
    for (int later = dim + 1; later < ndim; later++) {
        bytes -= strides[later] * (shape[later] - 1);
    }
    return bytes;
}

#endif
