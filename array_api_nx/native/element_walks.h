/* Operations element by element over operands that do not lie in one run. */

#ifndef ARRAY_API_NX_ELEMENT_WALKS_H
#define ARRAY_API_NX_ELEMENT_WALKS_H

#include "elementwise.h"

/* Elements from which a walk that is not a single row is cut into tiles, which use the caches better than whole rows
   do, and reads packed copies of what lies across the others (docs/tuning.md, 136). */
enum { TILED_FROM = 8192 };

/* Compute over a walk that `can_divide`, whose last operand is the target, on several threads if it
   has more elements than `serial_limit`. `materialise_scalar` says that the loop is slow with an array
   and a scalar, `is_exact` that its bits do not depend on how its operands lie. 0 with an exception
   set if there was no memory or a signal came. Runs Python code. */
int compute_walk(const Walk *walk, const Loop *loop, npy_intp serial_limit, int materialise_scalar,
                 int is_exact, int *flags);

/* The result of a loop over arrays of any layout, and scalars where `operands` has NULL; `data` is where they lie. */
PyObject *compute_by_walk(const ElementLoop *loop, Tensor *const *operands, int count, char *const *data);

/* `x` of `object`, to which the loop's results are written; `y` is NULL for a scalar. */
PyObject *update_walk(const ElementLoop *loop, PyObject *object, Tensor *x, Tensor *y, char *const *data);

#endif
