#include "loops.h"
#include "parts.h"
#include "compiler.h"
#include "folds.h"
#include "half_loops.h"
#include "limit_loops.h"
#include "sums.h"

/* Both bodies are the same loop; the compiler vectorizes the contiguous one. */
#define EACH(CONTIGUOUS, I1, O1, VALUE)                            \
    do {                                                           \
        const npy_intp n = *count;                                 \
        const char *source = args[0];                              \
        char *target = args[1];                                    \
        if (CONTIGUOUS) {                                          \
            INDEPENDENT                                            \
            for (npy_intp i = 0; i < n; i++) {                     \
                const I1 x = ((const I1 *)source)[i];              \
                ((O1 *)target)[i] = VALUE;                         \
            }                                                      \
        } else {                                                   \
            const npy_intp step = steps[0], to_step = steps[1];    \
            for (npy_intp i = 0; i < n; i++) {                     \
                const I1 x = *(const I1 *)source;                  \
                *(O1 *)target = VALUE;                             \
                source += step;                                    \
                target += to_step;                                 \
            }                                                      \
        }                                                          \
    } while (0)

#define ELEMENT(CODE, TYPE, ...) typedef TYPE CODE##_element;
EACH_DTYPE(ELEMENT)

/* Vectors of 64-bit integers become floating-point numbers by several instructions each, which take twice as long as
   one conversion after the other. */
#define IS_SLOW_IN_VECTORS(FROM, TO) (is_integer(FROM) && sizeof(FROM##_element) == 8 && is_inexact(TO))

/* A bool is read as a number; any number but 0 is true. */
#define CAST(FROM, TO, ...)                                                            \
    LOOP(FROM##_to_##TO)                                                               \
    {                                                                                  \
        const npy_intp size = sizeof(FROM##_element);                                  \
        if (FROM == TO && FROM != BOOL && steps[0] == size && steps[1] == size) {      \
            memmove(args[1], args[0], (size_t)(*count * size));                        \
            return;                                                                    \
        }                                                                              \
        EACH(!IS_SLOW_IN_VECTORS(FROM, TO) && steps[0] == sizeof(FROM##_element) &&    \
                 steps[1] == sizeof(TO##_element),                                     \
             FROM##_element, TO##_element,                                             \
             (TO##_element)(TO == BOOL     ? IS_TRUE(x)                                \
                            : FROM == BOOL ? (FROM##_element)truth_of((npy_bool)x)     \
                                           : x));                                      \
    }
#define ENTRY(FROM, TO, ...) [TO] = FROM##_to_##TO,

/* DO(FROM, TO, ...) for the targets of the casts of a dtype. Missing are real numbers to most integers, since
   results that do not fit are each loop's own; the processor has instructions for signed ones of 32 and 64 bits,
   which NumPy's loops use, too. Also missing are complex numbers to real ones. A macro does not expand
   within itself: TWICE expands these lists after those that they stand in. */
#define NOTHING
#define INTEGERS() EACH_INTEGER_WITH
#define FLOATS() EACH_FLOAT_WITH
#define COMPLEX_NUMBERS() EACH_COMPLEX_WITH
#define TARGETS_OF_COMPLEX(DO, FROM) DO(FROM, BOOL) COMPLEX_NUMBERS NOTHING()(DO, FROM)
#define TARGETS_OF_FLOAT(DO, FROM) FLOATS NOTHING()(DO, FROM) TARGETS_OF_COMPLEX(DO, FROM)
#define TARGETS_OF_BROAD_FLOAT(DO, FROM) DO(FROM, NX_INT32) DO(FROM, NX_INT64) TARGETS_OF_FLOAT(DO, FROM)
#define TARGETS_OF_INTEGER(DO, FROM) INTEGERS NOTHING()(DO, FROM) TARGETS_OF_FLOAT(DO, FROM)
#define TWICE(...) __VA_ARGS__

#define CASTS_OF_INTEGER(FROM, ...) TARGETS_OF_INTEGER(CAST, FROM)
#define CASTS_OF_FLOAT(FROM, ...) TARGETS_OF_FLOAT(CAST, FROM)
#define CASTS_OF_BROAD_FLOAT(FROM, ...) TARGETS_OF_BROAD_FLOAT(CAST, FROM)
#define CASTS_OF_COMPLEX(FROM, ...) TARGETS_OF_COMPLEX(CAST, FROM)
TWICE(EACH_BOOL(CASTS_OF_INTEGER) EACH_INTEGER(CASTS_OF_INTEGER))
TWICE(EACH_HALF(CASTS_OF_FLOAT) EACH_BROAD_FLOAT(CASTS_OF_BROAD_FLOAT) EACH_COMPLEX(CASTS_OF_COMPLEX))

#define ROW_OF_INTEGER(FROM, ...) [FROM] = {TARGETS_OF_INTEGER(ENTRY, FROM)},
#define ROW_OF_FLOAT(FROM, ...) [FROM] = {TARGETS_OF_FLOAT(ENTRY, FROM)},
#define ROW_OF_BROAD_FLOAT(FROM, ...) [FROM] = {TARGETS_OF_BROAD_FLOAT(ENTRY, FROM)},
#define ROW_OF_COMPLEX(FROM, ...) [FROM] = {TARGETS_OF_COMPLEX(ENTRY, FROM)},
static const PyUFuncGenericFunction casts[DTYPE_COUNT][DTYPE_COUNT] = {
    TWICE(EACH_BOOL(ROW_OF_INTEGER) EACH_INTEGER(ROW_OF_INTEGER)
          EACH_HALF(ROW_OF_FLOAT) EACH_BROAD_FLOAT(ROW_OF_BROAD_FLOAT) EACH_COMPLEX(ROW_OF_COMPLEX))
};

PyUFuncGenericFunction cast_function(DTypeCode from, DTypeCode to)
{
    const PyUFuncGenericFunction faster = half_cast(from, to);
    return faster == NULL ? casts[from][to] : faster;
}

/* Whether there is such a loop. */
static int find_cast(int from, int to, Loop *loop)
{
    const DTypeCode i = code_of_number(from);
    const DTypeCode j = code_of_number(to);
    if (i == DTYPE_COUNT || j == DTYPE_COUNT || casts[i][j] == NULL) {
        return 0;
    }
    const int is_arithmetic = (!is_float16(i) && !is_float16(j)) || half_cast(i, j) != NULL;
    *loop = (Loop){cast_function(i, j), NULL, 1, {dtypes[i].itemsize, dtypes[j].itemsize}, is_arithmetic, NO_LINK};
    return 1;
}

/* Whole values are selected, by their bits: no processor can guess a condition that is as good as
   random. */
#define SELECT_EACH(TYPE, FIRST, SECOND)                                    \
    INDEPENDENT                                                             \
    for (npy_intp i = 0; i < n; i++) {                                      \
        const TYPE one = FIRST;                                             \
        const TYPE other = SECOND;                                          \
        target[i] = other ^ ((one ^ other) & (TYPE) - (condition[i] != 0)); \
    }

/* target = condition ? first : second; either may be a scalar. */
#define SELECT(NAME, TYPE)                                                                     \
    CLONED_LOOP(NAME)                                                                          \
    {                                                                                          \
        const npy_intp n = *count;                                                             \
        const npy_intp size = sizeof(TYPE);                                                    \
        const char *condition = args[0];                                                       \
        const TYPE *first = (const TYPE *)args[1], *second = (const TYPE *)args[2];            \
        TYPE *target = (TYPE *)args[3];                                                        \
        if (steps[0] == 1 && steps[1] == size && steps[2] == size && steps[3] == size) {       \
            SELECT_EACH(TYPE, first[i], second[i])                                             \
        } else if (steps[0] == 1 && steps[1] == size && steps[2] == 0 && steps[3] == size) {   \
            const TYPE scalar = *second;                                                       \
            SELECT_EACH(TYPE, first[i], scalar)                                                \
        } else if (steps[0] == 1 && steps[1] == 0 && steps[2] == size && steps[3] == size) {   \
            const TYPE scalar = *first;                                                        \
            SELECT_EACH(TYPE, scalar, second[i])                                               \
        } else {                                                                               \
            for (npy_intp i = 0; i < n; i++) {                                                 \
                const char *chosen =                                                           \
                    condition[i * steps[0]] ? args[1] + i * steps[1] : args[2] + i * steps[2]; \
                *(TYPE *)(args[3] + i * steps[3]) = *(const TYPE *)chosen;                     \
            }                                                                                  \
        }                                                                                      \
    }

SELECT(select_1, npy_uint8)
SELECT(select_2, npy_uint16)
SELECT(select_4, npy_uint32)
SELECT(select_8, npy_uint64)

LOOP(select_16)
{
    for (npy_intp i = 0; i < *count; i++) {
        const char *chosen =
            args[0][i * steps[0]] ? args[1] + i * steps[1] : args[2] + i * steps[2];
        *(Pair *)(args[3] + i * steps[3]) = *(const Pair *)chosen;
    }
}

/* Whether there is such a loop. */
int find_select(npy_intp itemsize, Loop *loop)
{
    PyUFuncGenericFunction function;
    switch (itemsize) {
        case 1: function = select_1; break;
        case 2: function = select_2; break;
        case 4: function = select_4; break;
        case 8: function = select_8; break;
        case 16: function = select_16; break;
        default: return 0;
    }
    *loop = (Loop){function, NULL, 3, {1, itemsize, itemsize, itemsize}, 1,
                   NO_LINK};
    return 1;
}

/* target = source, or a value, which may be a scalar, where the source is NaN. */
#define REPLACE_NAN(NAME, TYPE)                                                           \
    CLONED_LOOP(NAME)                                                                     \
    {                                                                                     \
        const npy_intp n = *count;                                                        \
        const npy_intp size = sizeof(TYPE);                                               \
        if (steps[0] == size && steps[1] == 0 && steps[2] == size) {                      \
            const TYPE *source = (const TYPE *)args[0];                                   \
            const TYPE value = *(const TYPE *)args[1];                                    \
            TYPE *target = (TYPE *)args[2];                                               \
            INDEPENDENT                                                                   \
            for (npy_intp i = 0; i < n; i++) {                                            \
                target[i] = source[i] == source[i] ? source[i] : value;                   \
            }                                                                             \
        } else {                                                                          \
            for (npy_intp i = 0; i < n; i++) {                                            \
                const TYPE x = *(const TYPE *)(args[0] + i * steps[0]);                   \
                *(TYPE *)(args[2] + i * steps[2]) =                                       \
                    x == x ? x : *(const TYPE *)(args[1] + i * steps[1]);                 \
            }                                                                             \
        }                                                                                 \
    }

REPLACE_NAN(replace_nan_float, npy_float)
REPLACE_NAN(replace_nan_double, npy_double)

static int find_replace_nan(int type, int ignored, Loop *loop)
{
    switch (type) {
    case NPY_FLOAT:
        return set_binary(loop, replace_nan_float, sizeof(npy_float), 1);
    case NPY_DOUBLE:
        return set_binary(loop, replace_nan_double, sizeof(npy_double), 1);
    default:
        return 0;
    }
}

/* Bytes that are counted side by side, and how many such lines before a byte could overflow. */
enum { COUNTED = 64, COUNTED_LINES = 255 };

/* How many of the bytes are not 0. */
static npy_int64 count_bytes(const char *bytes, npy_intp n)
{
    npy_int64 total = 0;
    while (n >= COUNTED) {
        npy_uint8 counts[COUNTED] = {0};
        const npy_intp lines = n / COUNTED < COUNTED_LINES ? n / COUNTED : COUNTED_LINES;
        for (npy_intp line = 0; line < lines; line++) {
            for (int i = 0; i < COUNTED; i++) {
                counts[i] += bytes[line * COUNTED + i] != 0;
            }
        }
        for (int i = 0; i < COUNTED; i++) {
            total += counts[i];
        }
        bytes += lines * COUNTED;
        n -= lines * COUNTED;
    }
    for (npy_intp i = 0; i < n; i++) {
        total += bytes[i] != 0;
    }
    return total;
}

/* Add 1 to the numbers whose byte is not 0. */
CLONED(static, void, add_bytes, (npy_int64 *numbers, const char *bytes, npy_intp n), (numbers, bytes, n))
{
    INDEPENDENT
    for (npy_intp i = 0; i < n; i++) {
        numbers[i] += bytes[i] != 0;
    }
}

/* (int64, bool) -> int64: the sum. */
LOOP(count_true)
{
    const npy_intp n = *count;
    if (args[0] == args[2] && steps[0] == 0 && steps[1] == 1 && steps[2] == 0) {
        *(npy_int64 *)args[2] += count_bytes(args[1], n);
        return;
    }
    if (args[0] == args[2] && steps[0] == 8 && steps[1] == 1 && steps[2] == 8) {
        add_bytes((npy_int64 *)args[2], args[1], n);
        return;
    }
    for (npy_intp i = 0; i < n; i++) {
        const npy_int64 before = *(const npy_int64 *)(args[0] + i * steps[0]);
        *(npy_int64 *)(args[2] + i * steps[2]) = before + (args[1][i * steps[1]] != 0);
    }
}

static const Loop count_loop = {count_true, NULL, 2, {8, 1, 8}, 1, NO_LINK};

/* What chains can have of the ufunc's loops. */
static LinkOperation link_operation(const PyUFuncObject *ufunc, int type)
{
    static const char *const names[] = {"", "add", "subtract", "multiply", "divide", "square",
                                        "negative", "sqrt", "absolute"};
    for (int i = ADD_LINK; i <= ABSOLUTE_LINK; i++) {
        if (strcmp(ufunc->name, names[i]) == 0 && (type == NPY_FLOAT || type == NPY_DOUBLE)) {
            return (LinkOperation)i;
        }
    }
    return NO_LINK;
}

/* The ufunc's loop for exactly these dtypes, which must be standard ones. Whether there is one. */
static int find_ufunc(const PyUFuncObject *ufunc, const int *types, const npy_intp *sizes,
                      Loop *loop)
{
    for (int i = 0; i < ufunc->ntypes; i++) {
        int same = 1;
        for (int j = 0; j < ufunc->nargs; j++) {
            same = same && ufunc->types[i * ufunc->nargs + j] == types[j] &&
                   is_standard(types[j]);
        }
        if (same && ufunc->functions[i] != NULL) {
            *loop = (Loop){ufunc->functions[i], ufunc->data ? (void *)ufunc->data[i] : NULL,
                           ufunc->nin, {0}, 0, NO_LINK};
            for (int j = 0; j < ufunc->nargs; j++) {
                loop->itemsizes[j] = sizes[j];
            }
            /* NumPy's loops of float16 raise flags by functions. */
            loop->is_arithmetic = replace_loop(ufunc, types[0], &loop->function, &loop->data) ||
                                  types[0] != NPY_HALF;
            return 1;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------ capsules */

static void free_loop(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, LOOP_NAME));
}

static PyObject *wrap_loop(const Loop *loop)
{
    Loop *copy = PyMem_Malloc(sizeof(Loop));
    if (copy == NULL) {
        return PyErr_NoMemory();
    }
    *copy = *loop;
    PyObject *capsule = PyCapsule_New(copy, LOOP_NAME, free_loop);
    if (capsule == NULL) {
        PyMem_Free(copy);
    }
    return capsule;
}

/* A capsule of the loop if it was found, else None. */
static PyObject *found_loop(int found, const Loop *loop)
{
    if (found) {
        return wrap_loop(loop);
    }
    Py_RETURN_NONE;
}

static PyObject *ufunc_loop(PyObject *module, PyObject *args)
{
    PyUFuncObject *ufunc;
    PyObject *dtypes;
    int types[MAX_SOURCES + 1];
    npy_intp sizes[MAX_SOURCES + 1];
    Loop loop;
    int is_arithmetic = 0;
    if (!PyArg_ParseTuple(args, "O!O!|p:ufunc_loop", &PyUFunc_Type, &ufunc, &PyTuple_Type, &dtypes,
                          &is_arithmetic)) {
        return NULL;
    }
    if (ufunc->nout != 1 || ufunc->nin > MAX_SOURCES || PyTuple_GET_SIZE(dtypes) != ufunc->nargs) {
        Py_RETURN_NONE;
    }
    for (int i = 0; i < ufunc->nargs; i++) {
        PyObject *dtype = PyTuple_GET_ITEM(dtypes, i);
        if (!PyArray_DescrCheck(dtype)) {
            PyErr_SetString(PyExc_TypeError, "ufunc_loop takes a tuple of NumPy dtypes");
            return NULL;
        }
        types[i] = ((PyArray_Descr *)dtype)->type_num;
        sizes[i] = PyDataType_ELSIZE((PyArray_Descr *)dtype);
    }
    const int found = find_ufunc(ufunc, types, sizes, &loop);
    if (found) {
        loop.is_arithmetic &= is_arithmetic;
        loop.link = is_arithmetic ? link_operation(ufunc, types[0]) : NO_LINK;
    }
    return found_loop(found, &loop);
}

static PyObject *is_link(PyObject *module, PyObject *capsule)
{
    const Loop *loop = PyCapsule_GetPointer(capsule, LOOP_NAME);
    return loop == NULL ? NULL : PyBool_FromLong(loop->link != NO_LINK);
}

static PyObject *cast_loop(PyObject *module, PyObject *args)
{
    PyArray_Descr *from, *to;
    Loop loop;
    if (!PyArg_ParseTuple(args, "O!O!:cast_loop", &PyArrayDescr_Type, &from, &PyArrayDescr_Type,
                          &to)) {
        return NULL;
    }
    return found_loop(find_cast(from->type_num, to->type_num, &loop), &loop);
}

static PyObject *select_loop(PyObject *module, PyObject *itemsize)
{
    Loop loop;
    const npy_intp size = PyLong_AsSsize_t(itemsize);
    if (size == -1 && PyErr_Occurred()) {
        return NULL;
    }
    return found_loop(find_select(size, &loop), &loop);
}

static PyObject *get_count_loop(PyObject *module, PyObject *ignored)
{
    return wrap_loop(&count_loop);
}

/* Loops of numbers of one dtype; `choice` says which of two, if there are two. */
#define LOOP_FOR_DTYPE(NAME, FORMAT, FIND)                                                 \
    static PyObject *NAME(PyObject *module, PyObject *args)                                \
    {                                                                                      \
        PyArray_Descr *dtype;                                                              \
        int choice = 0;                                                                    \
        Loop loop;                                                                         \
        return PyArg_ParseTuple(args, FORMAT ":" #NAME, &PyArrayDescr_Type, &dtype, &choice) \
                   ? found_loop(FIND(dtype->type_num, choice, &loop), &loop)               \
                   : NULL;                                                                 \
    }

LOOP_FOR_DTYPE(replace_nan_loop, "O!", find_replace_nan)
LOOP_FOR_DTYPE(sum_loop, "O!", find_sum)
LOOP_FOR_DTYPE(moments_loop, "O!", find_moments)
LOOP_FOR_DTYPE(extreme_loop, "O!p", find_extreme)
LOOP_FOR_DTYPE(running_loop, "O!p", find_running)

PyMethodDef loops_methods[] = {
    {"ufunc_loop", ufunc_loop, METH_VARARGS,
     "ufunc_loop(ufunc, dtypes, is_arithmetic=False)\n--\n\n"
     "The ufunc's inner loop for exactly these dtypes of inputs and output, or None. "
     "is_arithmetic says that it raises floating-point flags by vector instructions alone."},
    {"is_link", is_link, METH_O,
     "is_link(loop)\n--\n\nWhether chains can have the loop: see links.h."},
    {"cast_loop", cast_loop, METH_VARARGS,
     "cast_loop(source, target)\n--\n\nA loop that casts between two dtypes, or None."},
    {"select_loop", select_loop, METH_O,
     "select_loop(itemsize)\n--\n\n"
     "A loop (bool, value, value) -> value that takes the first value where true, or None."},
    {"replace_nan_loop", replace_nan_loop, METH_VARARGS,
     "replace_nan_loop(dtype)\n--\n\n"
     "A loop (real number, real number) -> real number that takes the second where the first is "
     "NaN, or None."},
    {"count_loop", get_count_loop, METH_NOARGS,
     "count_loop()\n--\n\nA loop (int64, bool) -> int64 that adds."},
    {"sum_loop", sum_loop, METH_VARARGS,
     "sum_loop(dtype)\n--\n\n"
     "A loop (accumulator, element) -> accumulator that adds up real numbers, or None."},
    {"moments_loop", moments_loop, METH_VARARGS,
     "moments_loop(dtype)\n--\n\n"
     "What folds real numbers into pairs of their mean and their squared distances from it, or "
     "None."},
    {"extreme_loop", extreme_loop, METH_VARARGS,
     "extreme_loop(dtype, largest)\n--\n\n"
     "A loop (accumulator, real number) -> accumulator that finds the largest or smallest number "
     "and passes over NaN, or None."},
    {"running_loop", running_loop, METH_VARARGS,
     "running_loop(dtype, multiplies)\n--\n\n"
     "A loop that adds or multiplies two numbers, fast where each first operand is the result "
     "before, or None."},
    {NULL, NULL, 0, NULL},
};
