/* Operations element by element on arrays of device `cpu`. */

#ifndef ARRAY_API_NX_ELEMENTWISE_H
#define ARRAY_API_NX_ELEMENTWISE_H

#include "functions.h"
#include "loops.h"
#include "walk.h"

/* The operations that C refers to: those behind operators, and those that other functions consist
   of. The other rows of primitives/table.py get codes after these (`set_primitives`). */
#define NAMED_OPERATIONS(O)                                                                     \
    O(ADD, add) O(SUBTRACT, subtract) O(MULTIPLY, multiply) O(DIVIDE, divide)                   \
    O(FLOOR_DIVIDE, floor_divide) O(REMAINDER, remainder) O(POW, pow)                           \
    O(BITWISE_AND, bitwise_and) O(BITWISE_OR, bitwise_or) O(BITWISE_XOR, bitwise_xor)           \
    O(BITWISE_LEFT_SHIFT, bitwise_left_shift) O(BITWISE_RIGHT_SHIFT, bitwise_right_shift)       \
    O(LESS, less) O(LESS_EQUAL, less_equal) O(EQUAL, equal) O(NOT_EQUAL, not_equal)             \
    O(GREATER, greater) O(GREATER_EQUAL, greater_equal) O(MAXIMUM, maximum)                     \
    O(MINIMUM, minimum) O(LOGICAL_AND, logical_and) O(LOGICAL_OR, logical_or)                   \
    O(ABS, abs) O(NEGATIVE, negative) O(POSITIVE, positive) O(BITWISE_INVERT, bitwise_invert)   \
    O(SQRT, sqrt) O(SQUARE, square) O(RECIPROCAL, reciprocal) O(ISNAN, isnan) O(CONJ, conj)

#define AS_CODE(CODE, NAME) OP_##CODE,
typedef enum { NAMED_OPERATIONS(AS_CODE) NAMED_COUNT, MAX_OPERATIONS = 128 } OperationCode;
#undef AS_CODE

/* What computes an operation on operands of one dtype. */
typedef struct {
    enum { UNASKED, NONE, FOUND } state;
    PyUFuncGenericFunction function;
    void *data;
    PyObject *name;      /* NumPy's name for it in warnings */
    npy_uint8 operand, result; /* DTypeCode of its operands, which are cast to it first, and of its
                                  result */
    npy_intp serial_limit;   /* elements up to which one thread is as fast as several */
    float time;              /* nanoseconds for an element in the caches */
    char is_for_finite;      /* whether its results for infinite operands have to be corrected */
    char is_exact;           /* whether its bits do not depend on how the operands lie */
    char is_exact_in_rows;   /* nor, at least, on how rows lie, in each of which elements follow one another */
    char is_arithmetic;      /* whether it raises floating-point flags by vector instructions alone */
    char is_quiet;           /* whether it raises none */
    char is_alone;           /* whether no other thread may run parts of it */
    LinkOperation link;      /* if orders can compute it (orders.h) */
    PyObject *row;           /* of primitives/table.py; NULL of other ufuncs */
} ElementLoop;

static inline int is_comparison(OperationCode op)
{
    return op >= OP_LESS && op <= OP_GREATER_EQUAL;
}

/* The code of an operation by its primitive; -1, perhaps with an exception set, if it has none. */
int code_of_primitive(PyObject *primitive);

/* NULL, then perhaps with an exception set, if Python has to compute it. */
const ElementLoop *find_loop(OperationCode op, DTypeCode code);

/* Fill in a loop from the answer of Python (see `set_operations`), whose reference is stolen; NULL counts
   as no answer. 0, perhaps with an exception set, if there is no loop. */
int read_loop(PyObject *answer, ElementLoop *loop);

/* A number of any dtype. */
typedef struct {
    double low, high; /* or whatever fits there */
} ScalarMemory;

/* The result of a loop over fewer than WALK_OPERANDS operands: arrays of any dtypes, which are cast to
   the loop's; or NULL, at least one apart, where a number of the loop's dtype lies in `scalars`. No
   more threads than this one compute it, or C declines. */
PyObject *compute_by_loop(const ElementLoop *loop, Tensor *const *operands, ScalarMemory *scalars,
                          int count);

/* An operation on numbers, Python's or NumPy's, as NumPy's scalar. DECLINED if there is something to warn of, and if
   the bit of the dtype that they are promoted to is set in `refused`. */
PyObject *compute_scalars_alone(OperationCode op, PyObject *const *scalars, int count, npy_uint32 refused);

PyObject *compute_unary(OperationCode op, PyObject *x);
PyObject *compute_binary(OperationCode op, PyObject *x, PyObject *y);

/* `x op= y`: a new reference to `x`. */
PyObject *update_binary(OperationCode op, PyObject *x, PyObject *y);

/* An operation on one or two operands with its results in `out`: a new reference to that. */
PyObject *compute_into(OperationCode op, PyObject *const *operands, int count, PyObject *out);

#endif
