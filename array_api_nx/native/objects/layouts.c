/* How the elements of an array lie in memory: learnt from Python's View or from NumPy's array, and
   checked before anything is read. */

#include "layouts.h"
#include "nodes.h"
#include "sizes.h"
#include "storage.h"

/* The most bytes of an element. */
enum { ITEM_MOST = 16 };

ViewSlots views;

void set_views(const ViewSlots *slots)
{
    Py_INCREF(slots->type);
    Py_INCREF(slots->make);
    Py_XDECREF(views.type);
    Py_XDECREF(views.make);
    views = *slots;
}

int allocate_room(Tensor *tensor, int ndim)
{
    tensor->shape = PyMem_New(npy_intp, 2 * (size_t)ndim);
    if (tensor->shape == NULL) {
        tensor->shape = tensor->inside;
        PyErr_NoMemory();
        return 0;
    }
    tensor->strides = tensor->shape + ndim;
    return 1;
}

void finish_layout(Tensor *tensor, int read_only)
{
    const npy_intp itemsize = dtypes[tensor->code].itemsize;
    const int ndim = tensor->ndim;
    npy_intp size = 1;
    int rows = 1, columns = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        const npy_intp length = tensor->shape[i];
        if (length != 1) {
            rows = rows && tensor->strides[i] == itemsize * size;
            read_only = read_only || tensor->strides[i] == 0;
        }
        size *= length;
    }
    for (npy_intp i = 0, step = itemsize; i < ndim; i++) {
        if (tensor->shape[i] != 1) {
            columns = columns && tensor->strides[i] == step;
            step *= tensor->shape[i];
        }
    }
    if (size == 0) {
        rows = columns = 1;
        read_only = 0;
    }
    tensor->size = size;
    tensor->flags = (npy_uint8)(KNOWN | (tensor->flags & BOUNDED) | (rows ? ROW_MAJOR : 0) |
                                (columns ? COLUMN_MAJOR : 0) | (read_only ? READ_ONLY : 0));
}

/* Read a tuple of ints, as many as there is room for, each multiplied. 0 if there are others. */
static int read_ints(PyObject *tuple, npy_intp factor, npy_intp *values)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        if (!PyLong_CheckExact(item)) {
            return 0;
        }
        int overflow;
        const long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow || value > NPY_MAX_INTP / factor || value < -(NPY_MAX_INTP / factor)) {
            return 0;
        }
        values[i] = (npy_intp)value * factor;
    }
    return 1;
}

int can_be_counted(int ndim, const npy_intp *shape)
{
    npy_intp size = 1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0 || (shape[i] > 0 && size > NPY_MAX_INTP / ITEM_MOST / shape[i])) {
            return 0;
        }
        size *= shape[i] > 0 ? shape[i] : 1;
    }
    return 1;
}

/* Whether `array` is NumPy's, of that dtype, and lies as the tensor's shape and strides say. */
static int has_layout(PyObject *array, const Tensor *tensor, DTypeCode code)
{
    if (!PyArray_CheckExact(array)) {
        return 0;
    }
    PyArrayObject *found = (PyArrayObject *)array;
    int alike = PyArray_DESCR(found) == dtypes[code].descr && PyArray_ISALIGNED(found) &&
                PyArray_NDIM(found) == tensor->ndim;
    for (int i = 0; alike && i < tensor->ndim; i++) {
        const npy_intp size = PyArray_DIM(found, i);
        alike = size == tensor->shape[i] &&
                (size == 1 || PyArray_SIZE(found) == 0 ||
                 PyArray_STRIDE(found, i) == tensor->strides[i]);
    }
    return alike;
}

static int learn_from_view(Tensor *tensor)
{
    PyObject *view = tensor->view;
    if (view == NULL || !Py_IS_TYPE(view, views.type) || tensor->storage == NULL) {
        return 0;
    }
    const Storage *storage = (Storage *)tensor->storage;
    PyObject *shape = slot_at(view, views.shape);
    PyObject *strides = slot_at(view, views.strides);
    PyObject *offset = slot_at(view, views.offset);
    if (storage->code == NO_DTYPE || slot_at(view, views.mask) != Py_None ||
        !PyTuple_CheckExact(shape) || !PyTuple_CheckExact(strides) ||
        PyTuple_GET_SIZE(shape) > ARRAY_DIMS ||
        PyTuple_GET_SIZE(strides) != PyTuple_GET_SIZE(shape) || !PyLong_CheckExact(offset)) {
        return 0;
    }
    int overflow;
    const npy_intp itemsize = dtypes[storage->code].itemsize;
    const long long position = PyLong_AsLongLongAndOverflow(offset, &overflow);
    const npy_intp farthest = NPY_MAX_INTP / 4 / itemsize;
    if (overflow || position > farthest || position < -farthest ||
        !make_room(tensor, (int)PyTuple_GET_SIZE(shape))) {
        PyErr_Clear();
        return 0;
    }
    if (!read_ints(shape, 1, tensor->shape) || !read_ints(strides, itemsize, tensor->strides) ||
        !can_be_counted(tensor->ndim, tensor->shape) ||
        (tensor->array != NULL && !has_layout(tensor->array, tensor, storage->code))) {
        forget_layout(tensor);
        return 0;
    }
    tensor->code = storage->code;
    tensor->offset = (npy_intp)position * itemsize;
    tensor->shape_tuple = Py_NewRef(shape);
    finish_layout(tensor, slot_at(view, views.is_read_only) == Py_True);
    return 1;
}

static int learn_from_array(Tensor *tensor)
{
    PyArrayObject *array = (PyArrayObject *)tensor->array;
    if (!PyArray_CheckExact(array) || !PyArray_ISALIGNED(array)) {
        return 0;
    }
    const DTypeCode code = code_of_dtype((PyObject *)PyArray_DESCR(array));
    if (code == NO_DTYPE || !make_room(tensor, PyArray_NDIM(array))) {
        PyErr_Clear();
        return 0;
    }
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        tensor->shape[i] = PyArray_DIM(array, i);
        tensor->strides[i] = PyArray_STRIDE(array, i);
        if (tensor->strides[i] % dtypes[code].itemsize != 0) {
            forget_layout(tensor);
            return 0;
        }
    }
    tensor->code = (npy_uint8)code;
    tensor->offset = 0;
    finish_layout(tensor, 0);
    tensor->flags |= BOUNDED; /* NumPy's arrays lie inside their memory */
    return 1;
}

int learn_layout(Tensor *tensor)
{
    forget_layout(tensor);
    /* Where both are there, the view knows more: whether it was derived from a repeating one. */
    if (tensor->view != NULL || tensor->array == NULL) {
        return learn_from_view(tensor);
    }
    return learn_from_array(tensor);
}

int check_bounds(Tensor *tensor)
{
    const Storage *storage = (Storage *)tensor->storage;
    npy_intp low = 0, high = 0, length = 0;
    if (tensor->size > 0) {
        for (int i = 0; i < tensor->ndim; i++) {
            const npy_intp steps = tensor->shape[i] - 1;
            const npy_intp room = NPY_MAX_INTP / 4 / ARRAY_DIMS; /* so that nothing overflows */
            if (steps > 0 && magnitude(tensor->strides[i]) > room / steps) {
                return 0;
            }
        }
        find_reach(tensor->ndim, tensor->shape, tensor->strides, &low, &high);
        length = dtypes[tensor->code].itemsize;
    }
    const npy_uintp place = (npy_uintp)(storage->address + tensor->offset);
    if (tensor->offset + low < 0 || tensor->offset + high > storage->bytes - length ||
        place % (npy_uintp)alignment(dtypes[tensor->code].itemsize) != 0) {
        return 0;
    }
    tensor->flags |= BOUNDED;
    return 1;
}

/* Whether two indices may lead to one element: unless every axis, from the shortest stride to the
   longest, steps beyond all that the axes before it reach. */
static int may_overlap_itself(const Tensor *tensor)
{
    npy_intp reach = 0, last = 0;
    for (int step = 0; step < tensor->ndim; step++) {
        npy_intp next = NPY_MAX_INTP, steps = 0;
        for (int i = 0; i < tensor->ndim; i++) {
            const npy_intp stride = magnitude(tensor->strides[i]);
            if (tensor->shape[i] > 1 && stride > last && stride < next) {
                next = stride;
                steps = tensor->shape[i] - 1;
            } else if (tensor->shape[i] > 1 && stride == next) {
                return 1;
            }
        }
        if (next == NPY_MAX_INTP) {
            return 0;
        }
        if (next <= reach) {
            return 1;
        }
        reach += steps * next;
        last = next;
    }
    return 0;
}

int can_be_written(Tensor *tensor)
{
    const Storage *storage = (Storage *)tensor->storage;
    if (tensor->flags & READ_ONLY) {
        return 0;
    }
    if (storage != NULL && storage->address == NULL) {
        return 0;
    }
    if (!(tensor->flags & (ROW_MAJOR | COLUMN_MAJOR)) && may_overlap_itself(tensor)) {
        return 0; /* NumPy imports such arrays; what is written there depends on the order */
    }
    return tensor->array != NULL ? PyArray_ISWRITEABLE((PyArrayObject *)tensor->array)
                                 : storage->writeable;
}

int is_writeable(Tensor *tensor)
{
    Storage *storage = (Storage *)tensor->storage;
    const int is_settled = storage == NULL || (storage->pending == NULL && storage->readers == 0) ||
                           (evaluate_storage(storage) && release_readers(storage));
    return is_settled && can_be_written(tensor);
}

PyObject *tuple_of_sizes(int ndim, const npy_intp *values, npy_intp unit)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int i = 0; tuple != NULL && i < ndim; i++) {
        put_item(&tuple, i, PyLong_FromSsize_t(values[i] / unit));
    }
    return tuple;
}

PyObject *shape_of(Tensor *tensor)
{
    if (tensor->shape_tuple == NULL) {
        tensor->shape_tuple = tuple_of_sizes(tensor->ndim, tensor->shape, 1);
    }
    return Py_XNewRef(tensor->shape_tuple);
}

int lies_in_rows(const Tensor *x, int ndim, const npy_intp *shape)
{
    if (ndim == 0 || shape[ndim - 1] == 1) {
        return 0;
    }
    const npy_intp columns = x->ndim == 0 ? 1 : x->shape[x->ndim - 1], step = columns == 1 ? 0 : x->strides[x->ndim - 1];
    return step == 0 || step == dtypes[x->code].itemsize;
}
