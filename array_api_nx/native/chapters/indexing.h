/* Brackets: selecting by a key, and writing there. */

#ifndef ARRAY_API_NX_INDEXING_H
#define ARRAY_API_NX_INDEXING_H

#include "objects.h"

PyObject *get_item(PyObject *array, PyObject *key);

/* 1 if written, 0 if declined, -1 with an exception set. */
int set_item(PyObject *array, PyObject *key, PyObject *value);

#endif
