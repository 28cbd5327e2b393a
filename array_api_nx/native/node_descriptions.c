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
    if (operand->storage->pending != NULL) {
        return Py_BuildValue("(i)", operand->storage->pending->number);
    }
    return (PyObject *)tensor_over_storage(operand->storage, operand->offset, node->ndim, node->shape,
                                           operand->strides);
}

static PyObject *describe_node(const Node *node)
{
    PyObject *operands = PyTuple_New(node->operation.count);
    for (int k = 0; operands != NULL && k < node->operation.count; k++) {
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

/* Whether nothing but the operations of an expression, all of which have a row, reads their results. */
static int is_by_itself(const Expression *expression)
{
    for (int i = 0; i < expression->node_count; i++) {
        const Node *node = expression->nodes[i];
        const npy_intp reads = node->references - (i == expression->node_count - 1);
        if (node->operation.row == NULL || node->storage->readers != reads) {
            return 0;
        }
    }
    return 1;
}

static PyObject *describe_pending(PyObject *module, PyObject *object)
{
    Expression expression;
    if (!Py_IS_TYPE(object, storage_type) || ((Storage *)object)->pending == NULL ||
        find_expression(((Storage *)object)->pending, &expression) != NULL || !is_by_itself(&expression)) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New(expression.node_count);
    for (int i = 0; list != NULL && i < expression.node_count; i++) {
        PyObject *item = describe_node(expression.nodes[i]);
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
    Expression expression;
    const Py_ssize_t count = PyList_Check(list) ? PyList_GET_SIZE(list) : 0;
    Storage *last = count == 0 ? NULL : storage_in(list, count - 1);
    int same = last != NULL && last->pending != NULL && find_expression(last->pending, &expression) == NULL &&
               expression.node_count == count && is_by_itself(&expression);
    for (Py_ssize_t i = 0; same && i < count; i++) {
        same = (PyObject *)expression.nodes[i]->storage == (PyObject *)storage_in(list, i);
    }
    PyErr_Clear();
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
     "scalar. None if "
     "it does not wait in C, or if something else than these operations reads their results."},
    {"forget_pending", forget_pending, METH_O,
     "forget_pending(waiting)\n--\n\n"
     "Whether what describe_pending gave is still so: then it does not wait any more. The caller fills the "
     "storages."},
    {NULL, NULL, 0, NULL},
};
