/* Operations element by element that wait until somebody needs their results.

   The storage of a result that is pending has a node: the operation, and the storages of its operands, which
   may be pending, too. When elements are read, the nodes below the result are one expression, which is
   computed in one pass (plans.h, passes over memory: evaluation.h).

   What keeps this right:

   - An operand that others can write (it came in by reference, or was handed out) is not waited for: the
     operation is computed at once. Of operands with few elements the node reads a copy.
   - Before memory is written, every pending operation that reads it is computed (`release_readers`).
   - A value that is needed outside of the expression that is computed, because an array shows it or another
     pending operation reads it, is stored along the way: nothing is computed twice.
   - A node has a bounded number of operations below it, and all nodes hold a bounded number of bytes.

   All of this happens under the GIL, which is kept during a pass. */

#ifndef ARRAY_API_NX_NODES_H
#define ARRAY_API_NX_NODES_H

#include "elements.h"
#include "elementwise.h"

/* Operations on arrays of more axes are computed at once. */
enum { NODE_DIMS = 6, NODE_OPERANDS = 3 };

/* The most operations of an expression, and the most reductions in what is computed together. */
enum { MOST_OPERATIONS = 400, MOST_REDUCTIONS = 12 };

/* Which floating-point exceptions a function raises. */
enum { RAISES_NONE, RAISES_IN_VECTORS, RAISES_ANY };

/* All floating-point errors; and a bit beside them, which says that what errstate asks for now is to be done. */
enum { ALL_ERRORS = 15, APPLY_ERRSTATE = 16 };

/* What a node computes. */
typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    PyObject *name;     /* NumPy's name for it in warnings, which is kept for ever; or NULL */
    PyObject *row;      /* of primitives/table.py, which is kept for ever; NULL of what has none */
    npy_uint8 operands[NODE_OPERANDS], result; /* DTypeCode of each */
    npy_uint8 count;    /* of the operands */
    float time;         /* nanoseconds for an element in the caches */
    npy_uint8 is_exact, is_exact_in_rows; /* as of an ElementLoop */
    npy_uint8 raises;   /* which exceptions are looked for after the function */
    LinkOperation link; /* if orders can compute it (orders.h) */
} Operation;

/* How the elements that a pass computes are reduced: runs are added up (sums.h), or their moments are found (welford.h), true
   elements are counted, or a loop takes (accumulator, element) to the accumulator. */
typedef enum { ADD_RUNS, ADD_MOMENTS, COUNT_ONES, RUN_LOOP } FoldKind;

/* A reduction of an array along some of its axes. */
typedef struct {
    FoldKind kind;
    OperationCode operation;
    PyObject *row;           /* of primitives/table.py, which is kept for ever */
    const ElementLoop *loop; /* of the operation; not used by counts and moments */
    int is_divisible;        /* whether parts of a run may be reduced apart, with the same bits */
    DTypeCode element, result;
    npy_intp accumulator_bytes; /* of Moments, or of an element of the result, in whose place each sum is formed */
    Element identity;           /* which accumulators hold at first; not used by moments */
    const ElementLoop *divide;  /* of doubles, if sums are divided by the divisor; or NULL */
    double divisor;             /* also of the squared distances of moments */
    char reduced[NODE_DIMS]; /* whether an axis is reduced */
    int ndim, keepdims;
    npy_intp shape[NODE_DIMS], size; /* of the operand */
    npy_intp strides[NODE_DIMS];     /* of the accumulators along the operand's axes: 0 along those that are reduced */
} Reduction;

/* `storage` is NULL for a number, which lies in `number`. */
typedef struct {
    Storage *storage;
    npy_intp offset;             /* bytes */
    npy_intp strides[NODE_DIMS]; /* along the axes of the node; 0 where the operand is repeated */
    npy_uint8 is_apart; /* whether it is a pending value that no pass computes along with the node's */
    ScalarMemory number;
} NodeOperand;

typedef struct Node Node;

struct Node {
    Node *next, **place; /* in the list of all nodes */
    Storage *storage;    /* that has the node */
    Operation operation;
    npy_uint8 errors;    /* floating-point errors to warn of, as NumPy's bits, and perhaps APPLY_ERRSTATE */
    npy_uint8 ndim, is_flat; /* is_flat: all operands that are no numbers lie row-major in one run */
    Reduction *reduction;    /* of the only operand, along whose axes the strides of that are; or NULL */
    int operations, reductions; /* how many there are at and below it, those that are shared counted more than once */
    float time;                 /* nanoseconds that one thread takes for them */
    npy_intp size, held; /* elements; bytes that it keeps from being freed, at most */
    npy_intp largest;    /* bytes of the largest array at and below it */
    npy_intp shape[NODE_DIMS]; /* of the result */
    NodeOperand operands[NODE_OPERANDS];
    int ending; /* how many references to its storage end with what computes it now: these need no memory */
    /* of the walk that met it last */
    npy_uint64 walk;
    int number;
    npy_intp references; /* that nodes of the walk have to its storage */
    /* of the walk over several passes that met it last (expression_phases.c) */
    npy_uint64 phases;
    int phase;  /* the first pass that computes it; or -1 */
    int shared; /* the number of its place in scratch memory; or -1 */
};

/* Whether operations on so many elements may wait. */
static inline int is_recorded_size(npy_intp size)
{
    return size > recorded_limit() && size <= MOST_ELEMENTS;
}

/* Whether others can write the memory of an array, so that no operation waits that reads it. */
int is_lent(const Tensor *x);

/* Whether an array waits for the reduction of a large array: what is computed with its elements waits, too, so that it is
   done in the passes over that array. */
static inline int awaits_reduction(const Tensor *x)
{
    const Storage *storage = (const Storage *)x->storage;
    return x->array == NULL && storage != NULL && storage->pending != NULL && storage->pending->reductions > 0;
}

/* The rows of casts and of choices between two operands; NULL before Python gives them. */
extern PyObject *cast_row, *where_row;

/* Have an operation wait: a new Array. An operand that is NULL is the number at its place in `numbers`.
   DECLINED if it has to be computed at once, NULL with an exception set. */
PyObject *record(const Operation *operation, Tensor *const *operands, char *const *numbers);

/* The same for an operation that is computed before anything else happens: operands may be shared. */
PyObject *record_for_now(const Operation *operation, Tensor *const *operands, char *const *numbers);

/* `record_for_now` of a copy or a cast of an array of a size that is recorded; others are declined. */
PyObject *record_copy(Tensor *x, DTypeCode code);

/* Its result at once, whatever the settings are: operands may be shared, and what errstate asks for is done. As `record`. */
PyObject *compute_by_pass(const Operation *operation, Tensor *const *operands, char *const *numbers);

/* Have a reduction of an array wait: a new Array. What follows from the array's shape is not set. `for_now` says that it is
   computed before anything else happens. As `record`. */
PyObject *record_reduction(const Reduction *reduction, Tensor *x, int for_now);

/* Have `x = operation(...)` wait, in place, where all of `x` is pending, and nothing else reads it so far:
   other arrays that show the storage show the new value, too. 1 if it waits; 0 if it has to be computed; -1
   with an exception set. */
int record_update(const Operation *operation, Tensor *x, Tensor *const *operands, char *const *numbers);

/* How operations wait here: the floating-point errors to warn of, as NumPy's bits, or -1 if none may wait; whether they may
   read memory that others can write; and the number of elements that they have more of. */
typedef struct {
    int errors, reads_shared;
    npy_intp threshold;
} Modes;

/* Those of the line that led here (modes.c). 0 with an exception set. */
int find_modes(Modes *modes);

/* Their errors; -2 with an exception set. */
int find_errors(void);

/* What our context variable has: a new reference; NULL if there is no such variable yet. 0 with an exception set. */
int find_own_settings(PyObject **settings);

/* Whether the line that runs is not one of this package, NumPy or contextlib: Python warns there. */
int is_users_line(void);

/* policy._modes, NumPy's context variable of the settings that it reads, what that has while errors are ignored, and the
   variable of our settings. */
void set_modes(PyObject *modes, PyObject *numpys, PyObject *ignoring, PyObject *own);

/* Ignore floating-point errors, as numpy.errstate(all="ignore") does, until `restore_errors`. NULL if that cannot be, perhaps
   with an exception set. */
PyObject *ignore_errors(void);

/* Steals the reference to what was before, and that to the result of a function, which it returns; NULL with an exception set. */
PyObject *restore_errors(PyObject *before, PyObject *result);

/* Have this thread's operations on arrays of any size wait, until `record_as_before`, before which all that waits then is computed
   or dropped: operands may be shared, and none are copied. */
typedef struct {
    int records_all, reads_shared;
} Recording;
void record_all(Recording *before);
void record_as_before(const Recording *before);

/* What there was before a list of calls began to run. */
typedef struct {
    PyObject *settings;
    Modes modes;
    int reads_shared;
} ListRun;

/* Use the modes of the line that led here for all of a list of calls, until the end; 0 with an exception set. */
int begin_list_modes(ListRun *before);
void end_list_modes(const ListRun *before);

/* Begin to run a list of calls: operations that read memory which others can write may wait until the end. 0 with an
   exception set. */
int begin_list(ListRun *before);

/* End it, and compute all that waits, if there is any such operation; 0 with an exception set. */
int end_list(const ListRun *before);

/* The operation of a loop. */
void describe_operation(const ElementLoop *loop, int count, Operation *operation);

/* A cast, or a copy if the dtypes are one. Its function is NULL where C has none. */
Operation cast_operation(DTypeCode from, DTypeCode to);

/* Whether an operation copies its operand. */
int is_copy(const Operation *operation);

/* A node whose fields are not set; NULL if there is no memory. */
Node *take_node(void);
void give_node(Node *node);

/* Have a storage wait for the node, whose fields are set. */
void enter_node(Node *node, Storage *storage);

/* The first one of all nodes; or NULL. */
Node *first_node(void);

/* Whether pending operations are too many, or hold too much beside one that is computed from arrays of up to so many bytes: then
   all are computed. */
int is_too_much(npy_intp bytes);

/* Compute what a storage waits for, of which nobody is told. 0 with an exception set. */
int compute_pending(Storage *storage);

/* `evaluate_storage`, of which those who watch are told the reason. */
int evaluate_because(Storage *storage, const char *reason);

/* Compute all that is pending, so that nothing is held any more; 0 with an exception set. */
int evaluate_all(void);

/* Compute the reduction that a storage waits for. `drops_source` says that the caller's reference to the operand is one
   that nobody needs afterwards. 0 with an exception set. */
int evaluate_reduction(Storage *storage, int drops_source);

/* Compute all pending operations that read a storage; 0 with an exception set. */
int release_readers(Storage *storage);

/* Forget the operation of a storage, which is computed, or is not needed any more. */
void drop_node(Node *node);

/* From now on the node's value is a copy of a part of another storage, whose strides along the axes are
   given. */
void become_copy(Node *node, Storage *of, npy_intp offset, const npy_intp *strides);

/* x[region] = value for a pending value, computed straight into the region's memory, which may be written.
   `is_temporary` says that the value is not needed after this. 1 if it is done; 0 if the value has to be computed
   and copied; -1 with an exception set. */
int assign_expression(Tensor *x, const Region *region, Tensor *value, int is_temporary);

/* Whether the caller, a slot of the interpreter, has the only reference to an array, and that to all below it. (From
   Python 3.14 on a variable's reference may be the one that is counted.) */
static inline int is_temporary(PyObject *array)
{
#if PY_VERSION_HEX < 0x030E0000
    const Tensor *tensor = tensor_of(array);
    return Py_REFCNT(array) == 1 && Py_REFCNT(tensor) == 1 && tensor->storage != NULL &&
           Py_REFCNT(tensor->storage) == 1;
#else
    return 0;
#endif
}

static inline int has_shape(const Tensor *x, int ndim, const npy_intp *shape)
{
    if (x->ndim != ndim) {
        return 0;
    }
    for (int dim = 0; dim < ndim; dim++) {
        if (x->shape[dim] != shape[dim]) {
            return 0;
        }
    }
    return 1;
}

/* Whether a Tensor over a pending storage shows all that this is to have, in the shape of the operation. */
static inline int shows_pending(const Tensor *x)
{
    const Node *node = ((Storage *)x->storage)->pending;
    return (x->flags & ROW_MAJOR) && x->offset == 0 && has_shape(x, node->ndim, node->shape);
}

/* The pending storage of an array on device `cpu`; NULL for other objects. */
static inline Storage *pending_of(PyObject *object)
{
    Tensor *x = layout_of_any(object);
    Storage *storage = x == NULL || x->array != NULL ? NULL : (Storage *)x->storage;
    return storage != NULL && storage->pending != NULL ? storage : NULL;
}

#endif
