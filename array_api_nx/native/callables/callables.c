/* The type of compiled callables: the C implementation of a function in front of the Python function. */

#include "callables.h"
#include "arguments.h"
#include "recorded_calls.h"
#include "conversion.h"
#include "face.h"
#include "parts.h"

static PyTypeObject *function_type, *unbound_type;

/* advise(function, args, names, error), which returns a better error, or the same one. */
static PyObject *advise_function;

/* Replace the error that is set by one that tells how to call the function, if it is one of
   arguments that fit no parameters. Such an error has no traceback yet; one that the function raised
   has the function's frame in it. */
static void advise_on_call(const Function *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *names)
{
    if (advise_function == NULL || !PyErr_ExceptionMatches(PyExc_TypeError)) {
        return;
    }
    PyObject *error = take_exception();
    PyObject *traceback = PyException_GetTraceback(error);
    if (traceback != NULL) {
        Py_DECREF(traceback);
        put_exception(error);
        return;
    }
    PyObject *given = tuple_of(args, count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
    PyObject *better = NULL;
    if (given != NULL) {
        better = PyObject_CallFunctionObjArgs(advise_function, self->function, given,
                                              names == NULL ? Py_None : names, error, NULL);
        Py_DECREF(given);
    }
    Py_DECREF(error);
    if (better != NULL && !PyExceptionInstance_Check(better)) {
        PyErr_Format(PyExc_TypeError, "advice on a call must be an exception, not %R", better);
        Py_DECREF(better);
    } else if (better != NULL) {
        put_exception(better);
    }
}

static inline int is_adopted(const Function *self, PyObject *object)
{
    return PyArray_CheckExact(object) ||
           (self->adopts == NUMPYS && PyArray_IsScalar(object, Generic));
}

/* `object`, or the argument in its place: an array of an ndarray or a NumPy scalar, a tuple with
   such arrays. A new reference; `*adopted` is set if it is another object. NULL if one of them cannot
   be adopted, perhaps with an exception set. */
static PyObject *adopt_argument(const Function *self, PyObject *object, int *adopted)
{
    if (is_adopted(self, object)) {
        PyObject *array = adopt_operand(object);
        *adopted = 1;
        return array == DECLINED ? NULL : array;
    }
    /* An operation on elements takes no list: NumPy makes an array of it. */
    if (self->is_operation || (!PyTuple_CheckExact(object) && !PyList_CheckExact(object))) {
        return Py_NewRef(object);
    }
    PyObject *items = keep_items(object);
    const Py_ssize_t count = items == NULL ? 0 : PyTuple_GET_SIZE(items);
    Py_ssize_t i = 0;
    while (i < count && !is_adopted(self, PyTuple_GET_ITEM(items, i))) {
        i++;
    }
    if (i == count) {
        Py_XDECREF(items);
        return items == NULL ? NULL : Py_NewRef(object);
    }
    PyObject *arrays = PyTuple_New(count);
    for (i = 0; arrays != NULL && i < count; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        PyObject *array = is_adopted(self, item) ? adopt_operand(item) : Py_NewRef(item);
        put_item(&arrays, i, array == DECLINED ? NULL : array);
    }
    Py_DECREF(items);
    *adopted = 1;
    return arrays;
}

PyObject *call_adopted(const Function *self, CallImplementation call, PyObject *const *args, Py_ssize_t count,
                       PyObject *names)
{
    const Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject *given[MOST_ADOPTED];
    int adopted = 0;
    Py_ssize_t made = 0;
    if (self->adopts == NOTHING || total > MOST_ADOPTED) {
        return DECLINED;
    }
    while (made < total && (given[made] = adopt_argument(self, args[made], &adopted)) != NULL) {
        made++;
    }
    PyObject *result = DECLINED;
    if (made < total) {
        result = decline_unless_raised();
    } else if (adopted) {
        result = call(self, given, count, names);
        if (result != DECLINED) {
            result = place_result(result, given, total);
        }
    }
    while (made > 0) {
        Py_DECREF(given[--made]);
    }
    return result;
}

/* Call the Python function, which knows no arrays of the face. */
static PyObject *call_with_standard(const Function *self, PyObject *object, PyObject *const *args, size_t flags,
                                    PyObject *names)
{
    const Py_ssize_t total = PyVectorcall_NARGS(flags) + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject *few[MOST_ADOPTED], **given = total <= MOST_ADOPTED ? few : PyMem_New(PyObject *, (size_t)total);
    PyObject *result = NULL;
    Py_ssize_t made = 0;
    if (given == NULL) {
        return PyErr_NoMemory();
    }
    while (made < total && (given[made] = standard_of(args[made])) != NULL) {
        made++;
    }
    if (made == total) {
        result = call_python(self->function, object, given, (size_t)PyVectorcall_NARGS(flags), names);
    }
    while (made > 0) {
        Py_DECREF(given[--made]);
    }
    if (given != few) {
        PyMem_Free(given);
    }
    return result;
}

static PyObject *call_function(PyObject *object, PyObject *const *args, size_t flags,
                               PyObject *names)
{
    const Function *self = (Function *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (self->compute != NULL) {
        PyObject *result = call_implementation(self, args, count, names);
        if (result != DECLINED) {
            return place_result(result, args,
                                count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
        }
        if (PyErr_Occurred()) {
            return NULL; /* a pending operand raised an error when it was computed */
        }
        result = call_adopted(self, call_implementation, args, count, names);
        if (result != DECLINED) {
            return result;
        }
    }
    PyObject *result = has_face(args, count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)))
                           ? call_with_standard(self, object, args, flags, names)
                           : call_python(self->function, object, args, flags, names);
    if (result == NULL) {
        advise_on_call(self, args, count, names);
    }
    return result;
}

static int function_traverse(PyObject *object, visitproc visit, void *arg)
{
    Function *self = (Function *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->function);
    Py_VISIT(self->numpys);
    Py_VISIT(self->direct);
    Py_VISIT(self->defaults);
    Py_VISIT(self->attributes);
    return 0;
}

static int function_clear(PyObject *object)
{
    Function *self = (Function *)object;
    Py_CLEAR(self->function);
    Py_CLEAR(self->numpys);
    Py_CLEAR(self->direct);
    Py_CLEAR(self->defaults);
    Py_CLEAR(self->attributes);
    return 0;
}

static void function_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    if (((Function *)object)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(object);
    }
    function_clear(object);
    free_instance(object);
}

static PyObject *function_repr(PyObject *object)
{
    PyObject *name = PyObject_GetAttrString(((Function *)object)->function, "__qualname__");
    PyObject *text =
        name == NULL ? NULL : PyUnicode_FromFormat("<function %U at %p>", name, (void *)object);
    Py_XDECREF(name);
    return text;
}

/* Binds to an instance of a class, as functions do. */
static PyObject *function_get(PyObject *object, PyObject *instance, PyObject *type)
{
    return instance == NULL || Py_IS_TYPE(object, unbound_type) ? Py_NewRef(object) : PyMethod_New(object, instance);
}

/* NumPy's function for one of the face, NULL for one of the standard's, and any other object itself. */
static PyObject *numpys_of(PyObject *object)
{
    const int is_function = Py_IS_TYPE(object, function_type) || Py_IS_TYPE(object, unbound_type);
    return is_function ? ((Function *)object)->numpys : object;
}

/* A function of the face is equal to NumPy's: NumPy hands its own to the methods `__array_function__` of a program's
   classes, which look for it among the functions that the program named. */
static PyObject *function_compare(PyObject *object, PyObject *other, int op)
{
    PyObject *numpys = numpys_of(object);
    if ((op != Py_EQ && op != Py_NE) || numpys == NULL || numpys != numpys_of(other)) {
        return PyBaseObject_Type.tp_richcompare(object, other, op);
    }
    return PyBool_FromLong(op == Py_EQ);
}

static Py_hash_t function_hash(PyObject *object)
{
    PyObject *numpys = numpys_of(object);
    return numpys == NULL ? PyBaseObject_Type.tp_hash(object) : PyObject_Hash(numpys);
}

/* Pickles as the name in its module, as functions do. */
static PyObject *function_reduce(PyObject *object, PyObject *ignored)
{
    return PyObject_GetAttrString(object, "__qualname__");
}

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Function, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef function_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot function_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, function_traverse},
    {Py_tp_clear, function_clear},
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_repr, function_repr},
    {Py_tp_descr_get, function_get},
    {Py_tp_richcompare, function_compare},
    {Py_tp_hash, function_hash},
    {Py_tp_methods, function_methods},
    {Py_tp_members, function_members},
    {Py_tp_getset, function_attributes},
    {0, NULL},
};

static PyType_Spec function_spec = {
    .name = "array_api_nx._native.Function",
    .basicsize = sizeof(Function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
             Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = function_slots,
};

int is_in(const Implementation *table, const Implementation *entry)
{
    while (table->name != NULL && table != entry) {
        table++;
    }
    return table == entry;
}

PyObject *make_function(PyObject *function, const Implementation *entry)
{
    Function *self = (Function *)function_type->tp_alloc(function_type, 0);
    if (self != NULL) {
        self->call = call_function;
        self->function = Py_NewRef(function);
        self->compute = entry == NULL ? NULL : entry->compute;
        self->code = entry == NULL ? 0 : entry->code;
        self->adopts =
            entry == NULL || is_in(conversion_functions, entry) || is_in(exchange_functions, entry) ? NOTHING
            : is_in(elementwise_functions, entry) || is_in(selection_functions, entry) ||
                    is_in(ufunc_functions, entry)
                ? NUMPYS
                : NDARRAYS;
        if (entry != NULL && read_parameters(entry, &self->parameters) < 0) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

void unbind(Function *function)
{
    Py_INCREF(unbound_type);
    Py_SET_TYPE((PyObject *)function, unbound_type);
    Py_DECREF(function_type);
}

static PyObject *guard(PyObject *module, PyObject *function)
{
    return make_function(function, NULL);
}

static PyObject *front(PyObject *module, PyObject *function)
{
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    const Implementation *found = text == NULL ? NULL : find_implementation(text);
    if (text != NULL && found == NULL) {
        PyErr_Format(PyExc_LookupError, "%U has no C implementation", name);
    }
    Py_XDECREF(name);
    return found == NULL ? NULL : make_function(function, found);
}

KEEP_ARGUMENT(set_advice, advise_function)

PyMethodDef callables_methods[] = {
    {"front", front, METH_O,
     "front(function)\n--\n\n"
     "A callable that answers common calls itself, and passes others on to the function.\n\n"
     "LookupError if there is none for a function of this name."},
    {"guard", guard, METH_O,
     "guard(function)\n--\n\n"
     "A callable that passes all calls on to the function; its errors are those of `front`."},
    {"set_advice", set_advice, METH_O,
     "set_advice(advise)\n--\n\n"
     "A function advise(function, args, names, error) for arguments that fit no parameters; it "
     "returns the error that is raised."},
    {NULL, NULL, 0, NULL},
};

int add_callables(PyObject *module)
{
    function_type = (PyTypeObject *)PyType_FromSpec(&function_spec);
    function_spec.flags &= ~(unsigned int)Py_TPFLAGS_METHOD_DESCRIPTOR;
    unbound_type = (PyTypeObject *)PyType_FromSpec(&function_spec);
    return function_type == NULL || unbound_type == NULL ? -1 : 0;
}
