/* Sequence: several kernels run one after the other in one call from Python.

   The arrays that the kernels work on are numbered: first the given ones, which are arguments of
   each call, then the fixed ones, which are the same in every call. Kernels and fixed arrays are
   checked when the sequence is made, given arrays in each call. */

#ifndef ARRAY_API_NX_SEQUENCE_H
#define ARRAY_API_NX_SEQUENCE_H

#include "common.h"
#include "tiles.h"
#include "twin_calls.h"

/* What an array given must be. */
typedef struct {
    PyArray_Descr *dtype;
    int ndim;
    npy_intp shape[NPY_MAXDIMS];
    npy_intp size; /* bytes */
    npy_uintp misaligned; /* the bits that its address must not have */
    int written;
} Expected;

/* What becomes of what an operand has accumulated, once its kernel has run. */
typedef struct {
    npy_intp operand, count; /* of the elements, which follow each other */
    npy_intp copies;         /* so many tasks have accumulators of their own */
    npy_intp target;         /* the number of the array that the result goes to */
    npy_intp itemsize;       /* of an element there */
    const Loop *combining;   /* the accumulators of two tasks; NULL if there is one copy, and for
                                moments */
    const char *identity;    /* what is combined starts from it */
    int divides;             /* sums, or the sums of squares of moments */
    double divisor;
} Outcome;

/* A pass: a kernel, or the call of a twin. */
typedef struct {
    TwinCall *call; /* NULL if it is a kernel */
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
    int divides;   /* whether a pass is worth more than one thread */
    int is_running; /* whether `run_on_arrays` is at work, which uses the fixed arrays */
    int declined;  /* how many runs ended at a twin that declined */
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

/* Run all passes, each on so many threads at most. `bases` are the addresses of all arrays. 1 if all
   ran; 0 if a compiled callable declined; -1 with an exception set. */
int run_sequence(const SequenceObject *self, char *const *bases, npy_uint8 (*flags)[MAX_STEPS],
                 npy_intp threads);

/* For each kernel a tuple of its steps' floating-point flags; or None, if no kernel raised any. */
PyObject *sequence_flags(const SequenceObject *self, npy_uint8 (*flags)[MAX_STEPS]);

/* Whether it is a Sequence. */
int is_sequence(PyObject *object);

/* Add the type to the module; -1 with an exception set. */
int add_sequence(PyObject *module);

#endif
