/* Operations on rows of numbers without writing what comes in between: a list of orders is carried out on a
   few vectors of elements at a time, which stay in the processor's registers from the first order to the
   last. (Loops that run one after the other write each result to the cache, and read it from there.) */

#ifndef ARRAY_API_NX_ORDERS_H
#define ARRAY_API_NX_ORDERS_H

#include "compiler.h"
#include "dtypes.h"
#include "inner_loops.h"

/* The compiler has to have vectors that can be computed with, and addresses of labels. */
#ifdef HAS_GNU_C
#define HAS_ORDERS 1
#endif

/* What is done with the values in the registers: numbers, or truths, whose bits are all set or all clear.
   Most orders have an operand: a vector of it for each vector of numbers (_VECTOR), or one element for all
   (_SCALAR). Those of TWO take a first operand in memory instead of the numbers in the registers; the order
   after them has the second one. Those of TRUTHS have an operand of booleans, one byte each. SELECT has
   two operands, the second one in the order after it: it takes the first one where the registers are true; SELECT_ONE
   does so with one element. CHOOSE has booleans, and a number from the order after it, which it takes where these are
   false; CHOOSE_REST takes it where they are true. */
#define EACH_ORDER(OPERAND, TWO, CHOICE, TRUTHS, ALONE)                                                     \
    OPERAND(READ, TAKE, NOTHING) OPERAND(ADD, APPLY, SUM) OPERAND(SUBTRACT, APPLY, DIFFERENCE)              \
    OPERAND(SUBTRACT_FROM, REVERSE, DIFFERENCE) OPERAND(MULTIPLY, APPLY, PRODUCT)                           \
    OPERAND(MULTIPLY_INTO, REVERSE, PRODUCT)                                                                \
    OPERAND(DIVIDE, APPLY, QUOTIENT) OPERAND(DIVIDE_INTO, REVERSE, QUOTIENT)                                \
    OPERAND(MAXIMUM, APPLY, LARGER) OPERAND(MAXIMUM_WITH, REVERSE, LARGER)                                  \
    OPERAND(MINIMUM, APPLY, SMALLER) OPERAND(MINIMUM_WITH, REVERSE, SMALLER) OPERAND(LESS, APPLY, IS_LESS)  \
    OPERAND(GREATER, REVERSE, IS_LESS) OPERAND(LESS_EQUAL, APPLY, IS_AT_MOST)                               \
    OPERAND(GREATER_EQUAL, REVERSE, IS_AT_MOST) OPERAND(AND_BITS, APPLY, BOTH_SET)                          \
    OPERAND(OR_BITS, APPLY, ANY_SET) OPERAND(XOR_BITS, APPLY, ONE_SET) OPERAND(EQUAL, APPLY, IS_EQUAL)      \
    TWO(ADD_TWO, APPLY_TO_X, SUM) TWO(SUBTRACT_TWO, APPLY_TO_X, DIFFERENCE)                                 \
    TWO(MULTIPLY_TWO, APPLY_TO_X, PRODUCT) TWO(DIVIDE_TWO, APPLY_TO_X, QUOTIENT)                            \
    TWO(MAXIMUM_TWO, APPLY_TO_X, LARGER) TWO(MINIMUM_TWO, APPLY_TO_X, SMALLER)                              \
    TWO(LESS_TWO, APPLY_TO_X, IS_LESS) TWO(GREATER_TWO, REVERSE_TO_X, IS_LESS)                              \
    TWO(LESS_EQUAL_TWO, APPLY_TO_X, IS_AT_MOST) TWO(GREATER_EQUAL_TWO, REVERSE_TO_X, IS_AT_MOST)            \
    TWO(EQUAL_TWO, APPLY_TO_X, IS_EQUAL)                                                                    \
    CHOICE(SELECT, BOTH_VECTORS) CHOICE(SELECT_ONE, FIRST_SCALAR)                                           \
    CHOICE(CHOOSE, PREFER_REGISTERS) CHOICE(CHOOSE_REST, PREFER_OPERAND)                                    \
    TRUTHS(READ_TRUTHS, TAKE_TRUTHS, NOTHING) TRUTHS(AND_TRUTHS, APPLY_TRUTHS, BOTH_BITS)                   \
    TRUTHS(OR_TRUTHS, APPLY_TRUTHS, ANY_BITS) TRUTHS(XOR_TRUTHS, APPLY_TRUTHS, DIFFERENT_BITS)              \
    TRUTHS(KEEP_TRUTHS, WRITE_TRUTHS, NOTHING) ALONE(INVERT, INVERSE) ALONE(DOUBLE_IT, DOUBLED)             \
    ALONE(SQUARE, SQUARED) ALONE(NEGATE, OPPOSITE) ALONE(SQUARE_ROOT, ROOT) ALONE(ABSOLUTE, MAGNITUDE)      \
    ALONE(NOT_A_NUMBER, UNEQUAL_TO_ITSELF) ALONE(CONJUGATE, CONJUGATES)

/* Each has a code, which says what it is called here, and in order_blocks.h how it is carried out. READ_OTHERS reads every
   other number, READ_BACK the numbers in front of each other, from the last one on, and READ_REALS real numbers as complex ones,
   whose imaginary parts are 0. KEEP, LAST and STREAM write the numbers
   to memory; the latter two, and END, end a list; STREAM writes past the caches. */
#define TWO_CODES(CODE, ...) CODE##_VECTOR, CODE##_SCALAR,
#define ONE_CODE(CODE, ...) CODE,
typedef enum { EACH_ORDER(TWO_CODES, TWO_CODES, TWO_CODES, ONE_CODE, ONE_CODE)
               READ_OTHERS, READ_BACK, READ_REALS_VECTOR, READ_REALS_SCALAR, KEEP, LAST, STREAM, END } OrderCode;
#undef TWO_CODES
#undef ONE_CODE

static inline int has_scalar_form(int code)
{
    return code <= EQUAL_SCALAR || code == READ_REALS_VECTOR;
}

static inline int takes_two(int code)
{
    return code >= ADD_TWO_VECTOR && code <= CHOOSE_REST_SCALAR;
}

/* Whether an order's operand is of booleans. */
static inline int has_truths(int code)
{
    return code >= CHOOSE_VECTOR && code <= KEEP_TRUTHS;
}

typedef struct {
    npy_intp code; /* OrderCode */
    char *data;    /* the operand of the first element, or where it is written */
    npy_intp mask; /* -1; or 0 for memory that the registers fit into, which is the same for all blocks */
    npy_intp row;  /* bytes to the next row's */
} Order;

/* Whether the registers can have real numbers of a dtype. They can have complex ones, too, as pairs of parts; for these there
   are the orders of arithmetic alone (`link_of` of element_loops.c). */
static inline int fits_registers(int code)
{
    return code == FLOAT32 || code == FLOAT64 || code == NX_INT32 || code == NX_INT64;
}

/* Whether products of complex64, and of complex128, add two products of parts of which one is not rounded, as NumPy's do on
   processors that fuse them. Where vectors are AVX2's or longer, they always do. */
extern int are_products_fused[2];

/* Memory for all registers: eight vectors of 64 bytes. */
enum { REGISTERS_BYTES = 512 };

/* Carry out the orders on one row of so many bytes, of numbers that registers can have, from the first element to the
   last. The last order's operand is the target, if it is LAST or STREAM. `again` says that some elements
   may be computed twice, which takes less time: that no operand lies there. */
void run_orders(const Order *orders, int count, npy_intp bytes, DTypeCode element, int again);

/* Order what this thread has written past the caches before its later writes, which tell other threads of it. */
void end_streams(void);

#endif
