/* Calls of Python functions, which the recorder of calls sees while functions are traced. */

#include "recorded_calls.h"
#include "arguments.h"
#include "memory.h"
#include "objects.h"
#include "parts.h"

/* record(function, callable or None, *args, **keywords): see frontend/recorded_calls.py. */
static PyObject *recorder;

PyObject *enter_pool_for(PyObject *const *args, Py_ssize_t count)
{
    int arrays = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (is_array(args[i])) {
            const Tensor *x = layout_of(args[i]);
            if (x == NULL || x->size > BLOCK_BYTES / 8) {
                return enter_pool();
            }
            arrays++;
        }
    }
    return arrays > 0 ? NULL : enter_pool();
}

PyObject *call_python(PyObject *function, PyObject *callable, PyObject *const *args, size_t flags,
                      PyObject *names)
{
    if (recorder == NULL || recorder == Py_None) {
        PyObject *used = enter_pool_for(args, PyVectorcall_NARGS(flags));
        PyObject *result = PyObject_Vectorcall(function, args, flags, names);
        leave_pool(used);
        return result;
    }
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    const Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject **room = PyMem_Malloc((size_t)(total + 2) * sizeof(*room));
    if (room == NULL) {
        return PyErr_NoMemory();
    }
    room[0] = function;
    room[1] = callable == NULL ? Py_None : callable;
    for (Py_ssize_t i = 0; i < total; i++) {
        room[i + 2] = args[i];
    }
    PyObject *asked = Py_NewRef(recorder);
    PyObject *result = PyObject_Vectorcall(asked, room, (size_t)count + 2, names);
    Py_DECREF(asked);
    PyMem_Free(room);
    return result;
}

KEEP_ARGUMENT(set_recorder, recorder)

PyMethodDef recorded_calls_methods[] = {
    {"set_recorder", set_recorder, METH_O,
     "set_recorder(record)\n--\n\n"
     "What is called as record(function, callable, *args, **keywords) instead of the Python function "
     "behind a compiled callable, or behind a method of Array, where `callable` is None; None: nothing."},
    {NULL, NULL, 0, NULL},
};
