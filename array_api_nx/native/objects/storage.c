/* Storage: a block of memory, as Python sees it. */

#include "storage.h"
#include "parts.h"
#include "memory.h"
#include "nodes.h"
#include "recycling.h"

/* That memory begins at a multiple of this, so that every dtype is aligned. */
enum { INLINE_ALIGNMENT = 16 };

static Recycled small;

PyTypeObject *storage_type;

/* C reads only contiguous, aligned memory of NumPy. Layouts that were found to lie inside the memory
   are not looked at again: therefore it does not read memory that took the place of longer one. */
static void find_address(Storage *storage)
{
    storage->address = NULL;
    storage->bytes = 0;
    storage->writeable = 0;
    if (storage->memory != NULL && PyArray_CheckExact(storage->memory)) {
        PyArrayObject *memory = (PyArrayObject *)storage->memory;
        const npy_intp bytes = PyArray_NBYTES(memory);
        if (bytes >= storage->most && PyArray_ISCARRAY_RO(memory)) {
            storage->address = PyArray_BYTES(memory);
            storage->bytes = storage->most = bytes;
            storage->writeable = PyArray_ISWRITEABLE(memory) != 0;
        }
    }
}

/* ------------------------------------------------------------------ loans */

typedef struct {
    PyObject_HEAD
    Storage *storage;
} Loan;

static PyTypeObject *loan_type;
static Recycled ended;

PyObject *lend(Storage *storage)
{
    PyObject *memory = take_recycled(&ended);
    Loan *loan = memory == NULL ? PyObject_New(Loan, loan_type) : (Loan *)PyObject_Init(memory, loan_type);
    if (loan != NULL) {
        loan->storage = (Storage *)Py_NewRef((PyObject *)storage);
        storage->loans++;
    }
    return (PyObject *)loan;
}

static void loan_dealloc(PyObject *self)
{
    Storage *storage = ((Loan *)self)->storage;
    storage->loans--;
    if (ended.count < MOST_RECYCLED) {
        ended.objects[ended.count++] = self;
        Py_DECREF(loan_type);
    } else {
        free_instance(self);
    }
    Py_DECREF(storage);
}

static PyType_Slot loan_slots[] = {
    {Py_tp_dealloc, loan_dealloc},
    {0, NULL},
};

static PyType_Spec loan_spec = {
    .name = "array_api_nx._native.Loan",
    .basicsize = sizeof(Loan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = loan_slots,
};

int is_private(const Storage *storage)
{
    PyObject *memory = storage->memory;
    if (memory == NULL) {
        return storage->own != NULL && storage->loans == 0;
    }
    while (PyArray_CheckExact(memory) && Py_REFCNT(memory) == 1 && ((PyArrayObject_fields *)memory)->weakreflist == NULL) {
        PyObject *base = PyArray_BASE((PyArrayObject *)memory);
        if (base == NULL) {
            return PyArray_CHKFLAGS((PyArrayObject *)memory, NPY_ARRAY_OWNDATA);
        }
        memory = base;
    }
    return 0;
}

/* ------------------------------------------------------------------ attributes */

static PyObject *storage_get_memory(PyObject *self, void *closure)
{
    Storage *storage = (Storage *)self;
    if (!evaluate_storage(storage)) {
        return NULL;
    }
    if (storage->memory != NULL || storage->own == NULL || storage->code == NO_DTYPE) {
        return or_none(storage->memory);
    }
    /* Not kept: the array refers to the storage by a loan. */
    npy_intp length = storage->bytes / dtypes[storage->code].itemsize;
    PyArray_Descr *descr = dtypes[storage->code].descr;
    Py_INCREF(descr);
    PyObject *memory = PyArray_NewFromDescr(&PyArray_Type, descr, 1, &length, NULL, storage->own,
                                            NPY_ARRAY_CARRAY, NULL);
    PyObject *loan = memory == NULL ? NULL : lend(storage);
    if (memory != NULL && (loan == NULL || PyArray_SetBaseObject((PyArrayObject *)memory, loan) < 0)) {
        Py_CLEAR(memory);
    }
    return memory;
}

static int storage_set_memory(PyObject *self, PyObject *value, void *closure)
{
    Storage *storage = (Storage *)self;
    if (refuse_deletion(value)) {
        return -1;
    }
    if (storage->pending != NULL) {
        drop_node(storage->pending);
    }
    /* To drop the old memory may run Python code, which must find all in order. */
    PyObject *old = storage->memory;
    storage->memory = Py_XNewRef(or_null(value));
    storage->own = NULL;
    storage->room = 0;
    find_address(storage);
    if (storage->memory != NULL && !PyArray_CheckExact(storage->memory)) {
        TRACK(storage);
    }
    Py_XDECREF(old);
    return 0;
}

static PyObject *storage_get_waits(PyObject *self, void *closure)
{
    return PyBool_FromLong(((Storage *)self)->pending != NULL);
}

static int storage_set_dtype(PyObject *self, PyObject *value, void *closure)
{
    Storage *storage = (Storage *)self;
    if (refuse_deletion(value)) {
        return -1;
    }
    storage->code = (npy_uint8)code_of_dtype(value);
    storage->room = 0;
    Py_XSETREF(storage->dtype, Py_NewRef(value));
    return 0;
}

static PyObject *storage_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    Storage *storage = (Storage *)type->tp_alloc(type, 0);
    if (storage != NULL) {
        storage->code = NO_DTYPE;
        storage->is_tracked = 1;
    }
    return (PyObject *)storage;
}

static int storage_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"memory", "shared", NULL};
    Storage *storage = (Storage *)self;
    PyObject *memory;
    int shared = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$p:Storage", names, &memory, &shared)) {
        return -1;
    }
    PyObject *dtype = PyObject_GetAttrString(memory, "dtype");
    PyObject *itemsize = dtype == NULL ? NULL : PyObject_GetAttrString(dtype, "itemsize");
    const Py_ssize_t size = itemsize == NULL ? -1 : PyLong_AsSsize_t(itemsize);
    Py_XDECREF(itemsize);
    if (size < 0 && PyErr_Occurred()) {
        Py_XDECREF(dtype);
        return -1;
    }
    storage_set_dtype(self, dtype, NULL);
    Py_DECREF(dtype);
    storage->itemsize = size;
    storage->shared = (char)shared;
    storage_set_memory(self, memory, NULL);
    return 0;
}

static int storage_traverse(PyObject *self, visitproc visit, void *arg)
{
    Storage *storage = (Storage *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(storage->memory);
    return 0;
}

static int storage_clear(PyObject *self)
{
    Storage *storage = (Storage *)self;
    Py_CLEAR(storage->memory);
    return 0;
}

static void storage_dealloc(PyObject *self)
{
    Storage *storage = (Storage *)self;
    UNTRACK(storage);
    if (storage->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    if (storage->pending != NULL) {
        drop_node(storage->pending);
    }
    storage_clear(self);
    Py_CLEAR(storage->dtype);
    if (storage->block != NULL) {
        give_block(storage->block, storage->block_bytes);
    }
    if (Py_SIZE(self) == SMALLEST_ROOM + INLINE_ALIGNMENT) {
        free_object(&small, self);
        return;
    }
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* Whether others can write the memory now. */
static PyObject *storage_get_shared(PyObject *self, void *closure)
{
    const Storage *storage = (Storage *)self;
    return PyBool_FromLong(storage->shared && !is_private(storage));
}

static int storage_set_shared(PyObject *self, PyObject *value, void *closure)
{
    if (refuse_deletion(value)) {
        return -1;
    }
    if (!PyBool_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "attribute value type must be bool");
        return -1;
    }
    ((Storage *)self)->shared = value == Py_True;
    return 0;
}

static PyGetSetDef storage_attributes[] = {
    {"shared", storage_get_shared, storage_set_shared, NULL, NULL},
    {"memory", storage_get_memory, storage_set_memory, NULL, NULL},
    {"waits", storage_get_waits, NULL, NULL, NULL},
    {"dtype", get_object, storage_set_dtype, NULL, AT(Storage, dtype)},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef storage_members[] = {
    {"itemsize", T_PYSSIZET, offsetof(Storage, itemsize), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Storage, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot storage_slots[] = {
    {Py_tp_new, storage_new},
    {Py_tp_init, storage_init},
    {Py_tp_traverse, storage_traverse},
    {Py_tp_clear, storage_clear},
    {Py_tp_dealloc, storage_dealloc},
    {Py_tp_getset, storage_attributes},
    {Py_tp_members, storage_members},
    {0, NULL},
};

static PyType_Spec storage_spec = {
    .name = "array_api_nx.contract.strided.Storage",
    .basicsize = sizeof(Storage),
    .itemsize = 1,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = storage_slots,
};

/* Set the fields of a Storage from the allocator. */
static void begin(Storage *storage, DTypeCode code)
{
    /* In two halves, since compilers clear so few bytes by vectors, but more of them by an instruction that takes 15 ns. */
    memset((char *)storage + sizeof(PyVarObject), 0, offsetof(Storage, code) - sizeof(PyVarObject));
    memset((char *)storage + offsetof(Storage, code), 0, sizeof(Storage) - offsetof(Storage, code));
    storage->dtype = Py_NewRef((PyObject *)dtypes[code].descr);
    storage->code = (npy_uint8)code;
    storage->itemsize = dtypes[code].itemsize;
}

/* A Storage with room for so many bytes behind it. */
static Storage *make_storage(npy_intp inside, DTypeCode code)
{
    PyObject *memory = inside == SMALLEST_ROOM + INLINE_ALIGNMENT ? take_recycled(&small) : NULL;
    Storage *storage = memory == NULL
                           ? PyObject_GC_NewVar(Storage, storage_type, inside)
                           : (Storage *)PyObject_InitVar((PyVarObject *)memory, storage_type, inside);
    if (storage != NULL) {
        begin(storage, code);
    }
    return storage;
}

/* From now on the elements lie in the storage's own memory. */
static void use_own(Storage *storage, npy_intp bytes)
{
    storage->address = storage->own;
    storage->bytes = storage->most = bytes;
    storage->writeable = 1;
}

/* As `fill_storage`: with zeros, or not initialised. */
static int fill_with(Storage *storage, npy_intp bytes, int zeros)
{
    if (bytes <= BLOCK_BYTES) {
        storage->own = storage->block = take_block(bytes);
        storage->block_bytes = bytes;
        if (storage->own == NULL) {
            PyErr_NoMemory();
            return 0;
        }
        if (zeros) {
            memset(storage->own, 0, (size_t)bytes);
        }
        use_own(storage, bytes);
        return 1;
    }
    npy_intp length = bytes / storage->itemsize;
    Py_INCREF(dtypes[storage->code].descr);
    storage->memory = new_array(1, &length, dtypes[storage->code].descr, bytes, zeros);
    if (storage->memory == NULL) {
        return 0;
    }
    find_address(storage);
    return 1;
}

int fill_storage(Storage *storage, npy_intp bytes)
{
    return fill_with(storage, bytes, 0);
}

int fill_with_zeros(Storage *storage, npy_intp bytes)
{
    return fill_with(storage, bytes, 1);
}

void empty_storage(Storage *storage)
{
    if (storage->block != NULL) {
        give_block(storage->block, storage->block_bytes);
    }
    storage->own = storage->block = storage->address = NULL;
    storage->bytes = storage->most = 0;
    storage->writeable = 0;
    Py_CLEAR(storage->memory);
}

void move_memory(Storage *to, Storage *from)
{
    to->memory = from->memory;
    to->own = from->own;
    to->block = from->block;
    to->block_bytes = from->block_bytes;
    to->address = from->address;
    to->bytes = to->most = from->bytes;
    to->writeable = from->writeable;
    from->memory = NULL;
    from->block = NULL;
    empty_storage(from);
}

Storage *pending_storage(DTypeCode code)
{
    return make_storage(SMALLEST_ROOM + INLINE_ALIGNMENT, code);
}

Storage *new_storage(npy_intp bytes, DTypeCode code)
{
    const int room = bytes <= INLINE_BYTES ? room_for(bytes) : 0;
    const npy_intp inside = bytes <= INLINE_BYTES ? (SMALLEST_ROOM << room) + INLINE_ALIGNMENT : 0;
    Storage *storage = make_storage(inside, code);
    if (storage != NULL && inside > 0) {
        const npy_uintp address = (npy_uintp)(storage + 1) + INLINE_ALIGNMENT - 1;
        storage->own = (char *)(address - address % INLINE_ALIGNMENT);
        use_own(storage, bytes);
        storage->room = (char)(1 + room);
    } else if (storage != NULL && !fill_storage(storage, bytes)) {
        Py_CLEAR(storage);
    }
    return storage;
}

Storage *storage_over(PyObject *memory, DTypeCode code)
{
    Storage *storage = memory == NULL ? NULL : PyObject_GC_NewVar(Storage, storage_type, 0);
    if (storage == NULL) {
        Py_XDECREF(memory);
        return NULL;
    }
    begin(storage, code);
    storage->memory = memory;
    find_address(storage);
    return storage;
}

int add_storage(PyObject *module)
{
    storage_type = (PyTypeObject *)PyType_FromSpec(&storage_spec);
    loan_type = (PyTypeObject *)PyType_FromSpec(&loan_spec);
    return storage_type == NULL || loan_type == NULL ? -1
                                : PyModule_AddObjectRef(module, "Storage", (PyObject *)storage_type);
}
