/* Tensor as Python sees it, and how C makes Tensors and Arrays. */

#include "parts.h"
#include "layouts.h"
#include "recycling.h"
#include "sizes.h"
#include "storage.h"

static Recycled tensors;

PyObject *make_ndarray(Tensor *tensor)
{
    Storage *storage = (Storage *)tensor->storage;
    char *data = data_of(tensor);
    if (data == NULL) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    const int writeable = storage->writeable && !(tensor->flags & READ_ONLY);
    PyArray_Descr *descr = dtypes[tensor->code].descr;
    Py_INCREF(descr);
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, descr, tensor->ndim, tensor->shape, tensor->strides,
                             data, writeable ? NPY_ARRAY_WRITEABLE : 0, NULL);
    PyObject *owner = array == NULL             ? NULL
                      : storage->memory == NULL ? lend(storage)
                                                : Py_NewRef(storage->memory);
    if (array != NULL && (owner == NULL || PyArray_SetBaseObject((PyArrayObject *)array, owner) < 0)) {
        Py_CLEAR(array);
    }
    return array;
}

/* The View of a layout that C found. */
static PyObject *make_view(Tensor *tensor)
{
    const npy_intp itemsize = dtypes[tensor->code].itemsize;
    PyObject *shape = shape_of(tensor);
    PyObject *strides = tuple_of_sizes(tensor->ndim, tensor->strides, itemsize);
    PyObject *view = NULL;
    if (shape != NULL && strides != NULL) {
        view = PyObject_CallFunction(views.make, "OOnOO", shape, strides,
                                     (Py_ssize_t)(tensor->offset / itemsize), Py_None,
                                     tensor->flags & READ_ONLY ? Py_True : Py_False);
    }
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return view;
}

/* Make the View of a layout that only C knows; 0 with an exception set if that fails. */
static int ensure_view(Tensor *tensor)
{
    if (tensor->view == NULL && tensor->storage != NULL && (tensor->flags & KNOWN)) {
        tensor->view = make_view(tensor);
        return tensor->view != NULL;
    }
    return 1;
}

static PyObject *tensor_get_array(PyObject *self, void *closure)
{
    Tensor *tensor = (Tensor *)self;
    const Storage *storage = (const Storage *)tensor->storage;
    if (storage != NULL && storage->pending != NULL) {
        Py_RETURN_NONE; /* whoever needs elements asks the storage for them */
    }
    if (tensor->array == NULL && ((tensor->flags & KNOWN) || learn_layout(tensor)) &&
        tensor->size <= limits.large) {
        PyObject *array = make_ndarray(tensor);
        if (array == NULL || array == Py_None) {
            return array;
        }
        if (tensor->size > tracked_limit()) {
            return array; /* not kept: large arrays are found by their storage alone */
        }
        tensor->array = array;
    }
    return or_none(tensor->array);
}

static int tensor_set_array(PyObject *self, PyObject *value, void *closure)
{
    Tensor *tensor = (Tensor *)self;
    if (refuse_deletion(value)) {
        return -1;
    }
    if (!ensure_view(tensor)) {
        return -1;
    }
    forget_layout(tensor); /* before Python code may run because the old array is dropped */
    Py_XSETREF(tensor->array, Py_XNewRef(or_null(value)));
    if (tensor->array != NULL && !PyArray_CheckExact(tensor->array)) {
        TRACK(tensor);
    }
    return 0;
}

static PyObject *tensor_get_view(PyObject *self, void *closure)
{
    Tensor *tensor = (Tensor *)self;
    return ensure_view(tensor) ? or_none(tensor->view) : NULL;
}

static int tensor_set_view(PyObject *self, PyObject *value, void *closure)
{
    Tensor *tensor = (Tensor *)self;
    if (refuse_deletion(value)) {
        return -1;
    }
    forget_layout(tensor);
    Py_XSETREF(tensor->view, Py_XNewRef(or_null(value)));
    return 0;
}

static int tensor_set_storage(PyObject *self, PyObject *value, void *closure)
{
    Tensor *tensor = (Tensor *)self;
    if (refuse_deletion(value)) {
        return -1;
    }
    if (value != Py_None && !Py_IS_TYPE(value, storage_type)) {
        PyErr_Format(PyExc_TypeError, "storage must be a Storage or None, not %.200s",
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    if (!ensure_view(tensor)) {
        return -1;
    }
    forget_layout(tensor);
    Py_XSETREF(tensor->storage, Py_XNewRef(or_null(value)));
    if (tensor->storage != NULL && ((Storage *)tensor->storage)->is_tracked) {
        TRACK(tensor);
    }
    return 0;
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    if (PyTuple_GET_SIZE(args) != 0 || keywords != NULL) {
        PyErr_SetString(PyExc_TypeError, "Tensor takes no arguments");
        return NULL;
    }
    Tensor *tensor = (Tensor *)type->tp_alloc(type, 0);
    if (tensor != NULL) {
        tensor->shape = tensor->inside;
        tensor->is_tracked = 1;
    }
    return (PyObject *)tensor;
}

static int tensor_traverse(PyObject *self, visitproc visit, void *arg)
{
    Tensor *tensor = (Tensor *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(tensor->array);
    Py_VISIT(tensor->storage);
    return 0;
}

static int tensor_clear(PyObject *self)
{
    Tensor *tensor = (Tensor *)self;
    forget_layout(tensor);
    Py_CLEAR(tensor->array);
    Py_CLEAR(tensor->storage);
    return 0;
}

static void tensor_dealloc(PyObject *self)
{
    Tensor *tensor = (Tensor *)self;
    UNTRACK(tensor);
    tensor_clear(self);
    Py_CLEAR(tensor->view);
    free_object(&tensors, self);
}

static PyGetSetDef tensor_attributes[] = {
    {"array", tensor_get_array, tensor_set_array, NULL, NULL},
    {"view", tensor_get_view, tensor_set_view, NULL, NULL},
    {"storage", get_object, tensor_set_storage, NULL, AT(Tensor, storage)},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot tensor_slots[] = {
    {Py_tp_new, tensor_new},
    {Py_tp_traverse, tensor_traverse},
    {Py_tp_clear, tensor_clear},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_getset, tensor_attributes},
    {0, NULL},
};

static PyType_Spec tensor_spec = {
    .name = "array_api_nx.contract.strided.Tensor",
    .basicsize = sizeof(Tensor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = tensor_slots,
};

Tensor *new_tensor(int ndim, DTypeCode code)
{
    Tensor *tensor = (Tensor *)make_object(&tensors, tensor_type);
    if (tensor == NULL) {
        return NULL;
    }
    tensor->array = tensor->view = tensor->storage = tensor->shape_tuple = NULL;
    tensor->shape = tensor->inside;
    tensor->flags = 0;
    tensor->is_tracked = 0;
    tensor->code = (npy_uint8)code;
    if (!make_room(tensor, ndim)) {
        Py_DECREF(tensor);
        return NULL;
    }
    return tensor;
}

int ensure_storage(Tensor *tensor)
{
    if (tensor->storage != NULL) {
        return 1;
    }
    PyArrayObject *array = (PyArrayObject *)tensor->array;
    npy_intp low = 0;
    PyObject *memory = Py_NewRef(tensor->array);
    if (!PyArray_IS_C_CONTIGUOUS(array)) {
        npy_intp high;
        /* NumPy calls arrays without elements contiguous: there are some here. */
        find_reach(tensor->ndim, tensor->shape, tensor->strides, &low, &high);
        npy_intp length = (high - low) / dtypes[tensor->code].itemsize + 1;
        PyArray_Descr *descr = dtypes[tensor->code].descr;
        Py_INCREF(descr);
        Py_SETREF(memory, PyArray_NewFromDescr(&PyArray_Type, descr, 1, &length, NULL,
                                               PyArray_BYTES(array) + low,
                                               PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE, NULL));
        if (memory != NULL &&
            PyArray_SetBaseObject((PyArrayObject *)memory, Py_NewRef((PyObject *)array)) < 0) {
            Py_CLEAR(memory);
        }
    }
    Storage *storage = storage_over(memory, (DTypeCode)tensor->code);
    if (storage == NULL) {
        return 0;
    }
    tensor->storage = (PyObject *)storage;
    tensor->offset = tensor->size > 0 ? -low : 0;
    if (PyArray_IS_C_CONTIGUOUS(array)) {
        /* View.row_major has the steps of the shape, whatever strides NumPy gives to axes along
           which nothing is stepped over. */
        step_by_rows(tensor->ndim, tensor->shape, dtypes[tensor->code].itemsize, tensor->strides);
    }
    if (tensor->size > tracked_limit()) {
        /* Others may have the array, too. From now on Python finds it by the storage alone. */
        storage->shared = 1;
        Py_CLEAR(tensor->array);
    }
    return 1;
}

Tensor *tensor_over_storage(Storage *storage, DTypeCode code, npy_intp offset, int ndim, const npy_intp *shape,
                            const npy_intp *strides)
{
    Tensor *tensor = new_tensor(ndim, code);
    if (tensor != NULL) {
        tensor->storage = Py_NewRef((PyObject *)storage);
        tensor->offset = offset;
        memcpy(tensor->shape, shape, (size_t)ndim * sizeof(npy_intp));
        memcpy(tensor->strides, strides, (size_t)ndim * sizeof(npy_intp));
        finish_layout(tensor, 0);
    }
    return tensor;
}

#define DTYPE_NAME(CODE, ...) #CODE " "

int add_tensors(PyObject *module)
{
    tensor_type = (PyTypeObject *)PyType_FromSpec(&tensor_spec);
    cpu.device = Py_NewRef(Py_None);
    cpu.committed = Py_NewRef(Py_None);
    cpu.unplaced = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    if (cpu.unplaced == NULL) {
        return -1;
    }
    return tensor_type == NULL || add_storage(module) < 0 ||
                   PyModule_AddStringConstant(module, "DTYPES", EACH_DTYPE(DTYPE_NAME)) < 0
               ? -1
               : PyModule_AddObjectRef(module, "Tensor", (PyObject *)tensor_type);
}
