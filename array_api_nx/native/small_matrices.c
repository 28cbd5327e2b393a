/* Products of small matrices, of which stacks have many.

   NumPy has BLAS compute each, whose call takes longer than the multiplications: 62 ns for float64
   matrices of 4 x 4, which take 14 here; 2 x 2 take 3, and 8 x 8 take 36 of 100. And BLAS serves one
   thread at a time: two take three times as long together as one alone (OpenBLAS 0.3, AMD EPYC).

   Every element is summed as BLAS mostly does it on processors with fused multiply-add: in order,
   each product added before it is rounded. Whether that gives the bits of the BLAS at hand is tried
   once for each size, when it is first met; where it does not, BLAS computes. */

#include "small_matrices.h"
#include "atomics.h"
#include "compiler.h"

#include <limits.h>

#if defined(HAS_TARGET_CLONES) || (defined(HAS_GNU_C) && defined(__aarch64__))
#define HAS_FUSED_MULTIPLY_ADD 1
#endif

static PyObject *matmul; /* once it is made */

#ifdef HAS_FUSED_MULTIPLY_ADD

enum { MOST_TYPES = 32 };

/* The loops of our ufunc, and what they take as their last argument. */
static PyUFuncGenericFunction functions[MOST_TYPES];
static void *data[MOST_TYPES];
static char types[3 * MOST_TYPES];

/* Whether BLAS takes a matrix of so many columns with these steps. */
static inline int is_blas_matrix(npy_intp row_step, npy_intp column_step, npy_intp columns,
                                 npy_intp itemsize)
{
    return column_step == itemsize && row_step % itemsize == 0 && row_step >= columns * itemsize &&
           row_step / itemsize < INT_MAX;
}

/* Sizes of matrices that are small. With 8 columns, the sums of a row are one vector or two; from
   about 12 on BLAS is as fast on one thread. */
enum { SMALLEST = 2, LARGEST = 8, SIZES = LARGEST - SMALLEST + 1 };

enum Verdict { UNKNOWN, EXACT, OTHER };

typedef void (*Multiply)(char *const *args, const npy_intp *sizes, const npy_intp *steps);

/* How products of one type of elements are computed. */
typedef struct {
    PyUFuncGenericFunction numpy_loop; /* NULL before there is one */
    void *numpy_data;
    npy_intp itemsize;
    Multiply multiply;
    npy_intp verdicts[SIZES][SIZES][SIZES]; /* of rows, the size that is summed over, columns */
} Products;

static int is_small(npy_intp size)
{
    return size >= SMALLEST && size <= LARGEST;
}

/* Whether NumPy has BLAS multiply these matrices in general. The product of a matrix and its own
   transpose is another function's. */
static int are_for_blas(char *const *args, const npy_intp *sizes, const npy_intp *steps,
                        npy_intp itemsize)
{
    const npy_intp rows = sizes[1], inner = sizes[2], columns = sizes[3];
    const npy_intp *left = steps + 3, *right = steps + 5, *result = steps + 7;
    return is_blas_matrix(result[0], result[1], columns, itemsize) &&
           (is_blas_matrix(left[0], left[1], inner, itemsize) ||
            is_blas_matrix(left[1], left[0], rows, itemsize)) &&
           (is_blas_matrix(right[0], right[1], columns, itemsize) ||
            is_blas_matrix(right[1], right[0], inner, itemsize)) &&
           !(args[0] == args[1] && left[0] == right[1] && left[1] == right[0]);
}

/* For each type of elements: the product of two matrices, of which the right one is row-major and
   the compiler knows the number of columns; that of all in two stacks; the same for every number of
   columns. products.c explains the arguments of such loops. */
#define DEFINE_PRODUCTS(type, fused)                                                               \
    static INLINE void multiply_##type(const char *left, npy_intp row_step, npy_intp inner_step,   \
                                       const type *right, char *result, npy_intp result_step,      \
                                       npy_intp rows, npy_intp inner, const int columns)           \
    {                                                                                              \
        for (npy_intp i = 0; i < rows; i++) {                                                      \
            type sums[LARGEST] = {0};                                                              \
            for (npy_intp k = 0; k < inner; k++) {                                                 \
                const type factor = *(const type *)(left + i * row_step + k * inner_step);         \
                UNROLLED                                                                           \
                for (int j = 0; j < columns; j++) {                                                \
                    sums[j] = fused(factor, right[k * columns + j], sums[j]);                      \
                }                                                                                  \
            }                                                                                      \
            memcpy(result + i * result_step, sums, (size_t)columns * sizeof(type));                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static INLINE void multiply_stack_##type(char *const *args, const npy_intp *sizes,             \
                                             const npy_intp *steps, const int columns)             \
    {                                                                                              \
        const npy_intp rows = sizes[1], inner = sizes[2], size = sizeof(type);                     \
        const int is_packed = steps[6] == size && steps[5] == columns * size;                      \
        type packed[LARGEST * LARGEST];                                                            \
        for (npy_intp n = 0; n < sizes[0]; n++) {                                                  \
            const char *right = args[1] + n * steps[1];                                            \
            if (!is_packed && (n == 0 || steps[1] != 0)) {                                         \
                for (npy_intp k = 0; k < inner; k++) {                                             \
                    for (int j = 0; j < columns; j++) {                                            \
                        packed[k * columns + j] =                                                  \
                            *(const type *)(right + k * steps[5] + j * steps[6]);                  \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            multiply_##type(args[0] + n * steps[0], steps[3], steps[4],                            \
                            is_packed ? (const type *)right : packed, args[2] + n * steps[2],      \
                            steps[7], rows, inner, columns);                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    CLONED_FOR_FUSED static void multiply_small_##type(char *const *args, const npy_intp *sizes,   \
                                                       const npy_intp *steps)                      \
    {                                                                                              \
        switch (sizes[3]) {                                                                        \
        case 2: multiply_stack_##type(args, sizes, steps, 2); break;                               \
        case 3: multiply_stack_##type(args, sizes, steps, 3); break;                               \
        case 4: multiply_stack_##type(args, sizes, steps, 4); break;                               \
        case 5: multiply_stack_##type(args, sizes, steps, 5); break;                               \
        case 6: multiply_stack_##type(args, sizes, steps, 6); break;                               \
        case 7: multiply_stack_##type(args, sizes, steps, 7); break;                               \
        default: multiply_stack_##type(args, sizes, steps, LARGEST);                               \
        }                                                                                          \
    }

DEFINE_PRODUCTS(npy_float, fmaf)
DEFINE_PRODUCTS(npy_double, fma)

static Products singles = {.itemsize = sizeof(npy_float), .multiply = multiply_small_npy_float};
static Products doubles = {.itemsize = sizeof(npy_double), .multiply = multiply_small_npy_double};

enum { MATRIX = LARGEST * LARGEST, STACK = 2 };

typedef union {
    npy_float singles[STACK * MATRIX];
    npy_double doubles[STACK * MATRIX];
} Elements;

/* Numbers between -0.5 and 0.5 from a linear congruential generator. */
static void fill_in(Elements *elements, npy_intp size, npy_uint64 state)
{
    for (int i = 0; i < STACK * MATRIX; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double number = (double)(state >> 40) / 16777216 - 0.5;
        if (size == sizeof(npy_float)) {
            elements->singles[i] = (npy_float)number;
        }
        else {
            elements->doubles[i] = number * (1 + number / 16777216); /* has 48 bits */
        }
    }
}

/* Whether products of these sizes have the bits of NumPy's, with either operand row-major or not. */
static int have_same_bits(const Products *products, npy_intp rows, npy_intp inner,
                          npy_intp columns)
{
    const npy_intp size = products->itemsize, sizes[4] = {STACK, rows, inner, columns};
    Elements left, right, expected, computed;
    fill_in(&left, size, 1);
    fill_in(&right, size, 2);
    memset(&expected, 0, sizeof(expected));
    memset(&computed, 0, sizeof(computed));
    for (int order = 0; order < 4; order++) {
        const npy_intp steps[9] = {
            MATRIX * size,
            MATRIX * size,
            MATRIX * size,
            order & 1 ? size : inner * size,
            order & 1 ? rows * size : size,
            order & 2 ? size : columns * size,
            order & 2 ? inner * size : size,
            columns * size,
            size,
        };
        char *args[3] = {(char *)&left, (char *)&right, (char *)&computed};
        char *numpy_args[3] = {args[0], args[1], (char *)&expected}; /* its loop moves them */
        products->numpy_loop(numpy_args, sizes, steps, products->numpy_data);
        products->multiply(args, sizes, steps);
        if (memcmp(&expected, &computed, sizeof(expected)) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Whether products of these sizes are computed here, for all layouts that BLAS takes. */
static int is_computed(Products *products, npy_intp rows, npy_intp inner, npy_intp columns)
{
    if (!is_small(rows) || !is_small(inner) || !is_small(columns) ||
        products->numpy_loop == NULL) {
        return 0;
    }
    npy_intp *verdict =
        &products->verdicts[rows - SMALLEST][inner - SMALLEST][columns - SMALLEST];
    npy_intp known = load_shared(verdict);
    if (known == UNKNOWN) { /* threads that find out at the same time find the same */
        known = have_same_bits(products, rows, inner, columns) ? EXACT : OTHER;
        exchange_shared(verdict, known);
    }
    return known == EXACT;
}

/* The loop of our ufunc. */
static void multiply_stacks(char **args, const npy_intp *sizes, const npy_intp *steps, void *own)
{
    Products *products = own;
    if (is_computed(products, sizes[1], sizes[2], sizes[3]) &&
        are_for_blas(args, sizes, steps, products->itemsize)) {
        products->multiply(args, sizes, steps);
    }
    else {
        products->numpy_loop(args, sizes, steps, products->numpy_data);
    }
}

static Products *find_products(int type)
{
    return type == NPY_FLOAT ? &singles : type == NPY_DOUBLE ? &doubles : NULL;
}

/* numpy.matmul's loops with our own in front of two; those for objects are left out. */
static int copy_loops(const PyUFuncObject *ufunc)
{
    int count = 0;
    for (int i = 0; i < ufunc->ntypes && count < MOST_TYPES; i++) {
        const char *signature = ufunc->types + 3 * i;
        if (ufunc->functions[i] == NULL || memchr(signature, NPY_OBJECT, 3) != NULL) {
            continue;
        }
        memcpy(types + 3 * count, signature, 3);
        functions[count] = ufunc->functions[i];
        data[count] = ufunc->data == NULL ? NULL : (void *)ufunc->data[i];
        const int type = signature[0];
        Products *products = find_products(type);
        if (products != NULL && signature[1] == type && signature[2] == type) {
            products->numpy_loop = functions[count];
            products->numpy_data = data[count];
            functions[count] = (PyUFuncGenericFunction)multiply_stacks;
            data[count] = products;
        }
        count++;
    }
    return count;
}

#endif

static PyObject *computes_product(PyObject *module, PyObject *args)
{
    PyArray_Descr *dtype;
    Py_ssize_t rows, inner, columns;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!nnn:computes_product", &PyArrayDescr_Type, &dtype, &rows,
                          &inner, &columns)) {
        return NULL;
    }
#ifdef HAS_FUSED_MULTIPLY_ADD
    Products *products = find_products(dtype->type_num);
    return PyBool_FromLong(products != NULL && is_computed(products, rows, inner, columns));
#else
    Py_RETURN_FALSE;
#endif
}

static PyMethodDef functions_of_module[] = {
    {"computes_product", computes_product, METH_VARARGS,
     "computes_product(dtype, rows, inner, columns)\n--\n\n"
     "Whether `matmul` computes products of such matrices itself, not BLAS."},
    {NULL, NULL, 0, NULL},
};

PyObject *get_matmul(void)
{
    return Py_XNewRef(matmul);
}

int add_small_matrices(PyObject *module)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *found = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "matmul");
    Py_XDECREF(numpy);
    if (found == NULL) {
        return -1;
    }
    matmul = found; /* for ever, since its loops are used */
#ifdef HAS_FUSED_MULTIPLY_ADD
    const PyUFuncObject *ufunc = (PyUFuncObject *)found;
    if (Py_IS_TYPE(found, &PyUFunc_Type) && ufunc->nin == 2 && ufunc->nout == 1 &&
        ufunc->core_signature != NULL) {
        matmul = PyUFunc_FromFuncAndDataAndSignature(
            functions, data, types, copy_loops(ufunc), 2, 1, PyUFunc_None, "matmul",
            "numpy.matmul; products of small matrices are computed here.", 0,
            ufunc->core_signature);
        if (matmul == NULL) {
            return -1;
        }
        /* These say that an operand is to be copied if it is the result, too: other ufuncs may read
           and write the same memory, element by element. */
        PyUFuncObject *made = (PyUFuncObject *)matmul;
        memcpy(made->op_flags, ufunc->op_flags, 3 * sizeof(*made->op_flags));
        made->iter_flags = ufunc->iter_flags;
    }
#endif
    return PyModule_AddObjectRef(module, "matmul", matmul) < 0 ||
                   PyModule_AddFunctions(module, functions_of_module) < 0
               ? -1
               : 0;
}
