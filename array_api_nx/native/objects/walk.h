/* A walk over all elements of several operands at a time, in NumPy's order. */

#ifndef ARRAY_API_NX_WALK_H
#define ARRAY_API_NX_WALK_H

#include "axis_orders.h"
#include "inner_loops.h"

enum { WALK_OPERANDS = 5 };

typedef struct {
    int ndim, operands;
    AxisOrder order;            /* of the axes of the result, which those of the walk are */
    npy_intp count;             /* elements */
    npy_intp shape[ARRAY_DIMS]; /* the common shape of the operands */
    npy_intp strides[WALK_OPERANDS][ARRAY_DIMS];
    char *data[WALK_OPERANDS];
} Walk;

/* Set the strides of operand `i`, of that shape, along the axes that are found: 0 where it is
   broadcast. */
void join_strides_of(Walk *walk, int i, int ndim, const npy_intp *shape, const npy_intp *strides);

static inline void join_strides(Walk *walk, int i, const Tensor *tensor)
{
    join_strides_of(walk, i, tensor->ndim, tensor->shape, tensor->strides);
}

/* Begin a walk over operands, where all but one may be NULL for scalars: broadcast their shapes,
   and set strides and count. 0 if they do not broadcast, or to no elements or more than `most`.
   `shape` becomes that of the result. */
int start_walk(Walk *walk, Tensor *const *operands, int count, npy_intp most, npy_intp *shape);

/* Put the axes into the order in which NumPy would walk over the operands that are there. 0 if it would go backwards along
   one, and so might compute other bits. `reversible` says that a loop gives the same bits backwards. */
int order_walk(Walk *walk, int reversible);

/* The strides of an operand that lies row-major along the axes as they are ordered. */
void lay_out(Walk *walk, int i, npy_intp itemsize);

/* `merge_axes` of a walk. All but `order` and `data` is set. Returns the number of axes. */
int merge_walk(const Walk *walk, Walk *merged);

/* Whether a loop is faster if elements so many bytes apart are copied first, to lie one after the
   other: the copy is made with vector instructions, which most loops do not use on such steps
   (docs/tuning.md, 15). */
static inline int is_slow_step(npy_intp step, npy_intp itemsize)
{
    return step == -itemsize || (step == 2 * itemsize && itemsize < (npy_intp)sizeof(npy_double));
}

/* Call the loop for every row. */
void run_walk(const Walk *walk, PyUFuncGenericFunction function, void *data);

/* As `run_walk`, but operands may be copied to lie one after the other. So one call computes many short rows, and vector
   instructions read what lies across the rows, or backwards. A loop is exact if it gives the same bits wherever its operands
   lie; others compute rows of operands that are not contiguous as NumPy does, from copies. The last operand is the target. It
   may be a source, too, if both have the same address and strides, but overlaps with no other one. `itemsizes` are those of
   all operands, `link` the arithmetic that the loop does, if it does any. */
void run_walk_in_blocks(const Walk *walk, const npy_intp *itemsizes, LinkOperation link, int is_exact,
                        PyUFuncGenericFunction function, void *data);

#endif
