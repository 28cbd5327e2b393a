/* The type of compiled callables: the C implementation of a function in front of the Python function. */

#include "arguments.h"
#include "call_lists.h"
#include "chapters.h"
#include "conversion.h"
#include "elementwise.h"
#include "face.h"
#include "indexing.h"
#include "nodes.h"
#include "parts.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function; /* the Python function */
    PyObject *attributes, *weakrefs;
    Compute compute; /* of the C implementation; NULL if Python answers all calls */
    int code;
    Parameters parameters;
    enum { NOTHING, NDARRAYS, NUMPYS } adopts; /* which objects of NumPy are operands like arrays of ours:
                                                  none, arrays, or arrays and scalars */
    enum { OF_STANDARD, GIVES_ARRAYS, GIVES_SCALARS } gives; /* what results without axes become in NumPy's face */
    /* Of functions of the face alone: */
    PyObject *numpys;  /* NumPy's function, which computes what the implementation declines */
    int is_small_only; /* whether it does for small arrays alone */
    int is_operation;  /* whether `code` is an OperationCode */
    int dtype_place;   /* of the parameter dtype; or -1 */
    npy_uint32 refused; /* bits of the dtypes that the face leaves to NumPy */
    char keeps_order;   /* whether NumPy's results have the operand's order of axes in memory */
} Function;

static PyTypeObject *function_type;

/* advise(function, args, names, error), which returns a better error, or the same one. */
static PyObject *advise_function;

static PyObject *tuple_of(PyObject *const *items, Py_ssize_t count)
{
    PyObject *result = PyTuple_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyTuple_SET_ITEM(result, i, Py_NewRef(items[i]));
    }
    return result;
}

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
    if (!PyTuple_CheckExact(object) && !PyList_CheckExact(object)) {
        return Py_NewRef(object);
    }
    PyObject *items = PySequence_Tuple(object);
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
        if (array == NULL || array == DECLINED) {
            Py_CLEAR(arrays);
        } else {
            PyTuple_SET_ITEM(arrays, i, array);
        }
    }
    Py_DECREF(items);
    *adopted = 1;
    return arrays;
}

enum { MOST_ADOPTED = 8 };

static inline PyObject *call_implementation(const Function *self, PyObject *const *args,
                                            Py_ssize_t count, PyObject *names)
{
    PyObject *room[MOST_PARAMETERS];
    PyObject *const *values = sort_arguments(&self->parameters, args, count, names, room);
    return values == NULL ? DECLINED : self->compute(self->code, values, count);
}

/* The same of a function of the face, where a dtype may be anything that NumPy makes one of. */
static PyObject *call_with_dtype(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *room[MOST_PARAMETERS];
    PyObject *const *values = sort_arguments(&self->parameters, args, count, names, room);
    if (values == NULL) {
        return DECLINED;
    }
    PyObject *dtype = self->dtype_place < 0 ? NULL : values[self->dtype_place];
    if (!is_given(dtype) || PyType_Check(dtype) || code_of_dtype(dtype) != NO_DTYPE) {
        return self->compute(self->code, values, count);
    }
    PyArray_Descr *descr = NULL;
    if (!PyArray_DescrConverter2(dtype, &descr) || descr == NULL) {
        PyErr_Clear(); /* NumPy raises it */
        return DECLINED;
    }
    for (int i = 0; i < self->parameters.total; i++) {
        room[i] = values[i];
    }
    room[self->dtype_place] = (PyObject *)descr;
    PyObject *result = self->compute(self->code, room, count);
    Py_DECREF(descr);
    return result;
}

/* The same with NumPy's objects among the arguments adopted; DECLINED if there are none. */
static PyObject *call_adopted(const Function *self, PyObject *const *args, Py_ssize_t count,
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
        result = (self->gives == OF_STANDARD ? call_implementation : call_with_dtype)(self, given, count, names);
        if (result != DECLINED) {
            result = place_result(result, given, total);
        }
    }
    while (made > 0) {
        Py_DECREF(given[--made]);
    }
    return result;
}

static DTypeCode code_of_operand(PyObject *operand, const Tensor *x)
{
    if (x != NULL) {
        return (DTypeCode)x->code;
    }
    if (PyArray_Check(operand)) {
        return code_of_dtype((PyObject *)PyArray_DESCR((PyArrayObject *)operand));
    }
    if (!PyArray_IsScalar(operand, Generic)) {
        return NO_DTYPE;
    }
    PyArray_Descr *descr = PyArray_DescrFromScalar(operand);
    const DTypeCode code = code_of_dtype((PyObject *)descr);
    Py_XDECREF(descr);
    return code;
}

/* Whether NumPy answers a call of the face otherwise: it has other result dtypes for some operands, other orders of
   axes in memory, and warnings for arrays without elements. */
static int is_numpys(const Function *self, PyObject *const *args, Py_ssize_t count)
{
    const int reduces = self->gives == GIVES_SCALARS && self->adopts != NUMPYS;
    for (Py_ssize_t i = 0; i < count && (reduces || self->keeps_order || self->refused != 0); i++) {
        const Tensor *x = layout_of_any(args[i]);
        const DTypeCode code = count == 1 && PyBool_Check(args[i]) ? BOOL : code_of_operand(args[i], x);
        if ((code != NO_DTYPE && (self->refused >> code & 1)) ||
            (x != NULL && ((reduces && x->size == 0) || (self->keeps_order && !(x->flags & ROW_MAJOR))))) {
            return 1;
        }
    }
    return 0;
}

/* What an implementation answers in NumPy's face, as an Array. */
static PyObject *answer(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *result = call_with_dtype(self, args, count, names);
    if (result == DECLINED && !PyErr_Occurred()) {
        result = call_adopted(self, args, count, names);
    }
    if (result == DECLINED) {
        return decline_unless_raised();
    }
    return place_result(result, args, count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
}

/* An operation on floats, Python's or NumPy's; DECLINED for others, and where there is something to warn of. */
static PyObject *answer_floats(const Function *self, PyObject *const *args, Py_ssize_t count)
{
    double numbers[2];
    if (count > 2 || count != self->parameters.total) {
        return DECLINED;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyFloat_CheckExact(args[i]) && !PyArray_IsScalar(args[i], Double)) {
            return DECLINED;
        }
        numbers[i] = PyFloat_AS_DOUBLE(args[i]); /* NumPy's is one of Python's, too */
    }
    return compute_floats_alone((OperationCode)self->code, numbers, (int)count);
}

/* The place of the argument out; -1 if there is none. */
static Py_ssize_t find_out(const Function *self, Py_ssize_t count, PyObject *names)
{
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "out") == 0) {
            return count + i;
        }
    }
    return self->is_operation && count == self->parameters.total + 1 ? count - 1 : -1;
}

/* A call with `out`, a single array of the face: what it would give without is written there. */
static PyObject *answer_into(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *given[MOST_ADOPTED], *rest = NULL;
    const Py_ssize_t place = find_out(self, count, names), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (place < 0 || count + named > MOST_ADOPTED) {
        return DECLINED;
    }
    PyObject *out = args[place];
    if (PyTuple_CheckExact(out) && PyTuple_GET_SIZE(out) == 1) {
        out = PyTuple_GET_ITEM(out, 0);
    }
    Tensor *target = is_face(out) ? layout_of(out) : NULL;
    if (target == NULL) {
        return DECLINED;
    }
    for (Py_ssize_t i = 0; i < count + named; i++) {
        if (i != place) {
            given[i - (i > place)] = args[i];
        }
    }
    if (named > 1) {
        rest = PyTuple_New(named - 1);
        for (Py_ssize_t i = 0; rest != NULL && i < named; i++) {
            if (count + i != place) {
                PyTuple_SET_ITEM(rest, i - (count + i > place), Py_NewRef(PyTuple_GET_ITEM(names, i)));
            }
        }
        if (rest == NULL) {
            return NULL;
        }
    }
    PyObject *result = answer(self, given, place < count ? count - 1 : count, place < count ? names : rest);
    Py_XDECREF(rest);
    if (result == NULL || result == DECLINED) {
        return result;
    }
    Tensor *found = layout_of_any(result);
    int done = 0;
    if (found != NULL && found->code == target->code && has_shape(found, target->ndim, target->shape)) {
        done = set_item(out, Py_Ellipsis, result);
    }
    Py_DECREF(result);
    return done == 1 ? Py_NewRef(out) : done < 0 ? NULL : DECLINED;
}

/* ------------------------------------------------------------------ NumPy's function in place of ours */

/* A function of ours in Python takes longer to begin than it saves on fewer elements (docs/tuning.md, 137). */
enum { FEW_FOR_NUMPY = 1 << 13 };

static int has_name(PyObject *names, const char *name)
{
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0) {
            return 1;
        }
    }
    return 0;
}

static PyObject *call_numpys(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject *given[MOST_ADOPTED], *result = DECLINED;
    Py_ssize_t made = 0;
    if (self->numpys == NULL || total > MOST_ADOPTED || !is_new_on_cpu(NULL) ||
        has_name(names, "device")) {
        return DECLINED;
    }
    const npy_intp most = self->is_small_only ? FEW_FOR_NUMPY : limits.deferred;
    while (made < total && (given[made] = to_numpys(args[made], most)) != NULL) {
        made++;
    }
    if (made == total) {
        result = from_numpys(PyObject_Vectorcall(self->numpys, given, (size_t)count, names), given, args, total);
    } else {
        result = decline_unless_raised();
    }
    while (made > 0) {
        Py_DECREF(given[--made]);
    }
    return result;
}

/* A call of a function of NumPy's face. */
static PyObject *call_face(const Function *self, PyObject *object, PyObject *const *args, size_t flags,
                           PyObject *names)
{
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *result = DECLINED;
    const int computes = self->compute != NULL && !is_numpys(self, args, count);
    if (self->is_operation && names == NULL) {
        result = answer_floats(self, args, count);
    }
    if (result == DECLINED && computes && !PyErr_Occurred()) {
        result = answer(self, args, count, names);
    }
    if (result == DECLINED && computes && !PyErr_Occurred()) {
        result = answer_into(self, args, count, names);
        if (result != NULL && result != DECLINED) {
            return result; /* an array without axes stays one */
        }
    }
    if (result != DECLINED) {
        return face_of(result, self->gives == GIVES_SCALARS);
    }
    result = PyErr_Occurred() ? NULL : call_numpys(self, args, count, names);
    return result != DECLINED ? result : call_python(self->function, object, args, flags, names);
}

/* The Python function of the standard's namespace, which knows no arrays of the face. */
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
    if (self->gives != OF_STANDARD) {
        return call_face(self, object, args, flags, names);
    }
    if (self->compute != NULL) {
        PyObject *result = call_implementation(self, args, count, names);
        if (result != DECLINED) {
            return place_result(result, args,
                                count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
        }
        if (PyErr_Occurred()) {
            return NULL; /* a pending operand raised an error when it was computed */
        }
        result = call_adopted(self, args, count, names);
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
    Py_VISIT(self->attributes);
    return 0;
}

static int function_clear(PyObject *object)
{
    Function *self = (Function *)object;
    Py_CLEAR(self->function);
    Py_CLEAR(self->numpys);
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
    return instance == NULL ? Py_NewRef(object) : PyMethod_New(object, instance);
}

/* Pickles as the name in its module, as functions do. */
static PyObject *function_reduce(PyObject *object, PyObject *ignored)
{
    return PyObject_GetAttrString(((Function *)object)->function, "__qualname__");
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

/* Whether the implementation is one of a table. */
static int is_in(const Implementation *table, const Implementation *entry)
{
    while (table->name != NULL && table != entry) {
        table++;
    }
    return table == entry;
}

static PyObject *make_function(PyObject *function, const Implementation *entry)
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

/* The place of a parameter; -1 if there is none of the name. */
static int place_of_parameter(const Parameters *parameters, const char *name)
{
    int i = parameters->total - 1;
    while (i >= 0 && (parameters->names[i] == NULL ||
                      PyUnicode_CompareWithASCIIString(parameters->names[i], name) != 0)) {
        i--;
    }
    return i;
}

static PyObject *front_face(PyObject *module, PyObject *args)
{
    PyObject *function, *numpys, *refused;
    const char *name, *parameters;
    int gives_scalars, is_small_only;
    if (!PyArg_ParseTuple(args, "OOssppO!", &function, &numpys, &name, &parameters, &gives_scalars, &is_small_only,
                          &PyTuple_Type, &refused)) {
        return NULL;
    }
    const Implementation *found = *name == '\0' ? NULL : find_implementation(name);
    if (found == NULL && *name != '\0') {
        return PyErr_Format(PyExc_LookupError, "%s has no C implementation", name);
    }
    Function *self = (Function *)make_function(function, found);
    if (self == NULL) {
        return NULL;
    }
    self->gives = gives_scalars ? GIVES_SCALARS : GIVES_ARRAYS;
    self->is_small_only = is_small_only;
    self->numpys = numpys == Py_None ? NULL : Py_NewRef(numpys);
    self->dtype_place = -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(refused); i++) {
        const DTypeCode code = code_of_dtype(PyTuple_GET_ITEM(refused, i));
        self->refused |= code == NO_DTYPE ? 0 : (npy_uint32)1 << code;
        self->keeps_order |= PyTuple_GET_ITEM(refused, i) == Py_None;
    }
    if (found != NULL) {
        const Implementation own = {.parameters = *parameters == '\0' ? found->parameters : parameters};
        if (read_parameters(&own, &self->parameters) < 0) {
            Py_DECREF(self);
            return NULL;
        }
        self->is_operation = is_in(elementwise_functions, found) && found >= elementwise_functions + 2;
        self->dtype_place = place_of_parameter(&self->parameters, "dtype");
    }
    return (PyObject *)self;
}

KEEP_ARGUMENT(set_advice, advise_function)

PyMethodDef callables_methods[] = {
    {"front", front, METH_O,
     "front(function)\n--\n\n"
     "A callable that answers common calls itself, and passes others on to the function.\n\n"
     "LookupError if there is none for a function of this name."},
    {"front_face", front_face, METH_VARARGS,
     "front_face(function, numpys, name, parameters, gives_scalars, is_small_only, refused)\n--\n\n"
     "A callable of NumPy's face that answers calls as the C implementation of a name does, if that is not empty; "
     "has `numpys`, unless that is None, compute what it declines, of small arrays alone if it is so; and passes the "
     "rest on to the function. `parameters` are NumPy's, in the order of the implementation's; if empty, they are "
     "those. `refused`: dtypes of operands whose calls are NumPy's; None for those of operands that do not lie row by "
     "row. Results without axes are scalars if it is so. LookupError if there is none of that name."},
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
    return function_type == NULL ? -1 : 0;
}
