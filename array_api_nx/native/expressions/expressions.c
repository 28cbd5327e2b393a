#include "plans.h"

static npy_uint64 walks;

npy_uint64 begin_walk(void)
{
    return ++walks;
}

/* Whether two operands step alike along all axes. */
static inline int steps_alike(int ndim, const npy_intp *strides, const npy_intp *other)
{
    int alike = 1;
    for (int dim = 0; dim < ndim; dim++) {
        alike &= strides[dim] == other[dim];
    }
    return alike;
}

/* The number of a leaf, which is entered if it is new; -1 if there are too many. */
static int enter_leaf(Expression *expression, const NodeOperand *operand, const Node *node, npy_intp itemsize)
{
    char *address = operand->storage->address;
    char *data = address == NULL ? NULL : address + operand->offset;
    for (int i = 0; i < expression->leaf_count; i++) {
        const Leaf *leaf = &expression->leaves[i];
        if (leaf->data == data &&
            (data != NULL || (leaf->storage == operand->storage && leaf->offset == operand->offset)) &&
            leaf->itemsize == itemsize && steps_alike(node->ndim, leaf->strides, operand->strides)) {
            return i;
        }
    }
    if (expression->leaf_count == MOST_LEAVES) {
        return -1;
    }
    Leaf *leaf = &expression->leaves[expression->leaf_count];
    leaf->data = data;
    leaf->itemsize = itemsize;
    leaf->offset = operand->offset;
    leaf->storage = operand->storage;
    memcpy(leaf->strides, operand->strides, sizeof(leaf->strides)); /* of all axes: a constant size needs no call */
    expression->is_flat &= node->is_flat;
    return expression->leaf_count++;
}

static int enter_number(Expression *expression, const ScalarMemory *number)
{
    for (int i = 0; i < expression->number_count; i++) {
        if (memcmp(&expression->numbers[i], number, sizeof(*number)) == 0) {
            return i;
        }
    }
    if (expression->number_count == MOST_NUMBERS) {
        return -1;
    }
    expression->numbers[expression->number_count] = *number;
    return expression->number_count++;
}

/* Whether an operand is a pending value that is not computed in the pass of an expression. */
static int is_awaited(const Expression *expression, const NodeOperand *operand)
{
    const Node *node = operand->storage->pending;
    return node != NULL && (operand->is_apart || (expression->phase >= 0 && node->phase != expression->phase));
}

/* Enter a node and all below it. 0 if there are too many parts. */
static int visit(Expression *expression, Node *node)
{
    if (node->walk == walks) {
        node->references += expression->phase < 0;
        return 1;
    }
    if (expression->node_count == MOST_NODES) {
        return 0;
    }
    const Operation *operation = &node->operation;
    npy_uint64 places = 0; /* 16 bits for each operand: numbers stored apart would be waited for when they are read together */
    node->walk = walks;
    if (expression->phase < 0) {
        node->references = 1 + node->ending;
    }
    for (int i = 0; i < operation->count; i++) {
        const NodeOperand *operand = &node->operands[i];
        const Storage *storage = operand->storage;
        int number;
        Place place;
        if (storage == NULL) {
            number = enter_number(expression, &operand->number);
            place = (Place)(IN_NUMBER | number);
        } else if (is_awaited(expression, operand)) {
            if (expression->phase < 0) {
                expression->awaited = storage->pending;
                return 0;
            }
            number = enter_leaf(expression, operand, node, dtypes[operation->operands[i]].itemsize);
            place = (Place)(IN_LEAF | number);
        } else if (storage->pending != NULL) {
            number = visit(expression, storage->pending) ? 0 : -1;
            place = (Place)(IN_SLOT | storage->pending->number);
        } else if (storage->address == NULL) {
            PyErr_SetString(PyExc_RuntimeError, "the memory of a pending operation's operand was taken away");
            return 0;
        } else {
            number = enter_leaf(expression, operand, node, dtypes[operation->operands[i]].itemsize);
            place = (Place)(IN_LEAF | number);
        }
        if (number < 0) {
            return 0;
        }
        places |= (npy_uint64)place << 16 * i;
    }
    node->number = expression->node_count++;
    expression->nodes[node->number] = node;
    for (int i = 0; i < NODE_OPERANDS; i++) {
        expression->operands[node->number][i] = (Place)(places >> 16 * i);
    }
    return 1;
}

static int begin_expression(Expression *expression, Node *root, int phase)
{
    walks++;
    expression->node_count = expression->leaf_count = expression->number_count = 0;
    expression->is_flat = 1;
    expression->stored_count = 1;
    expression->awaited = NULL;
    expression->phase = phase;
    return visit(expression, root);
}

/* Write the key, and find which values are stored. The one for which there is no place, or NULL. */
static Node *end_expression(Expression *expression)
{
    const int last = expression->node_count - 1;
    npy_uint64 *word = expression->words;
    expression->stored[0] = last;
    for (int i = 0; i <= last; i++) {
        Node *node = expression->nodes[i];
        const Place *places = expression->operands[i];
        /* All references but those of nodes are an array's, or another expression's. */
        const int is_stored = i == last || Py_REFCNT(node->storage) > node->references ||
                              (expression->phase >= 0 && node->shared >= 0);
        expression->is_stored[i] = (npy_uint8)is_stored;
        if (is_stored && i < last) {
            if (expression->stored_count == MOST_STORED) {
                return node;
            }
            expression->stored[expression->stored_count++] = i;
        }
        *word++ = (npy_uint64)(npy_uintp)node->operation.function;
        *word++ = (npy_uint64)(npy_uintp)node->operation.data;
        *word++ = places[0] | (npy_uint64)places[1] << 16 | (npy_uint64)places[2] << 32 |
                  (npy_uint64)node->operation.result << 48 | (npy_uint64)is_stored << 56;
    }
    expression->word_count = (int)(word - expression->words);
    return NULL;
}

int find_phase(Node *root, int phase, Expression *expression)
{
    return begin_expression(expression, root, phase) && end_expression(expression) == NULL;
}

Node *find_expression(Node *root, Expression *expression)
{
    if (!begin_expression(expression, root, -1)) {
        if (expression->awaited != NULL) {
            return expression->awaited;
        }
        if (PyErr_Occurred()) {
            return root;
        }
        /* The pending operand with the most operations is computed before. */
        Node *largest = NULL;
        for (int i = 0; i < root->operation.count; i++) {
            const Storage *storage = root->operands[i].storage;
            Node *below = storage == NULL ? NULL : storage->pending;
            if (below != NULL && (largest == NULL || below->operations > largest->operations)) {
                largest = below;
            }
        }
        return largest == NULL ? root : largest;
    }
    return end_expression(expression);
}
