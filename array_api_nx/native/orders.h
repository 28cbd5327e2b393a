/* Arithmetic on rows of numbers without writing what comes in between: a list of orders is carried out on a
   few vectors of elements at a time, which stay in the processor's registers from the first order to the
   last. (Loops that run one after the other write each result to the cache, and read it from there.) */

#ifndef ARRAY_API_NX_ORDERS_H
#define ARRAY_API_NX_ORDERS_H

#include "compiler.h"
#include "inner_loops.h"

/* The compiler has to have vectors that can be computed with, and addresses of labels. */
#ifdef HAS_GNU_C
#define HAS_ORDERS 1
#endif

/* What is done with the numbers in the registers. Most orders have an operand: a vector of it for each
   vector of numbers (_VECTOR), or one element for all (_SCALAR). Those of TWO take a first operand in
   memory instead of the numbers in the registers; the order after them has the second one. */
#define BOTH(CODE) CODE##_VECTOR, CODE##_SCALAR
typedef enum { BOTH(READ), BOTH(ADD), BOTH(SUBTRACT), BOTH(SUBTRACT_FROM), BOTH(MULTIPLY), BOTH(DIVIDE),
               BOTH(DIVIDE_INTO), BOTH(ADD_TWO), BOTH(SUBTRACT_TWO), BOTH(MULTIPLY_TWO),
               BOTH(DIVIDE_TWO), DOUBLE_IT, SQUARE, NEGATE, SQUARE_ROOT, ABSOLUTE,
               KEEP, LAST, STREAM } OrderCode; /* KEEP, LAST and STREAM write the numbers to memory; the
                                                  latter two end a list, STREAM past the caches */
#undef BOTH

typedef struct {
    npy_intp code; /* OrderCode */
    char *data;    /* the operand of the first element, or where it is written */
    npy_intp mask; /* -1; or 0 for memory that the registers fit into, which is the same for all blocks */
    npy_intp row;  /* bytes to the next row's */
} Order;

/* Memory for all registers: eight vectors of 64 bytes. */
enum { REGISTERS_BYTES = 512 };

/* Carry out the orders on one row of so many bytes, of float32 or float64, from the first element to the last.
   The last order's operand is the target. `again` says that some elements may be computed twice, which takes
   less time: that no operand lies there. */
void run_orders(const Order *orders, int count, npy_intp bytes, npy_intp itemsize, int again);

#endif
