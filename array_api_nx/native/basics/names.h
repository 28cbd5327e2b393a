/* Strings that Python code compares by address: attributes, and NumPy's names for operations in warnings. */

#ifndef ARRAY_API_NX_NAMES_H
#define ARRAY_API_NX_NAMES_H

#include "common.h"

#define EACH_NAME(N)                                                                             \
    N(reduce) N(accumulate) N(divide) N(subtract) N(multiply) N(cast) N(array_api_nx) N(_run) N(_resized) N(backend)        \
    N(copy) N(shape) N(is_row_major) N(__name__) N(__array__)

#define AS_MEMBER(NAME) PyObject *NAME;
typedef struct {
    EACH_NAME(AS_MEMBER)
} Names;
#undef AS_MEMBER

extern Names names_of;

#endif
