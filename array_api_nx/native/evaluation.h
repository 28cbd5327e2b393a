/* A pass over memory, which computes an expression by a plan. */

#ifndef ARRAY_API_NX_EVALUATION_H
#define ARRAY_API_NX_EVALUATION_H

#include "plans.h"

/* Which operands lie in the memory that the root of an expression is written to: none; or some, each element of
   them at the place that is written when it has been read; or some whose elements lie there or above. */
typedef enum { APART_FROM_OPERANDS, OVER_OPERANDS, BELOW_OPERANDS } Overlap;

/* Where the root is written. */
typedef struct {
    char *data;
    npy_intp strides[NODE_DIMS]; /* along the axes of the root */
    Overlap overlaps;
} Target;

/* The floating-point errors of a node, and those to warn of, as NumPy's bits. */
typedef struct {
    PyObject *name;
    const Node *node; /* which may be gone when the errors are told of */
    int flags, mask;
} Error;

/* Those of an expression. */
typedef struct {
    int count;
    Error items[MOST_NODES];
} Errors;

/* Find out how many threads may compute the expression below a node, before it is found: this runs Python
   code. 0 with an exception set. */
int find_threads(const Node *root, Expression *expression);

/* Find the expression below a node, and a plan for it; NULL with an exception set. */
const Plan *prepare_expression(Node *root, Expression *expression);

/* Compute an expression, whose root is written to a target or, if that is NULL, to new memory of its own. What is
   stored is then no longer pending, but for a root that has a target: the caller decides on that. 0 with an
   exception set, and nothing done, if there is no memory or Ctrl-C came; -1 if that was not to end the computation:
   then the expression has to be found again. */
int compute_expression(const Expression *expression, const Plan *plan, const Target *target, Errors *errors);

/* Warn; 0 with an exception set if a warning is one. */
int report_errors(const Errors *errors);

/* fperrors.report. */
void set_report(PyObject *function);

#endif
