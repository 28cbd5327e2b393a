/* Calls of compiled functions whose programs another engine has compiled: from Arrays to the engine's
   arrays and back. Everything else, such as arguments that are written, goes to Python. */

#include "engine_calls.h"
#include "names.h"
#include "objects.h"

enum { MAX_GIVEN = 32 };

static int is_pairs(PyObject *value)
{
    if (!PyTuple_Check(value)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        PyObject *pair = PyTuple_GET_ITEM(value, i);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
            return 0;
        }
    }
    return 1;
}

int is_engine_call(PyObject *value)
{
    return PyTuple_Check(value) && PyTuple_GET_SIZE(value) == ENGINE_CALL_SIZE &&
           PyCallable_Check(PyTuple_GET_ITEM(value, COMPUTE)) &&
           is_pairs(PyTuple_GET_ITEM(value, GIVEN)) && is_pairs(PyTuple_GET_ITEM(value, RESULTS));
}

/* Whether the attribute `name` equals `expected`; -1 with an exception set. */
static int has_attribute(PyObject *object, PyObject *name, PyObject *expected)
{
    PyObject *value = PyObject_GetAttr(object, name);
    if (value == NULL) {
        return -1;
    }
    const int is_equal = value == expected ? 1 : PyObject_RichCompareBool(value, expected, Py_EQ);
    Py_DECREF(value);
    return is_equal;
}

/* Whether a method without arguments says yes; -1 with an exception set. */
static int ask(PyObject *object, PyObject *name)
{
    PyObject *answer = PyObject_CallMethodNoArgs(object, name);
    if (answer == NULL) {
        return -1;
    }
    const int truth = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return truth;
}

/* The engine's array that `tensor` shows as a whole, in order: a new reference. NULL if there is
   none, with an exception set if the question failed. */
static PyObject *whole_array(Tensor *tensor, PyObject *shape)
{
    if (tensor->array != NULL) {
        return Py_NewRef(tensor->array);
    }
    if (tensor->view == NULL || tensor->storage == NULL ||
        !Py_IS_TYPE(tensor->storage, storage_type)) {
        return NULL;
    }
    /* Python's code runs below, and other threads with it, which may replace either. */
    PyObject *view = Py_NewRef(tensor->view);
    PyObject *memory = Py_XNewRef(((Storage *)tensor->storage)->memory);
    const int is_whole = memory != NULL && has_attribute(view, names_of.is_row_major, Py_True) > 0 &&
                         has_attribute(view, names_of.shape, shape) > 0;
    Py_DECREF(view);
    if (!is_whole) {
        Py_CLEAR(memory);
    }
    return memory;
}

/* Whether `object` is as the program expects it there, and then the engine's array of it, a new
   reference; -1 with an exception set. */
static int find_given(PyObject *described, Py_ssize_t i, PyObject *object, PyObject **found)
{
    PyObject *expected = PyTuple_GET_ITEM(PyTuple_GET_ITEM(described, GIVEN), i);
    Array *array = (Array *)object;
    if (!is_array(object) || array->device != PyTuple_GET_ITEM(described, DEVICE) ||
        array->dtype != PyTuple_GET_ITEM(expected, 1) || !is_tensor(array->handle)) {
        return 0;
    }
    PyObject *shape = PyTuple_GET_ITEM(expected, 0);
    *found = whole_array((Tensor *)array->handle, shape);
    if (*found == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    PyObject *test = PyTuple_GET_ITEM(described, ORDER_TEST);
    int is_fitting = has_attribute(*found, names_of.shape, shape);
    if (is_fitting > 0 && test != Py_None) {
        is_fitting = ask(*found, test);
    }
    if (is_fitting <= 0) {
        Py_CLEAR(*found);
    }
    return is_fitting;
}

static PyObject *wrap_result(PyObject *described, PyObject *const *items, Py_ssize_t count,
                             Py_ssize_t i)
{
    PyObject *expected = PyTuple_GET_ITEM(PyTuple_GET_ITEM(described, RESULTS), i);
    const Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(expected, 0));
    if (number < 0 || number >= count) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_SystemError, "a compiled program returned too few arrays");
        }
        return NULL;
    }
    return wrap_engines(items[number], PyTuple_GET_ITEM(expected, 1),
                        PyTuple_GET_ITEM(described, DEVICE));
}

static PyObject *wrap_results(PyObject *described, PyObject *const *items, Py_ssize_t count)
{
    if (PyTuple_GET_ITEM(described, IS_TUPLE) != Py_True) {
        return wrap_result(described, items, count, 0);
    }
    const Py_ssize_t size = PyTuple_GET_SIZE(PyTuple_GET_ITEM(described, RESULTS));
    PyObject *results = PyTuple_New(size);
    for (Py_ssize_t i = 0; results != NULL && i < size; i++) {
        put_item(&results, i, wrap_result(described, items, count, i));
    }
    return results;
}

PyObject *call_engine(PyObject *described, PyObject *const *arrays, Py_ssize_t count)
{
    PyObject *given[MAX_GIVEN];
    if (count != PyTuple_GET_SIZE(PyTuple_GET_ITEM(described, GIVEN)) || count > MAX_GIVEN ||
        PyTuple_GET_SIZE(PyTuple_GET_ITEM(described, RESULTS)) == 0) {
        return DECLINED;
    }
    /* While a function is traced, the device has another backend, which is to see the call. */
    const int is_plain = has_attribute(PyTuple_GET_ITEM(described, DEVICE), names_of.backend,
                                       PyTuple_GET_ITEM(described, BACKEND));
    if (is_plain <= 0) {
        return is_plain < 0 ? NULL : DECLINED;
    }
    Py_ssize_t found = 0;
    int fits = 1;
    while (fits > 0 && found < count) {
        PyObject *array = NULL;
        fits = find_given(described, found, arrays[found], &array);
        if (fits > 0) {
            given[found++] = array;
        }
    }
    PyObject *returned = NULL;
    if (fits > 0) {
        PyObject *compute = PyTuple_GET_ITEM(described, COMPUTE);
        returned = PyObject_Vectorcall(compute, given, (size_t)count, NULL);
    }
    while (found > 0) {
        Py_DECREF(given[--found]);
    }
    if (fits <= 0) {
        return fits < 0 ? NULL : DECLINED;
    }
    if (returned == NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        /* Python runs the program once more, and explains the error. */
        PyErr_Clear();
        return DECLINED;
    }
    PyObject *items = returned == NULL ? NULL : PySequence_Fast(returned, "no list of arrays");
    Py_XDECREF(returned);
    PyObject *result = items == NULL ? NULL
                                     : wrap_results(described, PySequence_Fast_ITEMS(items),
                                                    PySequence_Fast_GET_SIZE(items));
    Py_XDECREF(items);
    return result;
}
