/* apply_ufunc: any ufunc of up to four operands, by loops that Python was asked for once. */

#include "chapters.h"
#include "parts.h"
#include "elementwise.h"

enum { MOST_OPERANDS = WALK_OPERANDS - 1 };

/* The kinds of operands. */
enum { ARRAY, FLOAT, INT, KINDS };

enum { PATTERNS = KINDS * KINDS * KINDS * KINDS };

/* The loops of a ufunc: for each pattern of arrays and scalars a table per dtype of the
   arrays, which have all the same; NULL until the first call. */
typedef struct {
    ElementLoop *loops[PATTERNS];
} KnownUfunc;

/* From ufuncs to capsules around a KnownUfunc. The ufuncs live for ever: their loops are used. */
static PyObject *known;

/* ask(ufunc, kinds): see `set_ufuncs`. */
static PyObject *ask;

#define KNOWN_NAME "array_api_nx.ufunc"

static void free_known(PyObject *capsule)
{
    KnownUfunc *found = PyCapsule_GetPointer(capsule, KNOWN_NAME);
    for (int i = 0; i < PATTERNS; i++) {
        PyMem_Free(found->loops[i]);
    }
    PyMem_Free(found);
}

/* NULL with an exception set if there is no memory. */
static KnownUfunc *find_known(PyObject *ufunc)
{
    PyObject *capsule = PyDict_GetItemWithError(known, ufunc);
    if (capsule != NULL || PyErr_Occurred()) {
        return capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, KNOWN_NAME);
    }
    KnownUfunc *made = PyMem_Calloc(1, sizeof(KnownUfunc));
    capsule = made == NULL ? PyErr_NoMemory() : PyCapsule_New(made, KNOWN_NAME, free_known);
    if (capsule == NULL) {
        PyMem_Free(made);
        return NULL;
    }
    const int failed = PyDict_SetItem(known, ufunc, capsule);
    Py_DECREF(capsule);
    return failed ? NULL : made;
}

/* The loop for operands of a pattern, the arrays of one dtype; NULL, perhaps with an exception set, if
   Python has to compute it. */
static const ElementLoop *loop_for(PyObject *ufunc, PyObject *const *operands, int count,
                                   int pattern, DTypeCode code)
{
    KnownUfunc *found = find_known(ufunc);
    if (found == NULL) {
        return NULL;
    }
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
static PyObject *call_apply(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *operands[MOST_OPERANDS];
    ScalarMemory scalars[MOST_OPERANDS];
    const Tensor *array = NULL;
    int pattern = 0;
    if (ask == NULL || count < 2 || count > MOST_OPERANDS + 1 ||
        !Py_IS_TYPE(values[0], &PyUFunc_Type)) {
        return DECLINED;
    }
    const PyUFuncObject *ufunc = (PyUFuncObject *)values[0];
    const int operand_count = (int)count - 1;
    if (ufunc->nin != operand_count || ufunc->nout != 1) {
        return DECLINED;
    }
    for (int i = 0; i < operand_count; i++) {
        PyObject *operand = values[i + 1];
        int kind = ARRAY;
        operands[i] = NULL;
        if (is_array(operand)) {
            operands[i] = layout_of(operand);
            if (operands[i] == NULL || (array != NULL && operands[i]->code != array->code)) {
                return DECLINED;
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
        loop_for(values[0], values + 1, operand_count, pattern, (DTypeCode)array->code);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    for (int i = 0; i < operand_count; i++) {
        if (operands[i] == NULL &&
            !write_scalar((char *)&scalars[i], (DTypeCode)loop->operand, values[i + 1])) {
            return DECLINED;
        }
    }
    PyObject *result = compute_by_loop(loop, operands, scalars, operand_count);
    if (result != NULL && result != DECLINED && PyErr_Occurred()) {
        Py_CLEAR(result); /* the loop has raised it */
    }
    return result;
}

Implementation ufunc_functions[] = {
    {"apply_ufunc", call_apply, 0, "*"},
    {NULL, NULL, 0, NULL},
};

KEEP_ARGUMENT(set_ufuncs, ask)

static PyMethodDef methods[] = {
    {"set_ufuncs", set_ufuncs, METH_O,
     "set_ufuncs(ask)\n--\n\n"
     "A function that is called once per ufunc and kinds of its operands, as ask(ufunc, kinds): a "
     "tuple as of `set_operations`, or None. A kind is the dtype of an array, or the type float or int."},
    {NULL, NULL, 0, NULL},
};

int add_ufuncs(PyObject *module)
{
    known = PyDict_New();
    return known == NULL ? -1 : PyModule_AddFunctions(module, methods);
}
