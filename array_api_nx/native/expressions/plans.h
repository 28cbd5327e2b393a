/* Expressions, and the plans by which they are computed.

   An expression is what a walk finds below a node: the nodes, operands first; the arrays that they read (its
   leaves: the same memory read in the same way is one leaf) and numbers. Its key says which operations there
   are and which operands they have. Sizes, strides, addresses and the values of numbers are not in it. A plan is
   made once for each key. */

#ifndef ARRAY_API_NX_PLANS_H
#define ARRAY_API_NX_PLANS_H

#include "nodes.h"
#include "orders.h"

/* At most; an expression has fewer, or a part of it is computed before. */
enum { MOST_NODES = MOST_OPERATIONS + 1, MOST_LEAVES = 256, MOST_NUMBERS = 256, MOST_STORED = 32 };

/* Where an operand or a result is: a kind, and a number among those of its kind. */
typedef npy_uint16 Place;
enum { IN_SLOT = 0x0000, IN_LEAF = 0x4000, IN_NUMBER = 0x8000, IN_STORED = 0xC000, PLACE_KIND = 0xC000 };

static inline int kind_of(Place place)
{
    return place & PLACE_KIND;
}

static inline int number_of(Place place)
{
    return place & ~PLACE_KIND;
}

typedef struct {
    char *data;
    npy_intp itemsize;
    npy_intp strides[NODE_DIMS];
    npy_intp offset;  /* in the storage, where the address is not known yet */
    Storage *storage; /* pending, and without memory, of a value that another pass of the same computation gives */
} Leaf;

typedef struct {
    int node_count, leaf_count, number_count, stored_count, word_count;
    Node *nodes[MOST_NODES];
    Place operands[MOST_NODES][NODE_OPERANDS]; /* of each node; IN_SLOT stands for the number of a node */
    npy_uint8 is_stored[MOST_NODES]; /* whether the value is needed outside, the root's included */
    int stored[MOST_STORED];         /* those nodes; the root comes first */
    Leaf leaves[MOST_LEAVES];
    ScalarMemory numbers[MOST_NUMBERS];
    int is_flat; /* whether all leaves are */
    Node *awaited; /* an operand that no pass computes along with this; or NULL */
    int phase;     /* the number of this pass among those of a computation (expression_phases.c); or -1 */
    npy_intp threads; /* at most so many may compute it */
    npy_uint64 words[3 * MOST_NODES]; /* the key */
} Expression;

/* Find all below a node. NULL if it is found; else a node that is to be computed before: one that no pass computes along with
   it, or without which there are too many parts; the root itself if an operand has no memory that C can read. */
Node *find_expression(Node *root, Expression *expression);

/* The same for one pass of a computation, whose nodes know their passes. Values of earlier passes are leaves without an
   address. 0 if there are too many parts. */
int find_phase(Node *root, int phase, Expression *expression);

/* A number for a new walk over nodes. */
npy_uint64 begin_walk(void);

/* A step of a plan: orders on vectors, or the call of a loop. */
typedef struct {
    int order_count;     /* 0 for a call */
    int first;         /* the first order, or the node */
    int first_node, last_node;
    DTypeCode element; /* of the orders' numbers */
    Operation operation; /* of a call */
    Place places[NODE_OPERANDS + 1]; /* of a call: its operands, and then its result */
} PlanStep;

typedef struct {
    npy_uint8 code; /* OrderCode, always _VECTOR where there is the choice. After one of TWO comes what is to be
                       done with the second operand once the registers hold the first. */
    Place place;
} PlanOrder;

typedef struct Plan Plan;

struct Plan {
    Plan *next; /* with the same hash, modulo the size of the table */
    npy_uint64 hash;
    int word_count, step_count, order_count, slot_count;
    npy_intp largest; /* bytes of an element, of those that have one */
    PlanStep *steps;
    PlanOrder *orders;
    npy_uint64 *words;
    Plan *singly; /* see plan_singly; or NULL */
    int references; /* of those that keep it */
};

/* The plan of an expression, which is kept; NULL without an exception if there is no memory. */
const Plan *find_plan(const Expression *expression);

/* Keep a plan, which others may forget, until it is released. */
Plan *keep_plan(const Plan *plan);
void release_plan(Plan *plan);

/* A plan of the same expression in which each operation is a step of its own, which tells which one has raised
   a floating-point exception. It is kept, too. NULL if there is no memory. */
const Plan *plan_singly(const Plan *plan, const Expression *expression);

/* How many plans were made. */
extern npy_intp plans_made;

#endif
