/* searchsorted. */

#include "boxes.h"
#include "chapters.h"
#include "conversion.h"
#include "elements.h"
#include "flags.h"
#include "half_loops.h"
#include "pack.h"
#include "settings.h"
#include "sorting.h"
#include "vectors.h"

#define BOOL_LESS(a, b) (truth_of(a) < truth_of(b))
#define BOOL_UP_TO(a, b) (truth_of(a) <= truth_of(b))
/* Both orders put NaN last. */
#define NUMBER_LESS(a, b) (RANK(a) < RANK(b) || (IS_NAN(b) && !IS_NAN(a)))
#define NUMBER_UP_TO(a, b) (!NUMBER_LESS(b, a))

/* An array that is searched: sorted, or in the order of some indices. */
typedef struct {
    const char *elements;
    npy_intp stride, length;
    const npy_int64 *sorter; /* or NULL */
} Searched;

/* One after the other as NumPy does it, where each search begins with the bounds of the last one. It
   matters for arrays that are not sorted. 0 if an index of the sorter is out of range. */
#define SEARCH_SIDE(NAME, TYPE, IS_BEFORE)                                                        \
    static int search_##NAME(Searched x, const char *values, npy_intp count, npy_int64 *out)      \
    {                                                                                             \
        const npy_intp length = x.length;                                                         \
        npy_intp low = 0, high = length;                                                          \
        TYPE last = *(const TYPE *)values;                                                        \
        for (npy_intp i = 0; i < count; i++) {                                                    \
            const TYPE value = ((const TYPE *)values)[i];                                         \
            if (IS_BEFORE(last, value)) {                                                         \
                high = length;                                                                    \
            } else {                                                                              \
                low = 0;                                                                          \
                high = high < length ? high + 1 : length;                                         \
            }                                                                                     \
            last = value;                                                                         \
            while (low < high) {                                                                  \
                const npy_intp middle = low + ((high - low) >> 1);                                \
                const npy_int64 place = x.sorter == NULL ? middle : x.sorter[middle];             \
                if ((npy_uint64)place >= (npy_uint64)length) {                                    \
                    return 0;                                                                     \
                }                                                                                 \
                const TYPE element = *(const TYPE *)(x.elements + place * x.stride);              \
                if (IS_BEFORE(element, value)) {                                                  \
                    low = middle + 1;                                                             \
                } else {                                                                          \
                    high = middle;                                                                \
                }                                                                                 \
            }                                                                                     \
            out[i] = low;                                                                         \
        }                                                                                         \
        return 1;                                                                                 \
    }

/* To the left of equal elements, or to the right of them. */
#define SEARCH(CODE, TYPE, KIND)                \
    SEARCH_SIDE(left_##CODE, TYPE, KIND##_LESS) \
    SEARCH_SIDE(right_##CODE, TYPE, KIND##_UP_TO)
#define SEARCH_BOOL(CODE, TYPE, ...) SEARCH(CODE, TYPE, BOOL)
#define SEARCH_NUMBER(CODE, TYPE, ...) SEARCH(CODE, TYPE, NUMBER)
EACH_BOOL(SEARCH_BOOL)
EACH_INTEGER(SEARCH_NUMBER)
EACH_FLOAT(SEARCH_NUMBER)

typedef int (*Search)(Searched x, const char *values, npy_intp count, npy_int64 *out);

/* By dtype, and by whether it is the right side. */
static const Search searches[DTYPE_COUNT][2] = {
#define ENTRY(CODE, ...) [CODE] = {search_left_##CODE, search_right_##CODE},
    EACH_REAL(ENTRY)
#undef ENTRY
};

/* "left" or "right"; 0 if it is another object. */
static int take_side(PyObject *value, int *right)
{
    if (value == NULL) {
        return 1;
    }
    if (!PyUnicode_CheckExact(value)) {
        return 0;
    }
    *right = PyUnicode_CompareWithASCIIString(value, "right") == 0;
    return *right || PyUnicode_CompareWithASCIIString(value, "left") == 0;
}

/* The places of all elements of `y`, or of a number, if that is NULL. */
static PyObject *search_all(Searched x, DTypeCode code, const Tensor *y, const char *data, int right)
{
    char *out;
    Scratch scratch;
    const npy_intp size = y == NULL ? 1 : y->size;
    const int copies = y != NULL && !(y->flags & ROW_MAJOR);
    if (copies && take_scratch(&scratch, size * dtypes[code].itemsize) < 0) {
        return NULL;
    }
    if (copies) {
        pack_rows(y, data, scratch.data);
        data = scratch.data;
    }
    PyObject *result = new_array_like_memory(y == NULL ? 0 : y->ndim, y == NULL ? NULL : y->shape, NX_INT64, 0, &out);
    if (result != NULL && x.sorter == NULL && x.stride == dtypes[code].itemsize &&
        is_worth_turns(x.elements, code, x.length, size)) {
        find_places_of(x.elements, code, x.length, data, size, right, (npy_int64 *)out);
        clear_flags(); /* comparisons with NaN */
    } else if (result != NULL && !searches[code][right](x, data, size, (npy_int64 *)out)) {
        Py_SETREF(result, DECLINED); /* and the error is raised in Python */
    }
    if (copies) {
        free_scratch(&scratch);
    }
    return result;
}

/* The indices of a sorter for so many elements, or NULL if none is given; 0 if they cannot be used as they are. */
static int take_sorter(PyObject *object, npy_intp length, Tensor **sorter)
{
    const char *data;
    *sorter = is_given(object) ? sortable(object, NPY_MAX_INTP, &data) : NULL;
    return !is_given(object) || (*sorter != NULL && (*sorter)->code == NX_INT64 && (*sorter)->ndim == 1 &&
                                 (*sorter)->size == length && ((*sorter)->flags & ROW_MAJOR));
}

/* An operand in a dtype that its own promotes to: a new reference, or NULL. */
static Tensor *in_dtype(Tensor *x, DTypeCode code)
{
    return x->code == code ? (Tensor *)Py_NewRef(x) : cast_operand(x, code);
}

/* Search in an array of a dtype for the elements of `y`, or for a number, if that is NULL. */
static PyObject *search_in(Tensor *x, DTypeCode code, Tensor *y, Tensor *sorter, const char *number, int right)
{
    PyObject *result = DECLINED;
    Tensor *array = in_dtype(x, code), *values = y == NULL ? NULL : in_dtype(y, code);
    if (array != NULL && (y == NULL || values != NULL)) {
        const char *elements = data_of(array), *data = y == NULL ? number : data_of(values);
        const char *order = sorter == NULL ? NULL : data_of(sorter);
        if (elements != NULL && data != NULL && (sorter == NULL || order != NULL)) {
            const Searched searched = {elements, array->strides[0], array->size, (const npy_int64 *)order};
            result = search_all(searched, code, values, data, right);
        }
    }
    Py_XDECREF(array);
    Py_XDECREF(values);
    return PyErr_Occurred() ? NULL : result;
}

/* Few values are searched for here in an array of any size, since each search reads but a few of its elements. */
static PyObject *call_searchsorted(int which, PyObject *const *values, Py_ssize_t count)
{
    const char *data;
    int right = 0;
    double number; /* or whatever fits there */
    Tensor *x = sortable(values[0], most_sortable(), &data), *y = NULL, *sorter;
    if (x == NULL || x->ndim != 1 || !take_side(values[2], &right) || !take_sorter(values[3], x->size, &sorter)) {
        return DECLINED;
    }
    const DTypeCode code = (DTypeCode)x->code;
    DTypeCode common = code;
    if (is_array(values[1])) {
        y = sortable(values[1], limits.at_once, &data);
        common = y == NULL || y->code == code ? code : (DTypeCode)promotions[code][y->code];
        if (y == NULL || (common != code && (common != y->code || x->size > limits.at_once))) {
            return DECLINED; /* such as integers of 64 bits with and without a sign, which are not compared as floats */
        }
    } else if (!write_scalar((char *)&number, code, values[1])) {
        return DECLINED;
    }
    /* Finalisers may give the arrays other memory meanwhile. */
    Py_INCREF(x);
    Py_XINCREF(y);
    Py_XINCREF(sorter);
    PyObject *result = search_in(x, common, y, sorter, (const char *)&number, right);
    Py_DECREF(x);
    Py_XDECREF(y);
    Py_XDECREF(sorter);
    return result;
}

Implementation searching_functions[] = {
    {"searchsorted", call_searchsorted, 0, "x1, x2, /, *, side=, sorter="},
    {NULL, NULL, 0, NULL},
};
