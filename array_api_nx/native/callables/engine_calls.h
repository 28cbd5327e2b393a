/* Calls of compiled functions whose programs another engine has compiled. */

#ifndef ARRAY_API_NX_ENGINE_CALLS_H
#define ARRAY_API_NX_ENGINE_CALLS_H

#include "common.h"

/* What such a call needs, a tuple:

   compute   a function of the engine's arrays, which returns a list or a tuple of them and writes
             nothing
   backend   the device's, as long as no function is being traced
   device
   given     a tuple of (shape, dtype) for each argument
   order_test  the name of the method for whether an array of the engine is row-major; None if
             all of its arrays are
   results   a tuple of (number among what `compute` returns, dtype)
   is_tuple  whether the result is a tuple, and not its only array */
enum { COMPUTE, BACKEND, DEVICE, GIVEN, ORDER_TEST, RESULTS, IS_TUPLE, ENGINE_CALL_SIZE };

/* Whether `value` is such a tuple. */
int is_engine_call(PyObject *value);

/* The result, an Array or a tuple of them; DECLINED, with nothing done, if the arguments are not those
   that the program was compiled for, or if it raises an Exception; NULL with an exception set. */
PyObject *call_engine(PyObject *described, PyObject *const *arrays, Py_ssize_t count);

#endif
