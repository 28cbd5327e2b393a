/* Kernel: a kernel as a Python object, parsed and checked once and run any number of times. */

#ifndef ARRAY_API_NX_KERNEL_H
#define ARRAY_API_NX_KERNEL_H

#include "kernel_types.h"

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    PyObject *program; /* keeps the loops alive */
} KernelObject;

/* The type of a KernelObject. It has no subclasses. */
extern PyTypeObject *kernel_type;

/* Whether the kernel has no elements. */
static inline int is_empty(const Kernel *kernel)
{
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->dims[i] == 0) {
            return 1;
        }
    }
    return 0;
}

/* Kernel.reduce (kernel_reductions.c). */
PyObject *kernel_reduce(PyObject *object, PyObject *const *args, Py_ssize_t arg_count);

#endif
