#include "memory.h"
#include "parts.h"
#include "arguments.h"
#include "sizes.h"

/* ------------------------------------------------------------------ blocks */

/* Blocks have 4, 8, 16, 32 or 64 KiB, and so many of each size wait: less than 1 MB in all. */
enum { SMALLEST_BLOCK = 1 << 12, SIZES = 5 };

#ifdef __SANITIZE_ADDRESS__
enum { MOST_WAITING = 0 }; /* it would not see who writes to a block that is given back */
#else
enum { MOST_WAITING = 7 };
#endif

/* What wait, by their size. The GIL protects them. */
static struct {
    int count;
    char *blocks[MOST_WAITING + 1];
} waiting[SIZES];

static int size_number(npy_intp bytes)
{
    int number = 0;
    while ((npy_intp)SMALLEST_BLOCK << number < bytes) {
        number++;
    }
    return number;
}

char *take_block(npy_intp bytes)
{
    const int number = size_number(bytes);
    if (waiting[number].count > 0) {
        return waiting[number].blocks[--waiting[number].count];
    }
    /* Before an aligned block stands where its memory begins. */
    const size_t size = (size_t)SMALLEST_BLOCK << number;
    char *memory = PyMem_RawMalloc(size + ALIGNMENT + sizeof(char *));
    if (memory == NULL) {
        return NULL;
    }
    const npy_uintp address = (npy_uintp)memory + sizeof(char *) + ALIGNMENT - 1;
    char *block = (char *)(address - address % ALIGNMENT);
    memcpy(block - sizeof(char *), &memory, sizeof(char *));
    return block;
}

static void free_block(char *block)
{
    char *memory;
    memcpy(&memory, block - sizeof(char *), sizeof(char *));
    PyMem_RawFree(memory);
}

void give_block(char *block, npy_intp bytes)
{
    const int number = size_number(bytes);
    if (waiting[number].count < MOST_WAITING) {
        waiting[number].blocks[waiting[number].count++] = block;
    } else {
        free_block(block);
    }
}

static void release_blocks(void)
{
    for (int number = 0; number < SIZES; number++) {
        while (waiting[number].count > 0) {
            free_block(waiting[number].blocks[--waiting[number].count]);
        }
    }
}

/* ------------------------------------------------------------------ spares */

enum { MAX_SPARES = 32 };

/* The fewest bytes of a result whose memory is worth keeping. */
enum { SMALLEST_SPARE = 1 << 16 };

/* A spare may be larger than the request by this fraction of it: an eighth. */
enum { SPARE_SHARE = 8 };

/* The GIL protects them. */
static struct {
    PyArrayObject *memories[MAX_SPARES]; /* bytes; the last one became free last */
    int count;
    npy_intp bytes, limit;
    Py_ssize_t hits, misses;
} spares;

typedef struct {
    PyObject_HEAD
    PyArrayObject *memory;
} PoolBufferObject;

static PyTypeObject *pool_buffer_type;

/* Take spare `number` out of the pool. Returns the pool's reference to it. */
static PyArrayObject *withdraw_spare(int number)
{
    PyArrayObject *memory = spares.memories[number];
    spares.count--;
    memmove(&spares.memories[number], &spares.memories[number + 1],
            (size_t)(spares.count - number) * sizeof(memory));
    spares.bytes -= PyArray_DIM(memory, 0);
    return memory;
}

/* Free the spares that have waited longest, until at most `count` are left and at most `bytes`. */
static void drop_spares(int count, npy_intp bytes)
{
    for (;;) {
        PyArrayObject *memory = NULL;
        if (spares.count > count || (spares.count > 0 && spares.bytes > bytes)) {
            memory = withdraw_spare(0);
        }
        if (memory == NULL) {
            return;
        }
        Py_DECREF(memory);
    }
}

static void block_dealloc(PyObject *object)
{
    PoolBufferObject *self = (PoolBufferObject *)object;
    PyArrayObject *memory = self->memory;
    npy_intp limit = 0;
    if (memory != NULL) {
        limit = spares.limit;
        if (spares.count < MAX_SPARES && PyArray_DIM(memory, 0) <= limit) {
            spares.memories[spares.count++] = memory;
            spares.bytes += PyArray_DIM(memory, 0);
            memory = NULL;
        }
        Py_XDECREF(memory);
        drop_spares(MAX_SPARES - 1, limit);
    }
    free_instance(object);
}

static PyType_Slot block_slots[] = {
    {Py_tp_doc, "Keeps the memory of an array."},
    {Py_tp_dealloc, block_dealloc},
    {0, NULL},
};

static PyType_Spec block_spec = {
    .name = "array_api_nx._native.PoolBuffer",
    .basicsize = sizeof(PoolBufferObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = block_slots,
};

int is_pool_buffer(PyObject *object)
{
    return Py_IS_TYPE(object, pool_buffer_type);
}

static PyArrayObject *find_spare(npy_intp size)
{
    PyArrayObject *found = NULL;
    for (int i = spares.count - 1; i >= 0 && found == NULL; i--) {
        const npy_intp spare = PyArray_DIM(spares.memories[i], 0);
        if (size <= spare && spare - size <= size / SPARE_SHARE) {
            found = withdraw_spare(i);
        }
    }
    found == NULL ? spares.misses++ : spares.hits++;
    return found;
}

/* A block of at least `size` bytes: a spare, or new. If there is no memory, all spares are freed and
   NumPy is asked again. */
static PyArrayObject *find_memory(npy_intp size)
{
    PyArrayObject *memory = find_spare(size);
    if (memory == NULL) {
        memory = (PyArrayObject *)PyArray_SimpleNew(1, &size, NPY_BYTE);
        if (memory == NULL && PyErr_ExceptionMatches(PyExc_MemoryError)) {
            PyErr_Clear();
            drop_spares(0, 0);
            memory = (PyArrayObject *)PyArray_SimpleNew(1, &size, NPY_BYTE);
        }
    }
    return memory;
}

/* An array over a block of the pool. Steals the reference to the dtype. */
static PyObject *new_over_block(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp size)
{
    PyArrayObject *memory = find_memory(size + ALIGNMENT);
    if (memory == NULL) {
        Py_DECREF(dtype);
        return NULL;
    }
    PoolBufferObject *block = (PoolBufferObject *)pool_buffer_type->tp_alloc(pool_buffer_type, 0);
    if (block == NULL) {
        Py_DECREF(memory);
        Py_DECREF(dtype);
        return NULL;
    }
    block->memory = memory;
    const npy_uintp address = (npy_uintp)PyArray_DATA(memory) + ALIGNMENT - 1;
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL,
                                           (void *)(address - address % ALIGNMENT),
                                           NPY_ARRAY_CARRAY, NULL);
    if (array == NULL) {
        Py_DECREF(block);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)block) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

PyObject *new_array(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp size)
{
    if (size < SMALLEST_SPARE || size > spares.limit || PyDataType_REFCHK(dtype)) {
        return PyArray_Empty(ndim, shape, dtype, 0);
    }
    return new_over_block(ndim, shape, dtype, size);
}

static PyObject *empty(PyObject *module, PyObject *args)
{
    PyArray_Dims shape = {NULL, 0};
    PyArray_Descr *dtype = NULL;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "O&O!:empty", PyArray_IntpConverter, &shape, &PyArrayDescr_Type,
                          &dtype)) {
        PyDimMem_FREE(shape.ptr);
        return NULL;
    }
    Py_INCREF(dtype);
    npy_intp size = PyDataType_ELSIZE(dtype);
    for (int i = 0; i < shape.len && size >= 0; i++) {
        const npy_intp length = shape.ptr[i];
        /* NumPy refuses sizes that are negative or too large. */
        size = length < 0 || (length > 0 && size > NPY_MAX_INTP / length) ? -1 : size * length;
    }
    result = new_array(shape.len, shape.ptr, dtype, size);
    PyDimMem_FREE(shape.ptr);
    return result;
}

static PyObject *limit_spares(PyObject *module, PyObject *bytes)
{
    npy_intp limit;
    if (!read_int(bytes, 0, NPY_MAX_INTP, "the limit", &limit)) {
        return NULL;
    }
    spares.limit = limit;
    drop_spares(MAX_SPARES, limit);
    Py_RETURN_NONE;
}

static PyObject *release_spares(PyObject *module, PyObject *ignored)
{
    drop_spares(0, 0);
    release_blocks();
    Py_RETURN_NONE;
}

static PyObject *count_spares(PyObject *module, PyObject *ignored)
{
    const npy_intp bytes = spares.bytes, limit = spares.limit;
    const Py_ssize_t hits = spares.hits, misses = spares.misses;
    const int count = spares.count;
    return Py_BuildValue("ninnn", (Py_ssize_t)bytes, count, (Py_ssize_t)limit, hits, misses);
}

static PyMethodDef functions[] = {
    {"empty", empty, METH_VARARGS,
     "empty(shape, dtype)\n--\n\n"
     "An uninitialised row-major ndarray. Large ones lie in memory that is kept afterwards."},
    {"limit_spares", limit_spares, METH_O,
     "limit_spares(bytes)\n--\n\nKeep at most so much memory. Larger arrays are NumPy's."},
    {"release_spares", release_spares, METH_NOARGS,
     "release_spares()\n--\n\nGive all memory that waits back to the system."},
    {"count_spares", count_spares, METH_NOARGS,
     "count_spares()\n--\n\n(bytes that wait, in how many blocks, limit, hits, misses)."},
    {NULL, NULL, 0, NULL},
};

int add_memory(PyObject *module)
{
    if (pool_buffer_type == NULL) {
        pool_buffer_type = (PyTypeObject *)PyType_FromSpec(&block_spec);
    }
    return pool_buffer_type == NULL ? -1 : PyModule_AddFunctions(module, functions);
}
