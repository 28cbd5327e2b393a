/* Systems of equations, determinants, inverses, eigenvalues and Cholesky factors of one matrix, by the inner loops of NumPy's
   functions, which call LAPACK. */

#include "chapters.h"
#include "parts.h"
#include "products.h"
#include "small_matrices.h"

static CoreLoops solve, solve_vector, determinant, inverse, eigenvalues, factor;

/* A square matrix with elements at hand of a dtype that LAPACK computes in; NULL, perhaps with an exception set, for
   others. */
static Tensor *take_matrix(PyObject *object)
{
    Tensor *x = layout_of_any(object);
    return x != NULL && x->ndim == 2 && x->size > 0 && x->shape[0] == x->shape[1] && limits.at_once > 0 &&
                   (x->code == FLOAT64 || x->code == COMPLEX128) && data_of(x) != NULL
               ? x
               : NULL;
}

/* The result of a function of one or two operands. With any floating-point error NumPy is to compute: it raises that a
   matrix is singular, or warns. */
static PyObject *compute(CoreLoops *loops, Tensor *const *operands, int count, int ndim, const npy_intp *shape)
{
    const int code = operands[0]->code;
    /* How many results, and the sizes of the axes; then the steps between results, and along the axes. */
    const npy_intp size = operands[0]->shape[0], sizes[3] = {1, size, ndim > 0 ? shape[ndim - 1] : 1};
    npy_intp steps[9] = {0};
    char *args[3];
    int used = count + 1;
    if (!find_core_loop(loops, code)) {
        return DECLINED;
    }
    PyObject *result = new_array_like_memory(ndim, shape, (DTypeCode)code, 0, &args[count]);
    if (result == NULL) {
        return NULL;
    }
    for (int i = 0; i <= count; i++) {
        const Tensor *x = i < count ? operands[i] : tensor_of(result);
        args[i] = i < count ? data_of(operands[i]) : args[i];
        for (int dim = 0; dim < x->ndim; dim++) {
            steps[used++] = x->strides[dim];
        }
    }
    const int flags = run_core_loop(loops, code, args, sizes, steps, size * size <= MOST_BRIEF);
    if (flags != 0 || PyErr_Occurred()) { /* it may have been without memory for a copy */
        Py_DECREF(result);
        return decline_unless_raised();
    }
    return result;
}

/* x with a @ x = b, of a matrix or a vector b. */
static PyObject *call_solve(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *a = take_matrix(values[0]), *b = a == NULL ? NULL : layout_of_any(values[1]);
    if (b == NULL || b->code != a->code || b->ndim < 1 || b->ndim > 2 || b->size == 0 ||
        b->shape[0] != a->shape[0] || data_of(b) == NULL) {
        return decline_unless_raised();
    }
    Tensor *const operands[2] = {a, b};
    return compute(b->ndim == 1 ? &solve_vector : &solve, operands, 2, b->ndim, b->shape);
}

static PyObject *call_det(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_matrix(values[0]);
    return x == NULL ? decline_unless_raised() : compute(&determinant, &x, 1, 0, NULL);
}

/* Of a matrix, or of a stack of them that lies in one piece. */
static PyObject *call_inv(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_of_any(values[0]);
    const char *from = x == NULL || x->size == 0 || x->ndim < 2 || limits.at_once < 0 ? NULL : data_of(x);
    if (from == NULL || x->shape[x->ndim - 1] != x->shape[x->ndim - 2]) {
        return decline_unless_raised();
    }
    if ((x->code == FLOAT32 || x->code == FLOAT64) && (x->ndim == 2 || x->flags & ROW_MAJOR) && x->size <= limits.at_once) {
        const npy_intp size = x->shape[x->ndim - 1], area = size * size, *const last = x->strides + x->ndim - 2;
        const npy_intp strides[3] = {area * dtypes[x->code].itemsize, last[0], last[1]};
        char *to;
        PyObject *result = new_array_like_memory(x->ndim, x->shape, (DTypeCode)x->code, 0, &to);
        if (result == NULL || invert_stack(x->code == FLOAT32, from, strides, x->size / area, size, to)) {
            return result;
        }
        Py_DECREF(result);
    }
    x = take_matrix(values[0]);
    return x == NULL ? decline_unless_raised() : compute(&inverse, &x, 1, 2, x->shape);
}

static PyObject *call_eigvalsh(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_matrix(values[0]);
    return x == NULL || x->code != FLOAT64 ? decline_unless_raised() : compute(&eigenvalues, &x, 1, 1, x->shape);
}

static PyObject *call_cholesky(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = values[1] == NULL || values[1] == Py_False ? take_matrix(values[0]) : NULL;
    return x == NULL ? decline_unless_raised() : compute(&factor, &x, 1, 2, x->shape);
}

Implementation equation_functions[] = {
    {"cholesky", call_cholesky, 0, "x, /, *, upper="},
    {"det", call_det, 0, "x, /"},
    {"eigvalsh", call_eigvalsh, 0, "x, /"},
    {"inv", call_inv, 0, "x, /"},
    {"solve", call_solve, 0, "x1, x2, /"},
    {NULL, NULL, 0, NULL},
};

int add_equations(PyObject *module)
{
    PyObject *linalg = PyImport_ImportModule("numpy.linalg._umath_linalg");
    if (linalg == NULL) {
        PyErr_Clear(); /* it is private: without it NumPy's public functions compute */
        return 0;
    }
    const int failed = find_ufunc(linalg, "solve", 2, &solve) < 0 || find_ufunc(linalg, "solve1", 2, &solve_vector) < 0 ||
                       find_ufunc(linalg, "det", 1, &determinant) < 0 || find_ufunc(linalg, "inv", 1, &inverse) < 0 ||
                       find_ufunc(linalg, "eigvalsh_lo", 1, &eigenvalues) < 0 ||
                       find_ufunc(linalg, "cholesky_lo", 1, &factor) < 0;
    Py_DECREF(linalg);
    return failed ? -1 : 0;
}
