/* argmin and argmax of many short rows, without NumPy's call of a function for each row
   (docs/tuning.md, 50). */

#include "parts.h"
#include "compiler.h"
#include "flags.h"

typedef void (*FindAll)(const char *rows, npy_intp count, npy_intp step, npy_intp columns,
                        npy_int64 *result);

/* For each row its first NaN, or else the first of its extremes. No branch depends on a comparison, which
   the processor could not predict. A row is searched for NaN only if it has one. */
#define DEFINE_FIND(name, type, is_better)                                                         \
    CLONED(static, void, name,                                                                     \
           (const char *rows, npy_intp count, npy_intp step, npy_intp columns,                     \
            npy_int64 *result),                                                                    \
           (rows, count, step, columns, result))                                                   \
    {                                                                                              \
        for (npy_intp i = 0; i < count; i++) {                                                     \
            const type *row = (const type *)(rows + i * step);                                     \
            type best = row[0];                                                                    \
            npy_int64 place = 0;                                                                   \
            int has_nan = best != best;                                                            \
            for (npy_intp k = 1; k < columns; k++) {                                               \
                const type each = row[k];                                                          \
                const int better = each is_better best;                                            \
                best = better ? each : best;                                                       \
                place = better ? k : place;                                                        \
                has_nan |= each != each;                                                           \
            }                                                                                      \
            if (has_nan) {                                                                         \
                for (place = 0; row[place] == row[place]; place++) {                               \
                }                                                                                  \
            }                                                                                      \
            result[i] = place;                                                                     \
        }                                                                                          \
    }

DEFINE_FIND(least_singles, npy_float, <)
DEFINE_FIND(greatest_singles, npy_float, >)
DEFINE_FIND(least_doubles, npy_double, <)
DEFINE_FIND(greatest_doubles, npy_double, >)

static const char *const WANTED =
    "arg_extremes takes a matrix of float32 or float64 whose rows lie in one piece, whether the "
    "greatest are wanted, and a vector of int64 for as many places";

static PyObject *arg_extremes(PyObject *module, PyObject *args)
{
    PyArrayObject *matrix, *places;
    int greatest;
    if (!PyArg_ParseTuple(args, "O!pO!:arg_extremes", &PyArray_Type, &matrix, &greatest,
                          &PyArray_Type, &places)) {
        return NULL;
    }
    const int type = PyArray_TYPE(matrix);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISBEHAVED_RO(matrix) ||
        PyArray_NDIM(matrix) != 2 || PyArray_DIM(matrix, 1) < 1 ||
        (PyArray_DIM(matrix, 1) > 1 &&
         PyArray_STRIDE(matrix, 1) != (type == NPY_FLOAT ? (npy_intp)sizeof(npy_float)
                                                         : (npy_intp)sizeof(npy_double))) ||
        PyArray_TYPE(places) != NPY_INT64 || !PyArray_ISCARRAY(places) ||
        PyArray_NDIM(places) != 1 || PyArray_DIM(places, 0) != PyArray_DIM(matrix, 0)) {
        PyErr_SetString(PyExc_ValueError, WANTED);
        return NULL;
    }
    const FindAll find = type == NPY_FLOAT ? (greatest ? greatest_singles : least_singles)
                                           : (greatest ? greatest_doubles : least_doubles);
    Py_BEGIN_ALLOW_THREADS
    find(PyArray_DATA(matrix), PyArray_DIM(matrix, 0), PyArray_STRIDE(matrix, 0),
         PyArray_DIM(matrix, 1), PyArray_DATA(places));
    clear_flags(); /* comparisons with NaN are invalid operations to the processor */
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyMethodDef arg_extremes_methods[] = {
    {"arg_extremes", arg_extremes, METH_VARARGS,
     "arg_extremes(matrix, greatest, places)\n--\n\n"
     "Write for each row of a matrix where its extreme is, as numpy.argmin and argmax tell it."},
    {NULL, NULL, 0, NULL},
};
