/* Where the least or the greatest element of a short row is. */

#ifndef ARRAY_API_NX_ARG_EXTREMES_H
#define ARRAY_API_NX_ARG_EXTREMES_H

#include "common.h"

int add_arg_extremes(PyObject *module);

#endif
