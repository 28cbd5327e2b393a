/* Expressions of one operation: they take the memory of an operand, and need no plan where one thread computes them. */

#include "evaluation.h"
#include "flags.h"
#include "sizes.h"
#include "storage.h"
#include "walk.h"

Storage *take_memory(const Expression *expression, Target *target)
{
    const Node *root = expression->nodes[0];
    const DTypeCode code = (DTypeCode)root->operation.result;
    const npy_intp itemsize = dtypes[code].itemsize;
    if (expression->node_count != 1 || !expression->is_flat || time_of(expression) >= LONG_PASS) {
        return NULL; /* an operand that is overwritten is not there for a computation after Ctrl-C, or of single operations */
    }
    for (int i = 0; i < root->operation.count; i++) {
        Storage *storage = root->operands[i].storage;
        if (storage == NULL || storage->pending != NULL || (storage->memory == NULL && storage->block == NULL) ||
            storage->code != code || storage->bytes != root->size * itemsize || root->operands[i].offset != 0 ||
            !storage->writeable || !is_private(storage) || Py_REFCNT(storage) != count_reads(expression, storage)) {
            continue;
        }
        move_memory(root->storage, storage);
        target->data = root->storage->address;
        target->overlaps = OVER_OPERANDS;
        step_by_rows(root->ndim, root->shape, itemsize, target->strides);
        return storage;
    }
    return NULL;
}

/* Whether one call of a function computes a node: its operands are numbers, and runs of memory. */
static int is_one_call(const Node *node)
{
    int whole = node->operations == 1 && node->reductions == 0 && node->reduction == NULL && node->is_flat;
    for (int i = 0; whole && i < node->operation.count; i++) {
        const Storage *storage = node->operands[i].storage;
        whole = storage == NULL || (storage->pending == NULL && storage->address != NULL);
    }
    return whole;
}

int compute_alone(Node *node, Expression *expression, Errors *errors)
{
    const Operation *operation = &node->operation;
    Storage *storage = node->storage;
    char *args[NODE_OPERANDS + 1];
    npy_intp steps[NODE_OPERANDS + 1], size = node->size;
    Target target;
    if (node->time >= ASKED_FROM || !is_one_call(node)) {
        return -1;
    }
    expression->nodes[0] = node;
    expression->node_count = expression->is_flat = 1;
    for (int i = 0; i < operation->count; i++) {
        NodeOperand *operand = &node->operands[i];
        args[i] = operand->storage == NULL ? (char *)&operand->number : operand->storage->address + operand->offset;
        steps[i] = operand->storage == NULL ? 0 : dtypes[operation->operands[i]].itemsize;
    }
    steps[operation->count] = dtypes[operation->result].itemsize;
    if (take_memory(expression, &target) == NULL && !fill_storage(storage, size * steps[operation->count])) {
        PyErr_NoMemory();
        return 0;
    }
    args[operation->count] = storage->address;
    if (operation->raises == RAISES_ANY) {
        clear_flags();
    } else if (operation->raises == RAISES_IN_VECTORS) {
        clear_vector_flags();
    }
    operation->function(args, &size, steps, operation->data);
    const npy_uint8 flags = operation->raises == RAISES_NONE  ? 0
                            : operation->raises == RAISES_ANY ? take_flags()
                                                              : take_vector_flags();
    if ((flags & node->errors) != 0 && operation->name != NULL) {
        errors->items[errors->count++] = (Error){operation->name, node, flags, node->errors};
    }
    drop_node(node);
    return 1;
}
