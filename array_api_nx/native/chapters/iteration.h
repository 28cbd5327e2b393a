/* Iteration over the first axis. */

#ifndef ARRAY_API_NX_ITERATION_H
#define ARRAY_API_NX_ITERATION_H

#include "objects.h"

/* An iterator over array[0], array[1], ..., as many as the first axis has now;
   DECLINED if C does not know that. */
PyObject *iterate_rows(PyObject *array);

#endif
