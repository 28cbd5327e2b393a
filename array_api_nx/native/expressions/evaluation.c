#include "evaluation.h"
#include "expression_pass.h"
#include "nest.h"
#include "pack.h"
#include "parts.h"
#include "settings.h"
#include "storage.h"
#include "threads.h"
#include "walk.h"

/* ------------------------------------------------------------------ passes */

/* Nanoseconds that it takes to wait for a line of which one element is read or written. */
#define LINE_TIME 1.0

double time_of(const Expression *expression)
{
    double time = 0;
    for (int i = 0; i < expression->node_count; i++) {
        time += expression->nodes[i]->operation.time;
    }
    return time * (double)expression->nodes[expression->node_count - 1]->size;
}

/* The address that the first element of a value would have, of which only a block is in scratch memory. */
static char *address_in_scratch(const Block *block, const Node *node)
{
    char *data = block->scratch + block->places[node->shared];
    npy_intp step = dtypes[node->operation.result].itemsize;
    for (int dim = node->ndim - 1; dim >= 0; dim--) {
        data -= block->from[dim] * step;
        step *= node->shape[dim];
    }
    return data;
}

/* Whether the elements of a target lie closer together along another axis than the last. */
static int is_turned(const Target *target, int ndim, const npy_intp *shape)
{
    int turned = 0;
    for (int dim = 0; dim < ndim - 1; dim++) {
        turned |= shape[dim] > 1 && magnitude(target->strides[dim]) < magnitude(target->strides[ndim - 1]);
    }
    return turned;
}

void begin_pass(Pass *pass, const Plan *plan, const Expression *expression, const Target *target, const Block *block)
{
    const Fold *fold = pass->fold;
    const Node *root = expression->nodes[expression->node_count - 1];
    const int stored = expression->stored_count;
    const npy_intp *given[MOST_AREAS];
    npy_intp *merged[MOST_AREAS];
    npy_intp row_major[MOST_STORED][NODE_DIMS];
    const int ndim = root->ndim;
    pass->plan = plan;
    pass->numbers = expression->numbers;
    pass->threads = expression->threads;
    pass->time = time_of(expression);
    pass->leaf_count = expression->leaf_count;
    pass->fold_count = pass->reads = 0;
    for (const Fold *each = fold; each != NULL; each = each->next) {
        pass->fold_count++;
        pass->time += FOLD_TIME * (double)root->size;
    }
    pass->area_count = expression->leaf_count + stored + pass->fold_count;
    for (int i = 0; i < expression->leaf_count; i++) {
        Area *area = &pass->areas[i];
        area->data = expression->leaves[i].data;
        if (area->data == NULL) {
            area->data = address_in_scratch(block, expression->leaves[i].storage->pending);
        }
        area->itemsize = expression->leaves[i].itemsize;
        given[i] = expression->leaves[i].strides;
    }
    for (int k = 0; k < stored; k++) {
        const Node *node = expression->nodes[expression->stored[k]];
        Area *area = &pass->areas[pass->leaf_count + k];
        area->itemsize = dtypes[node->operation.result].itemsize;
        if (k == 0 && target != NULL) {
            area->data = target->data;
            given[pass->leaf_count] = target->strides;
            continue;
        }
        area->data = node->storage->address; /* NULL of a root that is dropped */
        if (block != NULL && area->data == NULL && node->shared >= 0) {
            area->data = address_in_scratch(block, node);
        }
        step_by_rows(ndim, root->shape, area->itemsize, row_major[k]);
        given[pass->leaf_count + k] = row_major[k];
    }
    for (int i = count_operands(pass); fold != NULL; fold = fold->next, i++) {
        pass->areas[i].data = fold->data;
        pass->areas[i].itemsize = fold->reduction->accumulator_bytes;
        given[i] = fold->reduction->strides;
    }
    if (expression->is_flat && target == NULL && pass->fold == NULL && block == NULL) {
        pass->ndim = 1;
        pass->shape[0] = root->size;
        for (int i = 0; i < pass->area_count; i++) {
            pass->areas[i].strides[0] = pass->areas[i].itemsize;
        }
        return;
    }
    for (int i = 0; i < pass->area_count; i++) {
        merged[i] = pass->areas[i].strides;
    }
    for (int dim = 0; block != NULL && dim < ndim; dim++) {
        for (int i = 0; i < pass->area_count && block->from[dim] != 0; i++) {
            pass->areas[i].data += block->from[dim] * given[i][dim];
        }
    }
    const npy_intp *shape = block == NULL ? root->shape : block->length;
    if (target != NULL && !pass->overlaps && fold == NULL && is_turned(target, ndim, shape)) {
        /* Along the rows of the target: where operands lie otherwise, tiles of them are copied. */
        AxisOrder order;
        order_axes(ndim, shape, target->strides, order);
        for (int dim = 0; dim < ndim; dim++) {
            const int axis = order[ndim - 1 - dim];
            pass->shape[dim] = shape[axis];
            for (int i = 0; i < pass->area_count; i++) {
                merged[i][dim] = given[i][axis];
            }
        }
        for (int i = 0; i < pass->area_count; i++) {
            given[i] = merged[i];
        }
        shape = pass->shape;
    }
    pass->ndim = merge_axes(ndim, shape, pass->area_count, given, pass->shape, merged);
    if (pass->ndim == 0) {
        pass->ndim = 1;
        pass->shape[0] = 1;
        for (int i = 0; i < pass->area_count; i++) {
            pass->areas[i].strides[0] = 0;
        }
    }
    for (int i = 0; i < pass->area_count; i++) {
        pass->time += magnitude(pass->areas[i].strides[pass->ndim - 1]) >= LINE ? LINE_TIME * (double)root->size : 0;
    }
}

/* ------------------------------------------------------------------ floating-point errors */

static PyObject *report;

void set_report(PyObject *function)
{
    Py_XSETREF(report, Py_NewRef(function));
}

void note_errors(const Expression *expression, const Plan *plan, const atomic_uchar *flags, Errors *errors)
{
    for (int s = 0; s < plan->step_count; s++) {
        const Node *node = expression->nodes[plan->steps[s].last_node];
        if ((flags[s] & node->errors) == 0 || node->operation.name == NULL) {
            continue;
        }
        int i = 0;
        while (i < errors->count && errors->items[i].node != node) {
            i++;
        }
        if (i == errors->count) {
            errors->items[errors->count++] = (Error){node->operation.name, node, 0, node->errors};
        }
        errors->items[i].flags |= flags[s];
    }
}

int report_errors(const Errors *errors)
{
    if (errors->count == 0 || report == NULL) {
        return 1;
    }
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < errors->count; i++) {
        const Error *error = &errors->items[i];
        const int applies = error->mask & APPLY_ERRSTATE;
        PyObject *item = applies ? NULL : Py_BuildValue("(Oii)", error->name, error->flags, error->mask);
        if (applies ? apply_errstate(error->name, error->flags) < 0 : item == NULL || PyList_Append(list, item) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    PyObject *done = list == NULL ? NULL : PyObject_CallOneArg(report, list);
    Py_XDECREF(list);
    Py_XDECREF(done);
    return done != NULL;
}

npy_uint8 raised_flags(const Plan *plan, const atomic_uchar *flags)
{
    npy_uint8 raised = 0;
    for (int s = 0; s < plan->step_count; s++) {
        raised |= flags[s];
    }
    return raised;
}

npy_uint8 asked_flags(const Expression *expression)
{
    npy_uint8 asked = 0;
    for (int i = 0; i < expression->node_count; i++) {
        asked |= expression->nodes[i]->errors;
    }
    return asked;
}

/* ------------------------------------------------------------------ evaluation */

/* Bytes of the memory of an array that is assigned to, from which on it is written past the caches: it is often there already,
   and read next (docs/tuning.md, 142). */
enum { STREAMED_TARGET_BYTES = 1 << 24 };

/* Whether the root is written past the caches. */
static int is_streamed(const Pass *pass, const Target *target)
{
    const Area *root = &pass->areas[pass->leaf_count];
    return root_bytes(pass) >= (target == NULL ? streamed_bytes : STREAMED_TARGET_BYTES) && !pass->overlaps &&
           !pass->discards && root->strides[pass->ndim - 1] == root->itemsize;
}

/* Elements that are not adjacent are read by the loops where they lie if the operands of a pass have no more bytes: each loop
   then saves a copy, but every line is read from memory for one element (docs/tuning.md, 5). */
enum { STEPPED_BYTES = 1 << 24 };

/* Bytes of an element from which on a loop that writes to every other place takes less time than to compute a row and to copy
   it there: vector instructions write but a few such elements at once. */
enum { WIDE = 8 };

/* Whether the loops of a pass are to read leaves whose elements are not adjacent where they lie, and write such elements of
   the root: if there is one for each operation. Several operations on one are faster on a copy, in vector registers. */
static int is_read_in_steps(const Pass *pass, const Expression *expression)
{
    const int last = pass->ndim - 1;
    int stepped = 0, halved = 0; /* `halved`: every other element, which vector instructions copy */
    if ((pass->fold != NULL && pass->fold->is_read) || pass->shape[last] <= PACKED_COLUMNS ||
        expression->nodes[expression->node_count - 1]->size * expression->leaf_count * 8 > STEPPED_BYTES) {
        return 0;
    }
    for (int i = 0; i < pass->leaf_count; i++) {
        const Area *area = &pass->areas[i];
        const npy_intp step = area->strides[last], row = last > 0 ? magnitude(area->strides[last - 1]) : 0;
        if (step == 0 || step == area->itemsize) {
            continue;
        }
        if (is_slow_step(step, area->itemsize) || (0 < row && row < magnitude(step))) {
            return 0;
        }
        stepped++;
        halved += step == 2 * area->itemsize && area->itemsize <= WIDE;
    }
    const Area *root = &pass->areas[pass->leaf_count];
    stepped += pass->fold == NULL && root->itemsize >= WIDE && root->strides[last] != root->itemsize;
    for (int n = 0; n < expression->node_count; n++) {
        /* Loops of complex arithmetic, which are exact in rows alone, give NumPy's bits where they have its strides. */
        if (!expression->nodes[n]->operation.is_exact && !expression->nodes[n]->operation.is_exact_in_rows) {
            return 0;
        }
    }
    return expression->node_count < stepped + (halved == 0);
}

/* Whether the operands are needed until all is computed: until it is known which operation has raised an exception, if any
   can. A loop may read them in any order; orders write an element of the root when they have read those of its operands. */
static int needs_operands(const Plan *plan, const Expression *expression)
{
    int needed = plan->step_count > 1 || plan->steps[0].order_count == 0;
    for (int i = 0; i < expression->node_count; i++) {
        needed |= expression->nodes[i]->operation.raises != RAISES_NONE;
    }
    return needed && expression->node_count > 1;
}

/* Compute, and find out which operations raised exceptions. The result is that of `run_parts`. */
static int run(const Plan *plan, const Expression *expression, const Target *target, Fold *fold,
               Errors *errors)
{
    atomic_uchar flags[MOST_NODES], single_flags[MOST_NODES];
    Pass pass;
    clear_all(flags, plan->step_count);
    pass.flags = flags;
    pass.single_flags = single_flags;
    pass.overlaps = target == NULL ? APART_FROM_OPERANDS : target->overlaps;
    pass.fold = fold;
    pass.partials = NULL;
    pass.discards = fold != NULL && fold->drops_root;
    pass.one_by_one = NULL;
    pass.is_buffered = pass.overlaps == BELOW_OPERANDS || (pass.overlaps == OVER_OPERANDS && needs_operands(plan, expression));
    if (pass.is_buffered) {
        pass.one_by_one = plan_singly(plan, expression);
        if (pass.one_by_one == NULL) {
            return 0;
        }
        clear_all(single_flags, pass.one_by_one->step_count);
    }
    begin_pass(&pass, plan, expression, target, NULL);
    pass.is_copy = fold == NULL && !pass.is_buffered && expression->node_count == 1 && is_copy(&expression->nodes[0]->operation);
    const int in_rows = has_rows(&pass);
    pass.is_stepped = !in_rows && !pass.is_copy && is_read_in_steps(&pass, expression);
    if (pass.is_stepped) {
        pass.plan = plan = plan_singly(plan, expression);
        if (plan == NULL) {
            return 0;
        }
        clear_all(flags, plan->step_count);
        if (pass.is_buffered && pass.overlaps == OVER_OPERANDS) {
            pass.is_buffered = 0; /* each operation has its own flags, and so no operand is needed again */
            pass.one_by_one = NULL;
        }
    }
    pass.streams = is_streamed(&pass, target);
    if (!in_rows) {
        arrange_tiles(&pass);
    }
    const int complete = run_pass(&pass, in_rows);
    if (complete != 1) {
        return complete;
    }
    const npy_uint8 raised = raised_flags(plan, flags);
    if (raised != 0 && (raised & asked_flags(expression)) != 0) {
        const Plan *singly = pass.one_by_one == NULL && is_unclear(plan, flags)
                                 ? plan_singly(plan, expression)
                                 : NULL;
        if (singly != NULL) {
            /* Nothing that is read was written: all is computed once more, and the root not written. */
            clear_all(single_flags, singly->step_count);
            pass.flags = single_flags;
            pass.discards = 1;
            pass.streams = pass.is_stepped = 0;
            pass.fold = NULL;
            pass.partials = NULL;
            begin_pass(&pass, singly, expression, target, NULL);
            run_pass(&pass, 0);
            note_errors(expression, singly, single_flags, errors);
        } else {
            note_errors(expression, plan, flags, errors);
        }
    }
    if (pass.one_by_one != NULL) {
        note_errors(expression, pass.one_by_one, single_flags, errors);
    }
    return 1;
}

/* Give memory to the stored values, from number `first` on; 0 with an exception set. */
static int allocate(const Expression *expression, int first)
{
    for (int k = first; k < expression->stored_count; k++) {
        const Node *node = expression->nodes[expression->stored[k]];
        if (!fill_storage(node->storage, node->size * dtypes[node->operation.result].itemsize)) {
            while (k-- > first) {
                empty_storage(expression->nodes[expression->stored[k]]->storage);
            }
            return 0;
        }
    }
    return 1;
}

int find_threads(const Node *root, Expression *expression)
{
    expression->threads = root->time < ASKED_FROM ? 1 : most_threads();
    return expression->threads > 0;
}

/* What a node that is awaited waits for itself, and so on: one that awaits nothing. To compute the node itself would compute
   that in a call from within, whose depth would have no bound. */
static Node *find_lowest(Node *node, Expression *expression)
{
    for (;;) {
        const NodeOperand *operand = &node->operands[0];
        Node *root = node->reduction == NULL ? node : operand->storage->pending;
        if (root == NULL) {
            return node;
        }
        if (root != node && (operand->is_apart || root->reduction != NULL)) {
            node = root; /* it is read as it is */
            continue;
        }
        find_expression(root, expression);
        if (expression->awaited == NULL) {
            return node;
        }
        node = expression->awaited;
    }
}

const Plan *prepare_expression(Storage *storage, Storage *result, Expression *expression, Errors *errors)
{
    Node *const root = storage->pending, *before;
    if (root == NULL) {
        return NULL;
    }
    while ((before = find_expression(root, expression)) != NULL) {
        if (result != NULL && expression->awaited != NULL &&
            compute_phases(result, expression->threads, errors) != 0) {
            return NULL;
        }
        if (before == root && !PyErr_Occurred()) {
            PyErr_SetString(PyExc_RuntimeError, "a pending operation has too many parts");
        }
        if (storage->pending != root || before == root) {
            return NULL;
        }
        if (expression->awaited != NULL) {
            before = find_lowest(before, expression);
        }
        if (!evaluate_storage(before->storage) || storage->pending != root) {
            return NULL;
        }
    }
    const Plan *plan = find_plan(expression);
    return plan == NULL ? (const Plan *)PyErr_NoMemory() : plan;
}

/* Make the results of reductions, which are no longer pending. */
static void end_folds_of_root(Fold *fold, Errors *errors)
{
    /* All read this; with it there is nothing whose end would run Python code before the last one is dropped. */
    Storage *operand = fold == NULL ? NULL : (Storage *)Py_NewRef((PyObject *)fold->node->operands[0].storage);
    for (; fold != NULL; fold = fold->next) {
        finish_accumulators(fold, 0, fold->node->size);
        note_reduction_errors(fold, errors);
        drop_node(fold->node);
    }
    Py_XDECREF(operand);
}

npy_intp count_reads(const Expression *expression, const Storage *storage)
{
    npy_intp count = 0;
    for (int i = 0; i < expression->node_count; i++) {
        const Node *node = expression->nodes[i];
        for (int k = 0; k < node->operation.count; k++) {
            count += node->operands[k].storage == storage;
        }
    }
    return count;
}

int compute_expression(const Expression *expression, const Plan *plan, const Target *target, Fold *fold,
                       Errors *errors)
{
    const int first = target != NULL || (fold != NULL && fold->drops_root); /* without the root */
    Storage *stored[MOST_STORED];
    Target own;
    Storage *taken = target == NULL && fold == NULL ? take_memory(expression, &own) : NULL;
    errors->count = 0;
    const int allocated = taken != NULL || allocate(expression, first);
    const int complete = allocated ? run(plan, expression, taken != NULL ? &own : target, fold, errors) : 0;
    if (complete != 1 && taken != NULL) {
        move_memory(taken, expression->nodes[0]->storage);
    }
    if (complete != 1) {
        for (int k = first; allocated && k < expression->stored_count; k++) {
            empty_storage(expression->nodes[expression->stored[k]]->storage);
        }
        for (; fold != NULL; fold = fold->next) {
            empty_storage(fold->node->storage);
        }
        if (!allocated) {
            return 0;
        }
        if (complete == 0) {
            PyErr_NoMemory();
            return 0;
        }
        /* Python's handler may raise an exception, or compute some of the pending nodes. */
        PyErr_SetInterrupt();
        return PyErr_CheckSignals() < 0 ? 0 : -1;
    }
    /* To drop operands may run Python code, which may drop stored values. */
    for (int k = first; k < expression->stored_count; k++) {
        stored[k] = (Storage *)Py_NewRef((PyObject *)expression->nodes[expression->stored[k]]->storage);
    }
    end_folds_of_root(fold, errors);
    for (int k = first; k < expression->stored_count; k++) {
        if (stored[k]->pending != NULL) {
            drop_node(stored[k]->pending);
        }
    }
    for (int k = first; k < expression->stored_count; k++) {
        Py_DECREF(stored[k]);
    }
    return 1;
}

/* Called with the reason, before what waits is computed, while somebody wants to know (contract/events.py). */
static PyObject *observe;

/* Why what waits is computed next, if not because its elements are needed: set for the time of a call of this thread; or NULL. */
static THREAD_LOCAL const char *evaluation_reason;

/* How many calls of `evaluate_storage` this thread is in: those within others are parts of these. */
static THREAD_LOCAL int evaluations;

/* Tell that a storage is about to be computed. 0 with an exception set. */
static int tell_of_evaluation(Storage *storage)
{
    const char *reason = evaluation_reason != NULL ? evaluation_reason : "its elements are needed";
    Py_INCREF((PyObject *)storage); /* a listener runs Python code */
    PyObject *told = PyObject_CallFunction(observe, "s", reason);
    Py_DECREF((PyObject *)storage);
    Py_XDECREF(told);
    return told != NULL;
}

int compute_pending(Storage *storage)
{
    if (storage->pending->reduction != NULL) {
        return evaluate_reduction(storage, 0);
    }
    Expression expression;
    Errors errors;
    int computed = -1;
    Py_INCREF((PyObject *)storage); /* signals and finalisers run Python code */
    errors.count = 0;
    if (!find_threads(storage->pending, &expression)) {
        computed = 0;
    }
    if (computed < 0) {
        computed = compute_alone(storage->pending, &expression, &errors);
    }
    while (computed < 0 && storage->pending != NULL) {
        const Plan *plan = prepare_expression(storage, storage, &expression, &errors);
        computed = plan != NULL       ? compute_expression(&expression, plan, NULL, NULL, &errors)
                   : PyErr_Occurred() ? 0
                                      : -1;
    }
    Py_DECREF((PyObject *)storage);
    return computed != 0 && report_errors(&errors);
}

int evaluate_storage(Storage *storage)
{
    if (storage->pending != NULL && is_watched && evaluations == 0 && observe != NULL && !tell_of_evaluation(storage)) {
        return 0;
    }
    if (storage->pending == NULL) {
        return 1;
    }
    evaluations++;
    const int computed = compute_pending(storage);
    evaluations--;
    return computed;
}

int evaluate_because(Storage *storage, const char *reason)
{
    const char *before = evaluation_reason;
    evaluation_reason = reason;
    const int computed = evaluate_storage(storage);
    evaluation_reason = before;
    return computed;
}

KEEP_ARGUMENT(set_observer, observe)

PyMethodDef evaluation_methods[] = {
    {"set_observer", set_observer, METH_O,
     "set_observer(observe)\n--\n\n"
     "What is called as observe(why) before what waits is computed, while transfers and evaluations are watched."},
    {NULL, NULL, 0, NULL},
};
