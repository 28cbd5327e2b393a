/* Operations become nodes, which wait. */

#include "nodes.h"
#include "axis_orders.h"
#include "node_operands.h"
#include "evaluation.h"
#include "layouts.h"
#include "names.h"
#include "nest.h"
#include "parts.h"
#include "elements.h"
#include "sizes.h"
#include "storage.h"

PyObject *cast_row, *where_row;

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

/* The shape that the operands broadcast to; 0 if a node cannot have it. */
static int find_shape(Node *node, Tensor *const *operands)
{
    npy_intp shape[ARRAY_DIMS];
    int ndim = 0;
    for (int i = 0; i < node->operation.count; i++) {
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
    return 1;
}

/* Bytes of the elements that thresholds count. Operations on narrower ones take less time, and so only those on more of them
   are worth a node (docs/tuning.md, 173). */
enum { FULL_WIDTH = 8 };

/* Whether an operation waits whose shape is set: if it has more elements than the threshold, and as many bytes, or reads what
   waits already; and if it reads what waits for a reduction. */
static int is_worth_waiting(const Node *node, Tensor *const *operands, npy_intp threshold)
{
    const Operation *operation = &node->operation;
    npy_int64 width = dtypes[operation->result].itemsize;
    int reads_pending = 0, reads_reduction = 0;
    for (int i = 0; i < operation->count; i++) {
        const Tensor *x = operands[i];
        width = greatest(width, dtypes[operation->operands[i]].itemsize);
        if (x != NULL && x->array == NULL && x->storage != NULL && ((const Storage *)x->storage)->pending != NULL) {
            reads_pending = 1;
            reads_reduction |= awaits_reduction(x);
        }
    }
    const int is_wide = node->size * least(width, FULL_WIDTH) > (npy_int64)threshold * FULL_WIDTH;
    return reads_reduction || (node->size > threshold && (is_wide || reads_pending));
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

/* Whether a node's operation can wait, which is set; then its shape and operands are. `given` says how operations wait, if that
   is not NULL. 0, perhaps with an exception set. */
static int fill_node(Node *node, Tensor *const *operands, char *const *numbers, const Modes *given)
{
    const npy_intp limit = recorded_limit(), threshold = given == NULL || limit < 0 ? limit : given->threshold;
    const DTypeCode result = (DTypeCode)node->operation.result;
    Modes modes = {0, 0, 0};
    if (given != NULL) {
        modes = *given;
    }
    if (!find_shape(node, operands) || !is_worth_waiting(node, operands, threshold) ||
        (given == NULL && !find_modes(&modes)) || modes.errors < 0 ||
        (limit >= 0 && modes.threshold > threshold && !is_worth_waiting(node, operands, modes.threshold))) {
        return 0;
    }
    node->errors = node->operation.name == NULL ? 0 : (npy_uint8)modes.errors;
    const int before = reads_shared;
    const npy_intp largest = find_largest(operands, node->operation.count);
    reads_shared |= modes.reads_shared;
    const int taken = take_operands(node, operands, numbers);
    reads_shared = before;
    node->largest = greatest(largest, node->size * dtypes[result].itemsize);
    if (taken == 1 && !shorten(node)) {
        drop_operands(node, node->operation.count);
        return 0;
    }
    return taken == 1;
}

/* A node for an operation, which is in no list yet; NULL, perhaps with an exception set, if the operation cannot wait.
   `given` as for `fill_node`. */
static Node *make_node(const Operation *operation, Tensor *const *operands, char *const *numbers, const Modes *given)
{
    Node *node = take_node();
    if (node == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    node->operation = *operation;
    node->reduction = NULL;
    if (!fill_node(node, operands, numbers, given)) {
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

/* Whether no stride grows from one axis to the next: NumPy keeps such axes where they are. */
static int lies_by_rows(const Tensor *x)
{
    npy_intp outer = NPY_MAX_INTP;
    for (int dim = 0; dim < x->ndim; dim++) {
        const npy_intp step = x->shape[dim] == 1 ? 0 : magnitude(x->strides[dim]);
        if (step > outer) {
            return 0;
        }
        outer = step == 0 ? outer : step;
    }
    return 1;
}

/* The order of the axes in the memory of NumPy's result, if it is not that of rows: how many they are; or 0. Where all
   operands of a ufunc are column-major arrays of one shape, the result is column-major: NumPy asks no iterator then, which
   would pass axes of one element by. */
static int find_order(const Operation *operation, Tensor *const *operands, npy_uint8 *order)
{
    const int count = operation->count;
    npy_intp shape[ARRAY_DIMS], strides[NODE_OPERANDS][ARRAY_DIMS];
    const npy_intp *given[NODE_OPERANDS];
    const Tensor *first = NULL;
    int ndim = 0, plain = 1, columns = operation->row != where_row, arrays = 0;
    for (int i = 0; i < count; i++) {
        const Tensor *x = operands[i];
        if (x != NULL) {
            plain = plain && lies_by_rows(x);
            first = first == NULL || first->ndim == 0 ? x : first;
            columns = columns && (x->ndim == 0 || ((x->flags & COLUMN_MAJOR) && has_shape(x, first->ndim, first->shape)));
        }
    }
    for (int i = 0; !plain && i < count; i++) {
        if (operands[i] != NULL && !broadcast_shape(&ndim, shape, operands[i]->ndim, operands[i]->shape)) {
            return 0;
        }
    }
    if (plain || ndim > NODE_DIMS) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        const Tensor *x = operands[i];
        if (x != NULL) {
            given[arrays] = strides[arrays];
            broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides[arrays++]);
        }
    }
    order_axes_of(ndim, arrays, given, order);
    for (int i = 0; columns && i < ndim; i++) {
        order[i] = (npy_uint8)i;
    }
    return is_row_order(ndim, order) ? 0 : ndim;
}

/* `record` in given modes. Of operands whose axes have another order in memory than in rows, the node reads views in this
   order. */
static PyObject *make_array(const Operation *operation, Tensor *const *operands, char *const *numbers, const Modes *given)
{
    if (!make_room_for(operands, operation->count)) {
        return NULL;
    }
    AxisOrder order;
    const int ndim = is_copy(operation) ? 0 : find_order(operation, operands, order);
    if (ndim == 0) {
        Node *node = make_node(operation, operands, numbers, given);
        return node == NULL ? decline_unless_raised() : wait_for(node);
    }
    Tensor *views[NODE_OPERANDS] = {NULL};
    int done = 0;
    while (done < operation->count &&
           (operands[done] == NULL || (views[done] = view_in_order(operands[done], ndim, order)) != NULL)) {
        done++;
    }
    Node *node = done < operation->count ? NULL : make_node(operation, views, numbers, given);
    for (int i = 0; i < operation->count; i++) {
        Py_XDECREF(views[i]);
    }
    return node == NULL ? decline_unless_raised() : result_in_order(wait_for(node), order);
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
                                 .result = reduction->result, .count = 1, .time = FOLD_TIME, .is_exact = 1,
                                 .link = NO_LINK};
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
