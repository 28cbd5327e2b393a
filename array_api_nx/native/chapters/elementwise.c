/* Operations element by element: from arrays and Python scalars to a loop of NumPy's and back.

   Which loop computes an operation on operands of a dtype, Python is asked once
   (backends/cpu/engine/loops.py); where its answer is that NumPy's result has to be corrected, C
   declines. */

#include "elementwise.h"
#include "conversion.h"
#include "corrections.h"
#include "element_runs.h"
#include "element_walks.h"
#include "loops.h"

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

Tensor *cast_if_needed(Tensor *x, DTypeCode code)
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
    return settle(result, loop->name, run_loop(loop, args, 1, steps));
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
    return size > (double)recorded_limit() && count <= NODE_OPERANDS;
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
    return settle(result, loop->name, run_loop(loop, args, first->size, steps));
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
    return run_loop(loop, args, 1, steps) != 0 ? DECLINED : PyArray_Scalar(args[count], dtypes[loop->result].descr, NULL);
}
