/* Random numbers for Python; draws.c makes them. */

#include "parts.h"
#include "draws.h"

static PyObject *drawing(PyObject *module, PyObject *args)
{
    const char *kind;
    PyArray_Descr *dtype;
    unsigned int k0, k1;
    unsigned long long base, low, span;
    double p = 0.0, q = 0.0;
    const npy_intp words = sizeof(Drawing) / sizeof(npy_uint64);
    if (!PyArg_ParseTuple(args, "sO!IIKKK|dd:drawing", &kind, &PyArrayDescr_Type, &dtype, &k0, &k1,
                          &base, &low, &span, &p, &q)) {
        return NULL;
    }
    const int which = find_draw(kind, dtype->type_num);
    if (which < 0) {
        PyErr_Format(PyExc_TypeError, "no draw makes %s of this dtype", kind);
        return NULL;
    }
    PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(1, &words, NPY_UINT64);
    if (result != NULL) {
        *(Drawing *)PyArray_DATA(result) = (Drawing){(npy_uint64)which, k0, k1, base, low, span, p, q};
    }
    return (PyObject *)result;
}

/* A parameter for each of `count` numbers, from an array or None; 0 with an exception set. */
static int read_parameter(PyObject *x, npy_intp count, Parameter *parameter)
{
    parameter->data = NULL;
    parameter->stride = 0;
    if (x == Py_None) {
        return 1;
    }
    PyArrayObject *array = (PyArrayObject *)x;
    if (!PyArray_Check(x) || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISBEHAVED_RO(array) ||
        PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != count) {
        PyErr_SetString(PyExc_ValueError,
                        "a parameter is None, or an array with a float64 for each number");
        return 0;
    }
    parameter->data = PyArray_BYTES(array);
    parameter->stride = PyArray_STRIDE(array, 0);
    return 1;
}

static PyObject *draw(PyObject *module, PyObject *args)
{
    PyArrayObject *source, *array;
    PyObject *given[2] = {Py_None, Py_None};
    Parameter parameters[2];
    unsigned long long first;
    if (!PyArg_ParseTuple(args, "O!KO!|OO:draw", &PyArray_Type, &source, &first, &PyArray_Type,
                          &array, &given[0], &given[1])) {
        return NULL;
    }
    const Drawing *found = PyArray_DATA(source);
    if (!PyArray_ISCARRAY(array) || !PyArray_ISCARRAY_RO(source) ||
        PyArray_NBYTES(source) < (npy_intp)sizeof(Drawing) ||
        drawn_itemsize(found) != PyArray_ITEMSIZE(array)) {
        PyErr_SetString(PyExc_ValueError,
                        "draw fills arrays that lie in one piece with what drawing() describes");
        return NULL;
    }
    int arrays = 0;
    for (int i = 0; i < 2; i++) {
        if (!read_parameter(given[i], PyArray_SIZE(array), &parameters[i])) {
            return NULL;
        }
        arrays = given[i] == Py_None ? arrays : i + 1;
    }
    if (arrays > draw_parameters(found)) {
        PyErr_SetString(PyExc_ValueError, "this draw has not so many parameters");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    if (arrays == 0) {
        draw_run(found, first, 1, (npy_uint64)PyArray_SIZE(array), PyArray_DATA(array));
    } else {
        draw_with(found, parameters, first, (npy_uint64)PyArray_SIZE(array), PyArray_DATA(array));
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyMethodDef random_methods[] = {
    {"drawing", drawing, METH_VARARGS,
     "drawing(kind, dtype, key0, key1, base, low, span, p=0.0, q=0.0)\n--\n\n"
     "What all numbers of a draw are made of, as an array of uint64.\n\n"
     "kind: \"bits\" (uint32), \"uniform\" and \"normal\" (float32, float64), \"integers\" "
     "(int64, uint64, from `low` on, `span` of them, at most 2**32), \"wide\" (of a greater "
     "span), \"exponential\" (float64), \"gamma\" (float64, of shape `p`), \"beta\" (float64, "
     "a is `p`, b is `q`), \"poisson\" (int64, of mean `p`) or \"binomial\" (int64, of `p` trials "
     "of probability `q`). Both bounds are modulo 2**64."},
    {"draw", draw, METH_VARARGS,
     "draw(drawing, first, array, p=None, q=None)\n--\n\n"
     "Fill an array that lies in one piece with the numbers of a draw, from number `first` on. `p` "
     "and `q` are 1-D arrays of float64, a parameter for each number; None for the drawing's."},
    {NULL, NULL, 0, NULL},
};
