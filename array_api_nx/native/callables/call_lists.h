/* CallList: a compiled function as the calls that it makes, in their order. */

#ifndef ARRAY_API_NX_CALL_LISTS_H
#define ARRAY_API_NX_CALL_LISTS_H

#include "common.h"

/* Whether it is a CallList. */
int is_call_list(PyObject *object);

/* What the function returns for so many arrays; DECLINED, with nothing done, if the list is for other
   arrays or other settings; NULL with an exception set. */
PyObject *run_call_list(PyObject *list, PyObject *const *arrays, Py_ssize_t count);

/* The same for a list that serves all sizes, and is known to be for such arrays, which it does not write. */
PyObject *run_unbound_list(PyObject *list, PyObject *const *arrays, Py_ssize_t count);

/* The shapes of the arguments, a tuple, if they are those that the list is for but for their sizes;
   NULL, perhaps without an exception, if they are others. */
PyObject *other_sizes(PyObject *list, PyObject *const *arrays, Py_ssize_t count);

#endif
