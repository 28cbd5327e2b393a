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

/* How the elements of a root are reduced in the pass that computes them: runs are added up (sums.h), true elements are
   counted, or a loop takes (accumulator, element) to the accumulator. */
typedef enum { ADD_RUNS, COUNT_ONES, RUN_LOOP } FoldKind;

typedef struct {
    FoldKind kind;
    OperationCode operation;
    const ElementLoop *loop; /* of it; not used by counts */
    int is_divisible;        /* whether parts of a run may be reduced apart, with the same bits */
    DTypeCode element, accumulator;
    char *data;                  /* the accumulators, which hold the identity */
    npy_intp strides[NODE_DIMS]; /* theirs along the axes of the root: 0 along those that are reduced */
    int drops_root;              /* whether the root is not needed otherwise, and so gets no memory */
    int is_read;                 /* whether the root is but a copy, whose operand is read instead */
    atomic_uchar flags;          /* that reducing raised */
} Fold;

/* The floating-point errors of a node, and those to warn of, as NumPy's bits. */
typedef struct {
    PyObject *name;
    const Node *node; /* which may be gone when the errors are reported */
    int flags, mask;
} Error;

/* Those of an expression. */
typedef struct {
    int count;
    Error items[MOST_NODES];
} Errors;

/* Nanoseconds that one thread takes to compute an expression whose operands lie in the caches. */
double time_of(const Expression *expression);

/* A pass that takes so many nanoseconds can be interrupted. */
#define LONG_PASS 5e7

/* Find out how many threads may compute the expression below a node, before it is found: this runs Python
   code. 0 with an exception set. */
int find_threads(const Node *root, Expression *expression);

/* Find the expression below a node, and a plan for it; NULL with an exception set. */
const Plan *prepare_expression(Node *root, Expression *expression);

/* Compute an expression, whose root is written to a target or, if that is NULL, to new memory of its own; and reduce
   it, if there is a fold. Stored values are then no longer pending, but for a root that has a target or is dropped by
   its fold, which is left to the caller. 0 with an exception set, and nothing stored, if there is no memory or Ctrl-C
   came; -1 if that was not to end the computation: then the expression has to be found again. */
int compute_expression(const Expression *expression, const Plan *plan, const Target *target, Fold *fold,
                       Errors *errors);

/* Reduce an array of a size that is recorded. `fold` says how, but not where to: the result, which has a shape and
   holds one identity, is new. `is_temporary` says that nothing else needs the array. DECLINED if C cannot; NULL with an
   exception set. */
PyObject *fold_array(Tensor *x, int is_temporary, const char *reduced, int keepdims, Fold *fold, const Element *identity);

/* Warn; 0 with an exception set if a warning is one. */
int report_errors(const Errors *errors);

/* fperrors.report. */
void set_report(PyObject *function);

#endif
