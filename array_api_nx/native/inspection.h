/* Questions about dtypes, and the namespace of an array. */

#ifndef ARRAY_API_NX_INSPECTION_H
#define ARRAY_API_NX_INSPECTION_H

#include "functions.h"

extern const TwinEntry inspection_twins[];

int add_inspection(PyObject *module);

#endif
