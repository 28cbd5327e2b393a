/* matmul, vecdot and tensordot, by the inner loops of NumPy's ufuncs. These decide by the strides
   whether BLAS computes, and how, so that they must get the very strides that NumPy gives them:
   0 along an axis that is missing or has size 1, those of the array along any other. */

#include "products.h"
#include "chapters.h"
#include "conversion.h"
#include "elementwise.h"
#include "elements.h"
#include "movement.h"
#include "nest.h"
#include "nodes.h"
#include "parts.h"
#include "flags.h"
#include "small_matrices.h"
#include "tall_products.h"
#include "ufunc_fields.h"

static CoreLoops matmul, vecdot;

int find_core_loop(CoreLoops *loops, int code)
{
    return loops->functions[code] != NULL ||
           (loops->ufunc != NULL && code != BOOL &&
            find_ufunc_loop(loops->ufunc, dtypes[code].type_number, &loops->functions[code], &loops->data[code]));
}

/* Two arrays of one dtype, not empty, with elements that are there. */
static int take_operands(PyObject *first, PyObject *second, Tensor **x, Tensor **y, char **data)
{
    return limits.at_once >= 0 && is_array(first) && is_array(second) && (*x = layout_of(first)) != NULL &&
           (*y = layout_of(second)) != NULL && (*x)->code == (*y)->code && (*x)->size > 0 && (*y)->size > 0 &&
           (data[0] = data_of(*x)) != NULL && (data[1] = data_of(*y)) != NULL;
}

int run_core_loop(const CoreLoops *loops, int code, char **args, const npy_intp *sizes, const npy_intp *steps,
                  int is_brief)
{
    int flags;
    PyThreadState *state = is_brief ? NULL : PyEval_SaveThread();
    clear_flags();
    loops->functions[code](args, sizes, steps, loops->data[code]);
    flags = take_flags();
    if (state != NULL) {
        PyEval_RestoreThread(state);
    }
    return flags;
}

static npy_intp step_of(npy_intp size, npy_intp stride)
{
    return size == 1 ? 0 : stride;
}

/* A product along an axis without elements: zeros. */
static PyObject *multiply_nothing(PyObject *first, PyObject *second)
{
    const Tensor *x = layout_of_any(first), *y = layout_of_any(second);
    if (x == NULL || y == NULL || x->code != y->code || x->code == BOOL || x->ndim < 1 || x->ndim > 2 || y->ndim < 1 ||
        y->ndim > 2 || x->shape[x->ndim - 1] != 0 || y->shape[0] != 0) {
        return DECLINED;
    }
    const npy_intp shape[2] = {x->ndim == 2 ? x->shape[0] : y->shape[y->ndim - 1], y->shape[y->ndim - 1]};
    const int ndim = x->ndim + y->ndim - 2;
    npy_intp size = 1;
    for (int dim = 0; dim < ndim; dim++) {
        if (shape[dim] > limits.at_once) {
            return DECLINED;
        }
        size *= shape[dim];
    }
    char *target;
    PyObject *result =
        size > limits.at_once ? DECLINED : new_array_like_memory(ndim, shape, (DTypeCode)x->code, 0, &target);
    if (result != NULL && result != DECLINED) {
        memset(target, 0, (size_t)(size * dtypes[x->code].itemsize));
    }
    return result;
}

/* `object` itself, or a cast; a new reference. DECLINED, or NULL, as `cast_array`. */
static PyObject *cast_factor(PyObject *object, Tensor *x, DTypeCode code)
{
    return x->code == code ? Py_NewRef(object) : cast_array(x, code);
}

static PyObject *multiply(PyObject *first, PyObject *second, PyObject *out);

/* A product of operands of two dtypes. */
static PyObject *multiply_promoted(PyObject *first, Tensor *x, PyObject *second, Tensor *y, PyObject *out)
{
    const DTypeCode common = (DTypeCode)promotions[x->code][y->code];
    if (common == NO_DTYPE || limits.at_once < 1 || x->ndim < 1 || x->ndim > 2 || y->ndim < 1 || y->ndim > 2) {
        return DECLINED;
    }
    PyObject *a = cast_factor(first, x, common), *b = a == NULL || a == DECLINED ? a : cast_factor(second, y, common);
    PyObject *result = b == NULL || b == DECLINED ? b : multiply(a, b, out);
    if (a != NULL && a != DECLINED) {
        Py_DECREF(a);
        if (b != NULL && b != DECLINED) {
            Py_DECREF(b);
        }
    }
    return result;
}

/* Products over one index: those of each row of a column and of a row, added to zeros as sums of several are. 0 if there are no
   loops for them. (NumPy's loop, which it does not leave to BLAS then, goes over three axes.) */
static int multiply_outer(const Tensor *x, const Tensor *y, char *const *args)
{
    static npy_uint64 zero[2];
    const DTypeCode code = (DTypeCode)x->code;
    const ElementLoop *multiply = find_loop(OP_MULTIPLY, code), *add = find_loop(OP_ADD, code);
    const npy_intp columns = y->shape[1], itemsize = dtypes[code].itemsize;
    if (multiply == NULL || add == NULL || multiply->result != code) {
        return 0;
    }
    char *row = args[2];
    for (npy_intp i = 0; i < x->shape[0]; i++, row += columns * itemsize) {
        char *factors[3] = {args[0] + i * x->strides[0], args[1], row}, *terms[3] = {row, (char *)zero, row};
        const npy_intp steps[3] = {0, y->strides[1], itemsize}, of_terms[3] = {itemsize, 0, itemsize};
        multiply->function(factors, &columns, steps, multiply->data);
        if (is_inexact(code)) {
            add->function(terms, &columns, of_terms, add->data);
        }
    }
    return 1;
}

/* The most multiplications in a stack of products that are made here, on one thread: by small_matrices.c, by BLAS, and by
   NumPy's loops for dtypes that BLAS does not know. They take some 200 microseconds (docs/tuning.md, 156). */
enum { MOST_SMALL = 1 << 20, MOST_BY_BLAS = 1 << 23, MOST_BY_LOOPS = 1 << 18 };

/* Whether a stack of so many products is computed here. What small_matrices.c does not compute, and has one right matrix, is
   left to Python, which makes one product of it. */
static int is_small_stack(const Tensor *x, const Tensor *y, npy_intp count, const npy_intp *sizes)
{
    const int is_small = is_computed_small(x->code, sizes);
    const npy_intp most = is_small ? MOST_SMALL : is_inexact((DTypeCode)x->code) ? MOST_BY_BLAS : MOST_BY_LOOPS;
    const npy_intp of_one = sizes[1] * sizes[3]; /* elements of a result, which are no more than limits.large */
    return (is_small || y->ndim > 2) && x->size <= limits.large && y->size <= limits.large &&
           of_one <= limits.large / count && sizes[2] <= most / (count * of_one);
}

/* Whether NumPy lays out the products of a stack row by row: where no operand has its matrices in another order. */
static int is_in_order(int ndim, const npy_intp *strides)
{
    npy_intp least = NPY_MAX_INTP;
    for (int dim = 0; dim < ndim; dim++) {
        if (strides[dim] < 0 || strides[dim] > least) {
            return 0;
        }
        least = strides[dim] != 0 ? strides[dim] : least;
    }
    return 1;
}

/* The products of a stack, which steps[0..2] are left to be set for: the matrices of each operand and of the result lie as
   far apart as the strides say along the axes of the stack. */
static int run_stack(int code, char **args, int ndim, const npy_intp *shape, const npy_intp *const *strides,
                     npy_intp *sizes, npy_intp *steps, int is_brief)
{
    npy_intp merged[ARRAY_DIMS], merged_strides[3][ARRAY_DIMS], index[ARRAY_DIMS] = {0};
    npy_intp *const apart[3] = {merged_strides[0], merged_strides[1], merged_strides[2]};
    const int axes = merge_axes(ndim, shape, 3, strides, merged, apart), outer = axes > 0 ? axes - 1 : 0;
    int flags = 0, dim;
    sizes[0] = axes > 0 ? merged[outer] : 1;
    for (int i = 0; i < 3; i++) {
        steps[i] = axes > 0 ? apart[i][outer] : 0;
    }
    do {
        char *of_call[3] = {args[0], args[1], args[2]}; /* which NumPy's loops change */
        flags |= run_core_loop(&matmul, code, of_call, sizes, steps, is_brief);
        dim = next_index(outer, merged, index);
        for (int i = 0; i < 3; i++) {
            args[i] += distance(dim, outer, merged, apart[i]);
        }
    } while (dim >= 0);
    return flags;
}

/* Whether a product can be written to an array: its elements then lie at `*data`. Perhaps 0 with an exception set. */
static int can_take_product(Tensor *target, int code, int ndim, const npy_intp *shape, Tensor *const *factors, char **data)
{
    return target != NULL && target->code == code && target->size > 0 && has_shape(target, ndim, shape) &&
           is_writeable(target) && (data[2] = data_of(target)) != NULL &&
           !may_overlap(target, data[2], factors[0], data[0]) && !may_overlap(target, data[2], factors[1], data[1]);
}

/* The product of two arrays: written to `out`, a new reference, unless that is NULL. */
static PyObject *multiply(PyObject *first, PyObject *second, PyObject *out)
{
    Tensor *x, *y;
    char *args[3];
    PyObject *nothing = out == NULL ? multiply_nothing(first, second) : DECLINED;
    if (nothing != DECLINED) {
        return nothing;
    }
    if ((x = layout_of_any(first)) != NULL && (y = layout_of_any(second)) != NULL && x->code != y->code) {
        return multiply_promoted(first, x, second, y, out);
    }
    if (!take_operands(first, second, &x, &y, args) || x->ndim < 1 || y->ndim < 1) {
        return DECLINED;
    }
    const int rows_missing = x->ndim == 1, columns_missing = y->ndim == 1, code = x->code;
    const int left_axes = x->ndim - (rows_missing ? 1 : 2), right_axes = y->ndim - (columns_missing ? 1 : 2);
    const npy_intp rows = rows_missing ? 1 : x->shape[left_axes];
    const npy_intp columns = columns_missing ? 1 : y->shape[right_axes + 1];
    const npy_intp inner = x->shape[x->ndim - 1], itemsize = dtypes[code].itemsize;
    npy_intp shape[ARRAY_DIMS], left[ARRAY_DIMS], right[ARRAY_DIMS], target[ARRAY_DIMS], count = 1;
    /* How many products; then rows, inner size, columns. */
    npy_intp sizes[4] = {1, rows, inner, columns};
    int axes = 0;
    const int is_stack = left_axes + right_axes > 0;
    if (inner != y->shape[right_axes] || rows > MOST_ELEMENTS / columns || !find_core_loop(&matmul, code) ||
        (is_stack && (!broadcast_shape(&axes, shape, left_axes, x->shape) ||
                      !broadcast_shape(&axes, shape, right_axes, y->shape)))) {
        return DECLINED;
    }
    for (int dim = 0; dim < axes; dim++) {
        count = count > limits.large ? count : count * shape[dim];
    }
    if (is_stack) {
        broadcast_strides(axes, shape, left_axes, x->shape, x->strides, left);
        broadcast_strides(axes, shape, right_axes, y->shape, y->strides, right);
        if (!is_small_stack(x, y, count, sizes) || !is_in_order(axes, left) || !is_in_order(axes, right)) {
            return DECLINED;
        }
    }
    int ndim = axes;
    if (!rows_missing) {
        shape[ndim++] = rows;
    }
    if (!columns_missing) {
        shape[ndim++] = columns;
    }
    /* From product to product; then along the axes of each operand. */
    npy_intp steps[9] = {
        0,
        0,
        0,
        rows_missing ? 0 : step_of(rows, x->strides[left_axes]),
        step_of(inner, x->strides[x->ndim - 1]),
        step_of(inner, y->strides[right_axes]),
        columns_missing ? 0 : step_of(columns, y->strides[right_axes + 1]),
        rows_missing ? 0 : step_of(rows, columns * itemsize),
        columns_missing ? 0 : step_of(columns, itemsize),
    };
    PyObject *result;
    if (out != NULL) {
        Tensor *const factors[2] = {x, y}, *const written = layout_of(out);
        if (is_stack || !can_take_product(written, code, ndim, shape, factors, args)) {
            return decline_unless_raised();
        }
        steps[7] = rows_missing ? 0 : step_of(rows, written->strides[0]);
        steps[8] = columns_missing ? 0 : step_of(columns, written->strides[ndim - 1]);
        result = Py_NewRef(out);
    } else if ((result = new_array_like_memory(ndim, shape, (DTypeCode)code, 0, &args[2])) == NULL) {
        return NULL;
    }
    clear_flags();
    if (inner == 1 && ndim == 2 && !is_stack && out == NULL && !is_complex((DTypeCode)code) && code != BOOL && multiply_outer(x, y, args)) {
        return settle(result, matmul.name, take_flags());
    }
    const int is_brief = x->size <= MOST_BRIEF && y->size <= MOST_BRIEF;
    int flags;
    if (is_stack) {
        const npy_intp *const strides[3] = {left, right, target};
        step_by_rows(axes, shape, rows * columns * itemsize, target);
        flags = run_stack(code, args, axes, shape, strides, sizes, steps, is_brief);
    } else if (!is_brief && is_tall_product((DTypeCode)code, sizes, steps)) {
        if (!multiply_tall_freely((DTypeCode)code, args, sizes, steps, &flags)) {
            Py_DECREF(result);
            return NULL;
        }
    } else {
        flags = run_core_loop(&matmul, code, args, sizes, steps, is_brief);
    }
    if (PyErr_Occurred()) { /* it may have been without memory for a copy */
        Py_DECREF(result);
        return NULL;
    }
    return settle(result, matmul.name, flags);
}

PyObject *multiply_matrices(PyObject *first, PyObject *second)
{
    return multiply(first, second, NULL);
}

PyObject *multiply_into(PyObject *first, PyObject *second, PyObject *out)
{
    return multiply(first, second, out);
}

PyObject *call_matmul(int which, PyObject *const *values, Py_ssize_t count)
{
    return multiply_matrices(values[0], values[1]);
}

/* Of two matrices over one axis. */
static PyObject *call_tensordot(int which, PyObject *const *values, Py_ssize_t count)
{
    int overflow;
    if (values[2] == NULL || !PyLong_CheckExact(values[2]) ||
        PyLong_AsLongAndOverflow(values[2], &overflow) != 1) {
        return DECLINED;
    }
    for (int i = 0; i < 2; i++) {
        const Tensor *x = layout_of_any(values[i]);
        if (x == NULL || x->ndim != 2) {
            return DECLINED;
        }
    }
    return multiply_matrices(values[0], values[1]);
}

/* Of vectors, or of the rows of row-major arrays of one shape. */
static PyObject *call_vecdot(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x, *y;
    char *data[3];
    if (!take_operands(values[0], values[1], &x, &y, data) || x->ndim < 1 ||
        x->ndim != y->ndim || !find_core_loop(&vecdot, x->code)) {
        return DECLINED;
    }
    const int ndim = x->ndim - 1, code = x->code;
    int axis = ndim;
    if ((values[2] != NULL && !take_axis(values[2], x->ndim, &axis)) || axis != ndim ||
        memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof(npy_intp)) != 0 ||
        (ndim > 0 && !(x->flags & y->flags & ROW_MAJOR))) {
        return DECLINED;
    }
    PyObject *result = new_array_like_memory(ndim, x->shape, (DTypeCode)code, 0, &data[2]);
    if (result == NULL) {
        return NULL;
    }
    const npy_intp length = x->shape[ndim], itemsize = dtypes[code].itemsize;
    const npy_intp sizes[2] = {x->size / length, length};
    const npy_intp row = length * itemsize;
    const npy_intp steps[5] = {row, row, itemsize, step_of(length, x->strides[ndim]),
                               step_of(length, y->strides[ndim])};
    const int flags = run_core_loop(&vecdot, code, data, sizes, steps, x->size <= MOST_BRIEF && y->size <= MOST_BRIEF);
    return settle(result, vecdot.name, flags);
}

/* NumPy's outer of two vectors. */
static PyObject *call_outer(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = movable(values[0]), *y = x == NULL ? NULL : movable(values[1]);
    if (y == NULL || x->ndim != 1 || y->ndim != 1) {
        return decline_unless_raised();
    }
    NewView layout = {.ndim = 2, .shape = {x->shape[0], 1}, .strides = {x->strides[0], 0}};
    start_layout(x, &layout);
    PyObject *column = show(x, &layout);
    PyObject *result = column == NULL || column == DECLINED ? column : compute_binary(OP_MULTIPLY, column, values[1]);
    if (column != NULL && column != DECLINED) {
        Py_DECREF(column);
    }
    return result;
}

/* Of a matrix, or of a stack of them that lies in one piece. */
static PyObject *call_inv(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x, *same;
    char *data[3];
    if (!take_operands(values[0], values[0], &x, &same, data) ||
        (x->code != FLOAT32 && x->code != FLOAT64) || x->ndim < 2 ||
        (x->ndim > 2 && !(x->flags & ROW_MAJOR)) || x->size > limits.at_once) {
        return DECLINED;
    }
    const npy_intp size = x->shape[x->ndim - 1], *const last = x->strides + x->ndim - 2;
    if (x->shape[x->ndim - 2] != size) {
        return DECLINED;
    }
    PyObject *result =
        new_array_like_memory(x->ndim, x->shape, (DTypeCode)x->code, 0, &data[2]);
    const npy_intp area = size * size;
    const npy_intp strides[3] = {area * dtypes[x->code].itemsize, last[0], last[1]};
    if (result != NULL && !invert_stack(x->code == FLOAT32, data[0], strides, x->size / area,
                                        size, data[2])) {
        Py_DECREF(result);
        return DECLINED;
    }
    return result;
}

Implementation products_functions[] = {
    {"inv", call_inv, 0, "x, /"},
    {"matmul", call_matmul, 0, "x1, x2, /"},
    {"outer", call_outer, 0, "a, b, /"},
    {"tensordot", call_tensordot, 0, "x1, x2, /, *, axes="},
    {"vecdot", call_vecdot, 0, "x1, x2, /, *, axis="},
    {NULL, NULL, 0, NULL},
};

int find_ufunc(PyObject *module, const char *name, int operands, CoreLoops *loops)
{
    PyObject *found = PyObject_GetAttrString(module, name);
    if (found == NULL) {
        PyErr_Clear();
        return 0;
    }
    loops->name = PyUnicode_InternFromString(name);
    if (operands_of(found) == operands) {
        loops->ufunc = Py_NewRef(found); /* its loops are used for ever */
    }
    Py_DECREF(found);
    return loops->name == NULL ? -1 : 0;
}

int add_products(PyObject *module)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    const int failed =
        numpy == NULL || find_ufunc(module, "matmul", 2, &matmul) < 0 || find_ufunc(numpy, "vecdot", 2, &vecdot) < 0;
    Py_XDECREF(numpy);
    return failed ? -1 : 0;
}
