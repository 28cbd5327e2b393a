#include "nodes.h"
#include "elements.h"
#include "names.h"
#include "parts.h"
#include "storage.h"

/* ------------------------------------------------------------------ the list of all nodes */

static Node *newest;
static npy_intp node_count, held_bytes;

/* So many operations may be pending; then all are computed. So they are if they alone keep more bytes from being freed than
   FEW_HELD, which caches have room for, and than HELD_TIMES the bytes of the largest array that the next operation is computed
   from: what is kept long has to be read from memory again, and a program that computes at once needs hardly less
   (docs/tuning.md, 151). */
enum { MOST_PENDING = 1024, FEW_HELD = 1 << 20 };
static const double HELD_TIMES = 2.5;

/* `held_bytes` counts operands that arrays show, too. When it was `counted_at`, `counted` of these bytes were held by pending
   operations alone. Operands whose arrays are dropped later are missed until the next count. */
static npy_intp counted_at, counted;

/* Freed nodes, for the next ones. */
enum { MOST_SPARE = 64 };
static struct {
    int count;
    Node *nodes[MOST_SPARE];
} spare_nodes;

Node *take_node(void)
{
    return spare_nodes.count > 0 ? spare_nodes.nodes[--spare_nodes.count] : PyMem_Malloc(sizeof(Node));
}

void give_node(Node *node)
{
    if (spare_nodes.count < MOST_SPARE) {
        spare_nodes.nodes[spare_nodes.count++] = node;
    } else {
        PyMem_Free(node);
    }
}

Node *first_node(void)
{
    return newest;
}

void enter_node(Node *node, Storage *storage)
{
    node->storage = storage;
    node->walk = node->phases = 0;
    node->ending = 0;
    node->place = &newest;
    node->next = newest;
    if (newest != NULL) {
        newest->place = &node->next;
    }
    newest = node;
    storage->pending = node;
    node_count++;
    held_bytes += node->held;
}

void drop_node(Node *node)
{
    Storage *operands[NODE_OPERANDS];
    int count = 0;
    *node->place = node->next;
    if (node->next != NULL) {
        node->next->place = node->place;
    }
    node->storage->pending = NULL;
    node_count--;
    held_bytes -= node->held;
    for (int i = 0; i < node->operation.count; i++) {
        if (node->operands[i].storage != NULL) {
            operands[count++] = node->operands[i].storage;
        }
    }
    PyMem_Free(node->reduction);
    give_node(node);
    /* To drop an operand may run Python code, which must find all in order. */
    for (int i = 0; i < count; i++) {
        operands[i]->readers--;
    }
    for (int i = 0; i < count; i++) {
        Py_DECREF(operands[i]);
    }
}

int evaluate_all(void)
{
    while (newest != NULL) {
        if (!evaluate_because(newest->storage, "all that waits is computed, as it would hold too much memory")) {
            return 0;
        }
    }
    return 1;
}

/* Bytes of operands that nothing but pending operations refers to. */
static npy_intp count_held(void)
{
    npy_intp bytes = 0;
    for (const Node *node = newest; node != NULL; node = node->next) {
        for (int i = 0; i < node->operation.count; i++) {
            const Storage *storage = node->operands[i].storage;
            if (storage != NULL && storage->pending == NULL && Py_REFCNT(storage) <= storage->readers) {
                bytes += storage->bytes / storage->readers;
            }
        }
    }
    return bytes;
}

int is_too_much(npy_intp bytes)
{
    const double most = fmax(FEW_HELD, HELD_TIMES * (double)bytes);
    if (held_bytes < counted_at) {
        counted_at = counted = 0;
    }
    if ((double)(counted + held_bytes - counted_at) > most) {
        counted_at = held_bytes;
        counted = count_held();
    }
    return (double)counted > most || node_count >= MOST_PENDING;
}

int release_readers(Storage *storage)
{
    while (storage->readers > 0) {
        Node *reader = newest;
        int found = 0;
        for (; reader != NULL; reader = reader->next) {
            for (int i = 0; i < reader->operation.count; i++) {
                found = found || reader->operands[i].storage == storage;
            }
            if (found) {
                break;
            }
        }
        if (reader == NULL ||
            !evaluate_because(reader->storage, "memory that it is to be computed from is written or handed out")) {
            return 0;
        }
    }
    return 1;
}

/* ------------------------------------------------------------------ the end of a node */

void describe_operation(const ElementLoop *loop, int count, Operation *operation)
{
    operation->function = loop->function;
    operation->data = loop->data;
    operation->name = loop->name;
    operation->row = loop->row;
    operation->time = loop->time;
    operation->count = (npy_uint8)count;
    operation->result = loop->result;
    for (int i = 0; i < count; i++) {
        operation->operands[i] = loop->operand;
    }
    operation->is_exact = (npy_uint8)loop->is_exact;
    operation->is_exact_in_rows = (npy_uint8)loop->is_exact_in_rows;
    operation->raises = loop->is_quiet ? RAISES_NONE : loop->is_arithmetic ? RAISES_IN_VECTORS : RAISES_ANY;
    operation->link = loop->link;
}

Operation cast_operation(DTypeCode from, DTypeCode to)
{
    /* Casts of integers raise nothing that NumPy would warn of, but that float16 is too small for some. */
    const int raises = from == to || !(is_inexact(from) || is_float16(to)) ? RAISES_NONE
                       : is_float16(from) || is_float16(to)                ? RAISES_ANY
                                                                           : RAISES_IN_VECTORS;
    const int widens = is_complex(to) && from == part_of(to);
    return (Operation){.function = cast_function(from, to), .operands = {from}, .time = 0.3f, .result = to,
                       .count = 1, .is_exact = 1, .link = widens ? WIDEN_LINK : NO_LINK, .row = cast_row,
                       .name = raises == RAISES_NONE ? NULL : names_of.cast, .raises = (npy_uint8)raises};
}

int is_copy(const Operation *operation)
{
    const DTypeCode code = (DTypeCode)operation->result;
    return operation->count == 1 && operation->function != NULL && operation->data == NULL &&
           operation->function == cast_function(code, code);
}

void become_copy(Node *node, Storage *of, npy_intp offset, const npy_intp *strides)
{
    Storage *operands[NODE_OPERANDS];
    const int count = node->operation.count;
    const DTypeCode code = (DTypeCode)node->operation.result;
    for (int i = 0; i < count; i++) {
        operands[i] = node->operands[i].storage;
        if (operands[i] != NULL) {
            operands[i]->readers--;
        }
    }
    held_bytes -= node->held;
    node->held = 0; /* an array shows that memory in any case */
    node->operations = 1;
    node->is_flat = 0;
    node->errors = 0;
    node->operation = cast_operation(code, code);
    node->time = node->operation.time * (float)node->size;
    node->operands[0].storage = (Storage *)Py_NewRef((PyObject *)of);
    node->operands[0].offset = offset;
    memcpy(node->operands[0].strides, strides, (size_t)node->ndim * sizeof(npy_intp));
    of->readers++;
    for (int i = 0; i < count; i++) {
        Py_XDECREF(operands[i]);
    }
}

/* ------------------------------------------------------------------ the module's part */

static PyObject *count_pending(PyObject *module, PyObject *ignored)
{
    return PyLong_FromSsize_t(node_count);
}

static PyObject *release(PyObject *module, PyObject *storage)
{
    if (Py_IS_TYPE(storage, storage_type) && !release_readers((Storage *)storage)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef nodes_methods[] = {
    {"count_pending", count_pending, METH_NOARGS,
     "count_pending()\n--\n\nHow many operations wait in C for their results to be needed."},
    {"release_readers", release, METH_O,
     "release_readers(storage)\n--\n\n"
     "Compute what waits in C and reads the memory of a storage, which is about to be written."},
    {NULL, NULL, 0, NULL},
};
