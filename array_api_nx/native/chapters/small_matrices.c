/* Products and inverses of stacks of small matrices.

   NumPy calls BLAS or LAPACK for each matrix of a stack. For small matrices such a call takes longer
   than the arithmetic (docs/tuning.md, 56), and calls from several threads wait for each other. The
   results agree to rounding. */

#include "small_matrices.h"
#include "parts.h"
#include "tall_products.h"
#include "compiler.h"
#include "dtypes.h"
#include "flags.h"
#include "ufunc_fields.h"

#include <math.h>

/* ---------------------------------------------------------------- products */

/* Rows, columns and terms of a sum of the matrices that are multiplied here. With 8 columns, the sums
   of a row are one vector or two; from about 12 on BLAS is as fast on one thread. Single products with
   one row or one column are NumPy's, those of stacks are not. */
enum { SMALLEST = 2, LARGEST = 8 };

/* `sizes` are the number of products, rows, terms and columns. */
static int is_computed(const npy_intp *sizes)
{
    const npy_intp smallest = sizes[0] > 1 ? 1 : SMALLEST;
    return sizes[1] >= smallest && sizes[1] <= LARGEST && sizes[2] >= smallest && sizes[2] <= LARGEST &&
           sizes[3] >= smallest && sizes[3] <= LARGEST;
}

/* For each dtype: the product of two matrices, the right one row-major and with a number of columns that the compiler knows;
   the products of two stacks; the inner loop of the ufunc, whose own data is NumPy's loop. Elements are of a type, or of two
   parts of it: then the products with the real parts and those with the imaginary parts of the left matrix are summed apart.
   products.c explains the arguments of such loops. */
#define DEFINE_PRODUCTS(name, type, parts, code)                                                                         \
    static INLINE void multiply_##name(const char *left, npy_intp row_step, npy_intp inner_step,                         \
                                       const type *right, char *result, npy_intp result_step,                            \
                                       npy_intp rows, npy_intp inner, const int columns)                                 \
    {                                                                                                                    \
        const int width = columns * (parts);                                                                             \
        for (npy_intp i = 0; i < rows; i++) {                                                                            \
            type sums[LARGEST * (parts)] = {0}, crossed[LARGEST * (parts)] = {0};                                        \
            for (npy_intp k = 0; k < inner; k++) {                                                                       \
                const type *factor = (const type *)(left + i * row_step + k * inner_step);                               \
                ROUND_BY_ROUND                                                                                           \
                UNROLLED                                                                                                 \
                for (int j = 0; j < width; j++) {                                                                        \
                    sums[j] += factor[0] * right[k * width + j];                                                         \
                    if ((parts) == 2) {                                                                                  \
                        crossed[j] += factor[(parts) - 1] * right[k * width + j];                                        \
                    }                                                                                                    \
                }                                                                                                        \
            }                                                                                                            \
            for (int j = 0; (parts) == 2 && j < width; j += (parts)) {                                                   \
                sums[j] -= crossed[j + (parts) - 1];                                                                     \
                sums[j + (parts) - 1] += crossed[j];                                                                     \
            }                                                                                                            \
            memcpy(result + i * result_step, sums, (size_t)width * sizeof(type));                                        \
        }                                                                                                                \
    }                                                                                                                    \
                                                                                                                         \
    static INLINE void multiply_stack_##name(char *const *args, const npy_intp *sizes,                                   \
                                             const npy_intp *steps, const int columns)                                   \
    {                                                                                                                    \
        const npy_intp rows = sizes[1], inner = sizes[2], size = (parts) * sizeof(type);                                 \
        const int is_packed = steps[6] == size && steps[5] == columns * size;                                            \
        type packed[LARGEST * LARGEST * (parts)];                                                                        \
        for (npy_intp n = 0; n < sizes[0]; n++) {                                                                        \
            const char *right = args[1] + n * steps[1];                                                                  \
            if (!is_packed && (n == 0 || steps[1] != 0)) {                                                               \
                for (npy_intp k = 0; k < inner; k++) {                                                                   \
                    for (int j = 0; j < columns; j++) {                                                                  \
                        memcpy(packed + (k * columns + j) * (parts), right + k * steps[5] + j * steps[6], (size_t)size); \
                    }                                                                                                    \
                }                                                                                                        \
            }                                                                                                            \
            multiply_##name(args[0] + n * steps[0], steps[3], steps[4],                                                  \
                            is_packed ? (const type *)right : packed, args[2] + n * steps[2],                            \
                            steps[7], rows, inner, columns);                                                             \
        }                                                                                                                \
    }                                                                                                                    \
                                                                                                                         \
    CLONED_FOR_FUSED(static, void, multiply_small_##name,                                                                \
                     (char *const *args, const npy_intp *sizes, const npy_intp *steps),                                  \
                     (args, sizes, steps))                                                                               \
    {                                                                                                                    \
        switch (sizes[3]) {                                                                                              \
        case 1: multiply_stack_##name(args, sizes, steps, 1); break;                                                     \
        case 2: multiply_stack_##name(args, sizes, steps, 2); break;                                                     \
        case 3: multiply_stack_##name(args, sizes, steps, 3); break;                                                     \
        case 4: multiply_stack_##name(args, sizes, steps, 4); break;                                                     \
        case 5: multiply_stack_##name(args, sizes, steps, 5); break;                                                     \
        case 6: multiply_stack_##name(args, sizes, steps, 6); break;                                                     \
        case 7: multiply_stack_##name(args, sizes, steps, 7); break;                                                     \
        default: multiply_stack_##name(args, sizes, steps, LARGEST);                                                     \
        }                                                                                                                \
    }                                                                                                                    \
                                                                                                                         \
    static void matmul_##name(char **args, const npy_intp *sizes, const npy_intp *steps,                                 \
                              void *numpy_loop)                                                                          \
    {                                                                                                                    \
        if (is_computed(sizes) && (steps[8] == (parts) * sizeof(type) || sizes[3] == 1)) {                               \
            multiply_small_##name(args, sizes, steps);                                                                   \
        } else if (is_tall_product(code, sizes, steps)) {                                                                \
            multiply_tall(code, args, sizes, steps);                                                                     \
        } else {                                                                                                         \
            ((const NumPyLoop *)numpy_loop)->function(args, sizes, steps,                                                \
                                                      ((const NumPyLoop *)numpy_loop)->data);                            \
        }                                                                                                                \
    }

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
} NumPyLoop;

FUSED_BEGIN /* as in BLAS: a sum of products that overflow is infinite, not NaN */
DEFINE_PRODUCTS(float, npy_float, 1, FLOAT32)
DEFINE_PRODUCTS(double, npy_double, 1, FLOAT64)
DEFINE_PRODUCTS(cfloat, npy_float, 2, COMPLEX64)
DEFINE_PRODUCTS(cdouble, npy_double, 2, COMPLEX128)
FUSED_END

enum { MOST_TYPES = 32, OWN_LOOPS = 4 };

/* The loops of the ufunc: their functions, the last argument of each, their types. */
static struct {
    PyUFuncGenericFunction functions[MOST_TYPES];
    void *data[MOST_TYPES];
    char types[3 * MOST_TYPES];
    NumPyLoop numpys[OWN_LOOPS]; /* those behind ours */
} loops;

/* Our loops, by NumPy's number of the dtype. */
static const struct {
    int type;
    PyUFuncGenericFunction function;
} own_loops[] = {
    {NPY_FLOAT, (PyUFuncGenericFunction)matmul_float},
    {NPY_DOUBLE, (PyUFuncGenericFunction)matmul_double},
    {NPY_CFLOAT, (PyUFuncGenericFunction)matmul_cfloat},
    {NPY_CDOUBLE, (PyUFuncGenericFunction)matmul_cdouble},
};

/* The place of a dtype there; -1 if there is no loop for it. */
static int find_own_loop(int type)
{
    int i = OWN_LOOPS - 1;
    while (i >= 0 && own_loops[i].type != type) {
        i--;
    }
    return i;
}

int is_computed_small(int code, const npy_intp *sizes)
{
    return find_own_loop(dtypes[code].type_number) >= 0 && is_computed(sizes);
}

/* Copy numpy.matmul's loops, with ours in front of them; those for objects are left out. */
static int copy_loops(PyObject *ufunc)
{
    int count = 0;
    const char *types;
    for (int i = 0; count < MOST_TYPES && (types = read_ufunc_loop(ufunc, i, &loops.functions[count],
                                                                   &loops.data[count])) != NULL; i++) {
        if (loops.functions[count] == NULL || memchr(types, NPY_OBJECT, 3) != NULL) {
            continue;
        }
        memcpy(loops.types + 3 * count, types, 3);
        const int own = types[0] == types[1] && types[1] == types[2] ? find_own_loop(types[0]) : -1;
        if (own >= 0) {
            loops.numpys[own] = (NumPyLoop){loops.functions[count], loops.data[count]};
            loops.functions[count] = own_loops[own].function;
            loops.data[count] = &loops.numpys[own];
        }
        count++;
    }
    return count;
}

static PyObject *computes_product(PyObject *module, PyObject *args)
{
    PyArray_Descr *dtype;
    Py_ssize_t rows, inner, columns;
    if (!PyArg_ParseTuple(args, "O!nnn:computes_product", &PyArrayDescr_Type, &dtype, &rows,
                          &inner, &columns)) {
        return NULL;
    }
    const npy_intp sizes[4] = {2, rows, inner, columns};
    return PyBool_FromLong(find_own_loop(dtype->type_num) >= 0 && is_computed(sizes));
}

PyObject *get_matmul(void)
{
    static PyObject *made; /* for ever, since its loops are used */
    PyObject *numpy = made == NULL ? PyImport_ImportModule("numpy") : NULL;
    PyObject *found = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "matmul");
    Py_XDECREF(numpy);
    if (found == NULL) {
        return made;
    }
    if (operands_of(found) != 2) {
        return made = found;
    }
    /* The reference to NumPy's ufunc is kept, since its loops are used. */
    return made = with_loops(found, loops.functions, loops.data, loops.types, copy_loops(found),
                             "numpy.matmul; products of small matrices are computed here.");
}

/* ---------------------------------------------------------------- inverses */

/* Rows of the largest matrix that is inverted here. */
enum { MOST_ROWS = 5 };

/* Pivots that are smaller than this part of the numbers that were in their column are left to LAPACK,
   which decides whether the matrix has an inverse. So are pivots outside of the bounds: they, or
   their reciprocals, may be subnormal numbers or zero. */
static const double LEAST_PART = 1e-12, LEAST_PIVOT = 1e-290, GREATEST_PIVOT = 1e290;

/* Gauss-Jordan elimination with partial pivoting: the right half of `rows`, the identity, becomes the
   inverse of the left half. 0 if a pivot is left to LAPACK. */
static INLINE int eliminate(double rows[MOST_ROWS][2 * MOST_ROWS], const int size)
{
    double least[MOST_ROWS];
    for (int j = 0; j < size; j++) {
        least[j] = 0;
        for (int i = 0; i < size; i++) {
            const double part = fabs(rows[i][j]) * LEAST_PART;
            least[j] = part > least[j] ? part : least[j];
        }
    }
    for (int j = 0; j < size; j++) {
        int pivot = j;
        for (int i = j + 1; i < size; i++) {
            pivot = fabs(rows[i][j]) > fabs(rows[pivot][j]) ? i : pivot;
        }
        const double found = fabs(rows[pivot][j]);
        if (!(found >= least[j] && found >= LEAST_PIVOT && found <= GREATEST_PIVOT)) { /* NaN, too */
            return 0;
        }
        const double reciprocal = 1 / rows[pivot][j];
        for (int k = 0; k < 2 * size; k++) {
            const double kept = rows[j][k];
            rows[j][k] = rows[pivot][k] * reciprocal;
            rows[pivot][k] = pivot == j ? rows[j][k] : kept;
        }
        for (int i = 0; i < size; i++) {
            const double factor = i == j ? 0 : rows[i][j];
            for (int k = 0; k < 2 * size; k++) {
                rows[i][k] -= factor * rows[j][k];
            }
        }
    }
    return 1;
}

/* For each type of elements: the inverses of `count` matrices, which become row-major; 0 if one is left
   to LAPACK, or has elements that are not finite. NumPy computes those of single precision in double,
   too. */
#define DEFINE_INVERSES(type)                                                                      \
    static INLINE int invert_stack_##type(const char *from, const npy_intp *steps, npy_intp count, \
                                          type *to, const int size)                                \
    {                                                                                              \
        for (npy_intp n = 0; n < count; n++, from += steps[0], to += size * size) {                \
            double rows[MOST_ROWS][2 * MOST_ROWS];                                                 \
            for (int i = 0; i < size; i++) {                                                       \
                for (int j = 0; j < size; j++) {                                                   \
                    rows[i][j] = *(const type *)(from + i * steps[1] + j * steps[2]);              \
                    rows[i][size + j] = i == j;                                                    \
                }                                                                                  \
            }                                                                                      \
            if (!eliminate(rows, size)) {                                                          \
                return 0;                                                                          \
            }                                                                                      \
            type zero = 0;                                                                         \
            for (int i = 0; i < size; i++) {                                                       \
                for (int j = 0; j < size; j++) {                                                   \
                    to[i * size + j] = (type)rows[i][size + j];                                    \
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
    CLONED(static, int, invert_##type,                                                             \
           (const char *from, const npy_intp *steps, npy_intp count, type *to, npy_intp size),     \
           (from, steps, count, to, size))                                                         \
    {                                                                                              \
        switch (size) {                                                                            \
        case 2: return invert_stack_##type(from, steps, count, to, 2);                             \
        case 3: return invert_stack_##type(from, steps, count, to, 3);                             \
        case 4: return invert_stack_##type(from, steps, count, to, 4);                             \
        default: return invert_stack_##type(from, steps, count, to, MOST_ROWS);                    \
        }                                                                                          \
    }

DEFINE_INVERSES(npy_float)
DEFINE_INVERSES(npy_double)

int invert_stack(int is_single, const char *from, const npy_intp *strides, npy_intp count,
                 npy_intp size, void *to)
{
    int done;
    if (size < SMALLEST || size > MOST_ROWS) {
        return 0;
    }
    clear_flags();
    if (is_single) {
        done = invert_npy_float(from, strides, count, to, size);
        done = done && !fetestexcept(FE_UNDERFLOW); /* NumPy reports it of its cast */
    } else {
        done = invert_npy_double(from, strides, count, to, size);
    }
    clear_flags(); /* NumPy reports nothing else of inverses but that there is none */
    return done;
}

static PyObject *invert(PyObject *module, PyObject *args)
{
    PyArrayObject *from, *to;
    if (!PyArg_ParseTuple(args, "O!O!:invert", &PyArray_Type, &from, &PyArray_Type, &to)) {
        return NULL;
    }
    const int type = PyArray_TYPE(from), ndim = PyArray_NDIM(from);
    if (ndim != 3 || PyArray_TYPE(to) != type || !PyArray_ISCARRAY(to) ||
        !PyArray_SAMESHAPE(from, to)) {
        PyErr_SetString(PyExc_ValueError,
                        "invert takes a stack of matrices, and an array of the same shape and dtype "
                        "that lies in one piece");
        return NULL;
    }
    const npy_intp size = PyArray_DIM(from, 2);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(from) ||
        PyArray_DIM(from, 1) != size) {
        Py_RETURN_FALSE;
    }
    int result;
    Py_BEGIN_ALLOW_THREADS
    result = invert_stack(type == NPY_FLOAT, PyArray_BYTES(from), PyArray_STRIDES(from),
                          PyArray_DIM(from, 0), size, PyArray_DATA(to));
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(result);
}

static PyMethodDef functions[] = {
    {"computes_product", computes_product, METH_VARARGS,
     "computes_product(dtype, rows, inner, columns)\n--\n\n"
     "Whether `matmul` computes stacks of products of such matrices itself, not BLAS."},
    {"invert", invert, METH_VARARGS,
     "invert(matrices, inverses)\n--\n\n"
     "Write the inverses of a stack of matrices of float32 or float64 with 2 to 5 rows. False if "
     "LAPACK has to invert them: other matrices, and if one has no inverse, nearly none, or one that "
     "is not finite or underflows. The inverses written until then mean nothing."},
    {NULL, NULL, 0, NULL},
};

int add_small_matrices(PyObject *module)
{
    PyObject *matmul = get_matmul();
    return matmul == NULL || PyModule_AddObjectRef(module, "matmul", matmul) < 0 ||
                   PyModule_AddIntConstant(module, "MOST_INVERTED_ROWS", MOST_ROWS) < 0
               ? -1
               : PyModule_AddFunctions(module, functions);
}
