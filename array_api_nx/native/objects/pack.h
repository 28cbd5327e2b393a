/* Elements of arrays of any layout, one after the other, and in another dtype if need be. */

#ifndef ARRAY_API_NX_PACK_H
#define ARRAY_API_NX_PACK_H

#include "axis_orders.h"

/* Whether every element lies at a multiple of its size, or of half of it for complex numbers.
   NumPy copies other elements to buffers, and C must not read them as numbers. */
static inline int is_aligned(const Tensor *x, const char *data)
{
    const npy_intp itemsize = dtypes[x->code].itemsize;
    npy_uintp all = (npy_uintp)data;
    for (int i = 0; i < x->ndim; i++) {
        all |= x->shape[i] > 1 ? (npy_uintp)x->strides[i] : 0;
    }
    return (all & (npy_uintp)((is_complex(x->code) ? itemsize / 2 : itemsize) - 1)) == 0;
}

/* Memory for intermediate results: on the stack, or on the heap if they are many. */
enum { SCRATCH_BYTES = 2048 };

typedef struct {
    char *data;
    void *heap;
    npy_clongdouble inside[SCRATCH_BYTES / sizeof(npy_clongdouble)];
} Scratch;

/* -1 with an exception set if there is no memory. */
int take_scratch(Scratch *scratch, npy_intp bytes);

static inline void free_scratch(Scratch *scratch)
{
    PyMem_Free(scratch->heap);
}

/* Whether `pack` converts between the dtypes. It does if they are equal; from any dtype to bool;
   from bool and integers to float64, and to the 64-bit integers of their kind, or either for
   bool. */
int can_pack(DTypeCode from, DTypeCode to);

/* Write all elements to `out` in an order of axes; bools as 0 and 1, which NumPy's functions for
   sorting rely on. There must be elements. */
void pack(const char *data, DTypeCode from, int ndim, const npy_intp *shape,
          const npy_intp *strides, const npy_uint8 *order, DTypeCode to, char *out);

/* Write `columns` neighbouring columns of a row-major matrix, whose rows lie `step` bytes apart,
   one after the other. */
void turn_columns(const char *from, npy_intp step, npy_intp rows, npy_intp columns,
                  npy_intp itemsize, char *to);

/* Elements to compute with, in the order of NumPy's iterators: those of an array, or a copy of them in
   another dtype without gaps. */
typedef struct {
    int ndim;
    DTypeCode code;
    npy_intp size;
    const char *data;
    const npy_intp *shape, *strides;
    AxisOrder order;
    npy_intp dense[ARRAY_DIMS]; /* strides of a copy */
    Scratch scratch;
} Ordered;

/* -1 with an exception set if there is no memory; otherwise the caller frees the scratch memory. */
int order_elements(Ordered *elements, const Tensor *x, const char *data, DTypeCode code);

/* Have elements of an array become a copy without gaps. As `order_elements`. */
int pack_elements(Ordered *elements);

#endif
