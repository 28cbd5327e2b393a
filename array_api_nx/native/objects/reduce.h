/* How a reduction goes over an array: which axes it merges, in what order it adds up, and how its
   result lies in memory. All of it is as NumPy does it, because sums of floating-point numbers
   depend on their order. */

#ifndef ARRAY_API_NX_REDUCE_H
#define ARRAY_API_NX_REDUCE_H

#include "elementwise.h"
#include "pack.h"

typedef struct {
    /* The result. Strides in bytes. */
    int ndim;
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    npy_intp size;
    npy_intp count; /* how many elements are reduced to one */
    /* The walk over the source. Its axes are merged where possible; the fastest comes last.
       Steps in bytes through the source and the result: 0 there along axes that are reduced. */
    int axes;
    npy_intp lengths[ARRAY_DIMS], from[ARRAY_DIMS], to[ARRAY_DIMS];
} ReductionPlan;

/* Mark the axes that a caller names. 0 if Python has to look at them. */
int take_axes(PyObject *value, int ndim, char *reduced);

/* Plan to reduce the marked axes of a source, which is walked over in an order of axes, to a
   result with elements of `itemsize` bytes. */
void plan_reduction(ReductionPlan *plan, int ndim, const npy_intp *shape, const npy_intp *strides,
                    const npy_uint8 *order, const char *reduced, int keepdims, npy_intp itemsize);

/* Whether NumPy may copy elements to a buffer so that a loop reduces more of them in one call.
   Then a loop called for every row may give other bits: if it adds in pairs, or with vector
   instructions. */
int may_be_buffered(const ReductionPlan *plan);

/* Copy elements that are all reduced to one, and that NumPy's buffer has room for, so that they are one run as they are
   there: 1; 0 for others, -1 with an exception set if there is no memory. */
int pack_as_buffer(const ReductionPlan *plan, Ordered *x);

/* Whether no two axes are equally fast and none repeats its elements. Then it is certain in which
   order the axes of a copy in order "K" are. */
int has_plain_order(const Tensor *x);

/* Give the result the strides that NumPy gives to the result of an operation element by element
   on it. 0 if they are not known: they may be others if there are axes of size 1. */
int settle_strides(ReductionPlan *plan, npy_intp itemsize);

/* Call the loop of a binary operation for every row of the source. The result must hold an
   identity of the operation, unless `copies`, which has the first elements be copied to it. */
void run_reduction(const ReductionPlan *plan, PyUFuncGenericFunction function, void *data,
                   const char *from, char *to, int copies, npy_intp itemsize);

/* `run_reduction` by the loop of an addition, for a result that holds zeros. */
void run_sum(const ReductionPlan *plan, DTypeCode code, PyUFuncGenericFunction function, void *data,
             const char *from, char *to);

/* `run_reduction` by the loop of NumPy's maximum, or of its minimum if `smallest`. */
void run_extremes(const ReductionPlan *plan, DTypeCode code, int smallest, PyUFuncGenericFunction function, void *data,
                  const char *from, char *to);

/* Reduce rows of adjacent elements, which lie `step` bytes apart, to one row, which has been begun: by OP_ADD, OP_MAXIMUM
   or OP_MINIMUM, row after row. 0, with nothing done, if it is another operation or dtype. */
int combine_rows(OperationCode op, DTypeCode code, const char *from, npy_intp step, char *to, npy_intp rows,
                 npy_intp columns);

/* An array for the result, not initialised. */
PyObject *new_reduced(const ReductionPlan *plan, DTypeCode code, char **data);

/* A new array without gaps, whose axes have an order. */
PyObject *new_ordered(int ndim, const npy_intp *shape, const npy_intp *strides, DTypeCode code,
                      char **data);

#endif
