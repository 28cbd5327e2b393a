/* ContextCaller: calls of functions in contexts that were prepared for them.

   `Context.run` does the same from Python. But to take a context that no other call is in, and to
   look whether the call has left anything in its list, takes Python code as long as a small
   operation. */

#ifndef ARRAY_API_NX_CONTEXT_H
#define ARRAY_API_NX_CONTEXT_H

#include "common.h"

/* Add the type to the module; -1 with an exception set. */
int add_context(PyObject *module);

#endif
