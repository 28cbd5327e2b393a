/* Settings from Python: see settings.c. */

#ifndef ARRAY_API_NX_SETTINGS_H
#define ARRAY_API_NX_SETTINGS_H

#include "objects.h"
#include "threads.h"

/* A device argument: `cpu`, or nothing or None while `cpu` is where new arrays live. */
int is_new_on_cpu(PyObject *device);

/* Whether no context refuses NumPy's arrays as operands. */
int takes_numpy_operands(void);

/* How many threads a computation that begins now may use at most; -1 with an exception set. Runs
   Python code. */
Py_ssize_t most_threads(void);

/* Compute so many parts, on as many threads as may be used. 0 with an exception set if that is not known, or if there is no
   memory. */
int run_in_parts(RunPart run, const void *parts, npy_intp count);

/* Report floating-point errors as numpy.errstate says. -1 with an exception set if that raises one. */
int apply_errstate(PyObject *name, int flags);

/* The result, whose reference is stolen, after the report of an operation's errors; NULL if that raises. */
static inline PyObject *settle(PyObject *result, PyObject *name, int flags)
{
    if (flags != 0 && apply_errstate(name, flags) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

#endif
