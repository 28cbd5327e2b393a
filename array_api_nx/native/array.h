/* The type Array. */

#ifndef ARRAY_API_NX_ARRAY_H
#define ARRAY_API_NX_ARRAY_H

#include "functions.h"

int add_array(PyObject *module);

#endif
