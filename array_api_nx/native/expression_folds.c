/* Reductions of expressions: a pass computes a tile, and reduces it while it lies in the cache.

   The accumulators are an area of the pass whose strides are 0 along the axes that are reduced. Where the last axis is
   one of them, the elements of a row go to one accumulator, and so may those of the rows after it: they are a run. Else
   rows are added to rows of accumulators. In either case the order of the elements, which decides the bits of sums, is that
   of the axes of the root. It does not depend on operands or threads. */

#include "expression_pass.h"
#include "elements.h"
#include "names.h"
#include "reduce.h"
#include "settings.h"
#include "storage.h"
#include "truth.h"

/* ------------------------------------------------------------------ tiles */

/* Reduce rows of elements, which follow each other, each to an accumulator. */
static void fold_runs_to(const Fold *fold, char *accumulators, npy_intp step, const char *elements, npy_intp rows,
                         npy_intp columns)
{
    const npy_intp itemsize = dtypes[fold->element].itemsize;
    if (fold->kind == ADD_RUNS) {
        add_runs(accumulators, step, elements, rows, columns, itemsize);
        return;
    }
    for (npy_intp i = 0; i < rows; i++, accumulators += step, elements += columns * itemsize) {
        if (fold->kind == COUNT_ONES) {
            *(npy_int64 *)accumulators += ask_truth(COUNT_TRUE, NULL, elements, BOOL, columns);
        } else {
            char *args[3] = {accumulators, (char *)elements, accumulators};
            npy_intp count = columns, steps[3] = {0, itemsize, 0};
            fold->loop->function(args, &count, steps, fold->loop->data);
        }
    }
}

/* Reduce rows that follow each other to one row of accumulators. */
static void fold_rows_to(const Fold *fold, char *accumulators, const char *elements, npy_intp rows,
                         npy_intp columns)
{
    const npy_intp itemsize = dtypes[fold->element].itemsize;
    if (fold->kind == COUNT_ONES) {
        for (npy_intp row = 0; row < rows; row++, elements += columns) {
            for (npy_intp i = 0; i < columns; i++) {
                ((npy_int64 *)accumulators)[i] += elements[i] != 0;
            }
        }
        return;
    }
    if (combine_rows(fold->operation, fold->element, elements, columns * itemsize, accumulators, rows, columns)) {
        return;
    }
    const ReductionPlan plan = {
        .axes = 2, .lengths = {rows, columns}, .from = {columns * itemsize, itemsize}, .to = {0, itemsize}};
    run_reduction(&plan, fold->loop->function, fold->loop->data, elements, accumulators, 0, itemsize);
}

void end_fold(const Pass *pass, FoldedRun *folded)
{
    if (folded->accumulator != NULL) {
        end_run(&folded->run, folded->accumulator, dtypes[pass->fold->element].itemsize);
        note_flags(&pass->fold->flags, take_vector_flags());
        folded->accumulator = NULL;
    }
}

void fold_tile(const Pass *pass, FoldedRun *folded, const char *elements, char *corner, npy_intp rows,
               npy_intp columns)
{
    const Fold *fold = pass->fold;
    const Area *area = &pass->areas[pass->area_count - 1];
    const int last = pass->ndim - 1;
    const npy_intp row_step = last > 0 ? area->strides[last - 1] : 0;
    const npy_intp itemsize = dtypes[fold->element].itemsize, row = columns * itemsize;
    clear_vector_flags();
    if (area->strides[last] != 0) {
        if (row_step == 0) {
            fold_rows_to(fold, corner, elements, rows, columns);
        } else {
            for (npy_intp i = 0; i < rows; i++) {
                fold_rows_to(fold, corner + i * row_step, elements + i * row, 1, columns);
            }
        }
    } else if (fold->kind == ADD_RUNS && (row_step == 0 || columns < pass->shape[last])) {
        for (npy_intp i = 0; i < rows; i++) {
            char *accumulator = corner + i * row_step;
            if (folded->accumulator != accumulator) {
                end_fold(pass, folded);
                begin_run(&folded->run);
                folded->accumulator = accumulator;
            }
            extend_run(&folded->run, elements + i * row, columns, itemsize);
        }
    } else {
        fold_runs_to(fold, corner, row_step, elements, rows, columns);
    }
    note_flags(&pass->fold->flags, take_vector_flags());
}

void merge_partials(const Pass *pass, npy_intp count)
{
    Fold *fold = pass->fold;
    const npy_intp itemsize = dtypes[fold->accumulator].itemsize;
    clear_vector_flags();
    if (fold->kind == ADD_RUNS) {
        merge_sums(pass->partials, sizeof(Element), count, itemsize);
        memcpy(fold->data, pass->partials, (size_t)itemsize);
    } else if (fold->kind == COUNT_ONES) {
        for (npy_intp i = 0; i < count; i++) {
            *(npy_int64 *)fold->data += *(npy_int64 *)(pass->partials + i * (npy_intp)sizeof(Element));
        }
    } else {
        char *args[3] = {fold->data, pass->partials, fold->data};
        npy_intp steps[3] = {0, sizeof(Element), 0};
        fold->loop->function(args, &count, steps, fold->loop->data);
    }
    note_flags(&fold->flags, take_vector_flags());
}

/* ------------------------------------------------------------------ arrays */

/* A new array for the accumulators, whose strides the fold gets. */
static PyObject *make_accumulators(const Node *root, const char *reduced, int keepdims, Fold *fold,
                                   const Element *identity)
{
    npy_intp shape[NODE_DIMS], size = 1;
    const npy_intp itemsize = dtypes[fold->accumulator].itemsize;
    int ndim = 0;
    for (int axis = 0; axis < root->ndim; axis++) {
        if (!reduced[axis] || keepdims) {
            shape[ndim++] = reduced[axis] ? 1 : root->shape[axis];
        }
    }
    for (int axis = root->ndim - 1; axis >= 0; axis--) {
        fold->strides[axis] = reduced[axis] ? 0 : size * itemsize;
        size *= reduced[axis] ? 1 : root->shape[axis];
    }
    PyObject *result = new_array_like_memory(ndim, shape, fold->accumulator, 0, &fold->data);
    if (result != NULL) {
        memcpy(fold->data, identity, (size_t)itemsize);
        repeat_bytes(fold->data, itemsize, size * itemsize);
    }
    return result;
}

/* Compute and reduce a pending value. */
static PyObject *fold_pending(Storage *storage, const char *reduced, int keepdims, Fold *fold,
                              const Element *identity)
{
    Expression expression;
    Errors errors;
    PyObject *result = NULL;
    int computed = -1;
    errors.count = 0;
    Py_INCREF((PyObject *)storage); /* signals run Python code */
    if (!find_threads(storage->pending, &expression)) {
        computed = 0;
    }
    while (computed < 0) {
        Py_XDECREF(result);
        result = NULL;
        atomic_init(&fold->flags, 0);
        if (storage->pending == NULL) {
            result = DECLINED; /* it was computed meanwhile */
            break;
        }
        const Plan *plan = prepare_expression(storage->pending, &expression);
        result = plan == NULL ? NULL
                              : make_accumulators(storage->pending, reduced, keepdims, fold, identity);
        computed = result == NULL ? 0 : compute_expression(&expression, plan, NULL, fold, &errors);
    }
    Py_DECREF((PyObject *)storage);
    if (result != NULL && result != DECLINED && (computed == 0 || !report_errors(&errors))) {
        Py_CLEAR(result);
    }
    return result == NULL || result == DECLINED ? result : settle(result, names_of.reduce, fold->flags);
}

PyObject *fold_array(Tensor *x, int is_temporary, const char *reduced, int keepdims, Fold *fold,
                     const Element *identity)
{
    Storage *storage = (Storage *)x->storage;
    if (x->array == NULL && storage != NULL && storage->pending != NULL && shows_pending(x)) {
        fold->drops_root = is_temporary;
        return fold_pending(storage, reduced, keepdims, fold, identity);
    }
    const Operation copy = copy_operation((DTypeCode)x->code);
    PyObject *value = record_for_now(&copy, &x, NULL);
    if (value == NULL || value == DECLINED) {
        return value;
    }
    fold->drops_root = fold->is_read = 1;
    PyObject *result = fold_pending((Storage *)tensor_of(value)->storage, reduced, keepdims, fold, identity);
    Py_DECREF(value);
    return result;
}
