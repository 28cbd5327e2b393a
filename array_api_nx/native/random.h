/* Random numbers from counters. */

#ifndef ARRAY_API_NX_RANDOM_H
#define ARRAY_API_NX_RANDOM_H

#include "common.h"

/* Add `drawing` and `draw` to the module; -1 with an exception set. */
int add_random(PyObject *module);

#endif
