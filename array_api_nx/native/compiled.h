/* Calls of compiled functions that are small programs. */

#ifndef ARRAY_API_NX_COMPILED_H
#define ARRAY_API_NX_COMPILED_H

#include "common.h"

/* Add the type to the module; -1 with an exception set. */
int add_compiled(PyObject *module);

#endif
