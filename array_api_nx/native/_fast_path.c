/* From the public array to a backend's kernel, and back, without Python code on the way.

   A Shortcut stands in front of the front end's function for operations element by element. Where a
   glance at its arguments shows that a route of fast_path.py leads straight to NumPy, it goes there
   itself; it leaves every other call, errors and conversions among them, to the function. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <stddef.h>

enum { MAX_OPERANDS = 2 };

/* The fields of a Route, in their order. */
enum {
    RESULT,
    SCALARS,
    LOW,
    HIGH,
    BIND,
    PARALLEL_MIN,
    KERNEL,
    ATTEMPT,
    OPERATION,
    SERIAL_LIMIT,
    THREADS,
    REPORTED,
    ROUTE_SIZE
};

/* Bits of Route.scalars. */
enum { BOOL = 1, INT = 2, FLOAT = 4, COMPLEX = 8 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function; /* does all that is not done here */
    PyObject *find;     /* (primitive, dtype, backend) -> Route or None */
    PyObject *routes;   /* device -> (its backend, primitive -> dtype -> Route or None) */
    PyObject *hints;
    PyTypeObject *array_type, *device_type, *tensor_type;
    int sources, extras; /* operands; further arguments that the function takes by position */
    PyMemberDef *handle, *dtype, *device, *backend; /* of Array and Device */
    PyMemberDef *array, *view, *storage;            /* of Tensor */
    PyMemberDef *defer_small, *threshold;               /* of the hints */
} Shortcut;

/* The arguments of one call, as new references. */
typedef struct {
    PyObject *dtype, *device, *backend;
    PyObject *handles[MAX_OPERANDS]; /* Tensors; NULL for scalars */
    PyObject *values[MAX_OPERANDS];  /* ndarrays and Python scalars */
    double count;                    /* elements of all operands multiplied: of the result, or more */
    npy_intp longest;
} Call;

static PyObject *get(PyObject *object, PyMemberDef *member)
{
    return PyMember_GetOne((const char *)object, member);
}

static int set(PyObject *object, PyMemberDef *member, PyObject *value)
{
    return PyMember_SetOne((char *)object, member, value);
}

static void clear_call(Call *call)
{
    Py_CLEAR(call->dtype);
    Py_CLEAR(call->device);
    Py_CLEAR(call->backend);
    for (int i = 0; i < MAX_OPERANDS; i++) {
        Py_CLEAR(call->handles[i]);
        Py_CLEAR(call->values[i]);
    }
}

/* Take the handle of an array. 0 if its dtype or device is not that of the arrays before it. */
static int take_array(const Shortcut *self, PyObject *array, Call *call, int i)
{
    PyObject *dtype = get(array, self->dtype);
    PyObject *device = get(array, self->device);
    call->handles[i] = get(array, self->handle);
    const int open = dtype != NULL && device != NULL && call->handles[i] != NULL &&
                     Py_IS_TYPE(call->handles[i], self->tensor_type) &&
                     (call->dtype == NULL || call->dtype == dtype) &&
                     (call->device == NULL || call->device == device);
    PyErr_Clear(); /* of slots without a value */
    Py_XSETREF(call->dtype, dtype);
    Py_XSETREF(call->device, device);
    return open;
}

/* Take the handles of all operands that are arrays. 0 if there is none, or they are not alike. */
static int take_arrays(const Shortcut *self, PyObject *const *operands, Call *call)
{
    for (int i = 0; i < self->sources; i++) {
        if (Py_IS_TYPE(operands[i], self->array_type) && !take_array(self, operands[i], call, i)) {
            return 0;
        }
    }
    if (call->device != NULL && Py_IS_TYPE(call->device, self->device_type)) {
        call->backend = get(call->device, self->backend);
        PyErr_Clear();
    }
    return call->backend != NULL;
}

/* Whether nothing is deferred that has an array. */
static int is_plain(const Shortcut *self)
{
    PyObject *defer_small = get(self->hints, self->defer_small);
    const int plain = defer_small == Py_False;
    Py_XDECREF(defer_small);
    PyErr_Clear();
    return plain;
}

/* The value of a key, a new reference; NULL if there is none, or with an exception set. */
static PyObject *look_up(PyObject *dict, PyObject *key)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *value;
    return PyDict_GetItemRef(dict, key, &value) < 0 ? NULL : value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

/* A new reference to the routes of a device. If it has got another backend, they are asked anew. */
static PyObject *routes_of(Shortcut *self, const Call *call)
{
    PyObject *entry = look_up(self->routes, call->device);
    if (entry == NULL && PyErr_Occurred()) {
        return NULL;
    }
    if (entry == NULL || PyTuple_GET_ITEM(entry, 0) != call->backend) {
        PyObject *fresh = PyDict_New();
        Py_XSETREF(entry, fresh == NULL ? NULL : PyTuple_Pack(2, call->backend, fresh));
        Py_XDECREF(fresh);
        if (entry != NULL && PyDict_SetItem(self->routes, call->device, entry) < 0) {
            Py_CLEAR(entry);
        }
    }
    PyObject *routes = entry == NULL ? NULL : Py_NewRef(PyTuple_GET_ITEM(entry, 1));
    Py_XDECREF(entry);
    return routes;
}

/* A new reference to the dict that is the value of a key; an empty one is added if there is none. */
static PyObject *descend(PyObject *dict, PyObject *key)
{
    PyObject *inner = look_up(dict, key);
    if (inner == NULL && !PyErr_Occurred() && (inner = PyDict_New()) != NULL &&
        PyDict_SetItem(dict, key, inner) < 0) {
        Py_CLEAR(inner);
    }
    return inner;
}

static int is_route(PyObject *found)
{
    if (!PyTuple_Check(found) || PyTuple_GET_SIZE(found) != ROUTE_SIZE) {
        return 0;
    }
    const int numbers[] = {SCALARS, LOW, HIGH, PARALLEL_MIN, SERIAL_LIMIT};
    int good = 1;
    for (size_t i = 0; good && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        PyObject *number = PyTuple_GET_ITEM(found, numbers[i]);
        good = PyLong_Check(number) && !(PyLong_AsLongLong(number) == -1 && PyErr_Occurred());
    }
    PyErr_Clear();
    return good;
}

/* Ask the backend for the route of a primitive, and remember it in `known`. */
static PyObject *ask_route(Shortcut *self, PyObject *primitive, const Call *call, PyObject *known)
{
    PyObject *found =
        PyObject_CallFunctionObjArgs(self->find, primitive, call->dtype, call->backend, NULL);
    if (found != NULL && found != Py_None && !is_route(found)) {
        PyErr_Format(PyExc_TypeError, "a route must be a Route or None, not %R", found);
        Py_CLEAR(found);
    }
    if (found != NULL && PyDict_SetItem(known, call->dtype, found) < 0) {
        Py_CLEAR(found);
    }
    return found;
}

/* The route, or None, a new reference; NULL with an exception set if that fails. */
static PyObject *find_route(Shortcut *self, PyObject *primitive, const Call *call)
{
    PyObject *by_primitive = routes_of(self, call);
    PyObject *by_dtype = by_primitive == NULL ? NULL : descend(by_primitive, primitive);
    PyObject *route = by_dtype == NULL ? NULL : look_up(by_dtype, call->dtype);
    if (route == NULL && !PyErr_Occurred()) {
        route = ask_route(self, primitive, call, by_dtype);
    }
    Py_XDECREF(by_primitive);
    Py_XDECREF(by_dtype);
    return route;
}

/* Get the ndarray of a handle, or have it made for a view that was not used before. Whether there is
   one; if not, an exception may be set. */
static int take_ndarray(const Shortcut *self, PyObject *route, Call *call, int i)
{
    PyObject *array = get(call->handles[i], self->array);
    if (array == Py_None) {
        Py_SETREF(array, PyObject_CallOneArg(PyTuple_GET_ITEM(route, BIND), call->handles[i]));
    }
    call->values[i] = array;
    if (array == NULL || !PyArray_CheckExact(array)) {
        return 0;
    }
    const npy_intp size = PyArray_SIZE((PyArrayObject *)array);
    call->count *= (double)size;
    call->longest = size > call->longest ? size : call->longest;
    return 1;
}

/* Whether a Python scalar leaves the dtype of the arrays as it is. */
static int fits(PyObject *route, PyObject *value)
{
    const long scalars = PyLong_AsLong(PyTuple_GET_ITEM(route, SCALARS));
    if (PyFloat_CheckExact(value)) {
        return (scalars & FLOAT) != 0;
    }
    if (PyBool_Check(value)) {
        return (scalars & BOOL) != 0;
    }
    if (PyComplex_CheckExact(value)) {
        return (scalars & COMPLEX) != 0;
    }
    if (!PyLong_CheckExact(value) || (scalars & INT) == 0) {
        return 0;
    }
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 && number >= PyLong_AsLongLong(PyTuple_GET_ITEM(route, LOW)) &&
           number <= PyLong_AsLongLong(PyTuple_GET_ITEM(route, HIGH));
}

/* Get the ndarrays of all handles, and the scalars. 0 if there is an operand that the route does not
   take; then an exception may be set. */
static int take_values(const Shortcut *self, PyObject *const *operands, PyObject *route, Call *call)
{
    for (int i = 0; i < self->sources; i++) {
        if (call->handles[i] != NULL) {
            if (!take_ndarray(self, route, call, i)) {
                return 0;
            }
        } else if (fits(route, operands[i])) {
            call->values[i] = Py_NewRef(operands[i]);
        } else {
            return 0;
        }
    }
    return 1;
}

/* Whether operands are arrays of several shapes. */
static int differ(const Call *call)
{
    if (call->handles[0] == NULL || call->handles[1] == NULL) {
        return 0;
    }
    PyArrayObject *first = (PyArrayObject *)call->values[0];
    PyArrayObject *second = (PyArrayObject *)call->values[1];
    return PyArray_NDIM(first) != PyArray_NDIM(second) ||
           !PyArray_CompareLists(PyArray_DIMS(first), PyArray_DIMS(second), PyArray_NDIM(first));
}

/* Whether an operand, or the result, may have more than `size` elements. */
static int exceeds(const Call *call, npy_intp size)
{
    return call->longest > size || (call->count > (double)size && differ(call));
}

/* The number of threads to use at most. */
static PyObject *count_threads(PyObject *route, const Call *call, int small)
{
    return !small && call->count > PyLong_AsDouble(PyTuple_GET_ITEM(route, SERIAL_LIMIT))
               ? PyObject_CallNoArgs(PyTuple_GET_ITEM(route, THREADS))
               : PyLong_FromLong(1);
}

/* Compute by `Route.attempt`: an ndarray; None if the function has to compute it. */
static PyObject *attempt(const Shortcut *self, PyObject *route, const Call *call, int small)
{
    PyObject *arguments[3 + MAX_OPERANDS];
    PyObject *found = NULL;
    if (PyTuple_GET_ITEM(route, ATTEMPT) == Py_None) {
        Py_RETURN_NONE;
    }
    arguments[0] = PyTuple_GET_ITEM(route, OPERATION);
    arguments[1] = count_threads(route, call, small);
    arguments[2] = get(self->hints, self->threshold);
    memcpy(arguments + 3, call->values, sizeof(call->values));
    if (arguments[1] != NULL && arguments[2] != NULL) {
        found = PyObject_Vectorcall(PyTuple_GET_ITEM(route, ATTEMPT), arguments,
                                    (size_t)(3 + self->sources), NULL);
    }
    Py_XDECREF(arguments[1]);
    Py_XDECREF(arguments[2]);
    if (found != NULL && PyTuple_CheckExact(found)) {
        Py_SETREF(found, PyObject_Call(PyTuple_GET_ITEM(route, REPORTED), found, NULL));
    }
    return found;
}

/* Compute by `Route.kernel`: an ndarray; None if the function has to raise the error. */
static PyObject *run_kernel(const Shortcut *self, PyObject *route, const Call *call)
{
    PyObject *found = PyObject_Vectorcall(PyTuple_GET_ITEM(route, KERNEL), call->values,
                                          (size_t)self->sources, NULL);
    if (found == NULL && differ(call) && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear(); /* the function has a better message for shapes that do not broadcast */
        Py_RETURN_NONE;
    }
    if (found != NULL && !PyArray_CheckExact(found)) {
        /* For 0-d arrays NumPy returns a scalar. */
        Py_SETREF(found, PyArray_FromAny(found, NULL, 0, 0, 0, NULL));
    }
    return found;
}

/* The Array around a Tensor around an ndarray, whose reference is stolen. */
static PyObject *wrap(const Shortcut *self, PyObject *route, const Call *call, PyObject *array)
{
    PyObject *tensor = self->tensor_type->tp_alloc(self->tensor_type, 0);
    PyObject *result = tensor == NULL ? NULL : self->array_type->tp_alloc(self->array_type, 0);
    if (result != NULL &&
        (set(tensor, self->array, array) < 0 || set(tensor, self->view, Py_None) < 0 ||
         set(tensor, self->storage, Py_None) < 0 || set(result, self->handle, tensor) < 0 ||
         set(result, self->dtype, PyTuple_GET_ITEM(route, RESULT)) < 0 ||
         set(result, self->device, call->device) < 0)) {
        Py_CLEAR(result);
    }
    Py_XDECREF(tensor);
    Py_DECREF(array);
    return result;
}

/* The Array of the result, a new reference; NULL without an exception set if the function has to
   find it. */
static PyObject *follow(const Shortcut *self, PyObject *route, PyObject *const *operands, Call *call)
{
    if (!take_values(self, operands, route, call)) {
        return NULL;
    }
    const int small = !exceeds(call, PyLong_AsSsize_t(PyTuple_GET_ITEM(route, PARALLEL_MIN)));
    PyObject *found = attempt(self, route, call, small);
    if (found == Py_None && small) {
        Py_SETREF(found, run_kernel(self, route, call));
    }
    if (found == Py_None) {
        Py_CLEAR(found);
    }
    return found == NULL ? NULL : wrap(self, route, call, found);
}

/* The whole of a call: as `follow`, which it ends in once the route is known. */
static PyObject *go(Shortcut *self, PyObject *primitive, PyObject *const *operands, Call *call)
{
    if (!take_arrays(self, operands, call) || !is_plain(self)) {
        return NULL;
    }
    PyObject *route = find_route(self, primitive, call);
    PyObject *result =
        route == NULL || route == Py_None ? NULL : follow(self, route, operands, call);
    Py_XDECREF(route);
    return result;
}

static PyObject *shortcut_call(PyObject *object, PyObject *const *args, size_t flags,
                               PyObject *names)
{
    Shortcut *self = (Shortcut *)object;
    const Py_ssize_t surplus = PyVectorcall_NARGS(flags) - 1 - self->sources;
    if (names == NULL && surplus >= 0 && surplus <= self->extras) {
        Call call = {.count = 1.0};
        PyObject *result = go(self, args[0], args + 1, &call);
        clear_call(&call);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    return PyObject_Vectorcall(self->function, args, flags, names);
}

/* ------------------------------------------------------------------ the type */

/* Where objects of the type keep that attribute; NULL with an exception set if it is no slot. */
static PyMemberDef *find_member(PyObject *type, const char *name)
{
    PyObject *member = PyObject_GetAttrString(type, name);
    if (member == NULL) {
        return NULL;
    }
    if (!Py_IS_TYPE(member, &PyMemberDescr_Type)) {
        PyErr_Format(PyExc_TypeError, "%R has no slot %s", type, name);
        Py_DECREF(member);
        return NULL;
    }
    PyMemberDef *found = ((PyMemberDescrObject *)member)->d_member;
    Py_DECREF(member); /* the type keeps it */
    return found;
}

static PyObject *shortcut_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *function, *array_type, *device_type, *tensor_type, *hints, *find;
    int sources, extras;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Shortcut takes its arguments by position");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OiiO!O!O!OO:Shortcut", &function, &sources, &extras,
                          &PyType_Type, &array_type, &PyType_Type, &device_type, &PyType_Type,
                          &tensor_type, &hints, &find)) {
        return NULL;
    }
    if (sources < 1 || sources > MAX_OPERANDS) {
        PyErr_Format(PyExc_ValueError, "there are 1 to %d operands, not %d", MAX_OPERANDS, sources);
        return NULL;
    }
    Shortcut *self = (Shortcut *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->call = shortcut_call;
    self->function = Py_NewRef(function);
    self->find = Py_NewRef(find);
    self->hints = Py_NewRef(hints);
    self->array_type = (PyTypeObject *)Py_NewRef(array_type);
    self->device_type = (PyTypeObject *)Py_NewRef(device_type);
    self->tensor_type = (PyTypeObject *)Py_NewRef(tensor_type);
    self->sources = sources;
    self->extras = extras;
    self->routes = PyDict_New();
    if (self->routes == NULL || (self->handle = find_member(array_type, "_handle")) == NULL ||
        (self->dtype = find_member(array_type, "_dtype")) == NULL ||
        (self->device = find_member(array_type, "_device")) == NULL ||
        (self->backend = find_member(device_type, "backend")) == NULL ||
        (self->array = find_member(tensor_type, "array")) == NULL ||
        (self->view = find_member(tensor_type, "view")) == NULL ||
        (self->storage = find_member(tensor_type, "storage")) == NULL ||
        (self->defer_small = find_member((PyObject *)Py_TYPE(hints), "defer_small")) == NULL ||
        (self->threshold = find_member((PyObject *)Py_TYPE(hints), "threshold")) == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int shortcut_traverse(PyObject *object, visitproc visit, void *arg)
{
    Shortcut *self = (Shortcut *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->function);
    Py_VISIT(self->find);
    Py_VISIT(self->routes);
    Py_VISIT(self->hints);
    Py_VISIT(self->array_type);
    Py_VISIT(self->device_type);
    Py_VISIT(self->tensor_type);
    return 0;
}

static int shortcut_clear(PyObject *object)
{
    Shortcut *self = (Shortcut *)object;
    Py_CLEAR(self->function);
    Py_CLEAR(self->find);
    Py_CLEAR(self->routes);
    Py_CLEAR(self->hints);
    Py_CLEAR(self->array_type);
    Py_CLEAR(self->device_type);
    Py_CLEAR(self->tensor_type);
    return 0;
}

static void shortcut_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    shortcut_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef shortcut_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Shortcut, call), READONLY, NULL},
    {"function", T_OBJECT_EX, offsetof(Shortcut, function), READONLY, "What does the rest."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot shortcut_slots[] = {
    {Py_tp_doc,
     "Shortcut(function, operands, extras, Array, Device, Tensor, hints, find)\n--\n\n"
     "`function(primitive, *operands, ...)`, which may be short: what fast_path.py says."},
    {Py_tp_new, shortcut_new},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_traverse, shortcut_traverse},
    {Py_tp_clear, shortcut_clear},
    {Py_tp_dealloc, shortcut_dealloc},
    {Py_tp_members, shortcut_members},
    {0, NULL},
};

static PyType_Spec shortcut_spec = {
    .name = "array_api_nx.native._fast_path.Shortcut",
    .basicsize = sizeof(Shortcut),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = shortcut_slots,
};

static int execute(PyObject *module)
{
    import_array1(-1);
    PyObject *type = PyType_FromModuleAndSpec(module, &shortcut_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    const int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_fast_path",
    .m_doc = "From the public array to a backend's kernel without Python code on the way.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__fast_path(void)
{
    return PyModuleDef_Init(&module);
}
