/* The dtypes, as Python tells them once. */

#include "dtypes.h"
#include "parts.h"

#define DTYPE_INFO(CODE, TYPE, KIND, BYTES) {NULL, BYTES, NPY_NOTYPE, KIND},
DTypeInfo dtypes[DTYPE_COUNT] = {EACH_DTYPE(DTYPE_INFO)};
npy_uint8 promotions[DTYPE_COUNT][DTYPE_COUNT];

DTypeCode code_of_number(int type_number)
{
    int code = 0;
    while (code < DTYPE_COUNT && dtypes[code].type_number != type_number) {
        code++;
    }
    return (DTypeCode)code;
}

static PyObject *set_dtypes(PyObject *module, PyObject *args)
{
    PyObject *objects, *table;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &objects, &PyBytes_Type, &table)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(objects) != DTYPE_COUNT ||
        PyBytes_GET_SIZE(table) != DTYPE_COUNT * DTYPE_COUNT) {
        return PyErr_Format(PyExc_ValueError, "there must be %d dtypes", DTYPE_COUNT);
    }
    for (int code = 0; code < DTYPE_COUNT; code++) {
        PyArray_Descr *descr = (PyArray_Descr *)PyTuple_GET_ITEM(objects, code);
        if (!PyArray_DescrCheck((PyObject *)descr) || descr->kind != dtypes[code].kind ||
            PyDataType_ELSIZE(descr) != dtypes[code].itemsize) {
            return PyErr_Format(PyExc_ValueError, "%R is not dtype %d of native/basics/dtypes.h", descr, code);
        }
    }
    for (int code = 0; code < DTYPE_COUNT; code++) {
        PyArray_Descr *descr = (PyArray_Descr *)PyTuple_GET_ITEM(objects, code);
        DTypeInfo *info = &dtypes[code];
        Py_INCREF(descr);
        Py_XSETREF(info->descr, descr);
        info->type_number = descr->type_num;
    }
    memcpy(promotions, PyBytes_AS_STRING(table), sizeof(promotions));
    Py_RETURN_NONE;
}

PyMethodDef dtypes_methods[] = {
    {"set_dtypes", set_dtypes, METH_VARARGS,
     "set_dtypes(dtypes, promotions)\n--\n\n"
     "The dtypes in the order of core/dtypes.py, and which of them each pair promotes to."},
    {NULL, NULL, 0, NULL},
};
