/* Calls of compiled callables as steps of a sequence: what the functions of Python compute that are
   no kernels (reductions in NumPy's order, products, sorting). */

#ifndef ARRAY_API_NX_TWIN_CALLS_H
#define ARRAY_API_NX_TWIN_CALLS_H

#include "functions.h"

enum { TWIN_OPERANDS = 3, TWIN_ARGUMENTS = 8 };

typedef struct {
    const TwinEntry *twin;
    int operand_count, position_count, argument_count;
    int arrays[TWIN_OPERANDS]; /* the numbers of the operands' memory */
    PyObject *arguments[TWIN_ARGUMENTS]; /* the operands, Arrays which nobody else sees; other
                                            arguments by position; those by name */
    PyObject *names;                     /* of the last, a tuple */
    int result;                          /* the number of the memory that takes the result */
    npy_intp result_bytes;
} TwinCall;

/* Read (name, ((number, dtype, shape, strides in bytes, offset in bytes) per operand), number of the
   result, names, values), where the first values may have no name. NULL with an exception set if it
   is something else. The caller checks the numbers. */
TwinCall *read_twin_call(PyObject *description);

/* The bytes of its memory that an operand covers, from `*low` to before `*high`. */
void operand_reach(const TwinCall *call, int i, npy_intp *low, npy_intp *high);

/* Call it on memory at the addresses of the arrays. 1 if the result is there; 0 if the twin
   declines, or met floating-point errors, of which nobody is told; -1 with an exception set. */
int run_twin_call(const TwinCall *call, char *const *addresses);

void free_twin_call(TwinCall *call);

#endif
