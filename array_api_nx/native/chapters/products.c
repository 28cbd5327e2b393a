/* matmul, vecdot and tensordot, by the inner loops of NumPy's ufuncs. These decide by the strides
   whether BLAS computes, and how, so that they must get the very strides that NumPy gives them:
   0 along an axis that is missing or has size 1, those of the array along any other. */

#include "products.h"
#include "boxes.h"
#include "chapters.h"
#include "conversion.h"
#include "elementwise.h"
#include "elements.h"
#include "movement.h"
#include "nest.h"
#include "nodes.h"
#include "pack.h"
#include "parts.h"
#include "flags.h"
#include "product_sums.h"
#include "small_matrices.h"
#include "tall_products.h"
#include "ufunc_fields.h"

static CoreLoops matmul, vecdot;

int find_core_loop(CoreLoops *loops, int code)
{
    return loops->functions[code] != NULL ||
           (loops->ufunc != NULL &&
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

/* A product of operands of two dtypes. */
static PyObject *multiply_promoted(PyObject *first, Tensor *x, PyObject *second, Tensor *y, PyObject *out)
{
    const DTypeCode common = (DTypeCode)promotions[x->code][y->code];
    if (common == NO_DTYPE || limits.at_once < 1 || x->ndim < 1 || x->ndim > 2 || y->ndim < 1 || y->ndim > 2) {
        return DECLINED;
    }
    PyObject *a = cast_factor(first, x, common), *b = is_answer(a) ? cast_factor(second, y, common) : a;
    PyObject *result = is_answer(b) ? multiply_into(a, b, out) : b;
    drop_answer(a);
    drop_answer(b); /* NULL or DECLINED where `a` is */
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

/* ------------------------------------------------------------------ products of matrices */

/* `x @ y`: one product of matrices, or a stack of them, whose axes come before those of the matrices. */
typedef struct {
    DTypeCode code;
    Tensor *x, *y;
    char *args[3]; /* where the elements of x, y and the result begin */
    npy_intp shape[ARRAY_DIMS]; /* of the result: the axes of the stack, then rows and columns, which vectors do not have */
    int ndim, stack_axes;
    npy_intp left[ARRAY_DIMS], right[ARRAY_DIMS]; /* the strides of x and y along the axes of the stack */
    /* The arguments of a loop of numpy.matmul. Numbers of products, rows, terms of each sum, columns; and bytes from product to
       product in x, y and the result, then along both axes of x's matrices, of y's, and of the result's. */
    npy_intp sizes[4], steps[9];
} Product;

/* The most multiplications in a stack of products that are made here, on one thread: by small_matrices.c, by BLAS, and by
   NumPy's loops for booleans. They take some 200 microseconds (docs/tuning.md, 156). */
enum { MOST_SMALL = 1 << 20, MOST_BY_BLAS = 1 << 23, MOST_BY_LOOPS = 1 << 18 };

/* Whether a stack is computed here. If small_matrices.c does not compute its matrices, and all of them are multiplied by one,
   Python makes one product of it. */
static int is_small_stack(const Product *product)
{
    const npy_intp *sizes = product->sizes;
    const Tensor *x = product->x, *y = product->y;
    const int is_small = is_computed_small(product->code, sizes);
    const npy_intp most = is_small ? MOST_SMALL : is_inexact(product->code) ? MOST_BY_BLAS : MOST_BY_LOOPS;
    const npy_intp elements = sizes[1] * sizes[3]; /* of one product */
    npy_intp count = 1;
    for (int dim = 0; dim < product->stack_axes; dim++) {
        count = count > limits.large ? count : count * product->shape[dim];
    }
    return (is_small || y->ndim > 2 || is_integer(product->code)) && x->size <= limits.large && y->size <= limits.large &&
           elements <= limits.large / count && (is_integer(product->code) || sizes[2] <= most / (count * elements));
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

/* Fill in all but where the result lies. 0 if the shapes do not fit, or the product is left to Python. */
static int describe(Product *product)
{
    const Tensor *x = product->x, *y = product->y;
    const int has_rows = x->ndim > 1, has_columns = y->ndim > 1;
    const int left_axes = has_rows ? x->ndim - 2 : 0, right_axes = has_columns ? y->ndim - 2 : 0;
    const npy_intp rows = has_rows ? x->shape[left_axes] : 1, columns = has_columns ? y->shape[right_axes + 1] : 1;
    const npy_intp inner = x->shape[x->ndim - 1], itemsize = dtypes[product->code].itemsize;
    if (inner != y->shape[right_axes] || rows > MOST_ELEMENTS / columns || !find_core_loop(&matmul, product->code)) {
        return 0;
    }
    product->sizes[0] = 1;
    product->sizes[1] = rows;
    product->sizes[2] = inner;
    product->sizes[3] = columns;
    product->stack_axes = 0;
    if (left_axes + right_axes > 0) {
        if (!broadcast_shape(&product->stack_axes, product->shape, left_axes, x->shape) ||
            !broadcast_shape(&product->stack_axes, product->shape, right_axes, y->shape)) {
            return 0;
        }
        const int axes = product->stack_axes;
        broadcast_strides(axes, product->shape, left_axes, x->shape, x->strides, product->left);
        broadcast_strides(axes, product->shape, right_axes, y->shape, y->strides, product->right);
        if (!is_small_stack(product) || !is_in_order(axes, product->left) || !is_in_order(axes, product->right)) {
            return 0;
        }
    }
    npy_intp *steps = product->steps;
    steps[0] = steps[1] = steps[2] = 0;
    steps[3] = has_rows ? step_of(rows, x->strides[left_axes]) : 0;
    steps[4] = step_of(inner, x->strides[x->ndim - 1]);
    steps[5] = step_of(inner, y->strides[right_axes]);
    steps[6] = has_columns ? step_of(columns, y->strides[right_axes + 1]) : 0;
    steps[7] = has_rows ? step_of(rows, columns * itemsize) : 0;
    steps[8] = has_columns ? step_of(columns, itemsize) : 0;
    product->ndim = product->stack_axes;
    if (has_rows) {
        product->shape[product->ndim++] = rows;
    }
    if (has_columns) {
        product->shape[product->ndim++] = columns;
    }
    return 1;
}

/* Have the product written to an array. 0, perhaps with an exception set, if it cannot be. */
static int write_to(Product *product, Tensor *target)
{
    char *const *args = product->args;
    if (product->stack_axes > 0 || target == NULL || target->code != product->code || target->size == 0 ||
        !has_shape(target, product->ndim, product->shape) || !is_writeable(target) ||
        (product->args[2] = data_of(target)) == NULL || may_overlap(target, args[2], product->x, args[0]) ||
        may_overlap(target, args[2], product->y, args[1])) {
        return 0;
    }
    product->steps[7] = product->x->ndim > 1 ? step_of(product->sizes[1], target->strides[0]) : 0;
    product->steps[8] = product->y->ndim > 1 ? step_of(product->sizes[3], target->strides[target->ndim - 1]) : 0;
    return 1;
}

/* Call the loop for a stack: once for each index of all its axes that cannot be merged with the last one. Returns the
   floating-point flags. */
static int run_stack(Product *product, int is_brief)
{
    npy_intp shape[ARRAY_DIMS], strides[3][ARRAY_DIMS], result[ARRAY_DIMS], index[ARRAY_DIMS] = {0};
    npy_intp *const merged[3] = {strides[0], strides[1], strides[2]}, *sizes = product->sizes;
    const npy_intp *const given[3] = {product->left, product->right, result};
    step_by_rows(product->stack_axes, product->shape, sizes[1] * sizes[3] * dtypes[product->code].itemsize, result);
    const int axes = merge_axes(product->stack_axes, product->shape, 3, given, shape, merged), outer = axes > 0 ? axes - 1 : 0;
    int flags = 0, dim;
    sizes[0] = axes > 0 ? shape[outer] : 1;
    for (int i = 0; i < 3; i++) {
        product->steps[i] = axes > 0 ? merged[i][outer] : 0;
    }
    do {
        char *args[3] = {product->args[0], product->args[1], product->args[2]}; /* NumPy's loops change them */
        flags |= run_core_loop(&matmul, product->code, args, sizes, product->steps, is_brief);
        dim = next_index(outer, shape, index);
        for (int i = 0; i < 3; i++) {
            product->args[i] += distance(dim, outer, shape, merged[i]);
        }
    } while (dim >= 0);
    return flags;
}

/* A product of integers, which BLAS does not know. 0 if it is left to NumPy's loop. */
static int multiply_integers(const Product *product)
{
    const npy_intp *const sizes = product->sizes, *const steps = product->steps;
    char *const *const args = product->args;
    ProductNest nest = {.code = product->code, .ndim = 0, .data = {args[2], args[0], args[1]}};
    if (product->stack_axes + 3 > PRODUCT_AXES || !is_aligned(product->x, args[0]) || !is_aligned(product->y, args[1])) {
        return 0;
    }
    npy_intp apart = sizes[1] * sizes[3] * dtypes[product->code].itemsize;
    for (int dim = product->stack_axes - 1; dim >= 0; dim--) {
        add_product_axis(&nest, product->shape[dim], apart, product->left[dim], product->right[dim]);
        apart *= product->shape[dim];
    }
    add_product_axis(&nest, sizes[1], steps[7], steps[3], 0);
    add_product_axis(&nest, sizes[2], 0, steps[4], steps[5]);
    add_product_axis(&nest, sizes[3], steps[8], 0, steps[6]);
    Py_INCREF(product->x); /* whatever other threads do meanwhile */
    Py_INCREF(product->y);
    sum_products(&nest);
    Py_DECREF(product->x);
    Py_DECREF(product->y);
    return 1;
}

/* Compute; `is_whole` says that the result lies in one run. The floating-point flags, perhaps with an exception set. */
static int run(Product *product, int is_whole)
{
    const DTypeCode code = product->code;
    const npy_intp *sizes = product->sizes;
    const int is_brief = product->x->size <= MOST_BRIEF && product->y->size <= MOST_BRIEF;
    int flags = 0;
    if (is_integer(code) && is_whole && sizes[2] > 1 && multiply_integers(product)) {
        return 0;
    }
    if (product->stack_axes > 0) {
        return run_stack(product, is_brief);
    }
    clear_flags();
    if (is_whole && sizes[2] == 1 && product->ndim == 2 && !is_complex(code) && code != BOOL &&
        multiply_outer(product->x, product->y, product->args)) {
        return take_flags();
    }
    if (!is_brief && is_tall_product(code, sizes, product->steps)) {
        multiply_tall_freely(code, product->args, sizes, product->steps, &flags);
        return flags;
    }
    return run_core_loop(&matmul, code, product->args, sizes, product->steps, is_brief);
}

/* `multiply_into` of booleans, whose products NumPy has and the standard has not, or of all other dtypes. */
static PyObject *multiply_of_kind(int are_booleans, PyObject *first, PyObject *second, PyObject *out)
{
    Product product;
    Tensor *x, *y;
    PyObject *result = out == NULL ? multiply_nothing(first, second) : DECLINED;
    if (result != DECLINED) {
        return result;
    }
    if ((x = layout_of_any(first)) != NULL && (y = layout_of_any(second)) != NULL && x->code != y->code) {
        return multiply_promoted(first, x, second, y, out);
    }
    if (!take_operands(first, second, &x, &y, product.args) || x->ndim < 1 || y->ndim < 1 ||
        (x->code == BOOL) != are_booleans) {
        return DECLINED;
    }
    product.code = (DTypeCode)x->code;
    product.x = x;
    product.y = y;
    if (!describe(&product)) {
        return DECLINED;
    }
    if (out != NULL) {
        result = write_to(&product, layout_of(out)) ? Py_NewRef(out) : decline_unless_raised();
    } else {
        result = new_array_like_memory(product.ndim, product.shape, product.code, 0, &product.args[2]);
    }
    if (result == NULL || result == DECLINED) {
        return result;
    }
    const int flags = run(&product, out == NULL || (layout_of(out)->flags & ROW_MAJOR));
    if (PyErr_Occurred()) { /* it may have been without memory for a copy */
        Py_DECREF(result);
        return NULL;
    }
    return settle(result, matmul.name, flags);
}

PyObject *multiply_into(PyObject *first, PyObject *second, PyObject *out)
{
    return multiply_of_kind(0, first, second, out);
}

PyObject *multiply_booleans(PyObject *first, PyObject *second)
{
    return multiply_of_kind(1, first, second, NULL);
}

PyObject *multiply_matrices(PyObject *first, PyObject *second)
{
    return multiply_into(first, second, NULL);
}

PyObject *call_matmul(int which, PyObject *const *values, Py_ssize_t count)
{
    return multiply_matrices(values[0], values[1]);
}

/* An operand of dot: a copy of one through which BLAS cannot step, backwards or without a step. matmul's loop would add its
   products one after the other. A new reference; NULL or DECLINED as `copy_into_shape` has them. */
static PyObject *dense_operand(PyObject *object)
{
    Tensor *x = layout_of_any(object);
    int is_dense = 1;
    for (int dim = 0; x != NULL && dim < x->ndim; dim++) {
        is_dense &= x->strides[dim] > 0 || x->shape[dim] < 2;
    }
    return is_dense || x->ndim > 2 || !is_inexact(x->code) ? Py_NewRef(object) : copy_into_shape(x, x->ndim, x->shape);
}

/* NumPy's dot, which is matmul but for stacks of matrices on the right: it multiplies each matrix on the left by each of
   them. */
PyObject *call_dot(int which, PyObject *const *values, Py_ssize_t count)
{
    const Tensor *x = layout_of_any(values[0]), *y = layout_of_any(values[1]);
    if (x == NULL || y == NULL || (x->ndim > 1 && y->ndim > 2)) {
        return decline_unless_raised();
    }
    PyObject *first = dense_operand(values[0]), *second = is_answer(first) ? dense_operand(values[1]) : DECLINED;
    PyObject *result = is_answer(second) ? multiply_matrices(first, second) : decline_unless_raised();
    drop_answer(first);
    drop_answer(second);
    return result;
}

/* Read tensordot's `axes`: how many, the last ones of the first array with the first ones of the second, or those of each. Returns
   how many there are; -1 if they do not fit the arrays, or one comes twice. */
static int take_contracted(PyObject *value, Tensor *const *arrays, int axes[2][ARRAY_DIMS])
{
    PyObject *const *sides, *const *items[2] = {NULL, NULL};
    Py_ssize_t counts[2], pair;
    npy_intp number = 2;
    if (value != NULL && (PyTuple_CheckExact(value) || PyList_CheckExact(value))) {
        if (!take_items(&value, &pair, &sides) || pair != 2) {
            return -1;
        }
        for (int i = 0; i < 2; i++) {
            items[i] = &sides[i];
            if (!take_items(items[i], &counts[i], &items[i]) || counts[i] != counts[0]) {
                return -1;
            }
        }
        number = counts[0];
    } else if (value != NULL && !take_number(value, &number)) {
        return -1;
    }
    if (number < 0 || number > arrays[0]->ndim || number > arrays[1]->ndim) {
        return -1;
    }
    for (int k = 0; k < number; k++) {
        axes[0][k] = arrays[0]->ndim - (int)number + k;
        axes[1][k] = k;
        if (items[0] != NULL && (!take_axis(items[0][k], arrays[0]->ndim, &axes[0][k]) ||
                                 !take_axis(items[1][k], arrays[1]->ndim, &axes[1][k]))) {
            return -1;
        }
        if (arrays[0]->shape[axes[0][k]] != arrays[1]->shape[axes[1][k]]) {
            return -1;
        }
        for (int j = 0; j < k; j++) {
            if (axes[0][j] == axes[0][k] || axes[1][j] == axes[1][k]) {
                return -1;
            }
        }
    }
    return (int)number;
}

/* Letters for the axes of two arrays, as many as there are in the alphabet: those that are multiplied with each other have one. */
enum { LETTERS = 26 };

/* The subscripts by which einsum computes a tensordot. 0 if there are none. */
static int write_subscripts(PyObject *value, Tensor *const *arrays, char *subscripts)
{
    int axes[2][ARRAY_DIMS];
    char letters[2][LETTERS] = {{0}, {0}}, *end = subscripts, next = 'a';
    const int count = arrays[0]->ndim + arrays[1]->ndim > LETTERS ? -1 : take_contracted(value, arrays, axes);
    if (count < 0) {
        return 0;
    }
    for (int axis = 0; axis < arrays[0]->ndim; axis++) {
        letters[0][axis] = next++;
    }
    for (int k = 0; k < count; k++) {
        letters[1][axes[1][k]] = letters[0][axes[0][k]];
    }
    for (int axis = 0; axis < arrays[1]->ndim; axis++) {
        letters[1][axis] = letters[1][axis] == 0 ? next++ : letters[1][axis];
    }
    for (int i = 0; i < 2; i++) {
        memcpy(end, letters[i], (size_t)arrays[i]->ndim);
        end += arrays[i]->ndim;
        *end++ = i == 0 ? ',' : '-';
    }
    *end++ = '>';
    for (int i = 0; i < 2; i++) {
        for (int axis = 0; axis < arrays[i]->ndim; axis++) {
            const char letter = letters[i][axis];
            if (memchr(letters[1 - i], letter, (size_t)arrays[1 - i]->ndim) == NULL) {
                *end++ = letter;
            }
        }
    }
    *end = '\0';
    return 1;
}

/* Of two matrices over one axis; of others, if it is `of_any`, as einsum computes it, which looks for no errors. */
static PyObject *call_tensordot(int of_any, PyObject *const *values, Py_ssize_t count)
{
    FIND_ONCE(einsum, "einsum")
    Tensor *const arrays[2] = {layout_of_any(values[0]), layout_of_any(values[1])};
    char subscripts[3 * LETTERS];
    npy_intp number = 2;
    if (arrays[0] == NULL || arrays[1] == NULL) {
        return DECLINED;
    }
    if (values[2] != NULL && take_number(values[2], &number) && number == 1 && arrays[0]->ndim == 2 && arrays[1]->ndim == 2) {
        return multiply_matrices(values[0], values[1]);
    }
    if (!of_any || !write_subscripts(values[2], arrays, subscripts)) {
        return decline_unless_raised();
    }
    PyObject *text = PyUnicode_FromString(subscripts);
    PyObject *const given[5] = {text, values[0], values[1], NULL, NULL}; /* no third operand, and no choice of a way */
    PyObject *result = text == NULL ? NULL : einsum->compute(einsum->code, given, 3);
    Py_XDECREF(text);
    if (is_answer(result) && !(tensor_of(result)->flags & ROW_MAJOR)) { /* NumPy's tensordot gives rows, and its einsum not always */
        Tensor *x = tensor_of(result);
        PyObject *rows = copy_into_shape(x, x->ndim, x->shape);
        Py_DECREF(result);
        return rows;
    }
    return result;
}

/* Of vectors, or of the rows of row-major arrays of one shape. */
static PyObject *call_vecdot(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x, *y;
    char *data[3];
    if (!take_operands(values[0], values[1], &x, &y, data) || x->ndim < 1 || x->code == BOOL ||
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
    PyObject *result = is_answer(column) ? compute_binary(OP_MULTIPLY, column, values[1]) : column;
    drop_answer(column);
    return result;
}

Implementation products_functions[] = {
    {"dot", call_dot, 0, "a, b, /"},
    {"matmul", call_matmul, 0, "x1, x2, /"},
    {"outer", call_outer, 0, "a, b, /"},
    {"tensordot", call_tensordot, 0, "x1, x2, /, *, axes="},
    {"tensordot_of_any", call_tensordot, 1, "a, b, /, *, axes="},
    {"vecdot", call_vecdot, 0, "x1, x2, /, *, axis="},
    {NULL, NULL, 0, NULL},
};

int find_ufunc(PyObject *module, const char *name, int operands, int results, CoreLoops *loops)
{
    PyObject *found = PyObject_GetAttrString(module, name);
    if (found == NULL) {
        PyErr_Clear();
        return 0;
    }
    loops->name = PyUnicode_InternFromString(name);
    const PyUFuncObject *ufunc = (PyUFuncObject *)found;
    if (Py_IS_TYPE(found, &PyUFunc_Type) && ufunc->nin == operands && ufunc->nout == results && ufunc->obj == NULL) {
        loops->ufunc = Py_NewRef(found); /* its loops are used for ever */
    }
    Py_DECREF(found);
    return loops->name == NULL ? -1 : 0;
}

int add_products(PyObject *module)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    const int failed =
        numpy == NULL || find_ufunc(module, "matmul", 2, 1, &matmul) < 0 ||
        find_ufunc(numpy, "vecdot", 2, 1, &vecdot) < 0;
    Py_XDECREF(numpy);
    return failed ? -1 : 0;
}
