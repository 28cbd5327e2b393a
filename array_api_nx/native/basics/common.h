/* What every file of the extension includes first: Python, NumPy and the standard library.

   NumPy's functions are reached through tables of pointers. module.c fills them when the module is
   made: it defines IMPORTS_NUMPY and thereby holds the tables. The other files refer to them. */

#ifndef ARRAY_API_NX_COMMON_H
#define ARRAY_API_NX_COMMON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL array_api_nx_ARRAY_API
#define PY_UFUNC_UNIQUE_SYMBOL array_api_nx_UFUNC_API
#ifndef IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Put an item, whose reference is stolen, into a new tuple, which is dropped if the item is NULL. */
static inline void put_item(PyObject **tuple, Py_ssize_t i, PyObject *item)
{
    if (item == NULL) {
        Py_CLEAR(*tuple);
    } else {
        PyTuple_SET_ITEM(*tuple, i, item);
    }
}

static inline PyObject *tuple_of(PyObject *const *items, Py_ssize_t count)
{
    PyObject *result = PyTuple_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyTuple_SET_ITEM(result, i, Py_NewRef(items[i]));
    }
    return result;
}

/* The end of a deallocator of a type that was made when the module was loaded. */
static inline void free_instance(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Add a type to the module, and keep it in `*type`, unless that is NULL. -1 with an exception set if it fails. */
static inline int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    PyTypeObject *made = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    const int failed = made == NULL ? -1 : PyModule_AddType(module, made);
    if (type != NULL) {
        *type = made;
    } else {
        Py_XDECREF(made);
    }
    return failed;
}

/* A function of the module that keeps its argument in a variable. */
#define KEEP_ARGUMENT(NAME, VARIABLE)                           \
    static PyObject *NAME(PyObject *module, PyObject *argument) \
    {                                                           \
        Py_XSETREF(VARIABLE, Py_NewRef(argument));              \
        Py_RETURN_NONE;                                         \
    }

#endif
