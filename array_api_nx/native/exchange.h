/* DLPack's exchange of arrays in C, as in version 1.3 of its header. */

#ifndef ARRAY_API_NX_EXCHANGE_H
#define ARRAY_API_NX_EXCHANGE_H

#include "objects.h"

int add_exchange(PyObject *module);

#endif
