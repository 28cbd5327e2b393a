/* apply_ufunc and Array.__array_ufunc__: the operators, and any ufunc of up to four operands, by loops
   that Python was asked for once. */

#include "face.h"
#include "chapters.h"
#include "parts.h"
#include "elementwise.h"
#include "products.h"
#include "ufunc_fields.h"

enum { MOST_OPERANDS = WALK_OPERANDS - 1 };

/* The kinds of operands. */
enum { ARRAY, FLOAT, INT, KINDS };

enum { PATTERNS = KINDS * KINDS * KINDS * KINDS };

/* The loops of a ufunc: for each pattern of arrays and scalars a table per dtype of the
   arrays, which have all the same; NULL until the first call. */
typedef struct {
    ElementLoop *loops[PATTERNS];
    int operation; /* OperationCode of the operator that the ufunc is, MATMUL, or -1 */
} KnownUfunc;

enum { MATMUL = MAX_OPERATIONS };

/* From ufuncs to capsules around a KnownUfunc. The ufuncs live for ever: their loops are used. */
static PyObject *known;

/* ask(ufunc, kinds), and from ufuncs to primitives: see `set_ufuncs`. */
static PyObject *ask, *operators;

#define KNOWN_NAME "array_api_nx.ufunc"

static void free_known(PyObject *capsule)
{
    KnownUfunc *found = PyCapsule_GetPointer(capsule, KNOWN_NAME);
    for (int i = 0; i < PATTERNS; i++) {
        PyMem_Free(found->loops[i]);
    }
    PyMem_Free(found);
}

/* -2 with an exception set if the lookup fails. */
static int find_operation(PyObject *ufunc)
{
    PyObject *primitive = PyDict_GetItemWithError(operators, ufunc);
    const int code = primitive == NULL ? -1 : primitive == Py_None ? MATMUL : code_of_primitive(primitive);
    return PyErr_Occurred() ? -2 : code;
}

/* NULL with an exception set if there is no memory. */
static KnownUfunc *find_known(PyObject *ufunc)
{
    PyObject *capsule = PyDict_GetItemWithError(known, ufunc);
    if (capsule != NULL || PyErr_Occurred()) {
        return capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, KNOWN_NAME);
    }
    const int operation = find_operation(ufunc);
    KnownUfunc *made = operation == -2 ? NULL : PyMem_Calloc(1, sizeof(KnownUfunc));
    if (operation == -2) {
        return NULL;
    }
    capsule = made == NULL ? PyErr_NoMemory() : PyCapsule_New(made, KNOWN_NAME, free_known);
    if (capsule == NULL) {
        PyMem_Free(made);
        return NULL;
    }
    made->operation = operation;
    const int failed = PyDict_SetItem(known, ufunc, capsule);
    Py_DECREF(capsule);
    return failed ? NULL : made;
}

/* The loop for operands of a pattern, the arrays of one dtype; NULL, perhaps with an exception set, if
   Python has to compute it. */
static const ElementLoop *loop_for(KnownUfunc *found, PyObject *ufunc, PyObject *const *operands,
                                   int count, int pattern, DTypeCode code)
{
    if (found->loops[pattern] == NULL) {
        found->loops[pattern] = PyMem_Calloc(DTYPE_COUNT, sizeof(ElementLoop));
        if (found->loops[pattern] == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
    }
    ElementLoop *loop = &found->loops[pattern][code];
    if (loop->state == UNASKED) {
        PyObject *kinds = PyTuple_New(count);
        if (kinds == NULL) {
            return NULL;
        }
        for (int i = 0; i < count; i++) {
            PyObject *kind =
                is_array(operands[i]) ? (PyObject *)dtypes[code].descr
                                      : (PyObject *)Py_TYPE(operands[i]);
            PyTuple_SET_ITEM(kinds, i, Py_NewRef(kind));
        }
        read_loop(PyObject_CallFunctionObjArgs(ask, ufunc, kinds, NULL), loop);
        Py_DECREF(kinds);
    }
    return loop->state == FOUND ? loop : NULL;
}

/* Up to `limits.at_once` elements. Loops of ufuncs that are no function of the standard run on this
   thread: they may call Python, as SciPy's do to report errors. */
static PyObject *call_ufunc(PyObject *ufunc, PyObject *const *values, int count)
{
    Tensor *operands[MOST_OPERANDS];
    ScalarMemory scalars[MOST_OPERANDS];
    const Tensor *array = NULL;
    int pattern = 0;
    if (ask == NULL || count > MOST_OPERANDS || operands_of(ufunc) != count) {
        return DECLINED;
    }
    KnownUfunc *found = find_known(ufunc);
    if (found == NULL) {
        return NULL;
    }
    if (found->operation >= 0) {
        return found->operation == MATMUL
                   ? multiply_matrices(values[0], values[1])
                   : compute_binary((OperationCode)found->operation, values[0], values[1]);
    }
    for (int i = 0; i < count; i++) {
        PyObject *operand = values[i];
        int kind = ARRAY;
        operands[i] = NULL;
        if (is_array(operand)) {
            operands[i] = layout_of(operand);
            if (operands[i] == NULL || (array != NULL && operands[i]->code != array->code)) {
                return DECLINED;
            }
            const DTypeCode code = (DTypeCode)operands[i]->code;
            if (is_face(operand) && (!is_inexact(code) || is_complex(code))) {
                return DECLINED; /* NumPy has other results of integers, and in special cases of complex numbers */
            }
            array = operands[i];
        } else if (PyFloat_CheckExact(operand)) {
            kind = FLOAT;
        } else if (PyLong_CheckExact(operand)) {
            kind = INT;
        } else {
            return DECLINED;
        }
        pattern = pattern * KINDS + kind;
    }
    if (array == NULL) {
        return DECLINED;
    }
    const ElementLoop *loop =
        loop_for(found, ufunc, values, count, pattern, (DTypeCode)array->code);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    for (int i = 0; i < count; i++) {
        if (operands[i] == NULL &&
            !write_scalar((char *)&scalars[i], (DTypeCode)loop->operand, values[i])) {
            return DECLINED;
        }
    }
    PyObject *result = compute_by_loop(loop, operands, scalars, count);
    if (result != NULL && result != DECLINED && PyErr_Occurred()) {
        Py_CLEAR(result); /* the loop has raised it */
    }
    return result;
}

static PyObject *call_apply(int which, PyObject *const *values, Py_ssize_t count)
{
    return count >= 2 && Py_IS_TYPE(values[0], &PyUFunc_Type)
               ? call_ufunc(values[0], values + 1, (int)(count - 1))
               : DECLINED;
}

/* The method `__call__` without options; Python looks at the others. */
static PyObject *call_array_ufunc(int which, PyObject *const *values, Py_ssize_t count)
{
    return count >= 4 && PyUnicode_Check(values[2]) &&
                   PyUnicode_CompareWithASCIIString(values[2], "__call__") == 0 &&
                   Py_IS_TYPE(values[1], &PyUFunc_Type)
               ? call_ufunc(values[1], values + 3, (int)(count - 3))
               : DECLINED;
}

Implementation ufunc_functions[] = {
    {"__array_ufunc__", call_array_ufunc, 0, "*"},
    {"apply_ufunc", call_apply, 0, "*"},
    {NULL, NULL, 0, NULL},
};

static PyObject *set_ufuncs(PyObject *module, PyObject *args)
{
    PyObject *function, *table;
    if (!PyArg_ParseTuple(args, "OO!", &function, &PyDict_Type, &table)) {
        return NULL;
    }
    Py_XSETREF(ask, Py_NewRef(function));
    Py_XSETREF(operators, Py_NewRef(table));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_ufuncs", set_ufuncs, METH_VARARGS,
     "set_ufuncs(ask, operators)\n--\n\n"
     "The primitives of the ufuncs that are binary operators, None for that of the product of matrices; and "
     "A function that is called once per ufunc and kinds of its operands, as ask(ufunc, kinds): a "
     "tuple as of `set_operations`, or None. A kind is the dtype of an array, or the type float or int."},
    {NULL, NULL, 0, NULL},
};

int add_ufuncs(PyObject *module)
{
    known = PyDict_New();
    return known == NULL ? -1 : PyModule_AddFunctions(module, methods);
}
