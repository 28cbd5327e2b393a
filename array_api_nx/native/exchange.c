/* The table of functions by which libraries in C exchange arrays with this one, without a call of a
   Python method on their side: ``Array.__dlpack_c_exchange_api__``, a capsule with a pointer to it.

   The structs repeat those of dlpack.h, whose layout is DLPack's binary interface. What the functions
   mean is Python's: they call the functions that `offer_exchange` was given. */

#include "exchange.h"
#include "calls.h"

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 3, READ_ONLY_FLAG = 1 };

static const char CAPSULE_NAME[] = "dltensor_versioned";
static const char USED_NAME[] = "used_dltensor_versioned";
static const char UNVERSIONED_NAME[] = "dltensor";
static const char USED_UNVERSIONED_NAME[] = "used_dltensor";

typedef struct {
    uint32_t major, minor;
} Version;

typedef struct {
    int32_t kind, number;
} DLDevice;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct Managed {
    Version version;
    void *context;
    void (*deleter)(struct Managed *);
    uint64_t flags;
    DLTensor tensor;
} Managed;

/* What was exchanged before there were versions. */
typedef struct Unversioned {
    DLTensor tensor;
    void *context;
    void (*deleter)(struct Unversioned *);
} Unversioned;

typedef void (*SetError)(void *context, const char *kind, const char *message);

typedef struct {
    struct {
        Version version;
        void *previous;
    } header;
    int (*allocate)(DLTensor *prototype, Managed **out, void *context, SetError set_error);
    int (*export_array)(void *array, Managed **out);
    int (*adopt)(Managed *managed, void **out);
    int (*borrow)(void *array, DLTensor *out);
    int (*current_stream)(int32_t kind, int32_t number, void **out);
} ExchangeAPI;

/* Python's functions; see `offer_exchange`. */
static PyObject *export_function, *adopt_function, *allocate_function;

static void release(Managed *managed)
{
    if (managed->deleter != NULL) {
        managed->deleter(managed);
    }
}

static void release_unversioned(Managed *managed)
{
    Unversioned *given = managed->context;
    if (given->deleter != NULL) {
        given->deleter(given);
    }
    PyMem_RawFree(managed);
}

/* Some engines (JAX 0.10) know no other capsules. These cannot say whether the memory may be written
   to; that of such engines may not. */
static int take_out_unversioned(PyObject *capsule, Managed **out)
{
    Managed *managed = PyMem_RawCalloc(1, sizeof(Managed));
    if (managed == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    managed->context = PyCapsule_GetPointer(capsule, UNVERSIONED_NAME);
    if (managed->context == NULL || PyCapsule_SetName(capsule, USED_UNVERSIONED_NAME) < 0) {
        PyMem_RawFree(managed);
        return -1;
    }
    managed->version.major = 1; /* version 1.0 allows strides to be NULL, as those before it did */
    managed->deleter = release_unversioned;
    managed->flags = READ_ONLY_FLAG;
    managed->tensor = ((Unversioned *)managed->context)->tensor;
    *out = managed;
    return 0;
}

/* Takes what is in a capsule out of it, for the caller to release. */
static int take_out(PyObject *capsule, Managed **out)
{
    if (PyCapsule_IsValid(capsule, UNVERSIONED_NAME)) {
        return take_out_unversioned(capsule, out);
    }
    *out = PyCapsule_GetPointer(capsule, CAPSULE_NAME);
    return *out == NULL ? -1 : PyCapsule_SetName(capsule, USED_NAME);
}

static int export_array(void *array, Managed **out)
{
    PyObject *capsule = PyObject_CallOneArg(export_function, array);
    if (capsule == NULL) {
        return -1;
    }
    int failed = take_out(capsule, out);
    Py_DECREF(capsule);
    return failed;
}

/* A capsule that nobody took anything out of still owns it. */
static void release_capsule(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, CAPSULE_NAME)) {
        return;
    }
    /* The deleter may run Python code, which must not see an exception that is on its way. */
    PyObject *exception = PyErr_Occurred() ? take_exception() : NULL;
    release(PyCapsule_GetPointer(capsule, CAPSULE_NAME));
    if (exception != NULL) {
        put_exception(exception);
    }
}

static int adopt(Managed *managed, void **out)
{
    if (managed->version.major != DLPACK_MAJOR) {
        const unsigned major = managed->version.major;
        release(managed);
        PyErr_Format(PyExc_BufferError,
                     "an array of version %u of DLPack, but only %d is known; give an older one",
                     major, DLPACK_MAJOR);
        return -1;
    }
    DLDevice device = managed->tensor.device;
    PyObject *capsule = PyCapsule_New(managed, CAPSULE_NAME, release_capsule);
    if (capsule == NULL) {
        release(managed);
        return -1;
    }
    *out = PyObject_CallFunction(adopt_function, "Oii", capsule, device.kind, device.number);
    Py_DECREF(capsule);
    return *out == NULL ? -1 : 0;
}

static int allocate_array(const DLTensor *prototype, Managed **out)
{
    PyObject *shape = PyTuple_New(prototype->ndim);
    for (int32_t i = 0; shape != NULL && i < prototype->ndim; i++) {
        PyObject *size = PyLong_FromLongLong(prototype->shape[i]);
        if (size == NULL) {
            Py_CLEAR(shape);
        } else {
            PyTuple_SET_ITEM(shape, i, size);
        }
    }
    if (shape == NULL) {
        return -1;
    }
    PyObject *array = PyObject_CallFunction(
        allocate_function, "N(iii)ii", shape, (int)prototype->dtype.code, (int)prototype->dtype.bits,
        (int)prototype->dtype.lanes, prototype->device.kind, prototype->device.number);
    if (array == NULL) {
        return -1;
    }
    int failed = export_array(array, out);
    Py_DECREF(array);
    return failed;
}

/* Tells the caller of `allocate`, who may know nothing of Python, what was raised. */
static void hand_over_exception(void *context, SetError set_error)
{
    PyObject *exception = take_exception();
    PyObject *text = PyObject_Str(exception);
    const char *message = text == NULL ? NULL : PyUnicode_AsUTF8(text);
    PyErr_Clear();
    set_error(context, Py_TYPE(exception)->tp_name,
              message == NULL ? "the array could not be made" : message);
    Py_XDECREF(text);
    Py_DECREF(exception);
}

/* May be called without the GIL. */
static int allocate(DLTensor *prototype, Managed **out, void *context, SetError set_error)
{
    PyGILState_STATE state = PyGILState_Ensure();
    int failed = allocate_array(prototype, out);
    if (failed) {
        hand_over_exception(context, set_error);
    }
    PyGILState_Release(state);
    return failed;
}

/* The CPU has no streams. What engines compute elsewhere is exported to the default stream, which
   NULL also is. */
static int current_stream(int32_t kind, int32_t number, void **out)
{
    (void)kind;
    (void)number;
    *out = NULL;
    return 0;
}

static ExchangeAPI exchange_api = {
    .header = {{DLPACK_MAJOR, DLPACK_MINOR}, NULL},
    .allocate = allocate,
    .export_array = export_array,
    .adopt = adopt,
    .borrow = NULL, /* strides are kept in bytes, and DLPack counts elements */
    .current_stream = current_stream,
};

/* offer_exchange(export_, adopt, allocate): gives the class of arrays its capsule.

   export_(array) gives a capsule as ``__dlpack__`` does; adopt(capsule, kind, number) an array over
   what is in one, which lies on that device of DLPack's; allocate(shape, (code, bits, lanes), kind,
   number) an array without contents, of that dtype of DLPack's. */
static PyObject *offer_exchange(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *export_, *adopt_, *allocate_;
    if (!PyArg_ParseTuple(arguments, "OOO", &export_, &adopt_, &allocate_)) {
        return NULL;
    }
    Py_XSETREF(export_function, Py_NewRef(export_));
    Py_XSETREF(adopt_function, Py_NewRef(adopt_));
    Py_XSETREF(allocate_function, Py_NewRef(allocate_));
    PyObject *capsule = PyCapsule_New(&exchange_api, "dlpack_exchange_api", NULL);
    if (capsule == NULL) {
        return NULL;
    }
    int failed =
        PyObject_SetAttrString((PyObject *)array_type, "__dlpack_c_exchange_api__", capsule);
    Py_DECREF(capsule);
    if (failed) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"offer_exchange", offer_exchange, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_exchange(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
