/* Reductions of expressions: a pass computes a tile, and reduces it while it lies in the cache.

   The accumulators are an area of the pass whose strides are 0 along the axes that are reduced. Where the last axis is
   one of them, the elements of a row go to one accumulator, and so may those of the rows after it: they are a run. Else
   rows are added to rows of accumulators. In either case the order of the elements, which decides the bits of sums, is that
   of the axes of the root. It does not depend on operands or threads. */

#include "expression_pass.h"
#include "elements.h"
#include "names.h"
#include "reduce.h"
#include "reductions.h"
#include "settings.h"
#include "storage.h"
#include "truth.h"

/* ------------------------------------------------------------------ tiles */

/* Reduce rows of adjacent elements, which begin `row` bytes after each other, each to an accumulator. */
static void fold_runs_to(const Reduction *reduction, char *accumulators, npy_intp step, const char *elements, npy_intp row,
                         npy_intp rows, npy_intp columns)
{
    const npy_intp itemsize = dtypes[reduction->element].itemsize;
    if (reduction->kind == ADD_RUNS) {
        add_runs(accumulators, step, elements, row, rows, columns, reduction->element);
        return;
    }
    for (npy_intp i = 0; i < rows; i++, accumulators += step, elements += row) {
        if (reduction->kind == ADD_MOMENTS) {
            RunOfMoments run;
            if (!add_short_row((Moments *)accumulators, elements, columns, itemsize)) {
                begin_moments(&run);
                extend_moments(&run, elements, columns, itemsize);
                end_moments(&run, (Moments *)accumulators);
            }
        } else if (reduction->kind == COUNT_ONES) {
            *(npy_int64 *)accumulators += ask_truth(COUNT_TRUE, elements, BOOL, columns);
        } else {
            char *args[3] = {accumulators, (char *)elements, accumulators};
            npy_intp count = columns, steps[3] = {0, itemsize, 0};
            reduction->loop->function(args, &count, steps, reduction->loop->data);
        }
    }
}

/* Reduce rows, which begin `step` bytes after each other, to one row of accumulators. */
static void fold_few_rows_to(const Reduction *reduction, char *accumulators, const char *elements, npy_intp step,
                             npy_intp rows, npy_intp columns)
{
    const npy_intp itemsize = dtypes[reduction->element].itemsize;
    if (reduction->kind == ADD_MOMENTS) {
        fold_columns((Moments *)accumulators, elements, step, rows, columns, itemsize);
        return;
    }
    if (reduction->kind == COUNT_ONES) {
        for (npy_intp row = 0; row < rows; row++, elements += step) {
            for (npy_intp i = 0; i < columns; i++) {
                ((npy_int64 *)accumulators)[i] += elements[i] != 0;
            }
        }
        return;
    }
    if (combine_rows(reduction->operation, reduction->element, elements, step, accumulators, rows, columns)) {
        return;
    }
    const ReductionPlan plan = {
        .axes = 2, .lengths = {rows, columns}, .from = {step, itemsize}, .to = {0, itemsize}};
    run_reduction(&plan, reduction->loop->function, reduction->loop->data, elements, accumulators, 0, itemsize);
}

/* Rows are reduced some at a time: their columns, a few of which are in registers together, are then still in the cache. */
enum { ROWS_AT_ONCE = 32 };

static void fold_rows_to(const Reduction *reduction, char *accumulators, const char *elements, npy_intp step,
                         npy_intp rows, npy_intp columns)
{
    for (npy_intp row = 0; row < rows; row += ROWS_AT_ONCE) {
        fold_few_rows_to(reduction, accumulators, elements + row * step, step, least(rows - row, ROWS_AT_ONCE), columns);
    }
}

static void begin_fold(const Reduction *reduction, FoldedRun *folded)
{
    if (reduction->kind == ADD_MOMENTS) {
        begin_moments(&folded->run.moments);
    } else {
        begin_run(&folded->run.elements);
    }
}

static void end_fold(Fold *fold, FoldedRun *folded)
{
    const Reduction *reduction = fold->reduction;
    if (folded->accumulator != NULL) {
        if (reduction->kind == ADD_MOMENTS) {
            end_moments(&folded->run.moments, (Moments *)folded->accumulator);
        } else {
            end_run(&folded->run.elements, folded->accumulator, reduction->element);
        }
        note_flags(&fold->flags, take_vector_flags());
        folded->accumulator = NULL;
    }
}

void end_folds(const Pass *pass, FoldedRun *folded)
{
    for (Fold *fold = pass->fold; fold != NULL; fold = fold->next, folded++) {
        end_fold(fold, folded);
    }
}

int folds_columns(const Pass *pass)
{
    const int last = pass->ndim - 1;
    const npy_intp *strides = fold_areas(pass)->strides;
    return last > 0 && strides[last] != 0 && strides[last - 1] == 0;
}

/* `fold_tile` by one fold, whose accumulators are an area of the pass. */
static void fold_tile_to(const Pass *pass, Fold *fold, const Area *area, FoldedRun *folded, const char *elements,
                         npy_intp row, char *corner, npy_intp rows, npy_intp columns)
{
    const Reduction *reduction = fold->reduction;
    const int last = pass->ndim - 1;
    const npy_intp row_step = last > 0 ? area->strides[last - 1] : 0;
    const npy_intp itemsize = dtypes[reduction->element].itemsize;
    clear_vector_flags();
    if (area->strides[last] == 0 && row_step == 0 && row == columns * itemsize) {
        columns *= rows; /* one run, whose elements all go to one accumulator */
        rows = 1;
    }
    if (area->strides[last] != 0) {
        if (row_step == 0) {
            fold_rows_to(reduction, corner, elements, row, rows, columns);
        } else {
            for (npy_intp i = 0; i < rows; i++) {
                fold_rows_to(reduction, corner + i * row_step, elements + i * row, row, 1, columns);
            }
        }
    } else if (reduction->kind <= ADD_MOMENTS && (row_step == 0 || columns < pass->shape[last])) {
        for (npy_intp i = 0; i < rows; i++) {
            char *accumulator = corner + i * row_step;
            if (folded->accumulator != accumulator) {
                end_fold(fold, folded);
                begin_fold(reduction, folded);
                folded->accumulator = accumulator;
            }
            if (reduction->kind == ADD_MOMENTS) {
                extend_moments(&folded->run.moments, elements + i * row, columns, itemsize);
            } else {
                extend_run(&folded->run.elements, elements + i * row, columns, reduction->element);
            }
        }
    } else {
        fold_runs_to(reduction, corner, row_step, elements, row, rows, columns);
    }
    note_flags(&fold->flags, take_vector_flags());
}

void fold_tile(const Pass *pass, FoldedRun *folded, const char *elements, npy_intp row, char *const *corners,
               npy_intp rows, npy_intp columns)
{
    const Area *areas = fold_areas(pass);
    for (Fold *fold = pass->fold; fold != NULL; fold = fold->next) {
        const int k = fold->number;
        fold_tile_to(pass, fold, &areas[k], &folded[k], elements, row, corners[k], rows, columns);
    }
}

void merge_partials(Fold *fold, char *partials, npy_intp count)
{
    const Reduction *reduction = fold->reduction;
    const npy_intp step = sizeof(Accumulator);
    clear_vector_flags();
    if (reduction->kind == ADD_RUNS) {
        merge_sums(partials, step, count, reduction->element);
        memcpy(fold->data, partials, (size_t)reduction->accumulator_bytes);
    } else if (reduction->kind == ADD_MOMENTS) {
        merge_moments(partials, step, count);
        memcpy(fold->data, partials, sizeof(Moments));
    } else if (reduction->kind == COUNT_ONES) {
        for (npy_intp i = 0; i < count; i++) {
            *(npy_int64 *)fold->data += *(npy_int64 *)(partials + i * step);
        }
    } else {
        char *args[3] = {fold->data, partials, fold->data};
        npy_intp steps[3] = {0, step, 0};
        reduction->loop->function(args, &count, steps, reduction->loop->data);
    }
    note_flags(&fold->flags, take_vector_flags());
}

/* ------------------------------------------------------------------ reductions that wait */

int begin_accumulators(Fold *fold)
{
    const Reduction *reduction = fold->reduction;
    const npy_intp bytes = reduction->accumulator_bytes;
    atomic_init(&fold->flags, 0);
    atomic_init(&fold->divided, 0);
    atomic_init(&fold->cast, 0);
    if (reduction->kind == ADD_MOMENTS) {
        if (fold->taken == NULL) {
            fold->taken = PyMem_RawMalloc((size_t)(fold->node->size * bytes));
        }
        fold->data = fold->taken;
        if (fold->data != NULL) {
            memset(fold->data, 0, (size_t)(fold->node->size * bytes));
        }
        return fold->data != NULL;
    }
    fold->data = fold->node->storage->address;
    memcpy(fold->data, &reduction->identity, (size_t)bytes);
    repeat_bytes(fold->data, bytes, fold->node->size * bytes);
    return 1;
}

void end_accumulators(Fold *fold)
{
    /* The reduction may be gone with its node. */
    PyMem_RawFree(fold->taken);
    fold->taken = NULL;
}

static void note_error(Errors *errors, const Node *node, PyObject *name, int flags)
{
    if ((flags & node->errors) != 0 && errors->count < MOST_NODES) {
        errors->items[errors->count++] = (Error){name, node, flags, node->errors};
    }
}

void finish_accumulators(Fold *fold, npy_intp from, npy_intp size)
{
    const Reduction *reduction = fold->reduction;
    char *results = fold->node->storage->address + from * dtypes[reduction->result].itemsize;
    QuotientFlags flags = {0, 0};
    if (reduction->kind == ADD_MOMENTS) {
        clear_flags();
        write_variances((const Moments *)fold->data + from, results, size, reduction->divisor,
                        dtypes[reduction->result].itemsize);
        note_flags(&fold->flags, (npy_uint8)(take_flags() & NPY_FPE_OVERFLOW));
    } else if (reduction->divide != NULL) {
        divide_numbers(reduction->divide, results, reduction->result, size, reduction->divisor, &flags);
        note_flags(&fold->divided, (npy_uint8)flags.divided);
        note_flags(&fold->cast, (npy_uint8)flags.cast);
    }
}

void note_reduction_errors(const Fold *fold, Errors *errors)
{
    if (fold->reduction->kind == ADD_MOMENTS) {
        /* NumPy meets them where it subtracts the mean, and where it squares distances. */
        note_error(errors, fold->node, names_of.subtract, fold->flags & NPY_FPE_INVALID);
        note_error(errors, fold->node, names_of.multiply, fold->flags & NPY_FPE_OVERFLOW);
        return;
    }
    note_error(errors, fold->node, names_of.reduce, fold->flags);
    note_error(errors, fold->node, names_of.divide, fold->divided);
    note_error(errors, fold->node, names_of.cast, fold->cast);
}

Storage *source_of(const Node *node)
{
    const NodeOperand *operand = &node->operands[0];
    Node *below = operand->storage->pending;
    if (below != NULL && below->reduction == NULL && !operand->is_apart) {
        return (Storage *)Py_NewRef((PyObject *)operand->storage);
    }
    /* A pass computes elements: what is read as it is, or in another shape, becomes a copy. */
    Recording before;
    Storage *storage = NULL;
    Tensor *x = tensor_over_storage(operand->storage, node->reduction->element, operand->offset, node->reduction->ndim,
                                    node->reduction->shape, operand->strides);
    if (x == NULL) {
        return NULL;
    }
    const Operation copy = cast_operation(node->reduction->element, node->reduction->element);
    record_all(&before);
    PyObject *value = record(&copy, &x, NULL);
    record_as_before(&before);
    Py_DECREF(x);
    if (value != NULL && value != DECLINED) {
        storage = (Storage *)Py_NewRef(tensor_of(value)->storage);
    } else if (value == DECLINED) {
        PyErr_SetString(PyExc_RuntimeError, "the operand of a pending reduction cannot be read");
    }
    Py_XDECREF(value);
    return storage;
}

/* The folds of a pass that computes a reduction, and others of the same operand that wait. */
typedef struct {
    int count;
    Fold folds[MOST_FOLDS];
    Storage *results[MOST_FOLDS]; /* new references */
} Folds;

/* Whether another reduction is of the same elements, along the same axes. */
static int is_alike(const Node *node, const Node *other)
{
    const Reduction *one = node->reduction, *two = other->reduction;
    const NodeOperand *x = &node->operands[0], *y = &other->operands[0];
    const size_t bytes = (size_t)one->ndim * sizeof(npy_intp);
    return two != NULL && other != node && x->storage == y->storage && x->offset == y->offset && one->ndim == two->ndim &&
           one->element == two->element && memcmp(one->shape, two->shape, bytes) == 0 &&
           memcmp(x->strides, y->strides, bytes) == 0 && memcmp(one->reduced, two->reduced, (size_t)one->ndim) == 0;
}

/* Give a reduction memory, and add its fold. 0, with an exception set, if there is none. */
static int add_fold(Folds *folds, Node *node)
{
    Fold *fold = &folds->folds[folds->count];
    *fold = (Fold){.number = folds->count, .node = node, .reduction = node->reduction};
    if (!fill_storage(node->storage, node->size * dtypes[node->reduction->result].itemsize)) {
        return 0;
    }
    if (!begin_accumulators(fold)) {
        empty_storage(node->storage);
        PyErr_NoMemory();
        return 0;
    }
    if (folds->count > 0) {
        fold[-1].next = fold;
    }
    folds->results[folds->count++] = (Storage *)Py_NewRef((PyObject *)node->storage);
    return 1;
}

static void forget_folds(Folds *folds)
{
    for (int k = 0; k < folds->count; k++) {
        end_accumulators(&folds->folds[k]);
        Py_DECREF((PyObject *)folds->results[k]);
    }
}

/* Fill in the folds. 0 with an exception set if there is no memory for the first one. */
static int find_folds(Folds *folds, Node *node)
{
    folds->count = 0;
    if (!add_fold(folds, node)) {
        return 0;
    }
    for (Node *other = first_node(); other != NULL && folds->count < MOST_FOLDS; other = other->next) {
        if (is_alike(node, other) && !add_fold(folds, other)) {
            PyErr_Clear(); /* it will be computed by itself */
            break;
        }
    }
    return 1;
}

int evaluate_reduction(Storage *storage, int drops_source)
{
    Expression expression;
    Errors errors;
    int computed = -1;
    errors.count = 0;
    Py_INCREF((PyObject *)storage); /* signals run Python code */
    if (!find_threads(storage->pending, &expression)) {
        computed = 0;
    }
    while (computed < 0 && storage->pending != NULL) {
        Node *node = storage->pending;
        Folds folds;
        Storage *source = source_of(node);
        const Plan *plan = source == NULL ? NULL : prepare_expression(source, storage, &expression, &errors);
        computed = PyErr_Occurred() ? 0 : -1;
        if (plan == NULL || storage->pending != node) {
            /* It was computed meanwhile, or its operand was. */
        } else if (!find_folds(&folds, node)) {
            computed = 0;
        } else {
            Fold *fold = &folds.folds[0];
            fold->is_read = is_copy(&source->pending->operation);
            /* Each node has a reference, one is `source`, and one may be the caller's. */
            fold->drops_root = fold->is_read || Py_REFCNT(source) <= 1 + folds.count + drops_source;
            computed = compute_expression(&expression, plan, NULL, fold, &errors);
            forget_folds(&folds);
        }
        Py_XDECREF(source);
    }
    Py_DECREF((PyObject *)storage);
    return computed != 0 && report_errors(&errors);
}
