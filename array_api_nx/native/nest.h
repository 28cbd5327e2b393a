/* Loop nests: axes along which several operands step at a time. Their neighbours are merged, and all of
   their indices are gone through in row-major order. */

#ifndef ARRAY_API_NX_NEST_H
#define ARRAY_API_NX_NEST_H

#include "common.h"
#include "compiler.h"

/* Merge neighbouring axes through which all of some operands step as through one, and leave out those of
   size 1. Returns how many axes remain; 0 if there is but one element. What is merged may be written
   over what is given. */
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
