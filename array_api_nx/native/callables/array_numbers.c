/* The only element of an array as a number of Python: float(x), int(x), bool(x) and others. */

#include "array.h"
#include "elements.h"
#include "scalars.h"

/* Where the only element is; NULL if there are others, or if Python is to see that it is read. */
static const char *only_data(Tensor *x)
{
    return x != NULL && x->size == 1 && !is_watched ? data_of(x) : NULL;
}

/* The only element, a real number, as a Python scalar; DECLINED if C does not say. */
static PyObject *only_element(PyObject *self)
{
    Tensor *x = layout_of(self);
    const char *data = only_data(x);
    return data == NULL || is_complex(x->code) ? decline_unless_raised() : read_scalar(data, (DTypeCode)x->code);
}

PyObject *as_float(PyObject *self)
{
    Tensor *x = layout_of(self);
    const char *data = x != NULL && x->code == FLOAT64 ? only_data(x) : NULL;
    if (data != NULL) {
        return PyFloat_FromDouble(*(const npy_double *)data);
    }
    PyObject *element = PyErr_Occurred() ? NULL : only_element(self);
    if (element == DECLINED) {
        return ask_one(METHOD___float__, self);
    }
    if (element == NULL || PyFloat_CheckExact(element)) {
        return element;
    }
    PyObject *number = PyFloat_FromDouble(PyLong_AsDouble(element));
    Py_DECREF(element);
    return number;
}

PyObject *as_int(PyObject *self)
{
    PyObject *element = only_element(self);
    if (element == DECLINED) {
        return ask_one(METHOD___int__, self);
    }
    if (element == NULL || PyLong_CheckExact(element)) {
        return element;
    }
    if (PyBool_Check(element)) {
        PyObject *number = PyLong_FromLong(element == Py_True);
        Py_DECREF(element);
        return number;
    }
    const double number = PyFloat_AS_DOUBLE(element);
    Py_DECREF(element);
    return isfinite(number) ? PyLong_FromDouble(number) : ask_one(METHOD___int__, self);
}

PyObject *as_index(PyObject *self)
{
    Tensor *x = layout_of(self);
    PyObject *element =
        x != NULL && x->ndim == 0 && is_integer(x->code) ? only_element(self) : DECLINED;
    return element == DECLINED ? ask_one(METHOD___index__, self) : element;
}

int as_bool(PyObject *self)
{
    Tensor *x = layout_of(self);
    const char *data = only_data(x);
    if (data != NULL) {
        return is_true(data, (DTypeCode)x->code);
    }
    PyObject *element = PyErr_Occurred() ? NULL : ask_one(METHOD___bool__, self);
    const int truth = element == NULL ? -1 : PyObject_IsTrue(element);
    Py_XDECREF(element);
    return truth;
}

PyObject *as_complex(PyObject *self, PyObject *ignored)
{
    Tensor *x = layout_of(self);
    const char *data = only_data(x);
    if (data == NULL) {
        return ask_one(METHOD___complex__, self);
    }
    if (is_complex(x->code)) {
        return read_scalar(data, (DTypeCode)x->code);
    }
    const double real = PyFloat_AsDouble(self);
    return real == -1 && PyErr_Occurred() ? NULL : PyComplex_FromDoubles(real, 0.0);
}
