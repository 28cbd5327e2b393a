/* Computations of several passes over the same elements, block by block: reductions, and what is computed with their
   results.

   `exp(x - max(x, axis=1)) / sum(..., axis=1)` takes three passes: an element of the last one needs all of its row. Over
   arrays that do not fit into the caches each pass would read from memory what the one before has just read or written.
   Therefore a block of rows goes through all passes before the next one does, and values that only other passes read
   never get memory of their own.

   A pass ends where a reduction does, or where a value is read in another shape than its own (`1 / sum(...)`), and its
   result, which is small, lies in memory. That is right along an axis if each pass reads, at an index, what the passes before it
   have computed at this index (`is_common`). A value of the whole shape that several passes need is computed by the first one.

   Where there is no such axis, or a block would be too large for the caches, the caller computes one pass after the
   other. */

#include "expression_pass.h"
#include "storage.h"
#include "threads.h"

enum { MOST_PHASES = 16 };

/* All that the passes read and write of a block has about so many bytes, for which a core's second level of cache has
   room; if it cannot have less than LARGEST_BLOCK, blocks are of no use (docs/tuning.md, 138). */
enum { BLOCK_BYTES = 1 << 19, LARGEST_BLOCK = 1 << 21 };

/* Nanoseconds that a block takes at least, and how many there are for a thread. */
enum { BLOCK_TIME = 12000, BLOCKS_EACH = 4 };

typedef struct {
    Node *node;      /* the reduction, or the value */
    Storage *result; /* that waits for it: a new reference */
    Storage *source; /* the operand of the reduction: a new reference; or NULL */
    const Plan *plan;
    Fold fold;
    atomic_uchar flags[MOST_NODES];
    Expression expression;
} Phase;

typedef struct {
    int count;
    Phase *phases[MOST_PHASES];
    npy_uint64 walk;
    /* of the last pass, to whose last axes those of the others belong */
    int ndim;
    npy_intp shape[NODE_DIMS], size;
    /* blocks: one index of each axis that is cut but for the last one, `each` of that */
    int cut_count, cut[NODE_DIMS];
    npy_intp slice, each, blocks; /* `slice`: the elements of one index */
    int leads; /* whether blocks of a value of the whole shape are contiguous */
    int shared_count;
    Node *shared[MOST_STORED];
    npy_intp places[MOST_STORED], shared_bytes;
    double time;
    int streams;
} Computation;

static Node *root_of(const Phase *phase)
{
    return phase->source == NULL ? phase->node : phase->source->pending;
}

/* ------------------------------------------------------------------ finding the passes */

/* Add a pass. 1; 0 if there are too many; -1 with an exception set. */
static int add_phase(Computation *computation, Node *node, Storage *source)
{
    Phase *phase = computation->count == MOST_PHASES ? NULL : PyMem_RawMalloc(sizeof(Phase));
    if (phase == NULL) {
        Py_XDECREF(source);
        return 0;
    }
    phase->node = node;
    phase->source = source;
    phase->result = (Storage *)Py_NewRef((PyObject *)node->storage);
    phase->plan = NULL;
    phase->fold.taken = NULL;
    node->phase = computation->count;
    computation->phases[computation->count++] = phase;
    return 1;
}

/* Add the passes of what is below a node, and that of the node if it `ends` one. As `add_phase`. */
static int add_phases(Computation *computation, Node *node, int ends)
{
    int added = 1;
    Storage *source = NULL;
    const int is_new = node->phases != computation->walk;
    if (is_new) {
        node->phases = computation->walk;
        node->phase = node->shared = -1;
        node->references = node->ending;
    }
    if (is_new && node->reduction != NULL) {
        source = source_of(node);
        if (source == NULL) {
            return -1;
        }
        added = add_phases(computation, source->pending, 0);
    } else if (is_new) {
        for (int k = 0; added == 1 && k < node->operation.count; k++) {
            const NodeOperand *operand = &node->operands[k];
            if (operand->storage != NULL && operand->storage->pending != NULL) {
                added = add_phases(computation, operand->storage->pending, operand->is_apart);
            }
        }
    }
    if (added != 1 || !(ends || node->reduction != NULL) || node->phase >= 0) {
        Py_XDECREF(source);
        return added;
    }
    return add_phase(computation, node, source);
}

/* Note for each node the first pass that needs it, and which ones others need, too. 0 if it cannot be so. */
static int assign_phase(Computation *computation, Node *node, int phase, int is_root)
{
    node->references++;
    if (is_root && node->phase >= 0 && node->phase != phase) {
        return 0; /* an earlier pass computes it along with others */
    }
    if (node->phase >= 0 && !is_root) {
        const int is_result = node == computation->phases[node->phase]->node;
        if (node->phase != phase && !is_result && node->shared < 0) {
            if (computation->shared_count == MOST_STORED) {
                return 0;
            }
            node->shared = computation->shared_count;
            computation->shared[computation->shared_count++] = node;
        }
        return 1;
    }
    node->phase = phase;
    for (int k = 0; node->reduction == NULL && k < node->operation.count; k++) {
        const NodeOperand *operand = &node->operands[k];
        Node *below = operand->storage == NULL ? NULL : operand->storage->pending;
        if (below != NULL && !assign_phase(computation, below, phase, 0)) {
            return 0;
        }
    }
    return 1;
}

/* 1; 0 if the computation is not for blocks; -1 with an exception set. */
static int find_phases(Computation *computation, Node *root)
{
    computation->count = computation->shared_count = 0;
    computation->walk = begin_walk();
    const int added = add_phases(computation, root, 1);
    if (added != 1 || computation->count < 2) {
        return added < 0 ? -1 : 0;
    }
    for (int p = 0; p < computation->count; p++) {
        const Phase *phase = computation->phases[p];
        Node *source = root_of(phase);
        if (source->phase >= 0 && source != phase->node) {
            return 0; /* another pass computes it along the way: one pass for both reductions does, too */
        }
        if (!assign_phase(computation, source, p, source == phase->node)) {
            return 0;
        }
    }
    int stored = 0;
    for (int p = 0; p < computation->count; p++) {
        Phase *phase = computation->phases[p];
        phase->expression.threads = 1;
        if (!find_phase(root_of(phase), p, &phase->expression)) {
            PyErr_Clear();
            return 0;
        }
        computation->time += time_of(&phase->expression);
        stored += phase->expression.stored_count - 1;
    }
    if (stored > MOST_STORED) {
        return 0;
    }
    const Node *last = root_of(computation->phases[computation->count - 1]);
    computation->ndim = last->ndim;
    computation->size = last->size;
    memcpy(computation->shape, last->shape, sizeof(last->shape));
    return 1;
}

/* ------------------------------------------------------------------ blocks */

/* The axis of a pass, or of the operand of its reduction, that belongs to one of the computation; negative if there is none. */
static int axis_of(const Computation *computation, const Phase *phase, int axis)
{
    return axis - (computation->ndim - root_of(phase)->ndim);
}

/* The bytes by which the place of a pass's result moves along an axis of the computation; 0 if it does not. */
static npy_intp result_stride(const Computation *computation, const Phase *phase, int axis)
{
    const int own = axis_of(computation, phase, axis);
    const Node *node = phase->node;
    if (phase->source != NULL) {
        return node->reduction->strides[own] / node->reduction->accumulator_bytes *
               dtypes[node->reduction->result].itemsize;
    }
    npy_intp step = dtypes[node->operation.result].itemsize;
    for (int dim = node->ndim - 1; dim > own; dim--) {
        step *= node->shape[dim];
    }
    return step;
}

/* Whether each pass has an axis, and reads at an index what the passes before have computed there. */
static int is_common(const Computation *computation, int axis)
{
    for (int p = 0; p < computation->count; p++) {
        const Phase *phase = computation->phases[p];
        const int own = axis_of(computation, phase, axis);
        if (own < 0 || root_of(phase)->shape[own] != computation->shape[axis] ||
            result_stride(computation, phase, axis) == 0) {
            return 0;
        }
        for (int i = 0; i < phase->expression.leaf_count; i++) {
            const Leaf *leaf = &phase->expression.leaves[i];
            if (leaf->data != NULL) {
                continue;
            }
            const Node *node = leaf->storage->pending;
            const Phase *before = computation->phases[node->phase];
            if (node == before->node ? leaf->offset != 0 || leaf->strides[own] != result_stride(computation, before, axis)
                                     : node->ndim != computation->ndim || node->size != computation->size) {
                return 0;
            }
        }
    }
    return 1;
}

/* Whether the accumulators of a block are contiguous: no axis that is kept, and not cut, comes before one that is. */
static int are_accumulators_contiguous(const Computation *computation, const Phase *phase)
{
    const Reduction *reduction = phase->node->reduction;
    const int last = axis_of(computation, phase, computation->cut[computation->cut_count - 1]);
    for (int dim = 0; dim < last; dim++) {
        int is_cut = 0;
        for (int i = 0; i < computation->cut_count; i++) {
            is_cut |= axis_of(computation, phase, computation->cut[i]) == dim;
        }
        if (!is_cut && reduction->strides[dim] != 0 && reduction->shape[dim] != 1) {
            return 0;
        }
    }
    return 1;
}

/* Choose the axes that are cut, and the size of blocks. 0 if blocks are of no use. */
static int choose_blocks(Computation *computation, npy_intp threads)
{
    npy_intp arrays = 1 + computation->shared_count, slice = computation->size;
    for (int p = 0; p < computation->count; p++) {
        const Phase *phase = computation->phases[p];
        arrays = greatest(arrays, 1 + computation->shared_count + phase->expression.leaf_count);
    }
    const npy_intp most = BLOCK_BYTES / (npy_intp)sizeof(double) / arrays;
    computation->cut_count = 0;
    computation->leads = 1;
    /* Parts of rows are so short that to compute them takes longer than to read all once more. */
    for (int axis = 0; axis < computation->ndim - 1 && (computation->cut_count == 0 || slice > most); axis++) {
        if (computation->shape[axis] == 1) {
            continue;
        }
        if (is_common(computation, axis)) {
            computation->cut[computation->cut_count++] = axis;
            slice /= computation->shape[axis];
        }
    }
    if (computation->cut_count == 0) {
        return 0;
    }
    /* An axis in between that is not cut is whole in each block. */
    const int last = computation->cut[computation->cut_count - 1];
    int cut = 0;
    for (int axis = 0; axis < last; axis++) {
        if (cut < computation->cut_count && computation->cut[cut] == axis) {
            cut++;
        } else {
            computation->leads &= computation->shape[axis] == 1;
        }
    }
    const npy_intp length = computation->shape[last];
    computation->each = least(length, greatest(1, most / slice));
    if (computation->each * slice > LARGEST_BLOCK / BLOCK_BYTES * most) {
        return 0;
    }
    const npy_intp others = computation->size / slice / length;
    if (threads > 1 && computation->leads) {
        /* There are several blocks for each thread, unless these are too short. Where an axis that is reduced comes first, a
           block of one index has its elements added up in another order than one of several: it must not depend on threads. */
        const npy_intp parts = least((npy_intp)(computation->time / BLOCK_TIME), BLOCKS_EACH * threads) / others + 1;
        computation->each = least(computation->each, (length - 1) / parts + 1);
    }
    computation->slice = slice;
    computation->blocks = others * ((length - 1) / computation->each + 1);
    for (int p = 0; p < computation->count; p++) {
        const Phase *phase = computation->phases[p];
        if (phase->source != NULL && !are_accumulators_contiguous(computation, phase)) {
            return 0;
        }
    }
    return 1;
}

/* The range of a block along the axes of a pass. */
static void find_block(const Computation *computation, const Phase *phase, npy_intp number, Block *block)
{
    const Node *root = root_of(phase);
    const int last = computation->cut_count - 1;
    for (int dim = 0; dim < root->ndim; dim++) {
        block->from[dim] = 0;
        block->length[dim] = root->shape[dim];
    }
    for (int i = last; i >= 0; i--) {
        const int axis = computation->cut[i], own = axis_of(computation, phase, axis);
        const npy_intp each = i == last ? computation->each : 1;
        const npy_intp count = (computation->shape[axis] - 1) / each + 1;
        block->from[own] = number % count * each;
        block->length[own] = least(each, computation->shape[axis] - block->from[own]);
        number /= count;
    }
}

/* ------------------------------------------------------------------ memory */

/* Whether something else than the computation reads a value. */
static int is_held(const Node *node)
{
    return Py_REFCNT(node->storage) > node->references;
}

static int fill(Node *node)
{
    return fill_storage(node->storage, node->size * dtypes[node->operation.result].itemsize);
}

/* Give memory to results and to values that are needed outside, and a place in the scratch memory to others that several
   passes read; and tell expressions where results are. 0 with an exception set. */
static int allocate(Computation *computation)
{
    computation->shared_bytes = 0;
    for (int p = 0; p < computation->count; p++) {
        Phase *phase = computation->phases[p];
        if (!fill(phase->node)) {
            return 0;
        }
        const Expression *expression = &phase->expression;
        for (int k = 1; k < expression->stored_count; k++) {
            Node *node = expression->nodes[expression->stored[k]];
            if (node->storage->address == NULL && (node->shared < 0 || is_held(node) || !computation->leads) && !fill(node)) {
                return 0;
            }
        }
        Node *root = root_of(phase);
        if (phase->source == NULL) {
            continue;
        }
        const int is_needed = Py_REFCNT(phase->source) > root->references + 1; /* `source` is a reference, too */
        phase->fold = (Fold){.node = phase->node, .reduction = phase->node->reduction,
                             .drops_root = !is_needed && root->shared < 0};
        phase->fold.is_read = phase->fold.drops_root && is_copy(&root->operation);
        if (!phase->fold.drops_root && root->storage->address == NULL && (is_needed || !computation->leads) && !fill(root)) {
            return 0;
        }
    }
    for (int k = 0; k < computation->shared_count; k++) {
        const Node *node = computation->shared[k];
        computation->places[k] = computation->shared_bytes;
        if (node->storage->address == NULL) {
            const npy_intp bytes = computation->slice * computation->each * dtypes[node->operation.result].itemsize;
            computation->shared_bytes += (bytes + 2 * LINE) / LINE * LINE;
        }
    }
    for (int p = 0; p < computation->count; p++) {
        Expression *expression = &computation->phases[p]->expression;
        for (int i = 0; i < expression->leaf_count; i++) {
            Leaf *leaf = &expression->leaves[i];
            if (leaf->data == NULL && leaf->storage->address != NULL) {
                leaf->data = leaf->storage->address + leaf->offset;
            }
        }
    }
    return 1;
}

/* Take all memory away again. */
static void take_back(Computation *computation)
{
    for (int p = 0; p < computation->count; p++) {
        const Phase *phase = computation->phases[p];
        const Expression *expression = &phase->expression;
        for (int k = 0; k < expression->stored_count; k++) {
            Storage *storage = expression->nodes[expression->stored[k]]->storage;
            if (storage->pending != NULL) {
                empty_storage(storage);
            }
        }
        if (phase->result->pending != NULL) {
            empty_storage(phase->result);
        }
    }
}

/* ------------------------------------------------------------------ running */

static void begin_phase_pass(const Computation *computation, Phase *phase, const Block *block, Pass *pass)
{
    pass->flags = phase->flags;
    pass->single_flags = NULL;
    pass->one_by_one = NULL;
    pass->overlaps = APART_FROM_OPERANDS;
    pass->is_buffered = pass->is_copy = pass->is_stepped = 0;
    pass->fold = phase->source == NULL ? NULL : &phase->fold;
    pass->partials = NULL;
    pass->discards = phase->source != NULL && phase->fold.drops_root;
    begin_pass(pass, phase->plan, &phase->expression, NULL, block);
    const Area *root = &pass->areas[pass->leaf_count];
    pass->streams = computation->streams && phase == computation->phases[computation->count - 1] && phase->source == NULL &&
                    root->strides[pass->ndim - 1] == root->itemsize;
}

static void run_block(const void *parts, npy_intp number, char *scratch)
{
    const Computation *computation = parts;
    for (int p = 0; p < computation->count; p++) {
        Phase *phase = computation->phases[p];
        Block block = {.scratch = scratch, .places = computation->places};
        Pass pass;
        find_block(computation, phase, number, &block);
        begin_phase_pass(computation, phase, &block, &pass);
        const int in_rows = has_rows(&pass);
        if (!in_rows) {
            arrange_tiles(&pass);
        }
        (in_rows ? run_rows : run_tiles)(&pass, scratch + computation->shared_bytes);
        if (phase->source != NULL) {
            npy_intp size = 1, from = 0;
            const Reduction *reduction = phase->node->reduction;
            for (int dim = 0; dim < reduction->ndim; dim++) {
                from += block.from[dim] * (reduction->strides[dim] / reduction->accumulator_bytes);
                size *= reduction->reduced[dim] ? 1 : block.length[dim];
            }
            finish_accumulators(&phase->fold, from, size);
        }
    }
}

/* The scratch memory that a pass over a block needs at most. */
static npy_intp find_pass_bytes(Computation *computation)
{
    npy_intp bytes = 0;
    for (int p = 0; p < computation->count; p++) {
        Pass pass;
        char nothing;
        Block block = {.scratch = &nothing, .places = computation->places};
        find_block(computation, computation->phases[p], 0, &block);
        begin_phase_pass(computation, computation->phases[p], &block, &pass);
        bytes = greatest(bytes, greatest(scratch_for_rows(&pass), scratch_for_tiles(&pass)));
    }
    return bytes;
}

/* Compute all blocks. As `run_parts`. */
static int run_blocks(Computation *computation, npy_intp threads)
{
    for (int p = 0; p < computation->count; p++) {
        Phase *phase = computation->phases[p];
        clear_all(phase->flags, phase->plan->step_count);
        if (phase->source != NULL && !begin_accumulators(&phase->fold)) {
            return 0;
        }
    }
    const npy_intp bytes = computation->shared_bytes + find_pass_bytes(computation);
    return run_parts(run_block, computation, computation->blocks, bytes, threads, 1);
}

/* Whether it is unclear which operations raised exceptions that are to be warned of. */
static int are_flags_unclear(const Computation *computation)
{
    for (int p = 0; p < computation->count; p++) {
        const Phase *phase = computation->phases[p];
        if ((raised_flags(phase->plan, phase->flags) & asked_flags(&phase->expression)) != 0 &&
            is_unclear(phase->plan, phase->flags)) {
            return 1;
        }
    }
    return 0;
}

static void release_phases(Computation *computation)
{
    for (int p = 0; p < computation->count; p++) {
        Phase *phase = computation->phases[p];
        if (phase->plan != NULL) {
            release_plan((Plan *)phase->plan);
        }
        end_accumulators(&phase->fold);
        Py_DECREF(phase->result);
        Py_XDECREF(phase->source);
        PyMem_RawFree(phase);
    }
}

/* Note errors, and drop the nodes whose values are there. */
static void end_phases(Computation *computation, Errors *errors)
{
    Storage *computed[2 * MOST_PHASES + MOST_STORED]; /* results, operands of reductions and others */
    int count = 0;
    for (int p = 0; p < computation->count; p++) {
        Phase *phase = computation->phases[p];
        note_errors(&phase->expression, phase->plan, phase->flags, errors);
        if (phase->source != NULL) {
            note_reduction_errors(&phase->fold, errors);
        }
        const Expression *expression = &phase->expression;
        for (int k = 0; k < expression->stored_count; k++) {
            Storage *storage = expression->nodes[expression->stored[k]]->storage;
            if (storage->address != NULL && storage != phase->result) {
                computed[count++] = (Storage *)Py_NewRef((PyObject *)storage);
            }
        }
    }
    for (int p = 0; p < computation->count; p++) {
        computed[count++] = (Storage *)Py_NewRef((PyObject *)computation->phases[p]->result);
    }
    /* To drop operands may run Python code, for which all must be in order. What reads a result is dropped before it. */
    while (count-- > 0) {
        if (computed[count]->pending != NULL) {
            drop_node(computed[count]->pending);
        }
        Py_DECREF(computed[count]);
    }
}

int compute_phases(Storage *storage, npy_intp threads, Errors *errors)
{
    Computation *computation = PyMem_RawCalloc(1, sizeof(Computation));
    /* Finalisers might compute what is looked at. */
    const int collects = PyGC_Disable();
    int computed = computation == NULL ? 0 : find_phases(computation, storage->pending);
    if (computed == 1) {
        computed = choose_blocks(computation, threads);
    }
    for (int p = 0; computed == 1 && p < computation->count; p++) {
        const Plan *plan = find_plan(&computation->phases[p]->expression);
        computation->phases[p]->plan = plan == NULL ? NULL : keep_plan(plan);
        computed = plan != NULL;
    }
    if (computed == 1 && !allocate(computation)) {
        take_back(computation);
        computed = -1;
    }
    if (collects) {
        PyGC_Enable();
    }
    if (computed == 1) {
        const Phase *last = computation->phases[computation->count - 1];
        computation->streams = last->node->size * dtypes[last->node->operation.result].itemsize >= streamed_bytes;
        int complete = run_blocks(computation, threads);
        if (complete == 1 && are_flags_unclear(computation)) {
            /* All is computed once more, with the same results, operation by operation. */
            for (int p = 0; complete == 1 && p < computation->count; p++) {
                Phase *phase = computation->phases[p];
                const Plan *singly = plan_singly(phase->plan, &phase->expression);
                complete = singly != NULL;
                if (singly != NULL) {
                    Plan *kept = keep_plan(singly);
                    release_plan((Plan *)phase->plan);
                    phase->plan = kept;
                }
            }
            complete = complete == 1 ? run_blocks(computation, threads) : 0;
        }
        if (complete == 1) {
            end_phases(computation, errors);
        } else {
            take_back(computation);
            computed = -1;
            if (complete == 0) {
                PyErr_NoMemory();
            } else {
                PyErr_SetInterrupt();
                computed = PyErr_CheckSignals() < 0 ? -1 : 0;
            }
        }
    }
    if (computation != NULL) {
        release_phases(computation);
    }
    PyMem_RawFree(computation);
    return computed;
}
