/* Calls of Python functions, which the recorder of calls sees while functions are traced. */

#include "recorded_calls.h"
#include "arguments.h"
#include "functions.h"
#include "memory.h"
#include "parts.h"

/* record(function, callable or None, *args, **keywords): see frontend/recorded_calls.py. */
static PyObject *recorder;

/* The fewest elements of an array for which NumPy is told to take memory of the pool: that costs 0.2 microseconds. */
enum { WORTH_POOL = 1 << 14 };

/* The product of the ints among some objects; -1 if they are more than a shape has, or one is something else that may hold
   many elements. */
static double multiply_ints(PyObject *const *objects, Py_ssize_t count)
{
    double product = count > ARRAY_DIMS ? -1 : 1;
    npy_intp number;
    for (Py_ssize_t i = 0; i < count && product > 0; i++) {
        PyObject *object = objects[i];
        if (take_number(object, &number)) {
            product *= number > 1 ? (double)number : 1;
        } else if (!PyFloat_CheckExact(object) && object != Py_None && !PyBool_Check(object) && !PyUnicode_Check(object) &&
                   !PyType_Check(object) && !PyArray_IsScalar(object, Generic)) {
            return -1;
        }
    }
    return product;
}

PyObject *enter_pool_for(PyObject *const *args, Py_ssize_t count)
{
    double elements = 1;
    int arrays = 0, others = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tensor *x = is_array(args[i]) ? layout_of(args[i]) : NULL;
        const int is_shape = PyTuple_CheckExact(args[i]);
        const double factor = x != NULL ? (double)x->size
                              : is_shape ? multiply_ints(&PyTuple_GET_ITEM(args[i], 0), PyTuple_GET_SIZE(args[i]))
                                         : multiply_ints(&args[i], 1);
        arrays += x != NULL;
        others += factor < 0;
        elements *= factor > 1 ? factor : 1;
    }
    return elements >= WORTH_POOL || (others > 0 && arrays == 0) ? enter_pool() : NULL;
}

PyObject *call_python(PyObject *function, PyObject *callable, PyObject *const *args, size_t flags,
                      PyObject *names)
{
    if (recorder == NULL || recorder == Py_None) {
        PyObject *used = enter_pool_for(args, PyVectorcall_NARGS(flags) + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
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
