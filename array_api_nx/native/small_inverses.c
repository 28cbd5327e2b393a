/* Inverses of small matrices, of which stacks have many.

   NumPy has LAPACK solve equations for each, whose calls take longer than the arithmetic, and wait for
   each other where several threads make them: 125 ns for a matrix of 2 x 2, and 265 of 4 x 4, which
   take 9 and 40 here (one thread, OpenBLAS 0.3, AMD EPYC).

   What is done is what LAPACK does, in the order in which OpenBLAS does it: a factorisation with
   partial pivoting, column by column, then substitution in the columns of the identity matrix, and
   divisions by multiplying with reciprocals. On some processors OpenBLAS adds products before they
   are rounded, on others it rounds them first. Whoever calls this finds out which of the two gives
   the bits of the LAPACK at hand, or that neither does. */

#include "small_inverses.h"
#include "compiler.h"
#include "flags.h"

#include <math.h>

enum { SMALLEST = 2, LARGEST = 5 };

/* Pivots outside of these bounds, and NaN, are left to LAPACK: they, or their reciprocals, may be
   subnormal numbers or zero. */
static const double LEAST_PIVOT = 1e-290, GREATEST_PIVOT = 1e290;

typedef double Matrix[LARGEST][LARGEST];

/* sum + a * b; the product is rounded before it is added, unless all is `fused`. */
static INLINE double add_product(double sum, double a, double b, const int fused)
{
    if (fused) {
        return fma(a, b, sum);
    }
    const double product = a * b;
    return sum + product;
}

static INLINE void swap_rows(Matrix matrix, int first, int second, int begin, int end)
{
    for (int j = begin; j < end; j++) {
        const double kept = matrix[first][j];
        matrix[first][j] = matrix[second][j];
        matrix[second][j] = kept;
    }
}

/* Replace the matrix by its factors: an upper triangle, and below the diagonal a lower one whose own
   diagonal is all ones. Row i changed places with row pivots[i], one after the other. 0 if a pivot is
   out of bounds. */
static INLINE int factorise(Matrix a, int *pivots, const int size, const int fused)
{
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < j; i++) {
            swap_rows(a, i, pivots[i], j, j + 1);
        }
        for (int i = 1; i < size; i++) {
            double sum = 0;
            for (int k = 0; k < (i < j ? i : j); k++) {
                sum = add_product(sum, a[i][k], a[k][j], fused);
            }
            a[i][j] -= sum;
        }
        int pivot = j;
        for (int i = j + 1; i < size; i++) {
            pivot = fabs(a[i][j]) > fabs(a[pivot][j]) ? i : pivot;
        }
        const double found = fabs(a[pivot][j]);
        if (!(found >= LEAST_PIVOT && found <= GREATEST_PIVOT)) {
            return 0;
        }
        pivots[j] = pivot;
        swap_rows(a, j, pivot, 0, j + 1);
        const double reciprocal = 1 / a[j][j];
        for (int i = j + 1; i < size; i++) {
            a[i][j] *= reciprocal;
        }
    }
    return 1;
}

/* b -= a[i][begin:end] @ b[begin:end] for row i. Such sums are always fused. */
static INLINE void subtract_products(const Matrix a, Matrix b, int i, int begin, int end,
                                     const int size)
{
    for (int j = 0; j < size; j++) {
        double sum = 0;
        for (int k = begin; k < end; k++) {
            sum = fma(a[i][k], b[k][j], sum);
        }
        b[i][j] -= sum;
    }
}

/* Solve `a` x = `b` for its columns, with the factors of `a`: first those rows that are even in number,
   then one that is left over, and back. */
static INLINE void substitute(const Matrix a, Matrix b, const int size, const int fused)
{
    const int even = size / 2 * 2;
    for (int i = 0; i < even; i++) {
        for (int k = i + 1; k < even; k++) {
            for (int j = 0; j < size; j++) {
                b[k][j] = add_product(b[k][j], -b[i][j], a[k][i], fused);
            }
        }
    }
    if (even < size) {
        subtract_products(a, b, even, 0, even, size);
        const double reciprocal = 1 / a[even][even];
        for (int j = 0; j < size; j++) {
            b[even][j] *= reciprocal;
        }
        for (int i = 0; i < even; i++) {
            subtract_products(a, b, i, even, size, size);
        }
    }
    for (int i = even - 1; i >= 0; i--) {
        const double reciprocal = 1 / a[i][i];
        for (int j = 0; j < size; j++) {
            b[i][j] *= reciprocal;
        }
        for (int k = 0; k < i; k++) {
            for (int j = 0; j < size; j++) {
                b[k][j] = add_product(b[k][j], -b[i][j], a[k][i], fused);
            }
        }
    }
}

/* For each type of elements: the inverses of `count` matrices, which become row-major; 0 if one has a
   pivot that is out of bounds, or an inverse that is not finite. */
#define DEFINE_INVERSES(type)                                                                      \
    static INLINE int invert_stack_##type(const char *from, const npy_intp *steps, npy_intp count, \
                                          type *to, const int size, const int fused)               \
    {                                                                                              \
        for (npy_intp n = 0; n < count; n++, from += steps[0], to += size * size) {                \
            Matrix a, b = {{0}};                                                                   \
            int pivots[LARGEST];                                                                   \
            for (int i = 0; i < size; i++) {                                                       \
                for (int j = 0; j < size; j++) {                                                   \
                    a[i][j] = *(const type *)(from + i * steps[1] + j * steps[2]);                 \
                }                                                                                  \
                b[i][i] = 1;                                                                       \
            }                                                                                      \
            if (!factorise(a, pivots, size, fused)) {                                              \
                return 0;                                                                          \
            }                                                                                      \
            for (int i = 0; i < size; i++) {                                                       \
                swap_rows(b, i, pivots[i], 0, size);                                               \
            }                                                                                      \
            substitute((const double(*)[LARGEST])a, b, size, fused);                               \
            type zero = 0;                                                                         \
            for (int i = 0; i < size; i++) {                                                       \
                for (int j = 0; j < size; j++) {                                                   \
                    to[i * size + j] = (type)b[i][j];                                              \
                    zero += to[i * size + j] * 0; /* NaN if one is not finite */                   \
                }                                                                                  \
            }                                                                                      \
            if (zero != 0) {                                                                       \
                return 0;                                                                          \
            }                                                                                      \
        }                                                                                          \
        return 1;                                                                                  \
    }                                                                                              \
                                                                                                   \
    CLONED_FOR_FUSED static int invert_##type(const char *from, const npy_intp *steps,             \
                                              npy_intp count, type *to, npy_intp size, int fused)  \
    {                                                                                              \
        switch (size) {                                                                            \
        case 2:                                                                                    \
            return fused ? invert_stack_##type(from, steps, count, to, 2, 1)                       \
                         : invert_stack_##type(from, steps, count, to, 2, 0);                      \
        case 3:                                                                                    \
            return fused ? invert_stack_##type(from, steps, count, to, 3, 1)                       \
                         : invert_stack_##type(from, steps, count, to, 3, 0);                      \
        case 4:                                                                                    \
            return fused ? invert_stack_##type(from, steps, count, to, 4, 1)                       \
                         : invert_stack_##type(from, steps, count, to, 4, 0);                      \
        default:                                                                                   \
            return fused ? invert_stack_##type(from, steps, count, to, LARGEST, 1)                 \
                         : invert_stack_##type(from, steps, count, to, LARGEST, 0);                \
        }                                                                                          \
    }

/* NumPy computes inverses in single precision in double, too. Where it casts them, it reports
   underflow, and is to do so: see below. */
DEFINE_INVERSES(npy_float)
DEFINE_INVERSES(npy_double)

static PyObject *invert(PyObject *module, PyObject *args)
{
    PyArrayObject *from, *to;
    int fused;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!p:invert", &PyArray_Type, &from, &PyArray_Type, &to, &fused)) {
        return NULL;
    }
    const int type = PyArray_TYPE(from), ndim = PyArray_NDIM(from);
    const npy_intp size = ndim == 3 ? PyArray_DIM(from, 2) : 0;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(from) ||
        size < SMALLEST || size > LARGEST || PyArray_DIM(from, 1) != size ||
        PyArray_TYPE(to) != type || !PyArray_ISCARRAY(to) || !PyArray_SAMESHAPE(from, to)) {
        PyErr_SetString(PyExc_ValueError,
                        "invert takes a stack of square matrices of float32 or float64 with 2 to 5 "
                        "rows, and an array of the same kind that lies in one piece");
        return NULL;
    }
    int result;
    Py_BEGIN_ALLOW_THREADS
    if (type == NPY_FLOAT) {
        clear_flags();
        result = invert_npy_float(PyArray_BYTES(from), PyArray_STRIDES(from), PyArray_DIM(from, 0),
                                  PyArray_DATA(to), size, fused);
        result = result && !fetestexcept(FE_UNDERFLOW);
    } else {
        result = invert_npy_double(PyArray_BYTES(from), PyArray_STRIDES(from),
                                   PyArray_DIM(from, 0), PyArray_DATA(to), size, fused);
    }
    clear_flags(); /* NumPy reports nothing else of inverses but that there is none */
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(result);
}

static PyMethodDef functions[] = {
    {"invert", invert, METH_VARARGS,
     "invert(matrices, inverses, fused)\n--\n\n"
     "Write the inverses of a stack of small matrices. False if LAPACK is to be asked, for one that "
     "has none or is not well scaled, or whose inverse underflows in single precision; what was "
     "written does not count then. `fused` says whether products are added before they are "
     "rounded."},
    {NULL, NULL, 0, NULL},
};

int add_small_inverses(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
