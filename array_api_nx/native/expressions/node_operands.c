/* What a node reads is described: memory, which it keeps from being freed, other nodes, and numbers. */

#include "node_operands.h"
#include "layouts.h"
#include "nest.h"
#include "sizes.h"
#include "storage.h"

/* Whether the result of NumPy's function is row-major. It is if the strides of every operand descend from the first
   axis to the last, and no operand that is repeated along an axis runs backward along another; or if those of one
   operand that is not repeated descend, whatever the others do. */
static int is_row_major(const Node *node, Tensor *const *operands)
{
    int all = 1;
    for (int i = 0; node->ndim > 1 && i < node->operation.count; i++) {
        npy_intp strides[NODE_DIMS], outer = NPY_MAX_INTP;
        int in_order = 1, repeats = 0, backward = 0;
        /* Not those of the node's operand, which may be a copy. */
        if (node->operands[i].storage == NULL ||
            !broadcast_strides(node->ndim, node->shape, operands[i]->ndim, operands[i]->shape, operands[i]->strides,
                               strides)) {
            continue;
        }
        for (int dim = 0; dim < node->ndim; dim++) {
            const npy_intp step = magnitude(strides[dim]);
            if (node->shape[dim] != 1) {
                repeats = repeats || step == 0;
                backward = backward || strides[dim] < 0;
                in_order = in_order && step <= outer;
                outer = step == 0 ? outer : step;
            }
        }
        if (in_order && !repeats) {
            return 1;
        }
        all = all && in_order && !backward;
    }
    return all;
}

/* Of an operand that others can write a copy is read if the result has so many times its elements: that costs less than
   to compute the result now, and what is made of it later. */
enum { COPIED_TIMES = 4 };

int is_lent(const Tensor *x)
{
    const Storage *storage = (const Storage *)x->storage;
    return storage == NULL || (storage->shared && !is_private(storage));
}

/* How many different elements there are. */
static npy_intp distinct_size(const Tensor *x)
{
    npy_intp size = 1;
    for (int dim = 0; dim < x->ndim; dim++) {
        size *= x->strides[dim] == 0 ? 1 : x->shape[dim];
    }
    return size;
}

/* Read a copy of an operand of few elements. */
static int copy_operand(Tensor *x, const char *data, NodeOperand *operand)
{
    const DTypeCode code = (DTypeCode)x->code;
    npy_intp shape[NODE_DIMS]; /* without what is repeated */
    char *copied;
    for (int dim = 0; dim < x->ndim; dim++) {
        shape[dim] = x->strides[dim] == 0 ? 1 : x->shape[dim];
    }
    Tensor *copy = new_memory(x->ndim, shape, code, 0, &copied);
    if (copy == NULL) {
        return -1;
    }
    copy_elements(x->ndim, shape, copied, copy->strides, data, x->strides, dtypes[code].itemsize);
    operand->storage = (Storage *)Py_NewRef(copy->storage);
    operand->offset = copy->offset;
    for (int dim = 0; dim < x->ndim; dim++) {
        operand->strides[dim] = x->strides[dim] == 0 ? 0 : copy->strides[dim];
    }
    Py_DECREF(copy);
    return 1;
}

THREAD_LOCAL int reads_shared, has_read_shared;

/* Describe an operand of a node, whose storage becomes a new reference. 1; 0 if the operation cannot wait; -1
   with an exception set. */
static int take_operand(Tensor *x, const Node *node, NodeOperand *operand)
{
    Storage *storage = (Storage *)x->storage;
    const int whole = has_shape(x, node->ndim, node->shape);
    operand->is_apart = 0;
    const int lies_well = node->operation.is_exact || (whole && (x->flags & ROW_MAJOR)) ||
                          (node->operation.is_exact_in_rows && lies_in_rows(x, node->ndim, node->shape));
    if (awaits_reduction(x) && lies_well && (storage->pending->reduction != NULL || !whole || !shows_pending(x))) {
        if (!broadcast_strides(node->ndim, node->shape, x->ndim, x->shape, x->strides, operand->strides)) {
            return 0;
        }
        operand->is_apart = 1;
        operand->offset = x->offset;
        operand->storage = (Storage *)Py_NewRef((PyObject *)storage);
        return 1;
    }
    if (x->array == NULL && storage->pending != NULL && storage->pending->reduction == NULL && whole && shows_pending(x)) {
        operand->storage = (Storage *)Py_NewRef((PyObject *)storage);
        operand->offset = 0;
        for (int dim = 0; dim < x->ndim; dim++) {
            operand->strides[dim] = x->strides[dim];
        }
        return 1;
    }
    const char *data = data_of(x);
    if (data == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    npy_intp copied[NODE_DIMS];
    const npy_intp *own = x->strides;
    operand->storage = NULL;
    if (x->size == 1 && tracked_limit() > 0) {
        operand->number = (ScalarMemory){0, 0};
        memcpy(&operand->number, data, (size_t)dtypes[x->code].itemsize);
        return 1;
    }
    if (x->ndim > node->ndim || !lies_well) {
        return 0;
    }
    if (x->size <= tracked_limit() || (is_lent(x) && !reads_shared && distinct_size(x) <= node->size / COPIED_TIMES)) {
        if (copy_operand(x, data, operand) < 0) {
            return -1;
        }
        memcpy(copied, operand->strides, sizeof(copied));
        own = copied;
    } else {
        if (x->storage == NULL && !ensure_storage(x)) {
            return -1;
        }
        storage = (Storage *)x->storage;
        if (storage->address == NULL ||
            (storage->shared && !reads_shared && !is_private(storage))) {
            return 0;
        }
        has_read_shared |= reads_shared && storage->shared;
        operand->storage = (Storage *)Py_NewRef((PyObject *)storage);
        operand->offset = x->offset;
    }
    if (!broadcast_strides(node->ndim, node->shape, x->ndim, x->shape, own, operand->strides)) {
        Py_CLEAR(operand->storage);
        return 0;
    }
    return 1;
}

void drop_operands(Node *node, int count)
{
    for (int i = 0; i < count; i++) {
        Py_XDECREF(node->operands[i].storage);
    }
}

int take_operands(Node *node, Tensor *const *operands, char *const *numbers)
{
    const npy_uint8 *codes = node->operation.operands;
    int plain = 1; /* whether all operands are row-major runs of the node's shape, or numbers */
    node->is_flat = 1;
    node->held = 0;
    for (int i = 0; i < node->operation.count; i++) {
        NodeOperand *operand = &node->operands[i];
        int taken = 1;
        const Tensor *x = operands[i];
        plain = plain && (x == NULL || ((x->flags & ROW_MAJOR) && has_shape(x, node->ndim, node->shape)));
        if (x == NULL) {
            operand->storage = NULL;
            operand->number = (ScalarMemory){0, 0};
            memcpy(&operand->number, numbers[i], (size_t)dtypes[codes[i]].itemsize);
        } else {
            taken = take_operand(operands[i], node, operand);
        }
        if (taken != 1) {
            drop_operands(node, i);
            return taken;
        }
    }
    if (!plain && !is_copy(&node->operation) && !is_row_major(node, operands)) {
        drop_operands(node, node->operation.count);
        return 0;
    }
    npy_intp step[NODE_DIMS], size = 1;
    for (int dim = node->ndim - 1; dim >= 0; dim--) {
        step[dim] = size;
        size *= node->shape[dim];
    }
    for (int i = 0; i < node->operation.count; i++) {
        const NodeOperand *operand = &node->operands[i];
        if (operand->storage == NULL) {
            continue;
        }
        const npy_intp itemsize = dtypes[codes[i]].itemsize;
        if (operand->storage->pending == NULL && operand->storage->readers == 0) {
            node->held += operand->storage->bytes; /* the first reader is taken to hold it */
        }
        for (int dim = 0; dim < node->ndim && !plain; dim++) {
            node->is_flat &= node->shape[dim] == 1 || operand->strides[dim] == step[dim] * itemsize;
        }
    }
    return 1;
}
