/* The three objects that an array is made of, as small calls use them.

   An Array is what users hold: (handle, dtype, device). On device `cpu` the handle is a Tensor: a
   Storage, and the layout of the elements in it. The classes of these names in Python (see
   frontend/array.py and contract/strided.py) have the same attributes, which they document; they
   take their places where there is no compiler.

   What C makes is not tracked by Python's garbage collector, because it refers to nothing that could
   refer back. It becomes tracked when Python code puts another object into it. */

#ifndef ARRAY_API_NX_OBJECTS_H
#define ARRAY_API_NX_OBJECTS_H

#include "dtypes.h"

/* Layouts of so many axes lie in the Tensor itself. */
enum { INLINE_DIMS = 4 };

/* The most axes of an array, which is also NumPy's limit. */
enum { ARRAY_DIMS = 64 };

typedef struct {
    PyObject_HEAD
    PyObject *handle, *dtype, *device, *weakrefs;
    char is_tracked; /* by the garbage collector */
} Array;

/* Its elements lie in `memory`, an array of NumPy or of another engine, or else in `own`. While neither is there they are
   yet to be computed, as `pending` says. */
typedef struct {
    PyObject_VAR_HEAD
    PyObject *memory, *dtype, *weakrefs;
    char *address;     /* of the first element, if the CPU can read it; else NULL */
    npy_intp bytes;    /* how many there are at `address` */
    npy_intp most;     /* how many there ever were */
    npy_intp itemsize;
    npy_uint8 code;    /* DTypeCode of `dtype` */
    char shared, writeable;
    char is_tracked;   /* by the garbage collector */
    char room;         /* 1 and the number of the room (storage.h) that follows the struct; 0 if the elements lie
                          elsewhere, or Python has set a field */
    struct Node *pending; /* the operation that fills the memory when it is read (nodes.h); or NULL */
    npy_intp readers;     /* how many operands of pending operations lie here */
    npy_intp loans;       /* how many arrays of NumPy's over `own` there are (storage.h) */
    char *own;            /* memory that follows the struct, or the block */
    char *block;          /* of blocks.h, to be given back; or NULL */
    npy_intp block_bytes; /* how many were asked for */
} Storage;

enum {
    KNOWN = 1,      /* the fields below the flags are set */
    BOUNDED = 2,    /* all elements were found to lie inside the storage's memory */
    ROW_MAJOR = 4,  /* elements follow each other in C's order */
    COLUMN_MAJOR = 8,
    READ_ONLY = 16, /* View.is_read_only: elements must not be written through this layout */
};

typedef struct {
    PyObject_HEAD
    PyObject *array, *view;
    PyObject *storage;     /* a Storage, or NULL */
    PyObject *shape_tuple; /* the shape as Python sees it, once it was read */
    npy_uint8 flags, code, ndim;
    char is_tracked;       /* by the garbage collector */
    npy_intp offset;       /* bytes from the storage's address; unused while there is `array` alone */
    npy_intp size;         /* elements */
    npy_intp *shape, *strides; /* strides in bytes */
    npy_intp inside[2 * INLINE_DIMS];
} Tensor;

extern PyTypeObject *array_type, *tensor_type, *storage_type;

/* The class of arrays of NumPy's face, which have the fields of Array (face.h); array_type before the face is loaded. */
extern PyTypeObject *face_type;

/* What policy.py decides, as data: operations on at most `at_once` elements run on this thread; those on more than `large`
   are left to Python, unless they wait. Operations on more than `recorded` elements may wait as nodes (nodes.h). Who reads the
   memory of arrays with more elements than `tracked`, and who can write it, is known. */
typedef struct {
    npy_intp at_once, large, recorded, tracked;
} Limits;

/* No memory has so many elements. */
#define MOST_ELEMENTS ((npy_intp)(sizeof(npy_intp) > 4 ? (npy_int64)1 << 48 : NPY_MAX_INTP / 16))

extern Limits limits;

/* Whether all operations of this thread wait, on arrays of any size, and all memory is tracked (`record_all`); and in how
   many calls that is so, of all threads: what a thread has for itself takes 2 ns to find. */
extern THREAD_LOCAL int records_all;
extern int recordings;

/* `limits.recorded` and `limits.tracked`, or -1 while all operations wait. */
static inline npy_intp recorded_limit(void)
{
    return recordings > 0 && records_all ? -1 : limits.recorded;
}

static inline npy_intp tracked_limit(void)
{
    return recordings > 0 && records_all ? -1 : limits.tracked;
}

/* Whether C computes an operation on so many elements now, on one thread or several. */
static inline int is_computed_now(npy_intp size)
{
    return limits.at_once >= 0 && size <= limits.large;
}

/* The device `cpu` and its backend, while that is the plain one. Before the device is used, `device`
   and `committed` are None, and `backend` and `answered` NULL.
   There are two objects for the device (see device.py): what C makes is on `device`, which is not
   committed, until `place_result` has looked at the operands. C computes with arrays on the devices
   `answered`: these two, or NULL while Python is to see all that arrays do. */
typedef struct {
    PyObject *device, *committed, *backend, *answered[2];
    PyObject *unplaced; /* that of arrays around Tensors whose device is the caller's business (backend_calls.c) */
    Py_ssize_t backend_offset; /* of the slot Device.backend */
} CPU;

extern CPU cpu;

/* Whether Python is to see elements that leave for Python or NumPy, or come from there. */
extern int is_watched;

/* A static object for `who declines`: the Python function behind the caller decides. */
extern PyObject declined_object;
#define DECLINED (&declined_object)

/* What to return where C has no answer: DECLINED, or NULL if there is an exception. */
static inline PyObject *decline_unless_raised(void)
{
    return PyErr_Occurred() ? NULL : DECLINED;
}

/* The result, whose reference is stolen, of a computation that is `done`: 1; where that is 0, Python computes, and where
   it is -1, an exception is set. */
static inline PyObject *answer_if(int done, PyObject *result)
{
    if (done == 1) {
        return result;
    }
    Py_DECREF(result);
    return done < 0 ? NULL : DECLINED;
}

/* Whether there is an answer, and no exception. */
static inline int is_answer(const PyObject *result)
{
    return result != NULL && result != DECLINED;
}

/* Drop the reference to an answer, if it is one. */
static inline void drop_answer(PyObject *result)
{
    if (is_answer(result)) {
        Py_DECREF(result);
    }
}

static inline int is_array(PyObject *object)
{
    return Py_IS_TYPE(object, array_type) || Py_IS_TYPE(object, face_type);
}

static inline int is_tensor(PyObject *object)
{
    return object != NULL && Py_IS_TYPE(object, tensor_type);
}

static inline PyObject *slot_at(PyObject *object, Py_ssize_t offset)
{
    return *(PyObject **)((char *)object + offset);
}

/* Whether `device` is `cpu` and has its plain backend, or C need not ask. */
static inline int is_cpu(PyObject *device)
{
    return device == cpu.unplaced || ((device == cpu.answered[0] || device == cpu.answered[1]) && device != NULL &&
                                      slot_at(device, cpu.backend_offset) == cpu.backend);
}

/* Whether an operand is an array that was put on `cpu`. */
static inline int is_committed(PyObject *operand)
{
    return is_array(operand) && ((Array *)operand)->device == cpu.committed;
}

/* Put what C computed on `cpu.committed`: a new array, or those in a tuple or list. Gives `result`,
   which may be NULL or DECLINED. */
PyObject *commit_result(PyObject *result, PyObject *const *operands, Py_ssize_t count);

/* The same if an operand, or an array in a tuple or list among them, is there, or if an operand is
   that device itself. */
PyObject *place_result(PyObject *result, PyObject *const *operands, Py_ssize_t count);

/* From now on the garbage collector looks into an Array, Tensor or Storage. (Python's own functions
   would ask the collector each time, which takes longer than to look at a field.) */
#define TRACK(OBJECT)                                 \
    do {                                              \
        if (!(OBJECT)->is_tracked) {                  \
            (OBJECT)->is_tracked = 1;                 \
            PyObject_GC_Track((PyObject *)(OBJECT));  \
        }                                             \
    } while (0)

/* For deallocators. */
#define UNTRACK(OBJECT)                               \
    do {                                              \
        if ((OBJECT)->is_tracked) {                   \
            PyObject_GC_UnTrack((PyObject *)(OBJECT)); \
        }                                             \
    } while (0)

/* For setters, which are also called to delete: whether an exception is set. */
static inline int refuse_deletion(PyObject *value)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "this attribute cannot be deleted");
        return 1;
    }
    return 0;
}

/* Fill in the layout from `array`, or from `view` and `storage`. 0, without an exception, where C
   cannot: padding, sizes that are symbols, other engines. */
int learn_layout(Tensor *tensor);

/* Check that all elements lie inside the storage; 0, without an exception, if they do not. */
int check_bounds(Tensor *tensor);

/* The layout of an array on device `cpu`, or NULL. Elements may be deferred. */
static inline Tensor *layout_of(PyObject *object)
{
    Array *array = (Array *)object;
    if (!is_tensor(array->handle) || !is_cpu(array->device)) {
        return NULL;
    }
    Tensor *tensor = (Tensor *)array->handle;
    return (tensor->flags & KNOWN) || learn_layout(tensor) ? tensor : NULL;
}

/* The same for any object, also NULL. */
static inline Tensor *layout_of_any(PyObject *object)
{
    return object != NULL && is_array(object) ? layout_of(object) : NULL;
}

/* The Tensor of an array on device `cpu`. */
static inline Tensor *tensor_of(PyObject *array)
{
    return (Tensor *)((Array *)array)->handle;
}

/* Compute the pending operation of a storage, if it has one; 0 with an exception set if that fails. */
int evaluate_storage(Storage *storage);

/* Where the first element of a known layout lies. It is computed if it is pending. NULL, perhaps with an
   exception set, where Python has to compute it. */
static inline char *data_of(Tensor *tensor)
{
    if (tensor->array != NULL) {
        return PyArray_BYTES((PyArrayObject *)tensor->array);
    }
    Storage *storage = (Storage *)tensor->storage;
    if (storage->pending != NULL && !evaluate_storage(storage)) {
        return NULL;
    }
    if (storage->address == NULL || (!(tensor->flags & BOUNDED) && !check_bounds(tensor))) {
        return NULL;
    }
    return storage->address + tensor->offset;
}

/* Whether C may write the elements: neither the memory nor the layout forbids it, no two indices lead to one
   element, and no expression of Python's may read them. `is_writeable` also computes pending operations of C that read
   them; 0, perhaps with an exception set. */
int can_be_written(Tensor *tensor);
int is_writeable(Tensor *tensor);

/* A Tensor over new memory, which is not initialised: row-major, or column-major if `turned`. NULL
   with an exception set if there is none. */
Tensor *new_memory(int ndim, const npy_intp *shape, DTypeCode code, int turned, char **data);

/* A row-major Tensor over a storage that is to wait for its memory (storage.h). NULL with an exception set. */
Tensor *new_pending(int ndim, const npy_intp *shape, DTypeCode code);

/* An Array around `new_memory`. */
PyObject *new_array_like_memory(int ndim, const npy_intp *shape, DTypeCode code, int turned,
                                char **data);

/* A new Array of one axis without elements, whose stride is that of NumPy's. */
PyObject *new_without_elements(DTypeCode code);

/* The same without axes. */
PyObject *new_element(DTypeCode code, char **data);

/* Have a storage for the memory of a known layout that is an array of NumPy alone. Its strides become
   those of its view. 0 with an exception set if that fails. */
int ensure_storage(Tensor *tensor);

/* The Array around an ndarray, whose reference is stolen: an exact one of the dtype's own descriptor,
   and no larger than `limits.large`. */
PyObject *wrap_ndarray(PyObject *ndarray, DTypeCode code);

/* A new Array of another device, around an array of its engine. */
PyObject *wrap_engines(PyObject *engines, PyObject *dtype, PyObject *device);

/* A new ndarray over the elements, which must be there, and no more than `limits.large`. */
PyObject *new_ndarray(Tensor *tensor);

/* An Array for another layout of the elements of `of`, with room for `ndim` axes; the caller fills in shape,
   strides and offset of its Tensor, and calls `finish_layout`. Its elements are of the dtype `code`. */
PyObject *new_view_as(Tensor *of, int ndim, DTypeCode code);

static inline PyObject *new_view(Tensor *of, int ndim)
{
    return new_view_as(of, ndim, (DTypeCode)of->code);
}

/* A Tensor for elements of a storage, or for such parts of them. NULL with an exception set. */
Tensor *tensor_over_storage(Storage *storage, DTypeCode code, npy_intp offset, int ndim, const npy_intp *shape,
                            const npy_intp *strides);

/* Set size and flags from shape and strides. */
void finish_layout(Tensor *tensor, int read_only);

/* Keep an Array to which nothing refers any more, with its Tensor, for another one. 0 if it has to be freed. */
int keep_array(Array *array);

/* The end of an Array, which refers to nothing any more. */
void free_array(PyObject *array);

/* The Array around a Tensor, whose reference is stolen (also if it is NULL). */
PyObject *wrap_tensor(Tensor *tensor, DTypeCode code);

/* Have an array that nothing else refers to be one of another type with the same fields. */
static inline void set_type(PyObject *array, PyTypeObject *type)
{
    PyTypeObject *before = Py_TYPE(array);
    Py_SET_TYPE(array, (PyTypeObject *)Py_NewRef((PyObject *)type));
    Py_DECREF(before);
}

/* An array of a type, Array or that of the face, with the contents of another array, whose reference is stolen: that
   array itself if nothing else refers to it. */
PyObject *share_array(PyObject *array, PyTypeObject *type);

/* The shape as a tuple, a new reference. */
PyObject *shape_of(Tensor *tensor);

/* The class View, where its slots lie, and what makes a View of shape, strides, offset, mask and
   is_read_only. */
typedef struct {
    PyTypeObject *type;
    Py_ssize_t shape, strides, offset, mask, is_read_only;
    PyObject *make;
} ViewSlots;

void set_views(const ViewSlots *slots);

#endif
