/* Operations become nodes: what they read is described. */

#include "nodes.h"
#include "evaluation.h"
#include "layouts.h"
#include "names.h"
#include "parts.h"
#include "elements.h"
#include "sizes.h"
#include "storage.h"

/* ------------------------------------------------------------------ operands */

/* Whether the result of NumPy's function is row-major. It is if the strides of every operand descend from the first
   axis to the last, and no operand that is repeated along an axis runs backward along another; or if those of one
   operand that is not repeated descend, whatever the others do. */
static int is_row_major(const Node *node, Tensor *const *operands)
{
    int all = 1;
    for (int i = 0; node->ndim > 1 && i < node->operation.count; i++) {
        npy_intp strides[NODE_DIMS], outer = NPY_MAX_INTP;
        int in_order = 1, repeats = 0, backward = 0;
        /* Not those of the node's operand, which may be a copy. */
        if (node->operands[i].storage == NULL ||
            !broadcast_strides(node->ndim, node->shape, operands[i]->ndim, operands[i]->shape, operands[i]->strides,
                               strides)) {
            continue;
        }
        for (int dim = 0; dim < node->ndim; dim++) {
            const npy_intp step = magnitude(strides[dim]);
            if (node->shape[dim] != 1) {
                repeats = repeats || step == 0;
                backward = backward || strides[dim] < 0;
                in_order = in_order && step <= outer;
                outer = step == 0 ? outer : step;
            }
        }
        if (in_order && !repeats) {
            return 1;
        }
        all = all && in_order && !backward;
    }
    return all;
}

/* Of an operand that others can write a copy is read if the result has so many times its elements: that costs less than
   to compute the result now, and what is made of it later. */
enum { COPIED_TIMES = 4 };

int is_lent(const Tensor *x)
{
    const Storage *storage = (const Storage *)x->storage;
    return storage == NULL || (storage->shared && !is_private(storage));
}

/* How many different elements there are. */
static npy_intp distinct_size(const Tensor *x)
{
    npy_intp size = 1;
    for (int dim = 0; dim < x->ndim; dim++) {
        size *= x->strides[dim] == 0 ? 1 : x->shape[dim];
    }
    return size;
}

/* Read a copy of an operand of few elements. */
static int copy_operand(Tensor *x, const char *data, NodeOperand *operand)
{
    const DTypeCode code = (DTypeCode)x->code;
    npy_intp shape[NODE_DIMS]; /* without what is repeated */
    char *copied;
    for (int dim = 0; dim < x->ndim; dim++) {
        shape[dim] = x->strides[dim] == 0 ? 1 : x->shape[dim];
    }
    Tensor *copy = new_memory(x->ndim, shape, code, 0, &copied);
    if (copy == NULL) {
        return -1;
    }
    copy_elements(x->ndim, shape, copied, copy->strides, data, x->strides, dtypes[code].itemsize);
    operand->storage = (Storage *)Py_NewRef(copy->storage);
    operand->offset = copy->offset;
    for (int dim = 0; dim < x->ndim; dim++) {
        operand->strides[dim] = x->strides[dim] == 0 ? 0 : copy->strides[dim];
    }
    Py_DECREF(copy);
    return 1;
}

/* Whether this thread may read operands that others can write, since all that waits for them is computed before it does
   anything else; and whether it has read any. */
static THREAD_LOCAL int reads_shared, has_read_shared;

/* Describe an operand of a node, whose storage becomes a new reference. 1; 0 if the operation cannot wait; -1
   with an exception set. */
static int take_operand(Tensor *x, const Node *node, NodeOperand *operand)
{
    Storage *storage = (Storage *)x->storage;
    const int whole = has_shape(x, node->ndim, node->shape);
    operand->is_apart = 0;
    const int lies_well = node->operation.is_exact || (whole && (x->flags & ROW_MAJOR)) ||
                          (node->operation.is_exact_in_rows && lies_in_rows(x, node->ndim, node->shape));
    if (awaits_reduction(x) && lies_well && (storage->pending->reduction != NULL || !whole || !shows_pending(x))) {
        if (!broadcast_strides(node->ndim, node->shape, x->ndim, x->shape, x->strides, operand->strides)) {
            return 0;
        }
        operand->is_apart = 1;
        operand->offset = x->offset;
        operand->storage = (Storage *)Py_NewRef((PyObject *)storage);
        return 1;
    }
    if (x->array == NULL && storage->pending != NULL && storage->pending->reduction == NULL && whole && shows_pending(x)) {
        operand->storage = (Storage *)Py_NewRef((PyObject *)storage);
        operand->offset = 0;
        for (int dim = 0; dim < x->ndim; dim++) {
            operand->strides[dim] = x->strides[dim];
        }
        return 1;
    }
    const char *data = data_of(x);
    if (data == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    npy_intp own[NODE_DIMS];
    operand->storage = NULL;
    if (x->size == 1 && tracked_limit() > 0) {
        operand->number = (ScalarMemory){0, 0};
        memcpy(&operand->number, data, (size_t)dtypes[x->code].itemsize);
        return 1;
    }
    if (x->ndim > node->ndim || !lies_well) {
        return 0;
    }
    if (x->size <= tracked_limit() || (is_lent(x) && !reads_shared && distinct_size(x) <= node->size / COPIED_TIMES)) {
        if (copy_operand(x, data, operand) < 0) {
            return -1;
        }
        memcpy(own, operand->strides, sizeof(own));
    } else {
        if (x->storage == NULL && !ensure_storage(x)) {
            return -1;
        }
        storage = (Storage *)x->storage;
        if (storage->address == NULL ||
            (storage->shared && !reads_shared && !is_private(storage))) {
            return 0;
        }
        has_read_shared |= reads_shared && storage->shared;
        operand->storage = (Storage *)Py_NewRef((PyObject *)storage);
        operand->offset = x->offset;
        for (int dim = 0; dim < x->ndim; dim++) {
            own[dim] = x->strides[dim];
        }
    }
    if (!broadcast_strides(node->ndim, node->shape, x->ndim, x->shape, own, operand->strides)) {
        Py_CLEAR(operand->storage);
        return 0;
    }
    return 1;
}

/* ------------------------------------------------------------------ recording */

static void drop_operands(Node *node, int count)
{
    for (int i = 0; i < count; i++) {
        Py_XDECREF(node->operands[i].storage);
    }
}

static int has_too_many(const Node *node)
{
    return node->operations > MOST_OPERATIONS || node->reductions > MOST_REDUCTIONS;
}

/* Count the operations and reductions at and below a node, and their time. The operand that has the most of what there are
   too many of; or NULL. */
static Node *count_below(Node *node)
{
    Node *largest = NULL;
    const int by_reductions = node->reductions > MOST_REDUCTIONS;
    node->operations = 1;
    node->reductions = 0;
    node->time = node->operation.time * (float)node->size;
    for (int i = 0; i < node->operation.count; i++) {
        const Storage *storage = node->operands[i].storage;
        Node *below = storage == NULL ? NULL : storage->pending;
        if (below == NULL) {
            continue;
        }
        node->operations += below->operations;
        node->reductions += below->reductions;
        node->time += below->time;
        if (largest == NULL || (by_reductions ? below->reductions > largest->reductions
                                              : below->operations > largest->operations)) {
            largest = below;
        }
    }
    return largest;
}

/* Compute operands, so that a node has fewer operations and reductions below it. 0 with an exception set. */
static int shorten(Node *node)
{
    node->reductions = 0;
    count_below(node);
    while (has_too_many(node)) {
        Node *largest = count_below(node);
        if (largest == NULL || !evaluate_because(largest->storage, "an expression became too large to wait any longer")) {
            return largest == NULL;
        }
        count_below(node);
    }
    return 1;
}

/* Fill in the operands of a node, whose shape is set. As `take_operand`. */
static int take_operands(Node *node, Tensor *const *operands, char *const *numbers)
{
    const npy_uint8 *codes = node->operation.operands;
    node->is_flat = 1;
    node->held = 0;
    for (int i = 0; i < node->operation.count; i++) {
        NodeOperand *operand = &node->operands[i];
        int taken = 1;
        if (operands[i] == NULL) {
            operand->storage = NULL;
            operand->number = (ScalarMemory){0, 0};
            memcpy(&operand->number, numbers[i], (size_t)dtypes[codes[i]].itemsize);
        } else {
            taken = take_operand(operands[i], node, operand);
        }
        if (taken != 1) {
            drop_operands(node, i);
            return taken;
        }
    }
    if (!is_copy(&node->operation) && !is_row_major(node, operands)) {
        drop_operands(node, node->operation.count);
        return 0;
    }
    npy_intp step[NODE_DIMS], size = 1;
    for (int dim = node->ndim - 1; dim >= 0; dim--) {
        step[dim] = size;
        size *= node->shape[dim];
    }
    for (int i = 0; i < node->operation.count; i++) {
        const NodeOperand *operand = &node->operands[i];
        if (operand->storage == NULL) {
            continue;
        }
        const npy_intp itemsize = dtypes[codes[i]].itemsize;
        if (operand->storage->pending == NULL && operand->storage->readers == 0) {
            node->held += operand->storage->bytes; /* the first reader is taken to hold it */
        }
        for (int dim = 0; dim < node->ndim; dim++) {
            node->is_flat &= node->shape[dim] == 1 || operand->strides[dim] == step[dim] * itemsize;
        }
    }
    return 1;
}

/* The shape that the operands broadcast to; 0 if a node cannot have it. */
static int find_shape(Node *node, Tensor *const *operands, int count, npy_intp threshold)
{
    npy_intp shape[ARRAY_DIMS];
    int ndim = 0;
    for (int i = 0; i < count; i++) {
        if (operands[i] != NULL &&
            (operands[i]->ndim > NODE_DIMS ||
             !broadcast_shape(&ndim, shape, operands[i]->ndim, operands[i]->shape))) {
            return 0;
        }
    }
    node->ndim = (npy_uint8)ndim;
    node->size = 1;
    for (int dim = 0; dim < ndim; dim++) {
        /* As numbers that do not overflow: to divide takes longer. */
        if (shape[dim] == 0 || (double)node->size * (double)shape[dim] > (double)MOST_ELEMENTS) {
            return 0;
        }
        node->shape[dim] = shape[dim];
        node->size *= shape[dim];
    }
    int recorded = node->size > threshold;
    for (int i = 0; i < count && !recorded; i++) {
        recorded = operands[i] != NULL && awaits_reduction(operands[i]);
    }
    return recorded;
}

/* Bytes of the largest array among operands and what they wait for. */
static npy_intp find_largest(Tensor *const *operands, int count)
{
    npy_intp bytes = 0;
    for (int i = 0; i < count; i++) {
        const Tensor *x = operands[i];
        const Node *node = x == NULL || x->storage == NULL ? NULL : ((const Storage *)x->storage)->pending;
        bytes = x == NULL ? bytes : greatest(bytes, x->size * dtypes[x->code].itemsize);
        bytes = node == NULL ? bytes : greatest(bytes, node->largest);
    }
    return bytes;
}

/* Compute what waits, if it is too much beside an operation; 0 with an exception set. Not while all is recorded: what that
   records may be a part of what is being computed. */
static int make_room_for(Tensor *const *operands, int count)
{
    return recorded_limit() < 0 || !is_too_much(find_largest(operands, count)) || evaluate_all();
}

/* A node for an operation, which is in no list yet; NULL, perhaps with an exception set, if the operation
   cannot wait. `given` says how operations wait, if that is not NULL. */
static Node *make_node(const Operation *operation, Tensor *const *operands, char *const *numbers, const Modes *given)
{
    Node *node = take_node();
    if (node == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Modes modes = {0, 0, 0};
    node->operation = *operation;
    node->reduction = NULL;
    if (given != NULL) {
        modes = *given;
    } else if (!find_modes(&modes) || modes.errors < 0) {
        give_node(node);
        return NULL;
    }
    node->errors = operation->name == NULL ? 0 : (npy_uint8)modes.errors;
    const int before = reads_shared;
    reads_shared |= modes.reads_shared;
    const npy_intp threshold = recorded_limit() < 0 ? -1 : modes.threshold;
    const npy_intp largest = find_largest(operands, operation->count);
    const int taken = find_shape(node, operands, operation->count, threshold) && take_operands(node, operands, numbers) == 1;
    node->largest = taken ? greatest(largest, node->size * dtypes[operation->result].itemsize) : 0;
    reads_shared = before;
    if (!taken) {
        give_node(node);
        return NULL;
    }
    if (!shorten(node)) {
        drop_operands(node, operation->count);
        give_node(node);
        return NULL;
    }
    return node;
}

static void count_readers(const Node *node)
{
    for (int i = 0; i < node->operation.count; i++) {
        if (node->operands[i].storage != NULL) {
            node->operands[i].storage->readers++;
        }
    }
}

/* A new Array that waits for a node, which is in no list yet. NULL, without the node, with an exception set. */
static PyObject *wait_for(Node *node)
{
    const DTypeCode code = (DTypeCode)node->operation.result;
    Tensor *result = new_pending(node->ndim, node->shape, code);
    if (result == NULL) {
        drop_operands(node, node->operation.count);
        PyMem_Free(node->reduction);
        give_node(node);
        return NULL;
    }
    count_readers(node);
    enter_node(node, (Storage *)result->storage);
    return wrap_tensor(result, code);
}

/* `record` in given modes. Of column-major operands the node reads the transposed ones. */
static PyObject *make_array(const Operation *operation, Tensor *const *operands, char *const *numbers, const Modes *given)
{
    if (!make_room_for(operands, operation->count)) {
        return NULL;
    }
    const int ndim = is_copy(operation) ? 0 : find_turned(operands, operation->count);
    if (ndim == 0) {
        Node *node = make_node(operation, operands, numbers, given);
        return node == NULL ? decline_unless_raised() : wait_for(node);
    }
    Tensor *turned[NODE_OPERANDS] = {NULL};
    int done = 0;
    while (done < operation->count && (operands[done] == NULL || (turned[done] = turn(operands[done], ndim)) != NULL)) {
        done++;
    }
    Node *node = done < operation->count ? NULL : make_node(operation, turned, numbers, given);
    for (int i = 0; i < operation->count; i++) {
        Py_XDECREF(turned[i]);
    }
    return node == NULL ? decline_unless_raised() : turn_result(wait_for(node));
}

PyObject *record(const Operation *operation, Tensor *const *operands, char *const *numbers)
{
    return make_array(operation, operands, numbers, NULL);
}

PyObject *compute_by_pass(const Operation *operation, Tensor *const *operands, char *const *numbers)
{
    const Modes now = {ALL_ERRORS | APPLY_ERRSTATE, 1, -1};
    PyObject *result = make_array(operation, operands, numbers, &now);
    if (result != NULL && result != DECLINED && !compute_pending((Storage *)tensor_of(result)->storage)) {
        Py_CLEAR(result);
    }
    return result;
}

/* What follows from the shape of the operand: that of the result, and where accumulators lie. */
static void lay_out_reduction(Node *node)
{
    Reduction *reduction = node->reduction;
    npy_intp step = reduction->accumulator_bytes;
    reduction->ndim = node->ndim;
    reduction->size = node->size;
    node->ndim = 0;
    node->size = 1;
    for (int axis = 0; axis < reduction->ndim; axis++) {
        const npy_intp length = reduction->shape[axis] = node->shape[axis];
        if (!reduction->reduced[axis] || reduction->keepdims) {
            node->shape[node->ndim++] = reduction->reduced[axis] ? 1 : length;
        }
        node->size *= reduction->reduced[axis] ? 1 : length;
    }
    for (int axis = reduction->ndim - 1; axis >= 0; axis--) {
        reduction->strides[axis] = reduction->reduced[axis] ? 0 : step;
        step *= reduction->reduced[axis] ? 1 : reduction->shape[axis];
    }
}

PyObject *record_reduction(const Reduction *reduction, Tensor *x, int for_now)
{
    const Operation operation = {.name = names_of.reduce, .row = reduction->row, .operands = {reduction->element},
                                 .result = reduction->result, .count = 1, .is_exact = 1, .link = NO_LINK};
    if (!make_room_for(&x, 1)) {
        return NULL;
    }
    const int before = reads_shared;
    reads_shared = before || for_now;
    Node *node = make_node(&operation, &x, NULL, NULL);
    reads_shared = before;
    if (node == NULL) {
        return decline_unless_raised();
    }
    node->reduction = PyMem_Malloc(sizeof(Reduction));
    if (node->reduction == NULL) {
        drop_operands(node, operation.count);
        give_node(node);
        return PyErr_NoMemory();
    }
    *node->reduction = *reduction;
    node->reductions++;
    lay_out_reduction(node);
    return wait_for(node);
}

PyObject *record_for_now(const Operation *operation, Tensor *const *operands, char *const *numbers)
{
    const int before = reads_shared;
    reads_shared = 1;
    PyObject *result = record(operation, operands, numbers);
    reads_shared = before;
    return result;
}

PyObject *record_copy(Tensor *x, DTypeCode code)
{
    const Operation copy = cast_operation((DTypeCode)x->code, code);
    return copy.function == NULL || !is_recorded_size(x->size) ? DECLINED : record_for_now(&copy, &x, NULL);
}

int begin_list(ListRun *before)
{
    if (!begin_list_modes(before)) {
        return 0;
    }
    before->reads_shared = reads_shared;
    has_read_shared &= reads_shared;
    reads_shared = 1;
    return 1;
}

int end_list(const ListRun *before)
{
    end_list_modes(before);
    reads_shared = before->reads_shared;
    return reads_shared || !has_read_shared || evaluate_all();
}

void record_all(Recording *before)
{
    *before = (Recording){records_all, reads_shared};
    records_all = reads_shared = 1;
    recordings++;
}

void record_as_before(const Recording *before)
{
    recordings--;
    records_all = before->records_all;
    reads_shared = before->reads_shared;
}

/* Whether an update of `x` computes nothing first: no Python code may run while the storage of `x` has neither node nor memory.
   -1 with an exception set. */
static int is_ready(const Operation *operation, const Tensor *x, Tensor *const *operands, Modes *modes)
{
    int operations = 1, reductions = 0;
    if (!make_room_for(operands, operation->count) || !find_modes(modes)) {
        return -1;
    }
    for (int i = 0; i < operation->count; i++) {
        const Tensor *y = operands[i];
        const Node *node = y == NULL || y->storage == NULL ? NULL : ((const Storage *)y->storage)->pending;
        if (node != NULL && y != x && !(awaits_reduction(y) && operation->is_exact) &&
            (y->array != NULL || !shows_pending(y) || !has_shape(y, x->ndim, x->shape))) {
            return 0;
        }
        operations += node == NULL ? 0 : node->operations;
        reductions += node == NULL ? 0 : node->reductions;
    }
    return modes->errors >= 0 && operations <= MOST_OPERATIONS && reductions <= MOST_REDUCTIONS;
}

int record_update(const Operation *operation, Tensor *x, Tensor *const *operands, char *const *numbers)
{
    Storage *storage = (Storage *)x->storage;
    Modes modes;
    const int ready = is_ready(operation, x, operands, &modes);
    if (ready != 1 || storage->pending == NULL || storage->readers > 0 || !shows_pending(x)) {
        return ready < 0 ? -1 : 0;
    }
    /* What the storage has waited for so far goes to a storage of its own. */
    Storage *before = pending_storage((DTypeCode)storage->code);
    if (before == NULL) {
        return -1;
    }
    Node *node = storage->pending;
    Tensor old = *x;
    Tensor *given[NODE_OPERANDS];
    storage->pending = NULL;
    node->storage = before;
    before->pending = node;
    old.storage = (PyObject *)before;
    for (int i = 0; i < operation->count; i++) {
        given[i] = operands[i] == x ? &old : operands[i];
    }
    Node *update = make_node(operation, given, numbers, &modes);
    if (update != NULL && update->size != x->size) {
        drop_operands(update, operation->count);
        give_node(update);
        update = NULL;
    }
    if (update == NULL) {
        if (before->pending == node) {
            node->storage = storage;
            storage->pending = node;
            before->pending = NULL;
        } else {
            move_memory(storage, before); /* it was computed meanwhile */
        }
        Py_DECREF(before);
        return PyErr_Occurred() ? -1 : 0;
    }
    count_readers(update);
    enter_node(update, storage);
    Py_DECREF(before);
    return 1;
}

/* ------------------------------------------------------------------ the module's part */

PyObject *cast_row, *where_row;

static PyObject *set_expressions(PyObject *module, PyObject *args)
{
    PyObject *modes, *numpys, *ignoring, *own, *report, *cast, *where;
    if (!PyArg_ParseTuple(args, "OOOOOOO", &modes, &numpys, &ignoring, &own, &report, &cast, &where)) {
        return NULL;
    }
    Py_XSETREF(cast_row, Py_NewRef(cast));
    Py_XSETREF(where_row, Py_NewRef(where));
    set_modes(modes, numpys, ignoring, own);
    set_report(report);
    Py_RETURN_NONE;
}

PyMethodDef recording_methods[] = {
    {"set_expressions", set_expressions, METH_VARARGS,
     "set_expressions(modes, numpys, ignoring, own, report, cast, where)\n--\n\n"
     "policy._modes, NumPy's context variable that it reads, what that has while errors are ignored, our context "
     "variable, fperrors.report, and the rows of casts and of choices."},
    {NULL, NULL, 0, NULL},
};
