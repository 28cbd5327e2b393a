/* Python's operators, by the names of their methods. */

#ifndef ARRAY_API_NX_OPERATORS_H
#define ARRAY_API_NX_OPERATORS_H

#include "common.h"

typedef PyObject *(*Operator)(PyObject *const *args);

/* The operator whose method has a name, and how many arguments it takes; NULL if there is none. */
Operator find_operator(const char *name, int *count);

#endif
