/* CallGroup: calls of a compiled function that compute element by element. */

#ifndef ARRAY_API_NX_CALL_GROUPS_H
#define ARRAY_API_NX_CALL_GROUPS_H

#include "common.h"

/* What the group makes of so many arrays: an Array or a tuple of them; NULL with an exception set. */
PyObject *run_group(PyObject *group, PyObject *const *arrays, Py_ssize_t count);

int is_group(PyObject *object);

#endif
