/* NumPy's ufuncs, beyond what is an attribute in Python: this file alone reads the fields of PyUFuncObject, which NumPy
   may hide some day (docs/development.md). */

#ifndef ARRAY_API_NX_UFUNC_FIELDS_H
#define ARRAY_API_NX_UFUNC_FIELDS_H

#include "common.h"
#include <numpy/ufuncobject.h>

/* The number of operands of a ufunc with one result; 0 for everything else, and for those of numpy.frompyfunc: these
   have loops of objects alone, and hold their function. */
static inline int operands_of(PyObject *x)
{
    const PyUFuncObject *ufunc = (PyUFuncObject *)x;
    return Py_IS_TYPE(x, &PyUFunc_Type) && ufunc->nout == 1 && ufunc->obj == NULL ? ufunc->nin : 0;
}

static inline int has_name(PyObject *ufunc, const char *name)
{
    return strcmp(((PyUFuncObject *)ufunc)->name, name) == 0;
}

/* Read the function and the last argument of a loop. Returns the types of its operands and results, a character each;
   NULL if there is no loop of that number. */
static inline const char *read_ufunc_loop(PyObject *ufunc, int number, PyUFuncGenericFunction *function, void **data)
{
    const PyUFuncObject *found = (PyUFuncObject *)ufunc;
    if (number < 0 || number >= found->ntypes) {
        return NULL;
    }
    *function = found->functions[number];
    *data = found->data == NULL ? NULL : (void *)found->data[number];
    return found->types + number * found->nargs;
}

/* The same for the loop whose operands and results are all of one type. Whether there is one; if not,
   the function is NULL. */
static inline int find_ufunc_loop(PyObject *ufunc, int type, PyUFuncGenericFunction *function, void **data)
{
    const char *types;
    for (int i = 0; (types = read_ufunc_loop(ufunc, i, function, data)) != NULL; i++) {
        int same = 0;
        while (same < ((PyUFuncObject *)ufunc)->nargs && types[same] == type) {
            same++;
        }
        if (same == ((PyUFuncObject *)ufunc)->nargs) {
            return *function != NULL;
        }
    }
    *function = NULL;
    return 0;
}

/* A ufunc with other loops, for which its operands are laid out and copied in the same way. It keeps the arguments. */
static inline PyObject *with_loops(PyObject *ufunc, PyUFuncGenericFunction *functions, void **data, const char *types,
                                   int count, const char *doc)
{
    const PyUFuncObject *found = (PyUFuncObject *)ufunc;
    PyObject *made = PyUFunc_FromFuncAndDataAndSignature(
        functions, data, types, count, found->nin, found->nout, PyUFunc_None, found->name, doc, 0, found->core_signature);
    if (made != NULL) {
        memcpy(((PyUFuncObject *)made)->op_flags, found->op_flags, (size_t)found->nargs * sizeof(*found->op_flags));
        ((PyUFuncObject *)made)->iter_flags = found->iter_flags;
    }
    return made;
}

#endif
