/* One call of a loop for all elements: results in new memory (elementwise.c), and in an array that is there (updates.c). */

#ifndef ARRAY_API_NX_ELEMENT_RUNS_H
#define ARRAY_API_NX_ELEMENT_RUNS_H

#include "elements.h"
#include "elementwise.h"
#include "flags.h"
#include "nodes.h"

/* The bytes from one element to the next of an operand that is one run. NumPy does not step through arrays without
   axes, and some loops compute other last bits then. */
static inline npy_intp step_of(const Tensor *x)
{
    return x->ndim == 0 ? 0 : dtypes[x->code].itemsize;
}

/* Run a loop that takes longer than others may wait for this thread; returns its flags. */
static inline int run_for_long(const ElementLoop *loop, char **args, npy_intp size, npy_intp *steps)
{
    int flags;
    Py_BEGIN_ALLOW_THREADS
    clear_flags();
    loop->function(args, &size, steps, loop->data);
    flags = take_flags();
    Py_END_ALLOW_THREADS
    return flags;
}

/* Run a loop; returns its floating-point flags. */
static inline int run_loop(const ElementLoop *loop, char **args, npy_intp size, npy_intp *steps)
{
    if (size > loop->serial_limit) {
        return run_for_long(loop, args, size, steps);
    }
    if (loop->is_quiet) {
        loop->function(args, &size, steps, loop->data);
        return 0;
    }
    if (loop->is_arithmetic) {
        clear_vector_flags();
        loop->function(args, &size, steps, loop->data);
        return take_vector_flags();
    }
    clear_flags();
    loop->function(args, &size, steps, loop->data);
    return take_flags();
}

/* Whether one call of a loop computes all elements in the order in which they lie, while this thread
   alone would take no longer than several, or may not be helped. */
static inline int is_one_run(const ElementLoop *loop, const Tensor *x)
{
    return (x->size <= loop->serial_limit || loop->is_alone) && x->size <= limits.at_once &&
           (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) != 0;
}

/* Whether elements lie one after the other, in the same order for both. */
static inline int lie_alike(const Tensor *x, const Tensor *y)
{
    return (x->flags & y->flags & (ROW_MAJOR | COLUMN_MAJOR)) != 0 && has_shape(x, y->ndim, y->shape);
}

/* Whether one call of a loop goes through vectors that do not lie one after the other, as NumPy does: `steps`
   become those of the operands. Their lengths are that of `first`; NULL, and an array without axes, is a scalar. */
static INLINE int is_one_row(const ElementLoop *loop, const Tensor *first, Tensor *const *operands,
                             const int count, npy_intp *steps)
{
    if (first->ndim != 1 || first->size > loop->serial_limit || first->size > limits.at_once) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        steps[i] = operands[i] == NULL || operands[i]->ndim == 0 ? 0 : operands[i]->strides[0];
        if (steps[i] < 0 || is_slow_step(steps[i], dtypes[loop->operand].itemsize)) {
            return 0;
        }
    }
    return 1;
}

/* `x` itself or a copy with the dtype of a loop, a new reference, perhaps one that waits; NULL as `cast_operand`. */
Tensor *cast_if_needed(Tensor *x, DTypeCode code);

#endif
