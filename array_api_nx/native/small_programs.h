/* Compiled functions of few passes, called with arrays of device `cpu`: they run without Python code. */

#ifndef ARRAY_API_NX_SMALL_PROGRAMS_H
#define ARRAY_API_NX_SMALL_PROGRAMS_H

#include "common.h"

/* A small program, which a call runs on its arguments. */
typedef struct {
    PyObject *sequence;  /* a Sequence */
    PyObject *constants; /* a tuple of Tensors, which the sequence takes after the arguments */
    PyObject *order;     /* a tuple: of each result the number among the last given arrays; in a tuple
                            with shape, strides and offset in bytes if it is shown in another layout */
    int is_single;       /* whether the only result is not to stand in a tuple */
} SmallProgram;

/* Run it on arrays of device `cpu`. Returns the result, an Array or a tuple of them; DECLINED, with
   nothing done, if the sequence was made for other arrays; NULL with an exception set. If
   there were floating-point errors, `*flags` becomes a tuple of them, per pass and step. */
PyObject *run_on_arrays(const SmallProgram *program, PyObject *const *arrays, Py_ssize_t count,
                        PyObject **flags);

#endif
