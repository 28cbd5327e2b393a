/* Systems of equations, determinants, inverses and decompositions of one matrix, by the inner loops of NumPy's functions, which
   call LAPACK. */

#include "chapters.h"
#include "parts.h"
#include "products.h"
#include "small_matrices.h"

static CoreLoops solve, solve_vector, determinant, inverse, factor;
/* Of real matrices, of which all results are real. */
static CoreLoops eigenvalues, singular_values, eigenvectors, sign_and_logarithm, svd, full_svd;

/* A matrix with elements at hand of a dtype that LAPACK computes in; NULL, perhaps with an exception set, for others. */
static Tensor *take_any_matrix(PyObject *object)
{
    Tensor *x = layout_of_any(object);
    return x != NULL && x->ndim == 2 && x->size > 0 && limits.at_once > 0 && (x->code == FLOAT64 || x->code == COMPLEX128) &&
                   data_of(x) != NULL
               ? x
               : NULL;
}

/* The same of a square one. */
static Tensor *take_matrix(PyObject *object)
{
    Tensor *x = take_any_matrix(object);
    return x != NULL && x->shape[0] == x->shape[1] ? x : NULL;
}

/* A result of a function. */
typedef struct {
    int ndim;
    npy_intp shape[2];
} Result;

enum { MOST_RESULTS = 3, MOST_ARGUMENTS = 4 };

/* Compute all results of a function of one or two operands; `sizes` are 1 and those of the axes in its signature. 0 with any
   floating-point error, where NumPy is to compute: it raises that a matrix is singular, or warns; or with an exception set. */
static int run(CoreLoops *loops, Tensor *const *operands, int count, const npy_intp *sizes, const Result *results, int wanted,
               PyObject **made)
{
    const int code = operands[0]->code;
    npy_intp steps[3 * MOST_ARGUMENTS] = {0}; /* from one matrix to the next, which there is not, then along the axes */
    char *args[MOST_ARGUMENTS];
    int done = 0, used = count + wanted, is_right = find_core_loop(loops, code);
    while (is_right && done < wanted) {
        const Result *result = &results[done];
        made[done] = new_array_like_memory(result->ndim, result->shape, (DTypeCode)code, 0, &args[count + done]);
        is_right = made[done] != NULL;
        done += is_right;
    }
    if (is_right) {
        for (int i = 0; i < count + wanted; i++) {
            const Tensor *x = i < count ? operands[i] : tensor_of(made[i - count]);
            args[i] = i < count ? data_of(operands[i]) : args[i];
            for (int dim = 0; dim < x->ndim; dim++) {
                steps[used++] = x->strides[dim];
            }
        }
        const int flags = run_core_loop(loops, code, args, sizes, steps, operands[0]->size <= MOST_BRIEF);
        is_right = flags == 0 && !PyErr_Occurred(); /* it may have been without memory for a copy */
    }
    while (!is_right && done > 0) {
        Py_DECREF(made[--done]);
    }
    return is_right;
}

/* The one result of a function of a square matrix, whose axes have its length. */
static PyObject *compute_square(CoreLoops *loops, Tensor *x, int ndim)
{
    const npy_intp length = x->shape[0], sizes[2] = {1, length};
    const Result result = {ndim, {length, length}};
    PyObject *made;
    return run(loops, &x, 1, sizes, &result, 1, &made) ? made : decline_unless_raised();
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
    const npy_intp sizes[3] = {1, a->shape[0], b->shape[b->ndim - 1]};
    const Result result = {b->ndim, {a->shape[0], sizes[2]}};
    PyObject *made;
    return run(b->ndim == 1 ? &solve_vector : &solve, operands, 2, sizes, &result, 1, &made) ? made : decline_unless_raised();
}

static PyObject *call_det(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_matrix(values[0]);
    return x == NULL ? decline_unless_raised() : compute_square(&determinant, x, 0);
}

static PyObject *call_cholesky(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = values[1] == NULL || values[1] == Py_False ? take_matrix(values[0]) : NULL;
    return x == NULL ? decline_unless_raised() : compute_square(&factor, x, 2);
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
    return x == NULL ? decline_unless_raised() : compute_square(&inverse, x, 2);
}

static PyObject *call_eigvalsh(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_matrix(values[0]);
    return x == NULL || x->code != FLOAT64 ? decline_unless_raised() : compute_square(&eigenvalues, x, 1);
}

/* A matrix of few elements: of more, the decomposition takes so much longer than a call of Python, which has its own way for
   those that are tall. As `take_any_matrix`. */
static Tensor *take_small_matrix(PyObject *object)
{
    Tensor *x = take_any_matrix(object);
    return x != NULL && x->size <= MOST_BRIEF ? x : NULL;
}

static PyObject *call_svdvals(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_small_matrix(values[0]);
    PyObject *made;
    if (x == NULL || x->code != FLOAT64) {
        return decline_unless_raised();
    }
    const npy_intp sizes[4] = {1, x->shape[0], x->shape[1], least(x->shape[0], x->shape[1])};
    const Result result = {1, {sizes[3]}};
    return run(&singular_values, &x, 1, sizes, &result, 1, &made) ? made : decline_unless_raised();
}

/* ------------------------------------------------------------------ several results */

enum { EIGH, SLOGDET, SVD, DECOMPOSITIONS, OF_NUMPY = DECOMPOSITIONS };

/* The named tuple of a function, of ours or NumPy's: a borrowed reference; NULL, without an exception, if there is none. */
static PyTypeObject *type_of_results(int which)
{
    static PyTypeObject *types[2 * DECOMPOSITIONS];
    static const char *const names[DECOMPOSITIONS] = {"EighResult", "SlogdetResult", "SVDResult"};
    if (types[which] == NULL) {
        PyObject *module = PyImport_ImportModule(which < OF_NUMPY ? "array_api_nx.linalg" : "numpy.linalg._linalg");
        PyObject *type = module == NULL ? NULL : PyObject_GetAttrString(module, names[which % DECOMPOSITIONS]);
        if (type != NULL && PyType_Check(type) && PyType_FastSubclass((PyTypeObject *)type, Py_TPFLAGS_TUPLE_SUBCLASS) &&
            ((PyTypeObject *)type)->tp_basicsize == PyTuple_Type.tp_basicsize) {
            types[which] = (PyTypeObject *)Py_NewRef(type);
        }
        Py_XDECREF(type);
        Py_XDECREF(module);
        PyErr_Clear();
    }
    return types[which];
}

/* As `run`, of a real matrix: a named tuple. */
static PyObject *compute_several(int which, CoreLoops *loops, Tensor *x, const npy_intp *sizes, const Result *results,
                                 int wanted)
{
    PyObject *made[MOST_RESULTS], *tuple = NULL;
    PyTypeObject *type = x->code == FLOAT64 ? type_of_results(which) : NULL;
    if (type == NULL || !run(loops, &x, 1, sizes, results, wanted, made)) {
        return decline_unless_raised();
    }
    tuple = type->tp_alloc(type, wanted);
    for (int i = 0; i < wanted; i++) {
        if (tuple == NULL) {
            Py_DECREF(made[i]);
        } else {
            PyTuple_SET_ITEM(tuple, i, made[i]);
        }
    }
    return tuple;
}

static PyObject *call_eigh(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_matrix(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    const npy_intp length = x->shape[0], sizes[2] = {1, length};
    const Result results[2] = {{1, {length}}, {2, {length, length}}};
    return compute_several(which, &eigenvectors, x, sizes, results, 2);
}

static PyObject *call_slogdet(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_matrix(values[0]);
    if (x == NULL) {
        return decline_unless_raised();
    }
    const npy_intp sizes[2] = {1, x->shape[0]};
    const Result results[2] = {{0, {0}}, {0, {0}}};
    return compute_several(which, &sign_and_logarithm, x, sizes, results, 2);
}

static PyObject *call_svd(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = take_small_matrix(values[0]);
    int full = 1;
    if (x == NULL || !take_flag(values[1], &full)) {
        return decline_unless_raised();
    }
    const npy_intp rows = x->shape[0], columns = x->shape[1], few = least(rows, columns), sizes[4] = {1, rows, columns, few};
    const Result results[3] = {{2, {rows, full ? rows : few}}, {1, {few}}, {2, {full ? columns : few, columns}}};
    return compute_several(which, full ? &full_svd : &svd, x, sizes, results, 3);
}

Implementation equation_functions[] = {
    {"cholesky", call_cholesky, 0, "x, /, *, upper="},
    {"det", call_det, 0, "x, /"},
    {"eigh", call_eigh, EIGH, "x, /"},
    {"eigh_of_numpy", call_eigh, OF_NUMPY + EIGH, "a"},
    {"eigvalsh", call_eigvalsh, 0, "x, /"},
    {"inv", call_inv, 0, "x, /"},
    {"slogdet", call_slogdet, SLOGDET, "x, /"},
    {"slogdet_of_numpy", call_slogdet, OF_NUMPY + SLOGDET, "a"},
    {"solve", call_solve, 0, "x1, x2, /"},
    {"svd", call_svd, SVD, "x, /, *, full_matrices="},
    {"svd_of_numpy", call_svd, OF_NUMPY + SVD, "a, full_matrices="},
    {"svdvals", call_svdvals, 0, "x, /"},
    {NULL, NULL, 0, NULL},
};

int add_equations(PyObject *module)
{
    static const struct {
        const char *name;
        int operands, results;
        CoreLoops *loops;
    } functions[] = {
        {"solve", 2, 1, &solve},         {"solve1", 2, 1, &solve_vector},       {"det", 1, 1, &determinant},
        {"inv", 1, 1, &inverse},         {"cholesky_lo", 1, 1, &factor},        {"eigvalsh_lo", 1, 1, &eigenvalues},
        {"eigh_lo", 1, 2, &eigenvectors}, {"slogdet", 1, 2, &sign_and_logarithm}, {"svd_s", 1, 3, &svd},
        {"svd_f", 1, 3, &full_svd},      {"svd", 1, 1, &singular_values},
    };
    PyObject *linalg = PyImport_ImportModule("numpy.linalg._umath_linalg");
    if (linalg == NULL) {
        PyErr_Clear(); /* it is private: without it NumPy's public functions compute */
        return 0;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && !failed; i++) {
        failed = find_ufunc(linalg, functions[i].name, functions[i].operands, functions[i].results, functions[i].loops) < 0;
    }
    Py_DECREF(linalg);
    return failed ? -1 : 0;
}
