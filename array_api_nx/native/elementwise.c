/* Operations element by element: from arrays and Python scalars to a loop of NumPy's and back.

   Which loop computes an operation on operands of a dtype, Python is asked once
   (backends/cpu/engine/loops.py); where its answer is that NumPy's result has to be corrected, C
   declines. */

#include "elementwise.h"
#include "conversion.h"
#include "corrections.h"
#include "element_walks.h"
#include "elements.h"
#include "flags.h"
#include "loops.h"
#include "nodes.h"

/* The bytes from one element to the next of an operand that is one run. NumPy does not step through arrays without
   axes, and some loops compute other last bits then. */
static inline npy_intp step_of(const Tensor *x)
{
    return x->ndim == 0 ? 0 : dtypes[x->code].itemsize;
}

/* Run a loop that takes longer than others may wait for this thread; returns its flags. */
static int run_for_long(const ElementLoop *loop, char **args, npy_intp size, npy_intp *steps)
{
    int flags;
    Py_BEGIN_ALLOW_THREADS
    clear_flags();
    loop->function(args, &size, steps, loop->data);
    flags = take_flags();
    Py_END_ALLOW_THREADS
    return flags;
}

/* Run a loop; returns its floating-point flags. */
static inline int run(const ElementLoop *loop, char **args, npy_intp size, npy_intp *steps)
{
    if (size > loop->serial_limit) {
        return run_for_long(loop, args, size, steps);
    }
    if (loop->is_quiet) {
        loop->function(args, &size, steps, loop->data);
        return 0;
    }
    if (loop->is_arithmetic) {
        clear_vector_flags();
        loop->function(args, &size, steps, loop->data);
        return take_vector_flags();
    }
    clear_flags();
    loop->function(args, &size, steps, loop->data);
    return take_flags();
}

/* Whether one call of a loop computes all elements in the order in which they lie, while this thread
   alone would take no longer than several, or may not be helped. */
static inline int is_one_run(const ElementLoop *loop, const Tensor *x)
{
    return (x->size <= loop->serial_limit || loop->is_alone) && x->size <= limits.at_once &&
           (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) != 0;
}

/* ------------------------------------------------------------------ casts */

/* A cast to the dtype of a loop, which waits; NULL, perhaps with an exception set, if it cannot. */
static Tensor *record_cast(Tensor *x, DTypeCode code)
{
    const Operation operation = cast_operation((DTypeCode)x->code, code);
    PyObject *cast = operation.function == NULL ? DECLINED : record(&operation, &x, NULL);
    if (cast == NULL || cast == DECLINED) {
        return NULL;
    }
    Tensor *tensor = (Tensor *)Py_NewRef((PyObject *)tensor_of(cast));
    Py_DECREF(cast);
    return tensor;
}

/* `x` itself or a copy with the dtype of a loop, a new reference; NULL as `cast_operand`. */
static Tensor *cast_if_needed(Tensor *x, DTypeCode code)
{
    if (x->code == code) {
        return (Tensor *)Py_NewRef((PyObject *)x);
    }
    if (is_recorded_size(x->size)) {
        Tensor *cast = record_cast(x, code);
        if (cast != NULL || PyErr_Occurred()) {
            return cast;
        }
    }
    return cast_operand(x, code);
}

static int have_one_layout(const Tensor *x, const Tensor *y)
{
    return has_shape(x, y->ndim, y->shape) && memcmp(x->strides, y->strides, (size_t)x->ndim * sizeof(npy_intp)) == 0;
}

/* Whether elements lie one after the other, in the same order for both. */
static inline int lie_alike(const Tensor *x, const Tensor *y)
{
    return (x->flags & y->flags & (ROW_MAJOR | COLUMN_MAJOR)) != 0 && has_shape(x, y->ndim, y->shape);
}

/* Whether an operand has so many elements that the operation may wait. */
static INLINE int has_recorded_size(Tensor *const *operands, const int count)
{
    int recorded = 0;
    for (int i = 0; i < count; i++) {
        recorded |= operands[i] != NULL && (is_recorded_size(operands[i]->size) || awaits_reduction(operands[i]));
    }
    return recorded && count <= NODE_OPERANDS;
}

/* Whether all operands are single elements: arrays without axes, or scalars. */
static INLINE int are_elements(Tensor *const *operands, const int count)
{
    int elements = 1;
    for (int i = 0; i < count; i++) {
        elements = elements && (operands[i] == NULL || operands[i]->ndim == 0);
    }
    return elements;
}

/* `compute_operands` for single elements. */
static INLINE PyObject *compute_elements(const ElementLoop *loop, Tensor *const *operands, char **args,
                                         const int count)
{
    npy_intp steps[WALK_OPERANDS] = {0};
    for (int i = 0; i < count; i++) {
        if (operands[i] != NULL && (args[i] = data_of(operands[i])) == NULL) {
            return decline_unless_raised();
        }
    }
    PyObject *result = new_element((DTypeCode)loop->result, &args[count]);
    if (result == NULL) {
        return NULL;
    }
    steps[count] = dtypes[loop->result].itemsize;
    return settle(result, loop->name, run(loop, args, 1, steps));
}

/* Whether one call of a loop goes through vectors that do not lie one after the other, as NumPy does: `steps`
   become those of the operands. Their lengths are that of `first`; NULL, and an array without axes, is a scalar. */
static INLINE int is_one_row(const ElementLoop *loop, const Tensor *first, Tensor *const *operands,
                             const int count, npy_intp *steps)
{
    if (first->ndim != 1 || first->size > loop->serial_limit || first->size > limits.at_once) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        steps[i] = operands[i] == NULL || operands[i]->ndim == 0 ? 0 : operands[i]->strides[0];
        if (steps[i] < 0 || is_slow_step(steps[i], dtypes[loop->operand].itemsize)) {
            return 0;
        }
    }
    return 1;
}

/* Have a loop's operation wait, or if it is computed `now`, have a pass compute it; DECLINED if that cannot be. */
static PyObject *record_loop(const ElementLoop *loop, Tensor *const *operands, char **args, int count, int now)
{
    Operation operation;
    if (loop->is_alone || count > NODE_OPERANDS) {
        return DECLINED;
    }
    describe_operation(loop, count, &operation);
    return (now ? compute_by_pass : record)(&operation, operands, args);
}

/* Whether an operand has so many elements that several threads may be worth it. */
static INLINE int is_any_large(Tensor *const *operands, const int count)
{
    int large = 0;
    for (int i = 0; i < count; i++) {
        large |= operands[i] != NULL && operands[i]->size > limits.at_once;
    }
    return large;
}

/* Whether operands of few elements may broadcast to so many that the operation waits. (Where a pass has to copy what is
   repeated, as for all that orders do not compute, it takes twice as long as the operation alone.) */
static int is_recorded_outer(Tensor *const *operands, int count)
{
    double size = 1;
    for (int i = 0; i < count; i++) {
        size *= operands[i] == NULL ? 1.0 : (double)operands[i]->size;
    }
    return size > (double)limits.recorded && count <= NODE_OPERANDS;
}

/* The result of a loop on operands of its dtype; NULL is a scalar of that, which lies at its place in
   `args`. Not all are scalars. The compiler knows the count where it is a constant. */
static INLINE PyObject *compute_operands(const ElementLoop *loop, Tensor *const *operands, char **args,
                                         const int count)
{
    Tensor *first = NULL;
    int order = ROW_MAJOR | COLUMN_MAJOR, alike = 1;
    npy_intp steps[WALK_OPERANDS];
    if (are_elements(operands, count)) {
        return compute_elements(loop, operands, args, count);
    }
    if (has_recorded_size(operands, count)) {
        PyObject *recorded = record_loop(loop, operands, args, count, 0);
        if (recorded != DECLINED) {
            return recorded;
        }
    }
    if (is_any_large(operands, count)) {
        PyObject *computed = record_loop(loop, operands, args, count, 1);
        if (computed != DECLINED) {
            return computed;
        }
    }
    for (int i = 0; i < count; i++) {
        Tensor *x = operands[i];
        steps[i] = 0;
        if (x != NULL) {
            if ((args[i] = data_of(x)) == NULL) {
                return decline_unless_raised();
            }
            /* A 0-d array is a scalar next to one with axes. */
            if (first == NULL || first->ndim == 0) {
                first = x;
            } else if (x->ndim > 0) {
                alike = alike && has_shape(first, x->ndim, x->shape);
            }
            order &= x->flags;
            steps[i] = step_of(x);
        }
    }
    if (!alike && loop->link != NO_LINK && is_recorded_outer(operands, count)) {
        PyObject *recorded = record_loop(loop, operands, args, count, 0);
        if (recorded != DECLINED) {
            return recorded;
        }
    }
    if (first->size == 0 || !alike ||
        !(order != 0 ? is_one_run(loop, first) : is_one_row(loop, first, operands, count, steps))) {
        return compute_by_walk(loop, operands, count, args);
    }
    PyObject *result = new_array_like_memory(first->ndim, first->shape, (DTypeCode)loop->result,
                                             !(order & ROW_MAJOR), &args[count]);
    if (result == NULL) {
        return NULL;
    }
    steps[count] = dtypes[loop->result].itemsize;
    return settle(result, loop->name, run(loop, args, first->size, steps));
}

/* The same of operands that are cast to the loop's dtype first, if need be. */
static INLINE PyObject *compute_cast(const ElementLoop *loop, Tensor *const *operands, char **args,
                                     const int count)
{
    const DTypeCode code = (DTypeCode)loop->operand;
    int fits = 1, done = 0;
    if (loop->is_for_finite && may_be_infinite(code, operands, args, count)) {
        return decline_unless_raised();
    }
    for (int i = 0; i < count; i++) {
        fits = fits && (operands[i] == NULL || operands[i]->code == code);
    }
    if (fits) {
        return compute_operands(loop, operands, args, count);
    }
    Tensor *cast[WALK_OPERANDS - 1] = {NULL};
    while (done < count && (operands[done] == NULL ||
                            (cast[done] = cast_if_needed(operands[done], code)) != NULL)) {
        done++;
    }
    PyObject *result =
        done < count ? decline_unless_raised() : compute_operands(loop, cast, args, count);
    for (int i = 0; i < count; i++) {
        Py_XDECREF(cast[i]);
    }
    return result;
}

/* ------------------------------------------------------------------ one operand */

static PyObject *compute_tensor(OperationCode op, Tensor *x)
{
    const ElementLoop *loop = find_loop(op, (DTypeCode)x->code);
    char *args[2];
    return loop == NULL ? decline_unless_raised() : compute_cast(loop, &x, args, 1);
}

PyObject *compute_unary(OperationCode op, PyObject *object)
{
    if (is_array(object)) {
        Tensor *x = layout_of(object);
        return x == NULL ? DECLINED : compute_tensor(op, x);
    }
    const DTypeCode code = dtype_of_scalar(object);
    if (code == NO_DTYPE || !takes_numpy_operands() || !is_new_on_cpu(NULL)) {
        return DECLINED;
    }
    PyObject *array = new_scalar_array(object, code);
    if (array == NULL || array == DECLINED) {
        return array;
    }
    PyObject *result = compute_unary(op, array);
    Py_DECREF(array);
    return result;
}

/* ------------------------------------------------------------------ two operands */

/* The loop for operands of two dtypes; NULL, perhaps with an exception set, if Python has to compute. */
static const ElementLoop *loop_of_pair(OperationCode op, DTypeCode first, DTypeCode second)
{
    const DTypeCode common = (DTypeCode)promotions[first][second];
    if (common == FLOAT64 && is_comparison(op) && !is_inexact(first) && !is_inexact(second)) {
        return NULL; /* the integers would be rounded: Python compares them exactly */
    }
    return find_loop(op, common);
}

static PyObject *compute_arrays(OperationCode op, Tensor *x, Tensor *y)
{
    if (op == OP_POW && !is_plain_power(x, y)) {
        return decline_unless_raised();
    }
    const ElementLoop *loop = loop_of_pair(op, (DTypeCode)x->code, (DTypeCode)y->code);
    Tensor *const operands[2] = {x, y};
    char *args[3];
    return loop == NULL ? decline_unless_raised() : compute_cast(loop, operands, args, 2);
}

PyObject *compute_by_loop(const ElementLoop *loop, Tensor *const *operands, ScalarMemory *scalars,
                          int count)
{
    char *args[WALK_OPERANDS];
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    if (!start_walk(&walk, operands, count, limits.at_once, shape)) {
        return DECLINED; /* the operands do not broadcast to a few elements */
    }
    for (int i = 0; i < count; i++) {
        args[i] = (char *)&scalars[i];
    }
    return compute_cast(loop, operands, args, count);
}

/* `number`, of the loop's dtype, is operand number `place`. */
static PyObject *compute_with_number(const ElementLoop *loop, Tensor *x, ScalarMemory *number, int place)
{
    char *args[3] = {(char *)number, (char *)number};
    if (place == 1) {
        Tensor *const operands[2] = {x, NULL};
        return compute_cast(loop, operands, args, 2);
    }
    Tensor *const operands[2] = {NULL, x};
    return compute_cast(loop, operands, args, 2);
}

/* NumPy's scalars promote as arrays do. */
static PyObject *compute_with_numpy_scalar(OperationCode op, Tensor *x, PyObject *scalar, int place)
{
    ScalarMemory number;
    const DTypeCode code = dtype_of_numpy_scalar(scalar);
    if (code == NO_DTYPE || op == OP_POW || !is_new_on_cpu(NULL)) {
        return DECLINED;
    }
    const ElementLoop *loop = loop_of_pair(op, (DTypeCode)x->code, code);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    return write_numpy_scalar((char *)&number, (DTypeCode)loop->operand, scalar)
               ? compute_with_number(loop, x, &number, place)
               : DECLINED;
}

/* `scalar` is operand number `place`. */
static PyObject *compute_with_scalar(OperationCode op, Tensor *x, PyObject *scalar, int place)
{
    ScalarMemory number;
    const DTypeCode common = promote_with_scalar((DTypeCode)x->code, dtype_of_scalar(scalar));
    if (common == NO_DTYPE) {
        return compute_with_numpy_scalar(op, x, scalar, place);
    }
    if (op == OP_POW) {
        const int plain = place == 1 ? choose_power(x, scalar, common, &op) : is_plain_power_of(scalar, x, common);
        if (!plain || op != OP_POW) {
            return plain ? compute_tensor(op, x) : decline_unless_raised();
        }
    }
    const ElementLoop *loop = find_loop(op, common);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    const DTypeCode code = (DTypeCode)loop->operand;
    return write_scalar((char *)&number, code, scalar) ? compute_with_number(loop, x, &number, place)
                                                       : DECLINED;
}

PyObject *compute_binary(OperationCode op, PyObject *object, PyObject *other)
{
    Tensor *x = layout_of_any(object);
    Tensor *y = layout_of_any(other);
    if (x != NULL && y != NULL) {
        return compute_arrays(op, x, y);
    }
    if (x != NULL && !is_array(other)) {
        return compute_with_scalar(op, x, other, 1);
    }
    if (y != NULL && !is_array(object)) {
        return compute_with_scalar(op, y, object, 0);
    }
    return DECLINED;
}

/* The loop for one or two numbers, Python's or NumPy's; NULL as `loop_of_pair`. */
static const ElementLoop *loop_of_scalars(OperationCode op, PyObject *const *scalars, int count, npy_uint32 refused)
{
    DTypeCode codes[2], weak[2];
    for (int i = 0; i < count; i++) {
        weak[i] = dtype_of_scalar(scalars[i]);
        codes[i] = weak[i] == NO_DTYPE ? dtype_of_numpy_scalar(scalars[i]) : weak[i];
        if (codes[i] == NO_DTYPE) {
            return NULL;
        }
    }
    if (count == 2 && (weak[0] == NO_DTYPE) != (weak[1] == NO_DTYPE)) {
        const int strong = weak[0] != NO_DTYPE;
        codes[!strong] = promote_with_scalar(codes[strong], codes[!strong]);
        codes[strong] = codes[!strong];
    }
    const DTypeCode last = codes[count - 1];
    const DTypeCode common = last == NO_DTYPE ? NO_DTYPE : (DTypeCode)promotions[codes[0]][last];
    return common == NO_DTYPE || refused >> common & 1 ? NULL : loop_of_pair(op, codes[0], last);
}

PyObject *compute_scalars_alone(OperationCode op, PyObject *const *scalars, int count, npy_uint32 refused)
{
    const ElementLoop *loop = loop_of_scalars(op, scalars, count, refused);
    npy_intp steps[3] = {0, 0, 0};
    ScalarMemory numbers[3];
    char *args[3] = {(char *)&numbers[0], (char *)&numbers[1], (char *)&numbers[2]};
    /* Integers to negative powers are errors, which the loop would raise. */
    if (loop == NULL || loop->is_for_finite || (op == OP_POW && !is_inexact(loop->operand))) {
        return decline_unless_raised();
    }
    for (int i = 0; i < count; i++) {
        if (!write_scalar(args[i], (DTypeCode)loop->operand, scalars[i]) &&
            !write_numpy_scalar(args[i], (DTypeCode)loop->operand, scalars[i])) {
            return DECLINED;
        }
    }
    return run(loop, args, 1, steps) != 0 ? DECLINED : PyArray_Scalar(args[count], dtypes[loop->result].descr, NULL);
}

/* ------------------------------------------------------------------ in place */

/* `y` is NULL for a scalar at `scalar`; all have the loop's dtype. */
static PyObject *update_with(const ElementLoop *loop, PyObject *object, Tensor *x, Tensor *y,
                             char *scalar)
{
    Element element;
    Tensor *operands[2] = {x, y};
    npy_intp steps[3];
    char *args[3] = {data_of(x), scalar, NULL};
    if (loop->is_for_finite && may_be_infinite((DTypeCode)loop->operand, operands, args, 2)) {
        return decline_unless_raised();
    }
    if (y != NULL && (args[1] = data_of(y)) == NULL) {
        return DECLINED;
    }
    if (y != NULL && y->ndim == 0) {
        copy_element(element.bytes, args[1], dtypes[y->code].itemsize); /* which may be one of those in `x` */
        args[1] = element.bytes;
        operands[1] = y = NULL;
    }
    const int alike = y == NULL || lie_alike(x, y);
    if (y != NULL && !(args[0] == args[1] && (alike || have_one_layout(x, y))) &&
        may_overlap(x, args[0], y, args[1])) {
        Tensor *copy = copy_tensor(y, args[1]);
        PyObject *result = copy == NULL ? NULL : update_with(loop, object, x, copy, scalar);
        Py_XDECREF(copy);
        return result;
    }
    if (alike && is_one_run(loop, x)) {
        /* In place NumPy steps through no single element, whatever its axes are. */
        steps[0] = x->size == 1 ? 0 : step_of(x);
        steps[1] = y == NULL ? 0 : steps[0];
    } else if ((y != NULL && !has_shape(x, y->ndim, y->shape)) || !is_one_row(loop, x, operands, 2, steps)) {
        return update_walk(loop, object, x, y, args);
    }
    args[2] = args[0];
    steps[2] = steps[0];
    return settle(Py_NewRef(object), loop->name, run(loop, args, x->size, steps));
}

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
    if (!is_writeable(x) || data_of(x) == NULL) {
        return decline_unless_raised();
    }
    const ElementLoop *loop = find_loop(op, (DTypeCode)x->code);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    if (loop->result != x->code || loop->operand != x->code) {
        return DECLINED;
    }
    if (!is_array(other)) {
        return write_scalar((char *)&number, (DTypeCode)x->code, other) ||
                       write_numpy_scalar((char *)&number, (DTypeCode)x->code, other)
                   ? update_with(loop, object, x, NULL, (char *)&number)
                   : DECLINED;
    }
    Tensor *y = layout_of(other);
    if (y == NULL || promotions[x->code][y->code] != x->code) {
        return DECLINED;
    }
    Tensor *cast = cast_if_needed(y, (DTypeCode)x->code);
    PyObject *result = cast == NULL ? decline_unless_raised() : update_with(loop, object, x, cast, NULL);
    Py_XDECREF(cast);
    return result;
}
