/* Operations element by element over operands that do not lie in one run. */

#ifndef ARRAY_API_NX_ELEMENT_WALKS_H
#define ARRAY_API_NX_ELEMENT_WALKS_H

#include "elementwise.h"

/* A loop over the operands of a walk, the last of which is the target. */
typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    npy_intp itemsizes[WALK_OPERANDS]; /* of all operands */
    LinkOperation link;
    int is_exact;          /* whether its bits do not depend on how its operands lie */
    npy_intp serial_limit; /* elements up to which one thread is as fast as several */
} WalkLoop;

/* Compute over a walk, on several threads if it is worth it. 0 with an exception set if there was no memory or a signal
   came. Runs Python code. */
int compute_walk(const Walk *walk, const WalkLoop *loop, int *flags);

/* The result of a loop over arrays of any layout, and scalars where `operands` has NULL; `data` is where they lie. */
PyObject *compute_by_walk(const ElementLoop *loop, Tensor *const *operands, int count, char *const *data);

/* The same, with the results written to the last of `count + 1` operands, the array of `object`: a new reference to that. */
PyObject *write_by_walk(const ElementLoop *loop, PyObject *object, Tensor *const *operands, int count, char *const *data);

#endif
