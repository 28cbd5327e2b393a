/* Calls during which a context variable has another value.

   contextvars does the same from Python code, in about three times the time. */

#ifndef ARRAY_API_NX_CONTEXT_H
#define ARRAY_API_NX_CONTEXT_H

#include <structmember.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *variable;
    PyObject *values; /* dict from values of the variable to those that replace them; None: keep */
    PyObject *find;   /* finds the replacement of a value that is not in the dict */
} Replacing;

/* A new reference to what replaces the variable's value: None if it stays, NULL with an exception. */
static PyObject *find_replacement(Replacing *self)
{
    PyObject *value, *other;
    if (PyContextVar_Get(self->variable, Py_None, &value) < 0) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030D0000
    if (PyDict_GetItemRef(self->values, value, &other) < 0) {
        Py_DECREF(value);
        return NULL;
    }
#else
    other = Py_XNewRef(PyDict_GetItemWithError(self->values, value));
#endif
    if (other == NULL && !PyErr_Occurred()) {
        other = PyObject_CallOneArg(self->find, value);
    }
    Py_DECREF(value);
    return other;
}

/* Give the variable back the value that it had before, whether or not an exception is set. */
static int reset_variable(PyObject *variable, PyObject *token)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const int failed = PyContextVar_Reset(variable, token);
    if (!failed || type != NULL) {
        PyErr_Restore(type, value, traceback);
    }
    return failed;
}

static PyObject *replacing_call(PyObject *object, PyObject *const *args, size_t flags,
                                PyObject *names)
{
    Replacing *self = (Replacing *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "there is no function to call");
        return NULL;
    }
    PyObject *other = find_replacement(self);
    if (other == NULL) {
        return NULL;
    }
    PyObject *token = other == Py_None ? NULL : PyContextVar_Set(self->variable, other);
    PyObject *result = NULL;
    if (token != NULL || other == Py_None) {
        result = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), names);
    }
    if (token != NULL && reset_variable(self->variable, token) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(token);
    Py_DECREF(other);
    return result;
}

static PyObject *replacing_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"variable", "values", "find", NULL};
    PyObject *variable, *values, *find;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!O:Replacing", names, &PyContextVar_Type,
                                     &variable, &PyDict_Type, &values, &find)) {
        return NULL;
    }
    Replacing *self = (Replacing *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = replacing_call;
        self->variable = Py_NewRef(variable);
        self->values = Py_NewRef(values);
        self->find = Py_NewRef(find);
    }
    return (PyObject *)self;
}

static int replacing_traverse(PyObject *object, visitproc visit, void *arg)
{
    Replacing *self = (Replacing *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->variable);
    Py_VISIT(self->values);
    Py_VISIT(self->find);
    return 0;
}

static int replacing_clear(PyObject *object)
{
    Replacing *self = (Replacing *)object;
    Py_CLEAR(self->variable);
    Py_CLEAR(self->values);
    Py_CLEAR(self->find);
    return 0;
}

static void replacing_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    replacing_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef replacing_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Replacing, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot replacing_slots[] = {
    {Py_tp_doc,
     "Replacing(variable, values, find)\n--\n\n"
     "A callable (function, *args, **keywords) that returns function(*args, **keywords). Meanwhile "
     "the context variable has the value that the dict gives for its own, which stays for None.\n\n"
     "find(value) gives what is not in the dict; an unset variable counts as None."},
    {Py_tp_new, replacing_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, replacing_traverse},
    {Py_tp_clear, replacing_clear},
    {Py_tp_dealloc, replacing_dealloc},
    {Py_tp_members, replacing_members},
    {0, NULL},
};

static PyType_Spec replacing_spec = {
    .name = "array_api_nx.native._engine.Replacing",
    .basicsize = sizeof(Replacing),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = replacing_slots,
};

#endif
