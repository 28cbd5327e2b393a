#include "memory.h"
#include "parts.h"
#include "arguments.h"
#include "sizes.h"

/* ------------------------------------------------------------------ blocks */

/* Blocks have 4, 8, 16, 32 or 64 KiB. */
enum { SMALLEST_BLOCK = 1 << 12, SIZES = 5 };

/* The most bytes of the blocks of a size that wait: 256 blocks of 4 KiB, 16 of 64 (docs/tuning.md, 178). */
#ifdef __SANITIZE_ADDRESS__
enum { MOST_WAITING = 0 }; /* it would not see who writes to a block that is given back */
#else
enum { MOST_WAITING = 1 << 20 };
#endif

/* What wait, by their size. The GIL protects them. */
static struct {
    int count;
    char *blocks[MOST_WAITING / SMALLEST_BLOCK + 1];
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
    if (waiting[number].count < MOST_WAITING / SMALLEST_BLOCK >> number) {
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

/* See docs/tuning.md, 178. */
enum { MAX_SPARES = 128 };

/* The fewest bytes of an array whose memory is worth keeping. */
enum { SMALLEST_SPARE = 1 << 16 };

/* A spare may be larger than the request by this fraction of it: an eighth. */
enum { SPARE_SHARE = 8 };

/* The most bytes of zeros that are written to a spare, as the C library writes them to memory that it has kept. More is new
   memory, whose pages the system makes once they are touched: a program may touch few of them (docs/tuning.md, 177). */
enum { MOST_CLEARED = 1 << 25 };

/* What stands before the memory of an array, which begins a cache line. */
typedef struct {
    char *begin; /* what NumPy's own allocator gave */
    npy_intp bytes;
} Head;

/* The most bytes before the memory of an array. */
enum { MOST_BEFORE = sizeof(Head) + ALIGNMENT - 1 };

/* The GIL protects them. */
static struct {
    struct {
        char *memory;
        npy_intp bytes;
    } waiting[MAX_SPARES]; /* the last one became free last */
    int count;
    npy_intp bytes, limit;
    npy_intp asked; /* bytes of new memory since a spare was freed for them */
    Py_ssize_t hits, misses;
} spares;

static inline Head *head_of(void *memory)
{
    return (Head *)memory - 1;
}

static const PyDataMemAllocator *numpys_allocator(void)
{
    static const PyDataMem_Handler *handler;
    if (handler == NULL) {
        handler = PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler");
    }
    return &handler->allocator;
}

static void free_memory(char *memory)
{
    const PyDataMemAllocator *numpys = numpys_allocator();
    const Head head = *head_of(memory);
    numpys->free(numpys->ctx, head.begin, (size_t)head.bytes + MOST_BEFORE);
}

/* Take spare `number` out of the pool. */
static char *withdraw_spare(int number)
{
    char *memory = spares.waiting[number].memory;
    spares.bytes -= spares.waiting[number].bytes;
    spares.count--;
    memmove(&spares.waiting[number], &spares.waiting[number + 1], (size_t)(spares.count - number) * sizeof(spares.waiting[0]));
    return memory;
}

/* Free the spares that have waited longest, until at most `count` are left and at most `bytes`. */
static void drop_spares(int count, npy_intp bytes)
{
    while (spares.count > count || (spares.count > 0 && spares.bytes > bytes)) {
        free_memory(withdraw_spare(0));
    }
}

/* A spare for an array; NULL if none fits. Then the spares that have waited longest make room for the new memory, so that a
   program whose arrays have ever other sizes does not hold the earlier ones. */
static char *find_spare(npy_intp size)
{
    for (int i = spares.count - 1; i >= 0; i--) {
        const npy_intp spare = spares.waiting[i].bytes;
        if (size <= spare && spare - size <= size / SPARE_SHARE) {
            spares.hits++;
            return withdraw_spare(i);
        }
    }
    spares.misses++;
    spares.asked = spares.count == 0 ? 0 : spares.asked + size;
    while (spares.count > 0 && spares.asked >= spares.waiting[0].bytes) {
        spares.asked -= spares.waiting[0].bytes;
        drop_spares(spares.count - 1, spares.limit);
    }
    return NULL;
}

/* Memory that begins a cache line; NULL, without an exception, if there is none. */
static char *ask_for_memory(npy_intp size, int zeros)
{
    const PyDataMemAllocator *numpys = numpys_allocator();
    const size_t all = (size_t)size + MOST_BEFORE;
    char *begin = size > NPY_MAX_INTP - MOST_BEFORE ? NULL
                  : zeros                           ? numpys->calloc(numpys->ctx, 1, all)
                                                    : numpys->malloc(numpys->ctx, all);
    if (begin == NULL) {
        return NULL;
    }
    char *memory = begin + MOST_BEFORE - (npy_uintp)(begin + MOST_BEFORE) % ALIGNMENT;
    *head_of(memory) = (Head){begin, size};
    return memory;
}

/* A spare, or new memory. If there is none, all spares are freed and NumPy's allocator is asked again. */
static char *find_memory(npy_intp size, int zeros)
{
    const int is_kept = size >= SMALLEST_SPARE && size <= spares.limit && !(zeros && size > MOST_CLEARED);
    char *memory = is_kept ? find_spare(size) : NULL;
    if (memory != NULL) {
        if (zeros) {
            memset(memory, 0, (size_t)size);
        }
        return memory;
    }
    memory = ask_for_memory(size, zeros);
    if (memory == NULL) {
        drop_spares(0, 0);
        memory = ask_for_memory(size, zeros);
    }
    return memory;
}

static void keep_memory(char *memory)
{
    const npy_intp bytes = head_of(memory)->bytes;
    if (bytes < SMALLEST_SPARE || bytes > spares.limit) {
        free_memory(memory);
        return;
    }
    drop_spares(MAX_SPARES - 1, spares.limit);
    spares.waiting[spares.count].memory = memory;
    spares.waiting[spares.count++].bytes = bytes;
    spares.bytes += bytes;
    drop_spares(MAX_SPARES, spares.limit);
}

/* ------------------------------------------------------------------ NumPy's allocator */

/* NumPy holds the GIL where it asks for the memory of arrays and where it frees that. */

static void *pool_malloc(void *ctx, size_t size)
{
    return size > (size_t)NPY_MAX_INTP ? NULL : find_memory((npy_intp)size, 0);
}

static void *pool_calloc(void *ctx, size_t count, size_t size)
{
    return size != 0 && count > (size_t)NPY_MAX_INTP / size ? NULL : find_memory((npy_intp)(count * size), 1);
}

static void pool_free(void *ctx, void *memory, size_t size)
{
    if (memory != NULL) {
        keep_memory(memory);
    }
}

static void *pool_realloc(void *ctx, void *memory, size_t size)
{
    char *other = pool_malloc(ctx, size);
    if (memory != NULL && other != NULL) {
        const size_t before = (size_t)head_of(memory)->bytes;
        memcpy(other, memory, size < before ? size : before);
        keep_memory(memory);
    }
    return other;
}

static PyDataMem_Handler handler = {
    "array_api_nx", 1, {NULL, pool_malloc, pool_calloc, pool_realloc, pool_free},
};

/* A capsule with the handler. */
static PyObject *pool;

PyObject *enter_pool(void)
{
    PyObject *used = PyDataMem_GetHandler();
    if (used != PyDataMem_DefaultHandler) {
        Py_XDECREF(used);
        PyErr_Clear();
        return NULL;
    }
    Py_DECREF(used);
    used = PyDataMem_SetHandler(pool);
    if (used == NULL) {
        PyErr_Clear();
    }
    return used;
}

void leave_pool(PyObject *used)
{
    if (used == NULL) {
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(PyDataMem_SetHandler(used));
    Py_DECREF(used);
    PyErr_Restore(type, value, traceback);
}

/* ------------------------------------------------------------------ arrays */

/* Of NumPy's arrays in tracemalloc: np.lib.tracemalloc_domain. */
enum { NUMPYS_DOMAIN = 389047 };

PyObject *new_array(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp size, int zeros)
{
    if (size < SMALLEST_SPARE || size > spares.limit || PyDataType_REFCHK(dtype)) {
        return zeros ? PyArray_Zeros(ndim, shape, dtype, 0) : PyArray_Empty(ndim, shape, dtype, 0);
    }
    char *memory = find_memory(size, zeros);
    if (memory == NULL) {
        Py_DECREF(dtype);
        return PyErr_NoMemory();
    }
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL, memory, NPY_ARRAY_CARRAY, NULL);
    if (array == NULL) {
        keep_memory(memory);
        return NULL;
    }
    /* The array frees it by the pool's handler, as if NumPy had asked for it there, and told tracemalloc. */
    PyTraceMalloc_Track(NUMPYS_DOMAIN, (uintptr_t)memory, (size_t)size);
    ((PyArrayObject_fields *)array)->mem_handler = Py_NewRef(pool);
    PyArray_ENABLEFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
    return array;
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
    result = new_array(shape.len, shape.ptr, dtype, size, 0);
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
    if (pool == NULL) {
        pool = PyCapsule_New(&handler, "mem_handler", NULL);
    }
    return pool == NULL ? -1 : PyModule_AddFunctions(module, functions);
}
