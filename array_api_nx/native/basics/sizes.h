/* Arithmetic on sizes, strides and addresses. */

#ifndef ARRAY_API_NX_SIZES_H
#define ARRAY_API_NX_SIZES_H

#include "common.h"

/* Bytes of a cache line, to which memory for results and for tiles is aligned. */
enum { LINE = 64, ALIGNMENT = LINE };

/* Sizes up to here can be added up without overflow. */
#define MAX_BYTES (NPY_MAX_INTP / 256)

static inline npy_intp least(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static inline npy_intp greatest(npy_intp a, npy_intp b)
{
    return a > b ? a : b;
}

static inline npy_intp magnitude(npy_intp stride)
{
    return stride < 0 ? -stride : stride;
}

/* Set the strides of elements that lie row by row, `step` bytes apart along the last axis. Returns the bytes of all. */
static inline npy_intp step_by_rows(int ndim, const npy_intp *shape, npy_intp step, npy_intp *strides)
{
    for (int dim = ndim - 1; dim >= 0; dim--) {
        strides[dim] = step;
        step *= shape[dim];
    }
    return step;
}

/* How many bytes before its first element the lowest element of a layout lies (0 or negative), and how
   many after it the highest. The layout must have elements. */
static inline void find_reach(int ndim, const npy_intp *shape, const npy_intp *strides,
                              npy_intp *low, npy_intp *high)
{
    *low = *high = 0;
    for (int dim = 0; dim < ndim; dim++) {
        const npy_intp reach = (shape[dim] - 1) * strides[dim];
        *(reach < 0 ? low : high) += reach;
    }
}

/* Alignment that the loops expect: `WORD` of contract/numpy_dtypes.py. */
static inline npy_intp alignment(npy_intp itemsize)
{
    return itemsize < 8 ? itemsize : 8;
}

/* Repeat the first bytes of some memory until it is full: each copy takes twice as many. */
static inline void repeat_bytes(char *start, npy_intp bytes, npy_intp all)
{
    for (npy_intp done = bytes; done < all; done *= 2) {
        memcpy(start + done, start, (size_t)least(done, all - done));
    }
}

#endif
