/* How C makes Arrays, and where it puts them.

   An Array that nothing refers to any more waits for the next one (docs/tuning.md, 55): with its Tensor and the
   Storage, if these belong to it alone and the memory follows the Storage; with its Tensor, if that belongs to it
   alone; or on its own. */

#include "compiler.h"
#include "layouts.h"
#include "nodes.h"
#include "recycling.h"
#include "storage.h"

static Recycled results[ROOMS], pairs, arrays;

void free_array(PyObject *array)
{
    free_object(&arrays, array);
}

/* Whether a Storage that belongs to a freed Array can have another result. */
static inline int is_reusable(const Storage *storage)
{
    return Py_REFCNT(storage) == 1 && storage->room != 0 &&
           storage->weakrefs == NULL;
}

int keep_array(Array *array)
{
#ifndef __SANITIZE_ADDRESS__
    Tensor *tensor = (Tensor *)array->handle;
    if (array->is_tracked || array->weakrefs != NULL || !is_tensor(array->handle) || Py_REFCNT(tensor) != 1 ||
        tensor->is_tracked || tensor->array != NULL || tensor->view != NULL || tensor->storage == NULL) {
        return 0;
    }
    Storage *storage = (Storage *)tensor->storage;
    if (is_reusable(storage)) {
        Recycled *waiting = &results[storage->room - 1];
        if (waiting->count < MOST_RECYCLED) {
            forget_layout(tensor);
            waiting->objects[waiting->count++] = (PyObject *)array;
            return 1;
        }
    } else if (pairs.count < MOST_RECYCLED) {
        forget_layout(tensor);
        tensor->storage = NULL;
        pairs.objects[pairs.count++] = (PyObject *)array;
        Py_DECREF(storage); /* which may run Python code */
        return 1;
    }
#endif
    return 0;
}

/* An Array that waited in a list, with its Tensor; NULL, without an exception, if there is none. */
static INLINE PyObject *take_array(Recycled *kept, DTypeCode code)
{
    Array *array = (Array *)take_recycled(kept);
    if (array == NULL) {
        return NULL;
    }
    PyObject *dtype = (PyObject *)dtypes[code].descr;
    revive((PyObject *)array);
    if (array->dtype != dtype) {
        Py_SETREF(array->dtype, Py_NewRef(dtype));
    }
    if (array->device != cpu.device) {
        Py_SETREF(array->device, Py_NewRef(cpu.device));
    }
    ((Tensor *)array->handle)->code = (npy_uint8)code;
    return (PyObject *)array;
}

/* A new Array, its fields not set; NULL, perhaps with an exception set, if there is no tensor for it. */
static Array *new_shell(Tensor *tensor)
{
    return tensor == NULL ? NULL : (Array *)make_object(&arrays, array_type);
}

PyObject *share_array(PyObject *given, PyTypeObject *type)
{
    Array *of = (Array *)given;
    if (Py_IS_TYPE(given, type)) {
        return given;
    }
    if (Py_REFCNT(given) == 1) {
        set_type(given, type);
        return given;
    }
    Array *array = (Array *)make_object(&arrays, array_type);
    if (array != NULL) {
        array->handle = Py_XNewRef(of->handle);
        array->dtype = Py_XNewRef(of->dtype);
        array->device = Py_XNewRef(of->device);
        array->weakrefs = NULL;
        array->is_tracked = 0;
        if (of->is_tracked) {
            TRACK(array);
        }
        if (type != array_type) {
            set_type((PyObject *)array, type);
        }
    }
    Py_DECREF(given);
    return (PyObject *)array;
}

PyObject *wrap_tensor(Tensor *tensor, DTypeCode code)
{
    Array *array = new_shell(tensor);
    if (array == NULL) {
        Py_XDECREF(tensor);
        return NULL;
    }
    array->handle = (PyObject *)tensor;
    array->dtype = Py_NewRef((PyObject *)dtypes[code].descr);
    array->device = Py_NewRef(cpu.device);
    array->weakrefs = NULL;
    array->is_tracked = 0;
    if (tensor->is_tracked) {
        TRACK(array);
    }
    return (PyObject *)array;
}

/* An Array whose Tensor has room for a layout, and nothing else yet. */
static INLINE PyObject *new_pair(int ndim, DTypeCode code)
{
    PyObject *array = take_array(&pairs, code);
    if (array == NULL) {
        return wrap_tensor(new_tensor(ndim, code), code);
    }
    if (!make_room(tensor_of(array), ndim)) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

PyObject *new_view_as(Tensor *of, int ndim, DTypeCode code)
{
    if (of->storage == NULL && !ensure_storage(of)) {
        return NULL;
    }
    PyObject *array = new_pair(ndim, code);
    if (array == NULL) {
        return NULL;
    }
    Tensor *tensor = tensor_of(array);
    tensor->storage = Py_NewRef(of->storage);
    tensor->offset = of->offset;
    tensor->flags = of->flags & BOUNDED; /* movement stays inside */
    if (((Storage *)of->storage)->is_tracked) {
        TRACK(tensor);
        TRACK((Array *)array);
    }
    return array;
}

/* ------------------------------------------------------------------ new memory */

/* Lay out a Tensor over the elements of new memory; `turned`: column-major. Returns how many there are. */
static npy_intp lay_out_elements(Tensor *tensor, int ndim, const npy_intp *shape, int turned)
{
    npy_intp step = dtypes[tensor->code].itemsize, size = 1;
    int columns = 1, longer = 0;
    for (int i = 0; i < ndim; i++) {
        const int axis = turned ? i : ndim - 1 - i;
        tensor->shape[axis] = shape[axis];
        tensor->strides[axis] = step;
        step *= shape[axis] > 0 ? shape[axis] : 1; /* as NumPy steps through no elements */
        size *= shape[axis];
        columns = columns && (shape[i] == 1 || !longer);
        longer = longer || shape[i] != 1;
    }
    tensor->offset = 0;
    if (turned) {
        finish_layout(tensor, 0);
    } else {
        tensor->size = size;
        tensor->flags = (npy_uint8)(KNOWN | ROW_MAJOR | (columns || size == 0 ? COLUMN_MAJOR : 0));
    }
    tensor->flags |= BOUNDED;
    return size;
}

Tensor *new_memory(int ndim, const npy_intp *shape, DTypeCode code, int turned, char **data)
{
    Tensor *tensor = new_tensor(ndim, code);
    if (tensor == NULL) {
        return NULL;
    }
    const npy_intp size = lay_out_elements(tensor, ndim, shape, turned);
    tensor->storage = (PyObject *)new_storage(size * dtypes[code].itemsize, code);
    if (tensor->storage == NULL) {
        Py_DECREF(tensor);
        return NULL;
    }
    *data = ((Storage *)tensor->storage)->address;
    return tensor;
}

Tensor *new_pending(int ndim, const npy_intp *shape, DTypeCode code)
{
    Tensor *tensor = new_tensor(ndim, code);
    if (tensor == NULL) {
        return NULL;
    }
    lay_out_elements(tensor, ndim, shape, 0);
    tensor->storage = (PyObject *)pending_storage(code);
    if (tensor->storage == NULL) {
        Py_CLEAR(tensor);
    }
    return tensor;
}

/* An Array that was freed, for a new one with so many bytes; as `take_array`. */
static INLINE PyObject *take_result(DTypeCode code, npy_intp bytes)
{
    PyObject *array = take_array(&results[room_for(bytes)], code);
    if (array != NULL) {
        Storage *storage = (Storage *)tensor_of(array)->storage;
        if (storage->code != code) {
            Py_SETREF(storage->dtype, Py_NewRef((PyObject *)dtypes[code].descr));
            storage->code = (npy_uint8)code;
            storage->itemsize = dtypes[code].itemsize;
        }
        storage->address = storage->own;
        storage->bytes = storage->most = bytes;
        storage->shared = 0; /* a loan would have kept it */
    }
    return array;
}

/* Where the elements of a new Array lie. */
static inline char *data_of_new(PyObject *array)
{
    return ((Storage *)tensor_of(array)->storage)->address;
}

PyObject *new_element(DTypeCode code, char **data)
{
    PyObject *array = take_result(code, dtypes[code].itemsize);
    if (array == NULL) {
        return wrap_tensor(new_memory(0, NULL, code, 0, data), code);
    }
    Tensor *tensor = tensor_of(array);
    tensor->ndim = 0;
    tensor->offset = 0;
    tensor->size = 1;
    tensor->flags = KNOWN | BOUNDED | ROW_MAJOR | COLUMN_MAJOR;
    *data = data_of_new(array);
    return array;
}

PyObject *new_array_like_memory(int ndim, const npy_intp *shape, DTypeCode code, int turned,
                                char **data)
{
    npy_intp bytes = dtypes[code].itemsize;
    for (int dim = 0; dim < ndim; dim++) {
        bytes *= shape[dim];
    }
    PyObject *array = bytes <= INLINE_BYTES && ndim <= INLINE_DIMS ? take_result(code, bytes) : NULL;
    if (array == NULL) {
        return wrap_tensor(new_memory(ndim, shape, code, turned, data), code);
    }
    make_room(tensor_of(array), ndim);
    lay_out_elements(tensor_of(array), ndim, shape, turned);
    *data = data_of_new(array);
    return array;
}

PyObject *new_without_elements(DTypeCode code)
{
    static int has_strides = -1; /* whether NumPy's arrays without elements do, as before version 2.4 */
    const npy_intp none = 0;
    char *data;
    if (has_strides < 0) {
        PyObject *numpys = PyArray_SimpleNew(1, &none, NPY_DOUBLE);
        if (numpys == NULL) {
            return NULL;
        }
        has_strides = PyArray_STRIDE((PyArrayObject *)numpys, 0) != 0;
        Py_DECREF(numpys);
    }
    PyObject *array = new_array_like_memory(1, &none, code, 0, &data);
    if (array != NULL && !has_strides) {
        tensor_of(array)->strides[0] = 0;
    }
    return array;
}

PyObject *wrap_ndarray(PyObject *ndarray, DTypeCode code)
{
    Tensor *tensor = new_tensor(0, code);
    if (tensor == NULL) {
        Py_DECREF(ndarray);
        return NULL;
    }
    tensor->array = ndarray;
    return wrap_tensor(tensor, code);
}

PyObject *wrap_engines(PyObject *engines, PyObject *dtype, PyObject *device)
{
    Tensor *tensor = new_tensor(0, 0);
    Array *array = new_shell(tensor);
    if (array == NULL) {
        Py_XDECREF(tensor);
        return NULL;
    }
    tensor->array = Py_NewRef(engines);
    array->handle = (PyObject *)tensor;
    array->dtype = Py_NewRef(dtype);
    array->device = Py_NewRef(device);
    array->weakrefs = NULL;
    array->is_tracked = 0;
    /* The engine's array may refer to any object. */
    TRACK(tensor);
    TRACK(array);
    return (PyObject *)array;
}

PyObject *new_ndarray(Tensor *tensor)
{
    Storage *storage = (Storage *)tensor->storage;
    if (storage != NULL) {
        storage->shared = 1;
        /* Others may write from now on. */
        if (storage->readers > 0 && !release_readers(storage)) {
            return NULL;
        }
    }
    return tensor->array == NULL ? make_ndarray(tensor)
                                 : PyArray_View((PyArrayObject *)tensor->array, NULL, NULL);
}

/* ------------------------------------------------------------------ the device */

static PyObject *const *items_of(PyObject *sequence, Py_ssize_t *count)
{
    if (PyTuple_Check(sequence)) {
        *count = PyTuple_GET_SIZE(sequence);
        return ((PyTupleObject *)sequence)->ob_item;
    }
    *count = PyList_Check(sequence) ? PyList_GET_SIZE(sequence) : 0;
    return *count > 0 ? ((PyListObject *)sequence)->ob_item : NULL;
}

static void commit(PyObject *result, PyObject *const *operands, Py_ssize_t count)
{
    if (!is_array(result) || ((Array *)result)->device != cpu.device) {
        return;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (operands[i] == result) {
            return; /* operands are not changed */
        }
    }
    Py_SETREF(((Array *)result)->device, Py_NewRef(cpu.committed));
}

PyObject *commit_result(PyObject *result, PyObject *const *operands, Py_ssize_t count)
{
    Py_ssize_t length;
    if (result == NULL || result == DECLINED) {
        return result;
    }
    PyObject *const *items = items_of(result, &length);
    commit(result, operands, count);
    for (Py_ssize_t i = 0; i < length; i++) {
        commit(items[i], operands, count);
    }
    return result;
}

PyObject *place_result(PyObject *result, PyObject *const *operands, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t length;
        PyObject *const *items = items_of(operands[i], &length);
        int commits = is_committed(operands[i]) || operands[i] == cpu.committed;
        for (Py_ssize_t j = 0; j < length && !commits; j++) {
            commits = is_committed(items[j]);
        }
        if (commits) {
            return commit_result(result, operands, count);
        }
    }
    return result;
}
