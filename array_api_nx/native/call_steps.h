/* Calls of C implementations as steps of a sequence, for functions that are no kernels (reductions in
   NumPy's order, products, sorting). */

#ifndef ARRAY_API_NX_CALL_STEPS_H
#define ARRAY_API_NX_CALL_STEPS_H

#include "functions.h"

enum { CALL_OPERANDS = 3, CALL_ARGUMENTS = 8 };

typedef struct {
    const Implementation *implementation;
    int operand_count, position_count, argument_count;
    int arrays[CALL_OPERANDS]; /* the numbers of the operands' memory */
    PyObject *arguments[CALL_ARGUMENTS]; /* the operands, Arrays of this step alone; other
                                            arguments by position; those by name */
    PyObject *names;                     /* of the last, a tuple */
    PyObject *const *values;             /* all of them sorted by its parameters; NULL if they do not fit */
    PyObject *room[MOST_PARAMETERS];
    int result;                          /* the number of the memory that takes the result */
    npy_intp result_bytes;
} CallStep;

/* Read (name, ((number, dtype, shape, strides in bytes, offset in bytes) per operand), number of the
   result, names, values), where the first values may have no name. NULL with an exception set if it
   is something else. The caller checks the numbers. */
CallStep *read_call_step(PyObject *description);

/* The bytes of its memory that an operand covers, from `*low` to before `*high`. */
void operand_reach(const CallStep *call, int i, npy_intp *low, npy_intp *high);

/* Call it on memory at the addresses of the arrays. 1 if the result is there; 0 if the function declines,
   or met floating-point errors, which are not reported; -1 with an exception set. */
int run_call_step(const CallStep *call, char *const *addresses);

void free_call_step(CallStep *call);

#endif
