/* Calls of a Python function, shared by the threads of a team.

   Every thread holds the GIL while it calls: what runs in parallel is what the function does without
   it, such as NumPy's work on a slice of an array. A worker makes its calls in a copy of the caller's
   context: they see the context variables that the caller's calls see, NumPy's errstate among them. */

#ifndef ARRAY_API_NX_CALLS_H
#define ARRAY_API_NX_CALLS_H

#include "common.h"

/* Take the exception that is set away from this thread, with its traceback. */
PyObject *take_exception(void);

/* Raise an exception that was taken away from a thread. Steals the reference. */
void put_exception(PyObject *exception);

/* Add `parallel_for` and `retire_workers` to the module; -1 with an exception set. */
int add_calls(PyObject *module);

#endif
