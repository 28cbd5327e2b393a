/* Operations element by element: from arrays and Python scalars to a loop of NumPy's and back.

   Which loop computes an operation on operands of a dtype, Python is asked once
   (backends/cpu/engine/loops.py); where its answer is that NumPy's result has to be corrected, C
   declines. */

#include "elementwise.h"
#include "conversion.h"
#include "elements.h"
#include "flags.h"
#include "loops.h"
#include "operations.h"

static ElementLoop element_loops[MAX_OPERATIONS][DTYPE_COUNT];

/* The rows of the operations, by their codes. */
static PyObject *primitives[MAX_OPERATIONS];

/* ask(primitive, dtype): see `set_operations`. */
static PyObject *ask;

/* threads.count(), which is asked for large arrays only. */
static PyObject *count_threads;

int read_loop(PyObject *answer, ElementLoop *loop)
{
    PyObject *ufunc, *name;
    int index, operand, result, reversible, is_arithmetic, materialise_scalar, is_alone;
    Py_ssize_t serial_limit;
    if (answer == Py_None) {
        loop->state = NONE;
    } else if (answer != NULL &&
               PyArg_ParseTuple(answer, "O!iUiinpppp", &PyUFunc_Type, &ufunc, &index, &name, &operand,
                                &result, &serial_limit, &reversible, &is_arithmetic,
                                &materialise_scalar, &is_alone)) {
        const PyUFuncObject *found = (PyUFuncObject *)ufunc;
        if (index < 0 || index >= found->ntypes || operand < 0 || operand >= DTYPE_COUNT ||
            result < 0 || result >= DTYPE_COUNT || found->nin >= WALK_OPERANDS) {
            PyErr_SetString(PyExc_ValueError, "there is no such loop");
        } else {
            Py_INCREF(ufunc); /* its loops are used for ever */
            loop->function = found->functions[index];
            loop->data = found->data == NULL ? NULL : (void *)found->data[index];
            loop->name = Py_NewRef(name);
            loop->operand = (npy_uint8)operand;
            loop->result = (npy_uint8)result;
            loop->serial_limit = serial_limit;
            loop->reversible = (char)reversible;
            loop->is_arithmetic = (char)is_arithmetic;
            loop->materialise_scalar = (char)materialise_scalar;
            loop->is_alone = (char)is_alone;
            loop->state = FOUND;
        }
    }
    Py_XDECREF(answer);
    return loop->state == FOUND;
}

static int ask_loop(OperationCode op, DTypeCode code, ElementLoop *loop)
{
    return ask != NULL && primitives[op] != NULL &&
           read_loop(PyObject_CallFunctionObjArgs(ask, primitives[op],
                                                  (PyObject *)dtypes[code].descr, NULL),
                     loop);
}

const ElementLoop *find_loop(OperationCode op, DTypeCode code)
{
    ElementLoop *loop = &element_loops[op][code];
    return loop->state == FOUND || (loop->state == UNASKED && ask_loop(op, code, loop)) ? loop
                                                                                        : NULL;
}

/* The bytes from one element to the next of an operand that is one run. NumPy does not step through
   arrays without axes, for which some loops then take another way, with other last bits. */
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
    if (size > loop->serial_limit && !keeps_gil) {
        return run_for_long(loop, args, size, steps);
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

/* ------------------------------------------------------------------ walks */

/* Elements from which a walk that is not a single row is cut into tiles, which use the caches better
   than whole rows do, and reads packed copies of what lies across the others. Of 5,000 elements,
   sums of every other float64 and roots of every other float32 take 1.3 to 1.5 times as long so; of
   12,000 nothing does, and most take 0.5 to 0.8 times as long as row by row. */
enum { TILED_FROM = 8192 };

/* `start_walk` with the axes ordered; 0 if C does not compute. */
static int begin_walk(Walk *walk, Tensor *const *operands, int count, int reversible,
                      npy_intp *shape)
{
    return start_walk(walk, operands, count, limits.deferred, shape) &&
           is_computed_now(walk->count) && order_walk(walk, reversible) && can_divide(walk);
}

Py_ssize_t most_threads(void)
{
    if (count_threads == NULL) {
        return 1;
    }
    PyObject *number = PyObject_CallNoArgs(count_threads);
    const Py_ssize_t threads = number == NULL ? -1 : PyLong_AsSsize_t(number);
    Py_XDECREF(number);
    return threads;
}

int compute_walk(const Walk *walk, const Loop *loop, npy_intp serial_limit, int materialise_scalar,
                 int is_exact, int *flags)
{
    if ((walk->count <= serial_limit && walk->count < TILED_FROM) || keeps_gil) {
        clear_flags();
        if (is_exact) {
            run_exact_walk(walk, loop->itemsizes, loop->function, loop->data);
        } else {
            run_walk(walk, loop->function, loop->data);
        }
        *flags = take_flags();
        return 1;
    }
    const Py_ssize_t threads = walk->count > serial_limit ? most_threads() : 1;
    if (threads < 1) {
        return 0;
    }
    npy_uint8 raised = 0;
    const int complete = run_divided(walk, loop, materialise_scalar, is_exact, threads, &raised);
    *flags = raised;
    return complete;
}

/* `compute_walk` by the loop of an operation. */
static int finish_walk(const Walk *walk, const ElementLoop *loop, int *flags)
{
    Loop described = {loop->function, loop->data, walk->operands - 1, {0}, loop->is_arithmetic,
                      NO_LINK};
    for (int i = 0; i < walk->operands - 1; i++) {
        described.itemsizes[i] = dtypes[loop->operand].itemsize;
    }
    described.itemsizes[walk->operands - 1] = dtypes[loop->result].itemsize;
    return compute_walk(walk, &described, loop->serial_limit, loop->materialise_scalar,
                        loop->reversible, flags);
}

/* The result of a loop over arrays of any layout, and scalars where `operands` has NULL. */
static PyObject *compute_by_walk(const ElementLoop *loop, Tensor *const *operands, int count,
                              char *const *data)
{
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    int flags = 0;
    if (!begin_walk(&walk, operands, count, loop->reversible, shape) ||
        (loop->is_alone && walk.count > loop->serial_limit)) {
        return DECLINED;
    }
    memcpy(walk.data, data, (size_t)count * sizeof(*data));
    PyObject *result = new_array_like_memory(walk.ndim, shape, (DTypeCode)loop->result,
                                             walk.turned, &walk.data[count]);
    if (result == NULL) {
        return NULL;
    }
    lay_out(&walk, count, dtypes[loop->result].itemsize);
    walk.operands = count + 1;
    if (!finish_walk(&walk, loop, &flags)) {
        Py_DECREF(result);
        return NULL;
    }
    return settle(result, loop->name, flags);
}

/* Whether one call of a loop computes all elements in the order in which they lie, while this thread
   alone would take no longer than several, or may not be helped. */
static inline int is_one_run(const ElementLoop *loop, const Tensor *x)
{
    return (x->size <= loop->serial_limit || loop->is_alone) && x->size <= limits.at_once &&
           (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) != 0;
}

/* ------------------------------------------------------------------ casts */

/* `cast_contiguous` to the dtype of a loop. Casts to what dtypes are promoted to meet no errors. */
static Tensor *cast_copy(Tensor *x, DTypeCode code)
{
    return is_computed_now(x->size) ? cast_contiguous(x, code, NULL) : NULL;
}

/* `x` itself or a copy with that dtype, a new reference; as `cast_copy`. */
static Tensor *cast_operand(Tensor *x, DTypeCode code)
{
    return x->code == code ? (Tensor *)Py_NewRef((PyObject *)x) : cast_copy(x, code);
}

/* ------------------------------------------------------------------ one operand */

static PyObject *compute_one(const ElementLoop *loop, Tensor *x)
{
    char *args[2];
    if (!is_computed_now(x->size) || x->size == 0 || (args[0] = data_of(x)) == NULL) {
        return DECLINED;
    }
    if (x->code != loop->operand) {
        Tensor *cast = cast_copy(x, (DTypeCode)loop->operand);
        PyObject *result = cast == NULL ? decline_unless_raised() : compute_one(loop, cast);
        Py_XDECREF(cast);
        return result;
    }
    if (!is_one_run(loop, x)) {
        return compute_by_walk(loop, &x, 1, args);
    }
    PyObject *result = new_array_like_memory(x->ndim, x->shape, (DTypeCode)loop->result,
                                             !(x->flags & ROW_MAJOR), &args[1]);
    if (result == NULL) {
        return NULL;
    }
    npy_intp steps[2] = {step_of(x), dtypes[loop->result].itemsize};
    return settle(result, loop->name, run(loop, args, x->size, steps));
}

static PyObject *compute_tensor(OperationCode op, Tensor *x)
{
    const ElementLoop *loop = find_loop(op, (DTypeCode)x->code);
    return loop == NULL ? decline_unless_raised() : compute_one(loop, x);
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

static inline int have_one_shape(const Tensor *x, const Tensor *y)
{
    if (x->ndim != y->ndim) {
        return 0;
    }
    for (int i = 0; i < x->ndim; i++) {
        if (x->shape[i] != y->shape[i]) {
            return 0;
        }
    }
    return 1;
}

/* Whether elements lie one after the other, in the same order for both. */
static inline int lie_alike(const Tensor *x, const Tensor *y)
{
    return (x->flags & y->flags & (ROW_MAJOR | COLUMN_MAJOR)) != 0 && have_one_shape(x, y);
}

/* Of operands that have the loop's dtype. */
static PyObject *compute_two(const ElementLoop *loop, Tensor *x, Tensor *y)
{
    Tensor *const operands[2] = {x, y};
    char *args[3];
    if ((args[0] = data_of(x)) == NULL || (args[1] = data_of(y)) == NULL) {
        return DECLINED;
    }
    if (x->size == 0 || !is_one_run(loop, x) || !lie_alike(x, y)) {
        return compute_by_walk(loop, operands, 2, args);
    }
    const int turned = !(x->flags & y->flags & ROW_MAJOR);
    PyObject *result =
        new_array_like_memory(x->ndim, x->shape, (DTypeCode)loop->result, turned, &args[2]);
    if (result == NULL) {
        return NULL;
    }
    npy_intp steps[3] = {step_of(x), step_of(y), dtypes[loop->result].itemsize};
    return settle(result, loop->name, run(loop, args, x->size, steps));
}

/* Of operands that are cast to the loop's dtype first, if need be. */
static PyObject *compute_cast(const ElementLoop *loop, Tensor *x, Tensor *y)
{
    const DTypeCode code = (DTypeCode)loop->operand;
    if (x->code == code && y->code == code) {
        return compute_two(loop, x, y);
    }
    Tensor *first = cast_operand(x, code);
    Tensor *second = first == NULL ? NULL : cast_operand(y, code);
    PyObject *result = second == NULL ? decline_unless_raised() : compute_two(loop, first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return result;
}

static inline int compares(OperationCode op)
{
    return op >= OP_LESS && op <= OP_GREATER_EQUAL;
}

static PyObject *compute_arrays(OperationCode op, Tensor *x, Tensor *y)
{
    if (op == OP_POW || !is_computed_now(x->size) || !is_computed_now(y->size)) {
        return DECLINED;
    }
    const DTypeCode common = (DTypeCode)promotions[x->code][y->code];
    if (common == FLOAT64 && compares(op) && !is_inexact(x->code) && !is_inexact(y->code)) {
        return DECLINED; /* the integers would be rounded: Python compares them exactly */
    }
    const ElementLoop *loop = find_loop(op, common);
    return loop == NULL ? decline_unless_raised() : compute_cast(loop, x, y);
}

/* Whether the operands that are arrays broadcast to at most so many elements. */
static int broadcast_to_few(Tensor *const *operands, int count, npy_intp most)
{
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    return start_walk(&walk, operands, count, most, shape);
}

PyObject *compute_by_loop(const ElementLoop *loop, Tensor *const *operands, ScalarMemory *scalars,
                          int count)
{
    Tensor *cast[WALK_OPERANDS - 1] = {NULL};
    char *data[WALK_OPERANDS];
    if (!broadcast_to_few(operands, count, limits.at_once)) {
        return DECLINED;
    }
    if (count == 1) {
        return compute_one(loop, operands[0]);
    }
    if (count == 2 && operands[0] != NULL && operands[1] != NULL) {
        return compute_cast(loop, operands[0], operands[1]);
    }
    PyObject *result = NULL;
    int place = 0;
    for (; place < count; place++) {
        data[place] = (char *)&scalars[place];
        if (operands[place] != NULL &&
            ((cast[place] = cast_operand(operands[place], (DTypeCode)loop->operand)) == NULL ||
             (data[place] = data_of(cast[place])) == NULL)) {
            break;
        }
    }
    result = place < count ? decline_unless_raised() : compute_by_walk(loop, cast, count, data);
    for (int i = 0; i < count; i++) {
        Py_XDECREF(cast[i]);
    }
    return result;
}

/* Of an array of the loop's dtype and a scalar, which is operand number `place`. */
static PyObject *compute_scaled(const ElementLoop *loop, Tensor *x, char *scalar, int place)
{
    Tensor *operands[2] = {NULL, NULL};
    char *args[3];
    operands[1 - place] = x;
    args[place] = scalar;
    if ((args[1 - place] = data_of(x)) == NULL) {
        return DECLINED;
    }
    if (!is_one_run(loop, x)) {
        return compute_by_walk(loop, operands, 2, args);
    }
    PyObject *result = new_array_like_memory(x->ndim, x->shape, (DTypeCode)loop->result,
                                             !(x->flags & ROW_MAJOR), &args[2]);
    if (result == NULL) {
        return NULL;
    }
    npy_intp steps[3] = {0, 0, dtypes[loop->result].itemsize};
    steps[1 - place] = step_of(x);
    return settle(result, loop->name, run(loop, args, x->size, steps));
}

/* Whether the exponent makes a power a square, as it does for NumPy. */
static int squares(PyObject *exponent, DTypeCode code)
{
    int overflow;
    return PyLong_CheckExact(exponent) && code != BOOL &&
           PyLong_AsLongAndOverflow(exponent, &overflow) == 2;
}

/* Whether NumPy computes powers with the exponent by its loop for powers: not for those for which it
   has faster ways, and of which one has to be corrected. */
static int is_plain_exponent(PyObject *exponent, DTypeCode code)
{
    if (code != FLOAT32 && code != FLOAT64) {
        return 0;
    }
    double number = 0;
    if (PyFloat_CheckExact(exponent)) {
        number = PyFloat_AS_DOUBLE(exponent);
    } else if (PyLong_CheckExact(exponent)) {
        int overflow;
        number = (double)PyLong_AsLongAndOverflow(exponent, &overflow);
    }
    return number != -1 && number != 0 && number != 0.5 && number != 1 && number != 2;
}

/* `scalar` is operand number `place`. */
static PyObject *compute_with_scalar(OperationCode op, Tensor *x, PyObject *scalar, int place)
{
    ScalarMemory number;
    const DTypeCode common = promote_with_scalar((DTypeCode)x->code, dtype_of_scalar(scalar));
    if (common == NO_DTYPE || !is_computed_now(x->size) || x->size == 0) {
        return DECLINED;
    }
    if (op == OP_POW && !(place == 1 && is_plain_exponent(scalar, (DTypeCode)x->code))) {
        return place == 1 && squares(scalar, (DTypeCode)x->code) ? compute_tensor(OP_SQUARE, x)
                                                                 : DECLINED;
    }
    const ElementLoop *loop = find_loop(op, common);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    const DTypeCode code = (DTypeCode)loop->operand;
    if (!write_scalar((char *)&number, code, scalar)) {
        return DECLINED;
    }
    if (x->code == code) {
        return compute_scaled(loop, x, (char *)&number, place);
    }
    Tensor *cast = cast_copy(x, code);
    PyObject *result =
        cast == NULL ? decline_unless_raised() : compute_scaled(loop, cast, (char *)&number, place);
    Py_XDECREF(cast);
    return result;
}

PyObject *compute_binary(OperationCode op, PyObject *object, PyObject *other)
{
    Tensor *x = is_array(object) ? layout_of(object) : NULL;
    Tensor *y = is_array(other) ? layout_of(other) : NULL;
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

/* ------------------------------------------------------------------ in place */

/* Over layouts of any kind; `y` is NULL for a scalar. */
static PyObject *update_walk(const ElementLoop *loop, PyObject *object, Tensor *x, Tensor *y,
                             char *const *data)
{
    Tensor *const operands[3] = {x, y, x};
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    int flags = 0;
    if (!begin_walk(&walk, operands, 3, loop->reversible, shape) || walk.ndim != x->ndim ||
        memcmp(shape, x->shape, (size_t)x->ndim * sizeof(npy_intp)) != 0) {
        return DECLINED;
    }
    walk.data[0] = walk.data[2] = data[0];
    walk.data[1] = data[1];
    if (!finish_walk(&walk, loop, &flags)) {
        return NULL;
    }
    return settle(Py_NewRef(object), loop->name, flags);
}

/* `y` is NULL for a scalar at `data[1]`; all have the loop's dtype. */
static PyObject *update_with(const ElementLoop *loop, PyObject *object, Tensor *x, Tensor *y,
                             char *scalar)
{
    char *args[3] = {data_of(x), scalar, NULL};
    if (y != NULL && (args[1] = data_of(y)) == NULL) {
        return DECLINED;
    }
    const int alike = y == NULL || lie_alike(x, y);
    if (y != NULL && !(alike && args[0] == args[1]) && may_overlap(x, args[0], y, args[1])) {
        return DECLINED;
    }
    if (!alike || !is_one_run(loop, x)) {
        return update_walk(loop, object, x, y, args);
    }
    args[2] = args[0];
    /* In place NumPy steps through no single element, whatever its axes are. */
    const npy_intp step = x->size == 1 ? 0 : step_of(x);
    npy_intp steps[3] = {step, y == NULL ? 0 : step, step};
    return settle(Py_NewRef(object), loop->name, run(loop, args, x->size, steps));
}

PyObject *update_binary(OperationCode op, PyObject *object, PyObject *other)
{
    ScalarMemory number;
    Tensor *x = layout_of(object);
    if (x == NULL || !is_computed_now(x->size) || x->size == 0 || !is_writeable(x) ||
        op == OP_POW || data_of(x) == NULL) {
        return DECLINED;
    }
    const ElementLoop *loop = find_loop(op, (DTypeCode)x->code);
    if (loop == NULL) {
        return decline_unless_raised();
    }
    if (loop->result != x->code || loop->operand != x->code) {
        return DECLINED;
    }
    if (!is_array(other)) {
        return write_scalar((char *)&number, (DTypeCode)x->code, other)
                   ? update_with(loop, object, x, NULL, (char *)&number)
                   : DECLINED;
    }
    Tensor *y = layout_of(other);
    if (y == NULL || promotions[x->code][y->code] != x->code || !is_computed_now(y->size)) {
        return DECLINED;
    }
    Tensor *cast = cast_operand(y, (DTypeCode)x->code);
    PyObject *result = cast == NULL ? decline_unless_raised() : update_with(loop, object, x, cast, NULL);
    Py_XDECREF(cast);
    return result;
}

/* ------------------------------------------------------------------ functions */

static PyObject *unary_twin(int code, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return count == 1 && names == NULL ? compute_unary((OperationCode)code, args[0]) : DECLINED;
}

static PyObject *binary_twin(int code, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return count == 2 && names == NULL ? compute_binary((OperationCode)code, args[0], args[1])
                                       : DECLINED;
}

/* From primitives, which Python code names operations by, to their codes. */
static PyObject *operation_codes;

/* -1 if the primitive is none of these. */
static int code_of_primitive(PyObject *primitive)
{
    PyObject *code =
        operation_codes == NULL ? NULL : PyDict_GetItemWithError(operation_codes, primitive);
    return code == NULL ? -1 : (int)PyLong_AsLong(code);
}

/* dispatch.unary(primitive, x). */
static PyObject *any_unary_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                                PyObject *names)
{
    (void)ignored;
    if (count != 2 || names != NULL) {
        return DECLINED;
    }
    const int code = code_of_primitive(args[0]);
    return code < 0 ? decline_unless_raised() : compute_unary((OperationCode)code, args[1]);
}

/* dispatch.binary(primitive, x1, x2, foreign), where what is foreign to us is declined. */
static PyObject *any_binary_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                                 PyObject *names)
{
    (void)ignored;
    if (count < 3 || count > 4 || names != NULL) {
        return DECLINED;
    }
    const int code = code_of_primitive(args[0]);
    return code < 0 ? decline_unless_raised() : compute_binary((OperationCode)code, args[1], args[2]);
}

/* The first two, one for each primitive, and the end. */
TwinEntry elementwise_twins[MAX_OPERATIONS + 3] = {
    {"unary", any_unary_twin, 0},
    {"binary", any_binary_twin, 0},
};

static const char *const operation_names[] = {
#define AS_NAME(CODE, NAME) #NAME,
    NAMED_OPERATIONS(AS_NAME)
#undef AS_NAME
};

/* The code of a row: that which C refers to, or else `*next`, which then is one more. -1 with an
   exception set if there are too many. */
static int code_for(const char *name, int *next)
{
    for (int code = 0; code < NAMED_COUNT; code++) {
        if (strcmp(operation_names[code], name) == 0) {
            return code;
        }
    }
    if (*next == MAX_OPERATIONS) {
        PyErr_SetString(PyExc_ValueError, "there are more primitives than MAX_OPERATIONS");
        return -1;
    }
    return (*next)++;
}

/* Give a row its code, and make the twin of its public function. -1 with an exception set. */
static int add_primitive(PyObject *primitive, Twin twin, PyObject *codes, int *next)
{
    PyObject *name = PyObject_GetAttrString(primitive, "name");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    const int code = text == NULL ? -1 : code_for(text, next);
    PyObject *number = code < 0 ? NULL : PyLong_FromLong(code);
    if (number == NULL || PyDict_SetItem(codes, primitive, number) < 0) {
        Py_XDECREF(name);
        Py_XDECREF(number);
        return -1;
    }
    Py_DECREF(number);
    Py_XSETREF(primitives[code], Py_NewRef(primitive)); /* which keeps the name as well */
    elementwise_twins[2 + code] = (TwinEntry){text, twin, code};
    Py_DECREF(name);
    return 0;
}

static PyObject *set_primitives(PyObject *module, PyObject *args)
{
    PyObject *rows[2];
    static const Twin twins[2] = {unary_twin, binary_twin};
    int next = NAMED_COUNT;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &rows[0], &PyList_Type, &rows[1])) {
        return NULL;
    }
    PyObject *codes = PyDict_New();
    for (int operands = 0; codes != NULL && operands < 2; operands++) {
        for (Py_ssize_t i = 0; codes != NULL && i < PyList_GET_SIZE(rows[operands]); i++) {
            if (add_primitive(PyList_GET_ITEM(rows[operands], i), twins[operands], codes, &next) <
                0) {
                Py_CLEAR(codes);
            }
        }
    }
    for (int code = 0; codes != NULL && code < NAMED_COUNT; code++) {
        if (primitives[code] == NULL) {
            PyErr_Format(PyExc_KeyError, "%s", operation_names[code]);
            Py_CLEAR(codes);
        }
    }
    if (codes == NULL) {
        return NULL;
    }
    Py_XSETREF(operation_codes, codes);
    Py_RETURN_NONE;
}

static PyObject *set_operations(PyObject *module, PyObject *args)
{
    PyObject *function, *count;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &function, &count)) {
        return NULL;
    }
    Py_XSETREF(ask, Py_NewRef(function));
    Py_XSETREF(count_threads, Py_NewRef(count));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_primitives", set_primitives, METH_VARARGS,
     "set_primitives(unary, binary)\n--\n\n"
     "The rows of operations on one and on two operands; functions of their names get twins."},
    {"set_operations", set_operations, METH_VARARGS,
     "set_operations(ask, count_threads)\n--\n\n"
     "What says how many threads there may be; and what is called once per operation and dtype, as "
     "ask(primitive, dtype): a tuple of the ufunc, the index of its loop, the name in warnings, the "
     "numbers of the dtype to compute in and of the result's, the elements up to which one thread is "
     "as fast as several, whether the loop gives the same bits backwards, whether it raises "
     "floating-point flags by vector instructions alone, whether it is slow with scalars, and whether "
     "one thread computes all; None if C does not compute it."},
    {NULL, NULL, 0, NULL},
};

int add_elementwise(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
