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

/* A pass computes at most so many reductions of its root. */
enum { MOST_FOLDS = 4 };

typedef struct Fold Fold;

/* A reduction of a root in the pass that computes it. */
struct Fold {
    Fold *next; /* of the same root, along the same axes; or NULL */
    int number; /* among those */
    Node *node; /* that is the reduction */
    const Reduction *reduction;
    char *data;         /* the accumulators, which hold the identity: the result's memory, or `taken` */
    char *taken;        /* memory for moments; or NULL */
    int drops_root;     /* whether the root is not needed otherwise, and so gets no memory */
    int is_read;        /* whether the root is but a copy, whose operand is read instead */
    atomic_uchar flags, divided, cast; /* that reducing raised, and dividing or rounding to the result */
};

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

/* Nanoseconds that it takes to reduce an element. */
#define FOLD_TIME 0.2

/* A pass that takes so many nanoseconds can be interrupted. */
#define LONG_PASS 5e7

/* Nanoseconds of all that waits, from which it is worth to ask how many threads there may be: those of two parts of a pass. */
#define ASKED_FROM 24000.0f

/* Find out how many threads may compute the expression below a node, before it is found: this runs Python
   code. 0 with an exception set. */
int find_threads(const Node *root, Expression *expression);

/* Find the expression below a storage's node, and a plan for it. NULL, perhaps with an exception set, if the storage does not
   wait for that node any more. What is to be computed before is; or all that `result` waits for, if that is not NULL. */
const Plan *prepare_expression(Storage *storage, Storage *result, Expression *expression, Errors *errors);

/* How many operands of an expression lie in a storage. */
npy_intp count_reads(const Expression *expression, const Storage *storage);

/* Compute an expression, whose root is written to a target or, if that is NULL, to new memory of its own; and reduce
   it, if there is a fold, whose result has memory. Stored values and reductions are then no longer pending, but for a root
   that has a target or is dropped by its folds, which is left to the caller. 0 with an exception set, and nothing stored, if
   there is no memory or Ctrl-C came; -1 if that was not to end the computation: then the expression has to be found again. */
int compute_expression(const Expression *expression, const Plan *plan, const Target *target, Fold *fold,
                       Errors *errors);

/* Give the root of one operation the memory of an operand that nothing else refers to, as that of a temporary array, and
   describe it: fewer bytes have to be in the caches than in memory of its own. The storage of the operand; or NULL. */
Storage *take_memory(const Expression *expression, Target *target);

/* Compute a node whose operands lie in memory by one call of its operation's function, if that takes less time than ASKED_FROM.
   The expression is filled in for this node. 1; 0 with an exception set; -1 if it takes a pass. */
int compute_alone(Node *node, Expression *expression, Errors *errors);

/* The storage whose node, which is no reduction, computes the operand of one: a new reference; NULL with an exception
   set. */
Storage *source_of(const Node *node);

/* Give the fold accumulators, which hold the identity, for a result whose memory is there. 0 if there is no memory. */
int begin_accumulators(Fold *fold);

/* Make the elements of the result of `size` accumulators that are complete, from number `from` on. */
void finish_accumulators(Fold *fold, npy_intp from, npy_intp size);

/* Free what the fold has taken. */
void end_accumulators(Fold *fold);

/* Note the errors that reducing and dividing raised. */
void note_reduction_errors(const Fold *fold, Errors *errors);

/* Those of the operations of an expression. */
void note_errors(const Expression *expression, const Plan *plan, const atomic_uchar *flags, Errors *errors);

/* Compute what a storage waits for, by several passes block by block (expression_phases.c). 1; 0 if that is not worth it, or
   cannot be; -1 with an exception set. */
int compute_phases(Storage *storage, npy_intp threads, Errors *errors);

/* Warn; 0 with an exception set if a warning is one. */
int report_errors(const Errors *errors);

/* fperrors.report. */
void set_report(PyObject *function);

#endif
