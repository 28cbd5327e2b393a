/* Operations element by element whose results are written to an array that is there: operations in place, and
   functions with `out`. */

#include "conversion.h"
#include "corrections.h"
#include "element_runs.h"
#include "element_walks.h"
#include "loops.h"

enum { UPDATE_OPERANDS = 2 };

static int have_one_layout(const Tensor *x, const Tensor *y)
{
    return has_shape(x, y->ndim, y->shape) && memcmp(x->strides, y->strides, (size_t)x->ndim * sizeof(npy_intp)) == 0;
}

/* Write a loop's results to `target`, the array of `object`, which has their dtype. The operands have the loop's; NULL
   stands for a number of that dtype, which lies at its place in `args`. The object, a new reference. */
static PyObject *write_results(const ElementLoop *loop, PyObject *object, Tensor *target, Tensor *const *given, char **args,
                               const int count)
{
    Tensor *operands[UPDATE_OPERANDS + 1], *copies[UPDATE_OPERANDS] = {NULL};
    Element elements[UPDATE_OPERANDS];
    npy_intp steps[UPDATE_OPERANDS + 1];
    int alike = 1;
    PyObject *result = NULL;
    char *const data = data_of(target);
    if (data == NULL || (loop->is_for_finite && may_be_infinite((DTypeCode)loop->operand, given, args, count))) {
        return decline_unless_raised();
    }
    for (int i = 0; i < count; i++) {
        Tensor *x = operands[i] = given[i];
        steps[i] = 0;
        if (x == NULL) {
            continue;
        }
        if ((args[i] = data_of(x)) == NULL) {
            result = decline_unless_raised();
            goto end;
        }
        if (x->ndim == 0 && x != target) {
            copy_element(elements[i].bytes, args[i], dtypes[x->code].itemsize); /* which may be one of those of the target */
            args[i] = elements[i].bytes;
            operands[i] = NULL;
            continue;
        }
        const int is_target = args[i] == data && (lie_alike(target, x) || have_one_layout(target, x));
        if (!is_target && target->size > 0 && x->size > 0 && may_overlap(target, data, x, args[i])) {
            x = operands[i] = copies[i] = copy_tensor(x, args[i]);
            if (x == NULL || (args[i] = data_of(x)) == NULL) {
                goto end;
            }
        }
        alike = alike && lie_alike(target, x);
        /* In place NumPy steps through no single element, whatever its axes are. */
        steps[i] = target->size == 1 ? 0 : step_of(x);
    }
    args[count] = data;
    operands[count] = target;
    steps[count] = target->size == 1 ? 0 : step_of(target);
    if (!(alike && is_one_run(loop, target))) {
        int fits = 1;
        for (int i = 0; i < count; i++) {
            fits = fits && (operands[i] == NULL || has_shape(target, operands[i]->ndim, operands[i]->shape));
        }
        if (!fits || !is_one_row(loop, target, operands, count + 1, steps)) {
            result = write_by_walk(loop, object, operands, count, args);
            goto end;
        }
    }
    result = settle(Py_NewRef(object), loop->name, run_loop(loop, args, target->size, steps));
end:
    for (int i = 0; i < count; i++) {
        Py_XDECREF(copies[i]);
    }
    return result;
}

/* ------------------------------------------------------------------ in place */

/* x = x op y in place for operands that wait, of the loop's dtype; DECLINED if they have to be computed first.
   `drops_y` says that the caller's reference to `y`, which ends afterwards, is the only one. */
static PyObject *update_pending(const ElementLoop *loop, PyObject *object, Tensor *x, Tensor *y, char *number, int drops_y)
{
    Tensor *const operands[2] = {x, y};
    char *numbers[2] = {NULL, number};
    Operation operation;
    describe_operation(loop, 2, &operation);
    if (((Storage *)x->storage)->pending != NULL) {
        const int waits = record_update(&operation, x, operands, numbers);
        return waits < 0 ? NULL : waits ? Py_NewRef(object) : DECLINED;
    }
    Storage *storage = y == NULL || y->array != NULL ? NULL : (Storage *)y->storage;
    if (storage == NULL || storage->pending == NULL || !can_be_written(x)) {
        return DECLINED;
    }
    PyObject *value = record_for_now(&operation, operands, numbers);
    if (value == NULL || value == DECLINED) {
        return value;
    }
    const int fits = tensor_of(value)->size == x->size;
    if (storage->pending != NULL) {
        storage->pending->ending = drops_y && fits;
    }
    Region region = {.data = data_of(x), .ndim = x->ndim, .size = x->size,
                     .itemsize = dtypes[x->code].itemsize};
    memcpy(region.shape, x->shape, (size_t)x->ndim * sizeof(npy_intp));
    memcpy(region.strides, x->strides, (size_t)x->ndim * sizeof(npy_intp));
    int done = fits ? assign_expression(x, &region, tensor_of(value), 1) : 0;
    /* Else the memory of `x` is read before it is written. */
    const int copies = done == 0 && fits && data_of(tensor_of(value)) != NULL;
    if (storage->pending != NULL && storage->pending->ending) {
        drop_node(storage->pending); /* it may read what is overwritten */
    }
    if (copies) {
        done = is_writeable(x) && write_region(&region, (DTypeCode)x->code, value);
    }
    Py_DECREF(value);
    return done == 1 ? Py_NewRef(object) : decline_unless_raised();
}

/* `x op= y` where `x` or `y` waits. */
static PyObject *update_with_pending(OperationCode op, PyObject *object, Tensor *x, PyObject *other)
{
    ScalarMemory number;
    const ElementLoop *loop = find_loop(op, (DTypeCode)x->code);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    if (loop->result != x->code || loop->operand != x->code || loop->is_alone) {
        return DECLINED;
    }
    if (!is_array(other)) {
        return write_scalar((char *)&number, (DTypeCode)x->code, other)
                   ? update_pending(loop, object, x, NULL, (char *)&number, 0)
                   : DECLINED;
    }
    Tensor *y = layout_of(other);
    return y != NULL && y->code == x->code ? update_pending(loop, object, x, y, NULL, is_temporary(other)) : DECLINED;
}

PyObject *update_binary(OperationCode op, PyObject *object, PyObject *other)
{
    ScalarMemory number;
    Tensor *x = layout_of(object);
    if (x == NULL || op == OP_POW) {
        return DECLINED;
    }
    if (is_recorded_size(x->size) && (pending_of(object) != NULL || pending_of(other) != NULL)) {
        if (!ensure_storage(x)) {
            return NULL;
        }
        PyObject *updated = update_with_pending(op, object, x, other);
        if (updated != DECLINED) {
            return updated;
        }
    }
    const ElementLoop *loop = is_writeable(x) ? find_loop(op, (DTypeCode)x->code) : NULL;
    if (loop == NULL) {
        return decline_unless_raised();
    }
    if (loop->result != x->code || loop->operand != x->code) {
        return DECLINED;
    }
    Tensor *operands[2] = {x, NULL};
    char *args[3] = {NULL, (char *)&number};
    if (!is_array(other)) {
        return write_scalar(args[1], (DTypeCode)x->code, other) || write_numpy_scalar(args[1], (DTypeCode)x->code, other)
                   ? write_results(loop, object, x, operands, args, 2)
                   : DECLINED;
    }
    Tensor *y = layout_of(other);
    if (y == NULL || promotions[x->code][y->code] != x->code) {
        return DECLINED;
    }
    operands[1] = cast_if_needed(y, (DTypeCode)x->code);
    PyObject *result = operands[1] == NULL ? decline_unless_raised() : write_results(loop, object, x, operands, args, 2);
    Py_XDECREF(operands[1]);
    return result;
}

/* ------------------------------------------------------------------ out */

PyObject *compute_into(OperationCode op, PyObject *const *given, int count, PyObject *out)
{
    Tensor *target = layout_of(out), *operands[UPDATE_OPERANDS + 1], *first = NULL;
    ScalarMemory numbers[UPDATE_OPERANDS];
    char *args[UPDATE_OPERANDS + 1];
    int lent = 0, apart = 0;
    if (target == NULL || op == OP_POW) {
        return DECLINED;
    }
    if (count == 2 && given[0] == out) {
        PyObject *result = update_binary(op, out, given[1]);
        if (result != DECLINED) {
            return result;
        }
    }
    for (int i = 0; i < count; i++) {
        operands[i] = layout_of_any(given[i]);
        args[i] = (char *)&numbers[i];
        first = first == NULL ? operands[i] : first;
        lent = lent || (operands[i] != NULL && ensure_storage(operands[i]) && is_lent(operands[i]));
        apart = apart || (operands[i] != NULL && !(operands[i]->flags & ROW_MAJOR));
        const int fits = operands[i] == NULL ? !is_array(given[i]) : operands[i]->code == first->code;
        if (PyErr_Occurred() || pending_of(given[i]) != NULL || !fits) {
            return DECLINED;
        }
    }
    const ElementLoop *loop = first != NULL && is_writeable(target) ? find_loop(op, (DTypeCode)first->code) : NULL;
    if (loop == NULL) {
        return decline_unless_raised();
    }
    /* Unless an operand cannot wait, because it is lent or its elements are not adjacent for a loop that is not exact, several
       threads write what a pass computes to the target, too. */
    const int waits = !lent && (loop->is_exact || !apart);
    if (loop->operand != first->code || loop->result != target->code || (target->size > loop->serial_limit && waits)) {
        return DECLINED;
    }
    for (int i = 0; i < count; i++) {
        if (operands[i] == NULL && !write_scalar(args[i], (DTypeCode)loop->operand, given[i]) &&
            !write_numpy_scalar(args[i], (DTypeCode)loop->operand, given[i])) {
            return DECLINED;
        }
    }
    return write_results(loop, out, target, operands, args, count);
}
