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

/* The floating-point flags of a kernel's steps, as a tuple; NULL with an exception set. */
PyObject *flags_tuple(const Kernel *kernel, const npy_uint8 *flags);

#endif
