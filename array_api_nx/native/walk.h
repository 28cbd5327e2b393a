/* A walk over all elements of several operands at a time, in NumPy's order. */

#ifndef ARRAY_API_NX_WALK_H
#define ARRAY_API_NX_WALK_H

#include "objects.h"

enum { WALK_OPERANDS = 5 };

typedef struct {
    int ndim, operands;
    int turned;                 /* whether the axes go from the last to the first */
    npy_intp count;             /* elements */
    npy_intp shape[ARRAY_DIMS]; /* what the operands broadcast to */
    npy_intp strides[WALK_OPERANDS][ARRAY_DIMS];
    char *data[WALK_OPERANDS];
} Walk;

/* Broadcast the shape with that of another operand. 0 if they do not broadcast. */
int join_shape(Walk *walk, int ndim, const npy_intp *shape);

/* Set the strides of operand `i`, of that shape, along the axes that are found: 0 where it is
   broadcast. */
void join_strides_of(Walk *walk, int i, int ndim, const npy_intp *shape, const npy_intp *strides);

static inline void join_strides(Walk *walk, int i, const Tensor *tensor)
{
    join_strides_of(walk, i, tensor->ndim, tensor->shape, tensor->strides);
}

/* Begin a walk over operands, of which all but one may be NULL for scalars: broadcast their shapes,
   and set strides and count. 0 if they do not broadcast, or to no elements or more than `most`.
   `shape` becomes that of the result. */
int start_walk(Walk *walk, Tensor *const *operands, int count, npy_intp most, npy_intp *shape);

/* Put the axes into the order in which NumPy would walk over the operands that are there. 0 if it
   would be neither that of the axes nor the opposite one, or if it would go backwards along one, and
   so might compute other bits. `reversible` says that a loop gives the same bits backwards. */
int order_walk(Walk *walk, int reversible);

/* The strides of an operand that lies row-major along the axes as they are ordered. */
void lay_out(Walk *walk, int i, npy_intp itemsize);

void reverse_sizes(npy_intp *values, int count);

/* `merge_axes` of a walk. Only shape and strides are set. Returns the number of axes. */
int merge_walk(const Walk *walk, Walk *merged);

/* Rows of at most so many elements are computed many at a time where that needs copies of what they
   share, or of what they read. A row of 10 elements by itself takes 15 to 20 ns, and 5 to 8 ns so (AMD
   EPYC). */
enum { FEW_COLUMNS = 32 };

/* Whether copies of rows with such a step take less time than loops lose by it. They are made with
   vector instructions, as few loops read: sums of 50,000 float32 of every other element take 12
   microseconds so, and 18 otherwise; of every third, which are copied one by one, 21 and 10; of every
   other float64, of which a vector has few, 26 and 17. (Two threads, AMD EPYC.) */
static inline int is_slow_step(npy_intp step, npy_intp itemsize)
{
    return step == -itemsize || (step == 2 * itemsize && itemsize < (npy_intp)sizeof(npy_double));
}

/* Call the loop for every row. */
void run_walk(const Walk *walk, PyUFuncGenericFunction function, void *data);

/* As `run_walk`, for loops of which every bit is defined, whose arguments may be copied to lie one
   after the other: short rows are computed many at a time, and what lies across or backwards is read
   by vector instructions. The last operand is the target, and shares no memory with others that lie
   elsewhere. `itemsizes` are those of all operands. */
void run_exact_walk(const Walk *walk, const npy_intp *itemsizes, PyUFuncGenericFunction function,
                    void *data);

#endif
