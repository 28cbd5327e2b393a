/* Ufuncs of NumPy and of others on arrays of device `cpu`. */

#ifndef ARRAY_API_NX_UFUNCS_H
#define ARRAY_API_NX_UFUNCS_H

#include "functions.h"

extern const TwinEntry ufunc_twins[];

int add_ufuncs(PyObject *module);

#endif
