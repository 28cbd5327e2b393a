
#include "memory.h"
#include "parts.h"

/* The most contexts that are kept for later calls. */
enum { MAX_IDLE = 16 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *prepare; /* makes a pair of a context and a list */
    PyObject *settle;  /* called with the items that a call has left in the list */
    PyObject *idle[MAX_IDLE];
    int count;
} ContextCaller;

/* A new reference to a pair that no other call has. */
static PyObject *take_pair(ContextCaller *self)
{
    PyObject *pair = NULL;
    if (self->count > 0) {
        pair = self->idle[--self->count];
    }
    if (pair == NULL && (pair = PyObject_CallNoArgs(self->prepare)) != NULL) {
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 ||
            !PyContext_CheckExact(PyTuple_GET_ITEM(pair, 0)) ||
            !PyList_CheckExact(PyTuple_GET_ITEM(pair, 1))) {
            PyErr_SetString(PyExc_TypeError, "what is prepared must be a context and a list");
            Py_CLEAR(pair);
        }
    }
    return pair;
}

/* Keep the pair for a later call. Steals the reference. */
static void give_pair_back(ContextCaller *self, PyObject *pair)
{
    if (self->count < MAX_IDLE) {
        self->idle[self->count++] = pair;
        pair = NULL;
    }
    Py_XDECREF(pair);
}

/* Take all items out of a list: a new list of them, or NULL with an exception. */
static PyObject *drain_list(PyObject *list)
{
    const Py_ssize_t size = PyList_GET_SIZE(list);
    PyObject *items = PyList_GetSlice(list, 0, size);
    if (items != NULL && PyList_SetSlice(list, 0, size, NULL) < 0) {
        Py_CLEAR(items);
    }
    return items;
}

static PyObject *context_caller_call(PyObject *object, PyObject *const *args, size_t flags,
                                     PyObject *names)
{
    ContextCaller *self = (ContextCaller *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "there is no function to call");
        return NULL;
    }
    PyObject *pair = take_pair(self);
    if (pair == NULL) {
        return NULL;
    }
    PyObject *context = PyTuple_GET_ITEM(pair, 0), *list = PyTuple_GET_ITEM(pair, 1);
    if (PyContext_Enter(context) < 0) {
        Py_DECREF(pair);
        return NULL;
    }
    Py_XDECREF(enter_pool()); /* once: nobody else has the context */
    PyObject *result = PyObject_Vectorcall(args[0], args + 1, (size_t)(count - 1), names);
    if (PyContext_Exit(context) < 0) {
        Py_DECREF(pair);
        Py_XDECREF(result);
        return NULL;
    }
    if (PyList_GET_SIZE(list) == 0) {
        give_pair_back(self, pair);
        return result;
    }
    /* `settle` gets the items even if the function raised an exception, which is set aside. */
    PyObject *type, *value, *traceback, *settled = NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *items = drain_list(list);
    if (items == NULL) {
        Py_DECREF(pair);
    }
    else {
        give_pair_back(self, pair);
        settled = PyObject_CallOneArg(self->settle, items);
        Py_DECREF(items);
    }
    if (settled == NULL) {
        Py_CLEAR(result);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return NULL;
    }
    Py_DECREF(settled);
    PyErr_Restore(type, value, traceback);
    return result;
}

static PyObject *context_caller_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"prepare", "settle", NULL};
    PyObject *prepare, *settle;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:ContextCaller", names, &prepare,
                                     &settle)) {
        return NULL;
    }
    ContextCaller *self = (ContextCaller *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = context_caller_call;
        self->prepare = Py_NewRef(prepare);
        self->settle = Py_NewRef(settle);
    }
    return (PyObject *)self;
}

static int context_caller_traverse(PyObject *object, visitproc visit, void *arg)
{
    ContextCaller *self = (ContextCaller *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->prepare);
    Py_VISIT(self->settle);
    for (int i = 0; i < self->count; i++) {
        Py_VISIT(self->idle[i]);
    }
    return 0;
}

static int context_caller_clear(PyObject *object)
{
    ContextCaller *self = (ContextCaller *)object;
    Py_CLEAR(self->prepare);
    Py_CLEAR(self->settle);
    while (self->count > 0) {
        PyObject *pair = self->idle[--self->count];
        Py_DECREF(pair);
    }
    return 0;
}

static void context_caller_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    context_caller_clear(object);
    free_instance(object);
}

static PyMemberDef context_caller_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ContextCaller, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot context_caller_slots[] = {
    {Py_tp_doc,
     "ContextCaller(prepare, settle)\n--\n\n"
     "A callable (function, *args, **keywords) that returns function(*args, **keywords), called in "
     "a context of its own.\n\n"
     "prepare() gives a pair of a contextvars.Context and a list. One call at a time has a pair, "
     "and later calls have it again. Items that a call has left in the list are taken out of it, and "
     "settle(items) is called with them in the context of the caller, also where the function raised "
     "an exception. An exception of settle takes the place of the result, or of that exception."},
    {Py_tp_new, context_caller_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, context_caller_traverse},
    {Py_tp_clear, context_caller_clear},
    {Py_tp_dealloc, context_caller_dealloc},
    {Py_tp_members, context_caller_members},
    {0, NULL},
};

static PyType_Spec context_caller_spec = {
    .name = "array_api_nx._native.ContextCaller",
    .basicsize = sizeof(ContextCaller),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = context_caller_slots,
};

int add_context(PyObject *module)
{
    return add_type(module, &context_caller_spec, NULL);
}
