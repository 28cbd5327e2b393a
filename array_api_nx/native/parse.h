/* From the Kernel of kernel.py to the structs of tiles.h, with every rule checked that keeps the
   machine inside its memory. */

#ifndef ARRAY_API_NX_PARSE_H
#define ARRAY_API_NX_PARSE_H

#include "kernel_types.h"

/* A kernel in memory of its own, of the keywords of a call, whose names are the fields of kernel.Kernel;
   NULL with an exception set if they break a rule. */
Kernel *parse_kernel(PyObject *keywords);

/* Free a kernel, or nothing if it is NULL. */
void free_kernel(Kernel *kernel);

#endif
