/* Sequence: several kernels run one after the other in one call from Python.

   The arrays that the kernels work on are numbered: first the given ones, which are arguments of
   each call, then the fixed ones, which are the same in every call. Kernels and fixed arrays are
   checked when the sequence is made, given arrays in each call. */

#ifndef ARRAY_API_NX_SEQUENCE_H
#define ARRAY_API_NX_SEQUENCE_H

#include "common.h"

/* What a call of a small compiled function needs besides its arguments. */
typedef struct {
    PyObject *sequence;
    PyObject *constants; /* a tuple of Tensors, which the sequence takes after the arguments */
    PyObject *order;     /* a tuple: of each result the number among the last given arrays; in a tuple
                            with shape, strides and offset in bytes if it is shown in another layout */
    int is_single;       /* whether the only result is not to stand in a tuple */
} SmallProgram;

/* Run it on arrays of device `cpu`. Returns the result, an Array or a tuple of them; DECLINED, with
   nothing done, if the arrays are not what the sequence was made for; NULL with an exception set. If
   there were floating-point errors, `*flags` becomes a tuple of them, per pass and step. */
PyObject *run_on_arrays(const SmallProgram *program, PyObject *const *arrays, Py_ssize_t count,
                        PyObject **flags);

/* Whether it is a Sequence. */
int is_sequence(PyObject *object);

/* Add the type to the module; -1 with an exception set. */
int add_sequence(PyObject *module);

#endif
