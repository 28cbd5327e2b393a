/* DLPack. Arrays that anybody may write to are exported here, and ndarrays taken in; all others are
   left to Python.

   At the end stands the table of functions by which libraries in C exchange arrays with this one,
   without a call of a Python method on their side: ``Array.__dlpack_c_exchange_api__``, a capsule
   with a pointer to it. What these functions mean is Python's: they call the functions that
   `offer_exchange` was given.

   The structs repeat those of dlpack.h, whose layout is DLPack's binary interface. */

#include "chapters.h"
#include "parts.h"
#include "arguments.h"
#include "conversion.h"

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 3, READ_ONLY_FLAG = 1, HOST = 1 };

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

/* The struct of DLPack before it had versions. */
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

static void release(Managed *managed)
{
    if (managed->deleter != NULL) {
        managed->deleter(managed);
    }
}

/* An unused capsule still owns its contents. */
static void release_capsule(PyObject *capsule)
{
    const char *name = PyCapsule_GetName(capsule);
    if (name == NULL || (strcmp(name, CAPSULE_NAME) != 0 && strcmp(name, UNVERSIONED_NAME) != 0)) {
        return;
    }
    /* The deleter may run Python code, which must not see an exception that is on its way. */
    PyObject *exception = PyErr_Occurred() ? take_exception() : NULL;
    void *managed = PyCapsule_GetPointer(capsule, name);
    if (strcmp(name, CAPSULE_NAME) == 0) {
        release(managed);
    } else if (((Unversioned *)managed)->deleter != NULL) {
        ((Unversioned *)managed)->deleter(managed);
    }
    if (exception != NULL) {
        put_exception(exception);
    }
}

/* ------------------------------------------------------------------ methods of arrays */

/* An exported array, in one block of memory with its shape and strides. */
typedef struct {
    union {
        Managed versioned;
        Unversioned unversioned;
    } managed;
    PyObject *owner; /* an ndarray over the elements */
    int64_t sizes[];
} Export;

/* Consumers may call the deleters from any thread, without the GIL, and after Python's end. */
static void free_export(Export *export_)
{
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(export_->owner);
        PyGILState_Release(state);
    }
    PyMem_RawFree(export_);
}

static void delete_versioned(Managed *managed)
{
    free_export(managed->context);
}

static void delete_unversioned(Unversioned *managed)
{
    free_export(managed->context);
}

/* DLPack's letters for kinds of dtypes. */
static uint8_t kind_code(char kind)
{
    switch (kind) {
    case 'i': return 0;
    case 'u': return 1;
    case 'f': return 2;
    case 'c': return 5;
    default: return 6; /* bool */
    }
}

/* A capsule over the elements of a known layout; NULL with an exception set if there is no memory.
   Strides are always given: without them the elements would be in C's order. */
static PyObject *export_layout(Tensor *x, int is_versioned)
{
    const size_t sizes = 2 * (size_t)x->ndim * sizeof(int64_t);
    PyObject *owner = x->array != NULL ? Py_NewRef(x->array) : new_ndarray(x);
    if (owner == NULL) {
        return NULL;
    }
    Export *export_ = PyMem_RawCalloc(1, sizeof(Export) + sizes);
    if (export_ == NULL) {
        Py_DECREF(owner);
        return PyErr_NoMemory();
    }
    const DTypeInfo *dtype = &dtypes[x->code];
    DLTensor tensor = {
        .data = PyArray_DATA((PyArrayObject *)owner),
        .device = {HOST, 0},
        .ndim = x->ndim,
        .dtype = {kind_code(dtype->kind), (uint8_t)(8 * dtype->itemsize), 1},
        .shape = export_->sizes,
        .strides = export_->sizes + x->ndim,
    };
    for (int i = 0; i < x->ndim; i++) {
        tensor.shape[i] = x->shape[i];
        tensor.strides[i] = x->strides[i] / dtype->itemsize;
    }
    export_->owner = owner;
    if (is_versioned) {
        export_->managed.versioned =
            (Managed){{DLPACK_MAJOR, 0}, export_, delete_versioned, 0, tensor};
    } else {
        export_->managed.unversioned = (Unversioned){tensor, export_, delete_unversioned};
    }
    const char *name = is_versioned ? CAPSULE_NAME : UNVERSIONED_NAME;
    PyObject *capsule = PyCapsule_New(&export_->managed, name, release_capsule);
    if (capsule == NULL) {
        free_export(export_);
    }
    return capsule;
}

/* The argument max_version: nothing, None, or two exact ints from 0 on. */
static int take_version(PyObject *value, int *is_versioned)
{
    npy_intp major, minor;
    if (!is_given(value)) {
        return 1;
    }
    if (!PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) != 2 ||
        !take_number(PyTuple_GET_ITEM(value, 0), &major) ||
        !take_number(PyTuple_GET_ITEM(value, 1), &minor)) {
        return 0;
    }
    *is_versioned = major >= 1;
    return major >= 0 && minor >= 0;
}

/* Array.__dlpack__(*, stream=None, max_version=None, dl_device=..., copy=...). */
static PyObject *call_dlpack(int which, PyObject *const *values, Py_ssize_t count)
{
    int is_versioned = 0;
    Tensor *x = layout_of_any(values[0]);
    if (x == NULL || is_watched || !take_version(values[2], &is_versioned) ||
        is_given(values[1]) || is_given(values[3]) || is_given(values[4]) ||
        x->size > limits.large || data_of(x) == NULL || !is_writeable(x)) {
        return DECLINED;
    }
    for (int i = 0; i < x->ndim; i++) {
        if (x->strides[i] < 0) {
            return DECLINED; /* which not every consumer takes */
        }
    }
    return export_layout(x, is_versioned);
}

static PyObject *host_device; /* (1, 0) */

/* Array.__dlpack_device__(). */
static PyObject *call_dlpack_device(int which, PyObject *const *values, Py_ssize_t count)
{
    if (!is_array(values[0]) || !is_cpu(((Array *)values[0])->device)) {
        return DECLINED;
    }
    return Py_NewRef(host_device);
}

/* Whether the strides are those that DLPack takes for granted where none are given. */
static int has_plain_strides(PyArrayObject *array)
{
    npy_intp expected = PyArray_ITEMSIZE(array);
    for (int i = PyArray_NDIM(array) - 1; i >= 0; i--) {
        if (PyArray_STRIDE(array, i) != expected) {
            return 0;
        }
        expected *= PyArray_DIM(array, i);
    }
    return 1;
}

/* from_dlpack(x, /, *, device=None, copy=None) of ndarrays, and of our arrays. */
static PyObject *call_from_dlpack(int which, PyObject *const *values, Py_ssize_t count)
{
    if (is_watched ||
        is_given(values[1]) || is_given(values[2])) {
        return DECLINED;
    }
    if (is_array(values[0])) {
        Tensor *x = layout_of(values[0]);
        return x == NULL ? DECLINED : wrap_tensor((Tensor *)Py_NewRef(x), (DTypeCode)x->code);
    }
    if (!PyArray_CheckExact(values[0]) || !is_new_on_cpu(NULL)) {
        return DECLINED;
    }
    PyArrayObject *array = (PyArrayObject *)values[0];
    if ((PyArray_IS_C_CONTIGUOUS(array) || PyArray_SIZE(array) <= 1) && !has_plain_strides(array)) {
        return DECLINED;
    }
    return array_from_ndarray(array, NO_DTYPE, 0);
}

Implementation exchange_functions[] = {
    {"__dlpack__", call_dlpack, 0, "self, /, *, stream=, max_version=, dl_device=, copy="},
    {"__dlpack_device__", call_dlpack_device, 0, "self, /"},
    {"from_dlpack", call_from_dlpack, 0, "x, /, *, device=, copy="},
    {NULL, NULL, 0, NULL},
};

/* ------------------------------------------------------------------ the table of functions in C */

/* Python's functions; see `offer_exchange`. */
static PyObject *export_function, *adopt_function, *allocate_function;

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

/* Takes the contents out of a capsule, for the caller to release. */
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
        put_item(&shape, i, PyLong_FromLongLong(prototype->shape[i]));
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

/* Reports the exception to the caller of `allocate`, which may know nothing of Python. */
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
   its contents, which lie on that device of DLPack's; allocate(shape, (code, bits, lanes), kind,
   number) an array without contents, of that dtype of DLPack's. */
static PyObject *offer_exchange(PyObject *module, PyObject *arguments)
{
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

/* relabel(capsule, code): gives the elements of a capsule that is not used yet another of DLPack's
   codes, and returns the code and the number of bits that they had. NumPy has capsules of numbers that
   it knows by itself only, and takes no others. */
static PyObject *relabel(PyObject *module, PyObject *arguments)
{
    PyObject *capsule;
    unsigned char code;
    if (!PyArg_ParseTuple(arguments, "Ob", &capsule, &code)) {
        return NULL;
    }
    DLTensor *tensor;
    if (PyCapsule_IsValid(capsule, CAPSULE_NAME)) {
        tensor = &((Managed *)PyCapsule_GetPointer(capsule, CAPSULE_NAME))->tensor;
    } else {
        Unversioned *managed = PyCapsule_GetPointer(capsule, UNVERSIONED_NAME);
        if (managed == NULL) {
            return NULL;
        }
        tensor = &managed->tensor;
    }
    PyObject *before = Py_BuildValue("(ii)", tensor->dtype.code, tensor->dtype.bits);
    tensor->dtype.code = code;
    return before;
}

static PyMethodDef methods[] = {
    {"relabel", relabel, METH_VARARGS, NULL},
    {"offer_exchange", offer_exchange, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int add_exchange(PyObject *module)
{
    if (host_device == NULL && (host_device = Py_BuildValue("(ii)", HOST, 0)) == NULL) {
        return -1;
    }
    return PyModule_AddFunctions(module, methods);
}
