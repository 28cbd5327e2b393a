/* DLPack: the methods of arrays, and the exchange in C, as in version 1.3 of its header. */

#ifndef ARRAY_API_NX_EXCHANGE_H
#define ARRAY_API_NX_EXCHANGE_H

#include "functions.h"

extern const TwinEntry exchange_twins[];

int add_exchange(PyObject *module);

#endif
