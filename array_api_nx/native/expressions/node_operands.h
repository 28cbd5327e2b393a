/* The operands of a node that is being made (recording.c). */

#ifndef ARRAY_API_NX_NODE_OPERANDS_H
#define ARRAY_API_NX_NODE_OPERANDS_H

#include "nodes.h"

/* Whether this thread may read operands that others can write, since all that waits for them is computed before it does
   anything else; and whether it has read any. */
extern THREAD_LOCAL int reads_shared, has_read_shared;

/* Fill in the operands of a node, whose operation and shape are set. An operand that is NULL is the number at its place in
   `numbers`. 1; 0 if the operation cannot wait; -1 with an exception set. */
int take_operands(Node *node, Tensor *const *operands, char *const *numbers);

/* Let go of the first operands, so many of them. */
void drop_operands(Node *node, int count);

#endif
