/* Inverses of small matrices, of which stacks have many. */

#ifndef ARRAY_API_NX_SMALL_INVERSES_H
#define ARRAY_API_NX_SMALL_INVERSES_H

#include "common.h"

int add_small_inverses(PyObject *module);

#endif
