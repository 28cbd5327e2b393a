/* Operations that wait, told to Python, which makes nodes of its own of them (backends/cpu/lazy/deferral.py). */

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
        return (PyObject *)tensor_over_storage(operand->storage, operand->offset, ndim, shape, operand->strides);
    }
    const int number = operand->storage->pending->number;
    if (!operand->is_apart) {
        return Py_BuildValue("(i)", number);
    }
    const npy_intp itemsize = dtypes[code].itemsize;
    PyObject *lengths = PyTuple_New(ndim), *steps = PyTuple_New(ndim), *view = NULL;
    for (int dim = 0; lengths != NULL && steps != NULL && dim < ndim; dim++) {
        PyTuple_SET_ITEM(lengths, dim, PyLong_FromSsize_t(shape[dim]));
        PyTuple_SET_ITEM(steps, dim, PyLong_FromSsize_t(operand->strides[dim] / itemsize));
    }
    if (lengths != NULL && steps != NULL && !PyErr_Occurred()) {
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
    PyObject *operands = node->reduction != NULL ? describe_reduction(node) : PyTuple_New(node->operation.count);
    for (int k = 0; operands != NULL && node->reduction == NULL && k < node->operation.count; k++) {
        PyObject *operand = describe_operand(node, k);
        if (operand == NULL) {
            Py_CLEAR(operands);
        } else {
            PyTuple_SET_ITEM(operands, k, operand);
        }
    }
    return operands == NULL ? NULL
                            : Py_BuildValue("(ONiO)", node->operation.row, operands, (int)node->errors,
                                            (PyObject *)node->storage);
}

/* What a storage waits for, operands first. */
typedef struct {
    int count;
    Node *nodes[MOST_NODES];
} Waiting;

/* Enter a node and all below it; 0 if there are too many, or one has no row. */
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
    if (node->operation.row == NULL || waiting->count == MOST_NODES) {
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

/* Whether nothing but these operations reads their results. */
static int is_by_itself(const Waiting *waiting)
{
    for (int i = 0; i < waiting->count; i++) {
        const Node *node = waiting->nodes[i];
        if (node->storage->readers != node->references - (i == waiting->count - 1)) {
            return 0;
        }
    }
    return 1;
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

/* The storage in item `i` of a list that describe_pending gave; NULL if it is none. */
static Storage *storage_in(PyObject *list, Py_ssize_t i)
{
    PyObject *item = PyList_GET_ITEM(list, i);
    PyObject *storage = PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 4 ? PyTuple_GET_ITEM(item, 3) : NULL;
    return storage != NULL && Py_IS_TYPE(storage, storage_type) ? (Storage *)storage : NULL;
}

static PyObject *forget_pending(PyObject *module, PyObject *list)
{
    Waiting waiting;
    const Py_ssize_t count = PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
    Storage *last = count == 0 ? NULL : storage_in(list, count - 1);
    int same = last != NULL && find_waiting(last, &waiting) && waiting.count == count && is_by_itself(&waiting);
    for (Py_ssize_t i = 0; same && i < count; i++) {
        same = (PyObject *)waiting.nodes[i]->storage == (PyObject *)storage_in(list, i);
    }
    /* What reads a result is dropped before it. */
    for (Py_ssize_t i = count - 1; same && i >= 0; i--) {
        Storage *storage = storage_in(list, i);
        if (storage != NULL && storage->pending != NULL) {
            drop_node(storage->pending);
        }
    }
    return PyBool_FromLong(same);
}

PyMethodDef node_descriptions_methods[] = {
    {"describe_pending", describe_pending, METH_O,
     "describe_pending(storage)\n--\n\n"
     "The operations that a storage waits for, operands first: a list of (row, operands, errors to warn of, "
     "storage). An operand is a tuple with the number of an operation in the list, a Tensor, or a Python "
     "scalar; where a view of an operation's result is read, its shape, strides and offset follow the "
     "number. The operand of a reduction is followed by the axes, and by whether they are kept. None if "
     "it does not wait in C, or for a copy."},
    {"forget_pending", forget_pending, METH_O,
     "forget_pending(waiting)\n--\n\n"
     "Whether what describe_pending gave is still so, and nothing else than these operations reads their "
     "results: then it does not wait any more. The caller fills the "
     "storages."},
    {NULL, NULL, 0, NULL},
};
