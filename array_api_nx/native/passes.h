/* The parts of a Sequence. */

#ifndef ARRAY_API_NX_PASSES_H
#define ARRAY_API_NX_PASSES_H

#include "kernel_types.h"

/* The requirements of an array given. */
typedef struct {
    PyArray_Descr *dtype;
    int ndim;
    npy_intp shape[NPY_MAXDIMS];
    npy_intp size; /* bytes */
    npy_uintp misaligned; /* the bits that its address must not have */
    int written;
} Expected;

/* The use of the accumulators of an operand, once its kernel has run. */
typedef struct {
    npy_intp operand, count; /* of the elements, which follow each other */
    npy_intp copies;         /* so many tasks have accumulators of their own */
    npy_intp target;         /* the number of the array that the result goes to */
    npy_intp itemsize;       /* of an element there */
    const Loop *combining;   /* the accumulators of two tasks; NULL if there is one copy, and for
                                moments */
    const char *identity;    /* the start of a combination */
    int divides;             /* sums, or the sums of squares of moments */
    double divisor;
} Outcome;

/* A pass of a kernel. */
typedef struct {
    const Kernel *kernel;
    npy_intp threads;
    int arrays[MAX_OPERANDS];
    npy_intp offsets[MAX_OPERANDS];
    Outcome *outcomes;
    int outcome_count;
} Pass;

typedef struct {
    PyObject_HEAD
    int given_count, fixed_count, pass_count;
    int keeps_gil; /* whether calls are too short for releasing the GIL to be worth while */
    Expected *given;
    PyArrayObject **fixed;
    Pass *passes;
    PyObject *description; /* keeps the kernels alive */
} SequenceObject;

/* The bytes of array `number`. */
static inline npy_intp memory_size(const SequenceObject *self, int number)
{
    return number < self->given_count ? self->given[number].size
                                      : PyArray_NBYTES(self->fixed[number - self->given_count]);
}

#endif
