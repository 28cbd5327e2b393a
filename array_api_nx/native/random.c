/* Random numbers for Python; draws.c makes them. */

#include "random.h"
#include "draws.h"

static PyObject *drawing(PyObject *module, PyObject *args)
{
    const char *kind;
    PyArray_Descr *dtype;
    unsigned int k0, k1;
    unsigned long long base, low, span;
    const npy_intp words = sizeof(Drawing) / sizeof(npy_uint64);
    (void)module;
    if (!PyArg_ParseTuple(args, "sO!IIKKK:drawing", &kind, &PyArrayDescr_Type, &dtype, &k0, &k1,
                          &base, &low, &span)) {
        return NULL;
    }
    const int which = find_draw(kind, dtype->type_num);
    if (which < 0) {
        PyErr_Format(PyExc_TypeError, "no draw makes %s of this dtype", kind);
        return NULL;
    }
    PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(1, &words, NPY_UINT64);
    if (result != NULL) {
        *(Drawing *)PyArray_DATA(result) = (Drawing){(npy_uint64)which, k0, k1, base, low, span};
    }
    return (PyObject *)result;
}

static PyObject *draw(PyObject *module, PyObject *args)
{
    PyArrayObject *source, *array;
    unsigned long long first;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!KO!:draw", &PyArray_Type, &source, &first, &PyArray_Type,
                          &array)) {
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
    Py_BEGIN_ALLOW_THREADS
    draw_run(found, first, 1, (npy_uint64)PyArray_SIZE(array), PyArray_DATA(array));
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"drawing", drawing, METH_VARARGS,
     "drawing(kind, dtype, key0, key1, base, low, span)\n--\n\n"
     "What all numbers of a draw are made of, as an array of uint64.\n\n"
     "kind: \"bits\" (uint32), \"uniform\" and \"normal\" (float32, float64), \"integers\" "
     "(int64, uint64, from `low` on, `span` of them, at most 2**32) or \"wide\" (of a greater "
     "span). Both are modulo 2**64."},
    {"draw", draw, METH_VARARGS,
     "draw(drawing, first, array)\n--\n\n"
     "Fill an array that lies in one piece with the numbers of a draw, from number `first` on."},
    {NULL, NULL, 0, NULL},
};

int add_random(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
