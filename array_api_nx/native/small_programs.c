#include "small_programs.h"
#include "elementwise.h"
#include "movement.h"
#include "objects.h"
#include "sequence.h"
#include "sizes.h"

/* Of few passes and arrays, which need no memory of their own. */
enum { FEW_PASSES = 16, FEW_ARRAYS = 48 };

/* The address of the elements if they are as expected; else NULL. */
static char *expected_address(const Expected *expected, Tensor *tensor)
{
    if (tensor == NULL || !(tensor->flags & ROW_MAJOR) || tensor->ndim != expected->ndim ||
        dtypes[tensor->code].type_number != expected->dtype->type_num || expected->written) {
        return NULL;
    }
    for (int i = 0; i < expected->ndim; i++) {
        if (tensor->shape[i] != expected->shape[i]) {
            return NULL;
        }
    }
    char *data = data_of(tensor);
    return ((npy_uintp)data & expected->misaligned) != 0 ? NULL : data;
}

/* What keeps the memory of a layout whose address is known. */
static PyObject *owner_of(const Tensor *tensor)
{
    if (tensor->array != NULL) {
        return tensor->array;
    }
    const Storage *storage = (const Storage *)tensor->storage;
    return storage->memory != NULL ? storage->memory : tensor->storage;
}

/* Find the addresses of arguments and constants, and what keeps their memory (borrowed). 0 if one is
   not as expected. */
static int find_sources(const SequenceObject *self, const SmallProgram *program,
                        PyObject *const *arrays, Py_ssize_t count, char **bases,
                        PyObject **owners)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Tensor *tensor = is_array(arrays[i]) ? layout_of(arrays[i]) : NULL;
        if ((bases[i] = expected_address(&self->given[i], tensor)) == NULL) {
            return 0;
        }
        owners[i] = owner_of(tensor);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(program->constants); i++) {
        PyObject *handle = PyTuple_GET_ITEM(program->constants, i);
        Tensor *tensor = is_tensor(handle) ? (Tensor *)handle : NULL;
        if (tensor == NULL || !((tensor->flags & KNOWN) || learn_layout(tensor)) ||
            (bases[count + i] = expected_address(&self->given[count + i], tensor)) == NULL) {
            return 0;
        }
        owners[count + i] = owner_of(tensor);
    }
    return 1;
}

/* A new result shown in the layout that an entry of `order` says, whose reference to the result is
   stolen. NULL, perhaps without an exception, if it says none in these bytes of memory. */
static PyObject *show_result(PyObject *result, PyObject *entry, npy_intp bytes)
{
    NewView layout;
    npy_intp offset, low, high;
    Tensor *x = result == NULL ? NULL : movable(result);
    PyObject *shown = NULL;
    if (x != NULL) {
        PyObject *const shape = PyTuple_GET_ITEM(entry, 1), *const strides = PyTuple_GET_ITEM(entry, 2);
        start_layout(x, &layout);
        int good = PyTuple_Check(shape) && PyTuple_Check(strides) &&
                   PyTuple_GET_SIZE(shape) <= ARRAY_DIMS &&
                   PyTuple_GET_SIZE(shape) == PyTuple_GET_SIZE(strides) &&
                   take_number(PyTuple_GET_ITEM(entry, 3), &offset);
        layout.ndim = good ? (int)PyTuple_GET_SIZE(shape) : 0;
        npy_intp left = bytes / dtypes[x->code].itemsize; /* no more elements than there are */
        for (int i = 0; good && i < layout.ndim; i++) {
            npy_intp *const size = &layout.shape[i], *const stride = &layout.strides[i];
            good = take_number(PyTuple_GET_ITEM(shape, i), size) &&
                   take_number(PyTuple_GET_ITEM(strides, i), stride) && *size > 0 &&
                   *size <= left && -bytes <= *stride && *stride <= bytes;
            left = good ? left / *size : 0;
        }
        if (good) {
            find_reach(layout.ndim, layout.shape, layout.strides, &low, &high);
            good = 0 <= offset && offset <= bytes && offset + low >= 0 &&
                   offset + high + dtypes[x->code].itemsize <= bytes;
        }
        layout.offset += good ? offset : 0;
        shown = good ? show(x, &layout) : NULL;
    }
    Py_XDECREF(result);
    return shown;
}

/* New arrays for all results from number `first` on, in a tuple; NULL, perhaps without an exception,
   if there are none. */
static PyObject *make_results(const SequenceObject *self, const SmallProgram *program,
                              Py_ssize_t first, char **bases)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(program->order);
    PyObject *results = first + count == self->given_count ? PyTuple_New(count) : NULL;
    for (Py_ssize_t i = 0; results != NULL && i < count; i++) {
        PyObject *const entry = PyTuple_GET_ITEM(program->order, i);
        const int is_plain = !PyTuple_Check(entry);
        Py_ssize_t number = -1;
        if (is_plain || PyTuple_GET_SIZE(entry) == 4) {
            number = first + PyLong_AsSsize_t(is_plain ? entry : PyTuple_GET_ITEM(entry, 0));
        }
        const Expected *expected =
            number >= first && number < self->given_count ? &self->given[number] : NULL;
        const DTypeCode code =
            expected == NULL ? NO_DTYPE : code_of_number(expected->dtype->type_num);
        PyObject *result = NULL;
        /* Python keeps account of who reads larger arrays. */
        if (code != NO_DTYPE && expected->ndim <= ARRAY_DIMS &&
            expected->size / dtypes[code].itemsize <= limits.deferred) {
            result = new_array_like_memory(expected->ndim, expected->shape, code, 0,
                                           &bases[number]);
            result = is_plain ? result : show_result(result, entry, expected->size);
        }
        if (result == NULL || ((npy_uintp)bases[number] & expected->misaligned) != 0) {
            Py_XDECREF(result);
            Py_CLEAR(results);
        } else {
            PyTuple_SET_ITEM(results, i, result);
        }
    }
    return results;
}

PyObject *run_on_arrays(const SmallProgram *program, PyObject *const *arrays, Py_ssize_t count,
                        PyObject **flags)
{
    SequenceObject *self = (SequenceObject *)program->sequence;
    const Py_ssize_t sources = count + PyTuple_GET_SIZE(program->constants);
    char *bases[FEW_ARRAYS];
    PyObject *held[FEW_ARRAYS];
    npy_uint8 raised[FEW_PASSES][MAX_STEPS];
    if (self->declined >= MAX_DECLINED || sources >= self->given_count ||
        self->pass_count > FEW_PASSES || !self->keeps_gil ||
        self->given_count + self->fixed_count > FEW_ARRAYS) {
        return DECLINED;
    }
    const Py_ssize_t threads = self->divides ? most_threads() : 1;
    if (threads < 1) {
        return NULL;
    }
    if (self->is_running || !find_sources(self, program, arrays, count, bases, held)) {
        return DECLINED;
    }
    PyObject *results = make_results(self, program, sources, bases);
    if (results == NULL) {
        return decline_unless_raised();
    }
    for (int i = 0; i < self->fixed_count; i++) {
        bases[self->given_count + i] = PyArray_BYTES(self->fixed[i]);
    }
    if (threads > 1) {
        for (Py_ssize_t i = 0; i < sources; i++) {
            Py_INCREF(held[i]);
        }
    }
    self->is_running = 1;
    const int done = run_sequence(self, bases, raised, threads);
    self->is_running = 0;
    if (threads > 1) {
        for (Py_ssize_t i = 0; i < sources; i++) {
            Py_DECREF(held[i]);
        }
    }
    if (done == 0) {
        self->declined++;
        Py_DECREF(results);
        return DECLINED;
    }
    *flags = done > 0 ? sequence_flags(self, raised) : NULL;
    if (*flags == NULL) {
        Py_CLEAR(results);
    } else if (*flags == Py_None) {
        Py_CLEAR(*flags);
    }
    if (results != NULL && program->is_single) {
        Py_SETREF(results, Py_NewRef(PyTuple_GET_ITEM(results, 0)));
    }
    return results;
}
