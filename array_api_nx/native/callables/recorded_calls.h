/* Calls of Python functions, which the recorder of calls sees while functions are traced. */

#ifndef ARRAY_API_NX_RECORDED_CALLS_H
#define ARRAY_API_NX_RECORDED_CALLS_H

#include "common.h"

/* Call a Python function for a compiled callable that declines, or for a method of Array, where
   `callable` is NULL. While functions are traced, the recorder of calls is asked instead. */
PyObject *call_python(PyObject *function, PyObject *callable, PyObject *const *args, size_t flags,
                      PyObject *names);

/* As `enter_pool` (memory.h), for a call with these arguments. Also NULL if they are no more than small arrays and numbers that
   would be the shape of one: what is made then is hardly larger. */
PyObject *enter_pool_for(PyObject *const *args, Py_ssize_t count);

#endif
