/* Operations that wait, told to Python, which reports them (backends/cpu/pass_reports.py). */

#include "layouts.h"
#include "parts.h"
#include "plans.h"
#include "scalars.h"
#include "storage.h"

/* An operand for Python; NULL with an exception set. */
static PyObject *describe_operand(const Node *node, int k)
{
    const NodeOperand *operand = &node->operands[k];
    const DTypeCode code = (DTypeCode)node->operation.operands[k];
    if (operand->storage == NULL) {
        return read_scalar((const char *)&operand->number, code);
    }
    const Reduction *reduction = node->reduction;
    const int ndim = reduction != NULL ? reduction->ndim : node->ndim;
    const npy_intp *shape = reduction != NULL ? reduction->shape : node->shape;
    if (operand->storage->pending == NULL) {
        return (PyObject *)tensor_over_storage(operand->storage, code, operand->offset, ndim, shape, operand->strides);
    }
    const int number = operand->storage->pending->number;
    if (!operand->is_apart) {
        return Py_BuildValue("(i)", number);
    }
    const npy_intp itemsize = dtypes[code].itemsize;
    PyObject *lengths = tuple_of_sizes(ndim, shape, 1);
    PyObject *steps = tuple_of_sizes(ndim, operand->strides, itemsize), *view = NULL;
    if (lengths != NULL && steps != NULL) {
        view = Py_BuildValue("(iOOn)", number, lengths, steps, operand->offset / itemsize);
    }
    Py_XDECREF(lengths);
    Py_XDECREF(steps);
    return view;
}

/* The operand of a reduction, its axes, and whether these are kept. */
static PyObject *describe_reduction(const Node *node)
{
    const Reduction *reduction = node->reduction;
    PyObject *axes = PyList_New(0);
    for (int axis = 0; axes != NULL && axis < reduction->ndim; axis++) {
        PyObject *number = reduction->reduced[axis] ? PyLong_FromLong(axis) : NULL;
        if (reduction->reduced[axis] && (number == NULL || PyList_Append(axes, number) < 0)) {
            Py_CLEAR(axes);
        }
        Py_XDECREF(number);
    }
    PyObject *tuple = axes == NULL ? NULL : PyList_AsTuple(axes);
    PyObject *operand = tuple == NULL ? NULL : describe_operand(node, 0);
    PyObject *operands =
        operand == NULL ? NULL : Py_BuildValue("(OOO)", operand, tuple, reduction->keepdims ? Py_True : Py_False);
    Py_XDECREF(axes);
    Py_XDECREF(tuple);
    Py_XDECREF(operand);
    return operands;
}

static PyObject *describe_node(const Node *node)
{
    const int is_kept = Py_REFCNT(node->storage) > node->references;
    PyObject *named = node->operation.row != NULL ? node->operation.row : node->operation.name;
    PyObject *operands = node->reduction != NULL ? describe_reduction(node) : PyTuple_New(node->operation.count);
    for (int k = 0; operands != NULL && node->reduction == NULL && k < node->operation.count; k++) {
        put_item(&operands, k, describe_operand(node, k));
    }
    return operands == NULL ? NULL
                            : Py_BuildValue("(ONOO)", named, operands,
                                            is_kept ? Py_True : Py_False, (PyObject *)node->storage);
}

/* What a storage waits for, operands first. */
typedef struct {
    int count;
    Node *nodes[MOST_NODES];
} Waiting;

/* Enter a node and all below it; 0 if there are too many. */
static int collect(Waiting *waiting, Node *node, npy_uint64 walk)
{
    if (node->walk == walk) {
        node->references++;
        return 1;
    }
    node->walk = walk;
    node->references = 1;
    for (int k = 0; k < node->operation.count; k++) {
        const NodeOperand *operand = &node->operands[k];
        Node *below = operand->storage == NULL ? NULL : operand->storage->pending;
        if (below != NULL && !collect(waiting, below, walk)) {
            return 0;
        }
    }
    if (waiting->count == MOST_NODES) {
        return 0;
    }
    node->number = waiting->count++;
    waiting->nodes[node->number] = node;
    return 1;
}

static int find_waiting(Storage *storage, Waiting *waiting)
{
    waiting->count = 0;
    return storage->pending != NULL && collect(waiting, storage->pending, begin_walk());
}

static PyObject *describe_pending(PyObject *module, PyObject *object)
{
    Waiting waiting;
    if (!Py_IS_TYPE(object, storage_type) || !find_waiting((Storage *)object, &waiting)) {
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New(waiting.count);
    for (int i = 0; list != NULL && i < waiting.count; i++) {
        PyObject *item = describe_node(waiting.nodes[i]);
        if (item == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, i, item);
        }
    }
    return list;
}

PyMethodDef node_descriptions_methods[] = {
    {"describe_pending", describe_pending, METH_O,
     "describe_pending(storage)\n--\n\n"
     "The operations that a storage waits for, operands first: a list of (row or name, operands, whether the result is "
     "kept for an array, storage). An operand is a tuple with the number of an operation in the list, a Tensor, or a Python "
     "scalar; where a view of an operation's result is read, its shape, strides and offset follow the "
     "number. The operand of a reduction is followed by the axes, and by whether they are kept. None if "
     "it does not wait."},
    {NULL, NULL, 0, NULL},
};
