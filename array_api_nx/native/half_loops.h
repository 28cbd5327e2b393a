/* Loops of float16 that convert by instructions of the processor, where it has them. */

#ifndef ARRAY_API_NX_HALF_LOOPS_H
#define ARRAY_API_NX_HALF_LOOPS_H

#include "dtypes.h"
#include "inner_loops.h"

/* A loop of a ufunc on float16. */
typedef struct {
    const char *name; /* the ufunc's */
    PyUFuncGenericFunction function;
    PyUFuncGenericFunction numpys;
    PyUFuncGenericFunction floats; /* NumPy's for floats, by which elements are reduced, or NULL */
    void *floats_data;
} HalfLoop;

/* In place of NumPy's loop of the ufunc for operands of a type, with the same bits, a faster one, if there
   is one: `*function` and `*data`, which the function takes. Whether there is. */
int replace_half_loop(PyObject *ufunc, int type, PyUFuncGenericFunction *function, void **data);

/* A faster cast from or to float16 than C's; NULL if there is none. */
PyUFuncGenericFunction half_cast(DTypeCode from, DTypeCode to);

#endif
