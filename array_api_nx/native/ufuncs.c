/* apply_ufunc: any ufunc of one operand or two, by loops that Python was asked for once. */

#include "ufuncs.h"
#include "elementwise.h"

/* What is known of a ufunc, per dtype of its operands, which have all the same. */
typedef struct {
    ElementLoop loops[DTYPE_COUNT];
} KnownUfunc;

/* From ufuncs to capsules around a KnownUfunc. The ufuncs live for ever: their loops are used. */
static PyObject *known;

/* ask(ufunc, dtype): see `set_ufuncs`. */
static PyObject *ask;

#define KNOWN_NAME "array_api_nx.ufunc"

static void free_known(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, KNOWN_NAME));
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

/* Up to `limits.at_once` elements. Loops of ufuncs that are no function of the standard run on this
   thread: they may call Python, as SciPy's do if somebody wants to hear of errors. */
static PyObject *apply_twin(int ignored, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Tensor *operands[2];
    (void)ignored;
    if (names != NULL || ask == NULL || count < 2 || count > 3 ||
        !Py_IS_TYPE(args[0], &PyUFunc_Type)) {
        return DECLINED;
    }
    const PyUFuncObject *ufunc = (PyUFuncObject *)args[0];
    if (ufunc->nin != count - 1 || ufunc->nout != 1) {
        return DECLINED;
    }
    for (int i = 0; i < ufunc->nin; i++) {
        operands[i] = is_array(args[i + 1]) ? layout_of(args[i + 1]) : NULL;
        if (operands[i] == NULL || operands[i]->size > limits.at_once ||
            operands[i]->code != operands[0]->code) {
            return DECLINED;
        }
    }
    KnownUfunc *found = find_known(args[0]);
    ElementLoop *loop = found == NULL ? NULL : &found->loops[operands[0]->code];
    if (loop == NULL || (loop->state != FOUND &&
                         (loop->state == NONE ||
                          !read_loop(PyObject_CallFunctionObjArgs(
                                         ask, args[0], dtypes[operands[0]->code].object, NULL),
                                     loop)))) {
        return decline_unless_raised();
    }
    PyObject *result = compute_by_loop(loop, operands, ufunc->nin);
    if (result != NULL && result != DECLINED && PyErr_Occurred()) {
        Py_CLEAR(result); /* the loop has raised it */
    }
    return result;
}

const TwinEntry ufunc_twins[] = {
    {"apply_ufunc", apply_twin, 0},
    {NULL, NULL, 0},
};

static PyObject *set_ufuncs(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(ask, Py_NewRef(function));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_ufuncs", set_ufuncs, METH_O,
     "set_ufuncs(ask)\n--\n\n"
     "What is called once per ufunc and dtype of its operands, as ask(ufunc, dtype): what "
     "`set_operations` says, or None."},
    {NULL, NULL, 0, NULL},
};

int add_ufuncs(PyObject *module)
{
    known = PyDict_New();
    return known == NULL ? -1 : PyModule_AddFunctions(module, methods);
}
