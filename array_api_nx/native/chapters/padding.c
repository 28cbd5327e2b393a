/* numpy.pad, which puts elements around an array, and numpy.meshgrid, which repeats vectors along the axes of a grid. */

#include "boxes.h"
#include "chapters.h"
#include "elements.h"
#include "nest.h"

/* ------------------------------------------------------------------ pad */

/* What is put around an array: one value, the elements at its borders, those at the opposite end, or its mirror image, with
   or without the border itself. */
typedef enum { CONSTANT, EDGE, WRAP, REFLECT, SYMMETRIC, MODES } PadMode;

static PadMode mode_of(PyObject *name)
{
    static const char *const names[MODES] = {"constant", "edge", "wrap", "reflect", "symmetric"};
    int mode = 0;
    if (name == NULL) {
        return CONSTANT;
    }
    while (mode < MODES && !(PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, names[mode]) == 0)) {
        mode++;
    }
    return (PadMode)mode;
}

/* Two sizes, or one that is both. */
static int take_pair(PyObject *pair, npy_intp *before, npy_intp *after)
{
    PyObject *const *items;
    Py_ssize_t count;
    if (!take_items(&pair, &count, &items) || count < 1 || count > 2 || !PyLong_CheckExact(items[0]) ||
        !take_number(items[0], before)) {
        return 0;
    }
    *after = *before;
    return *before >= 0 && (count == 1 || (PyLong_CheckExact(items[1]) && take_number(items[1], after) && *after >= 0));
}

/* How many elements are put before and after each axis: a pair for each, or one for all. */
static int take_widths(PyObject *given, int ndim, npy_intp *before, npy_intp *after)
{
    PyObject *const *items;
    Py_ssize_t count;
    const int is_nested = take_items(&given, &count, &items) && count > 0 && !PyLong_CheckExact(items[0]);
    if (is_nested && count != 1 && count != ndim) {
        return 0;
    }
    for (int dim = 0; dim < ndim; dim++) {
        PyObject *pair = is_nested ? items[count == 1 ? 0 : dim] : given;
        if (!take_pair(pair, before + dim, after + dim)) {
            return 0;
        }
    }
    return 1;
}

/* One of the three parts of an axis of the result: before, of, and after the array. */
typedef struct {
    npy_intp size, from, step; /* the element of the array's axis with which it begins, and the next one's distance */
    npy_intp to;               /* where it begins in the result */
} AxisPart;

/* 0 if more is put around an axis of `size` elements than these are for. */
static int find_parts(PadMode mode, npy_intp size, npy_intp before, npy_intp after, AxisPart *parts)
{
    const npy_intp most = mode == REFLECT ? size - 1 : mode == WRAP || mode == SYMMETRIC ? size : MOST_ELEMENTS;
    const npy_intp skipped = mode == REFLECT;
    parts[0] = (AxisPart){before, 0, 0, 0};
    parts[1] = (AxisPart){size, 0, 1, before};
    parts[2] = (AxisPart){after, size - 1, 0, before + size};
    if (mode == WRAP) {
        parts[0].from = size - before;
        parts[2].from = 0;
        parts[0].step = parts[2].step = 1;
    } else if (mode == REFLECT || mode == SYMMETRIC) {
        parts[0].from = before - 1 + skipped;
        parts[2].from = size - 1 - skipped;
        parts[0].step = parts[2].step = -1;
    }
    return before <= most && after <= most;
}

/* Fill a part of the result. As `write_region`. */
static int fill_part(const Tensor *result, char *to, AxisPart (*parts)[3], const npy_intp *which, PyObject *value)
{
    Region region = {.data = to, .ndim = result->ndim, .size = 1, .itemsize = dtypes[result->code].itemsize};
    for (int dim = 0; dim < result->ndim; dim++) {
        const AxisPart *part = &parts[dim][which[dim]];
        region.shape[dim] = part->size;
        region.strides[dim] = result->strides[dim];
        region.data += part->to * result->strides[dim];
        region.size *= part->size;
    }
    return region.size == 0 || write_region(&region, (DTypeCode)result->code, value);
}

/* Copy a part of the array. 0 with an exception set. */
static int copy_part(Tensor *x, const char *from, Tensor *result, char *to, AxisPart (*parts)[3], const npy_intp *which)
{
    Walk box;
    start_box(&box);
    for (int dim = 0; dim < x->ndim; dim++) {
        const AxisPart *part = &parts[dim][which[dim]];
        if (part->size == 0) {
            return 1;
        }
        from += part->from * x->strides[dim];
        to += part->to * result->strides[dim];
        add_box_axis(&box, part->size, part->step * x->strides[dim], result->strides[dim]);
    }
    return copy_box(&box, x, from, result, to);
}

/* Write all parts of the result: copies of the array, or around it the value if there is one. 1 if that is done, 0 if Python
   has to, -1 with an exception set. */
static int write_parts(Tensor *x, const char *from, Tensor *result, char *to, AxisPart (*parts)[3], PyObject *value)
{
    npy_intp which[ARRAY_DIMS] = {0}, three[ARRAY_DIMS];
    for (int dim = 0; dim < x->ndim; dim++) {
        three[dim] = 3;
    }
    do {
        int is_array = 1, done;
        for (int dim = 0; dim < x->ndim; dim++) {
            is_array = is_array && which[dim] == 1;
        }
        if (value == NULL || is_array) {
            done = copy_part(x, from, result, to, parts, which) ? 1 : -1;
        } else {
            done = fill_part(result, to, parts, which, value);
        }
        if (done != 1) {
            return done;
        }
    } while (next_index(x->ndim, three, which) >= 0);
    return 1;
}

/* Arrays of more axes are left to Python: there are three parts for each. */
enum { MOST_PADDED_AXES = 4 };

static PyObject *call_pad(int which, PyObject *const *values, Py_ssize_t count)
{
    npy_intp before[MOST_PADDED_AXES], after[MOST_PADDED_AXES], shape[MOST_PADDED_AXES];
    AxisPart parts[MOST_PADDED_AXES][3];
    Tensor *x = layout_of_any(values[0]);
    const PadMode mode = mode_of(values[2]);
    const char *from;
    char *to;
    if (x == NULL || mode == MODES || x->ndim == 0 || x->ndim > MOST_PADDED_AXES || x->size == 0 || !is_computed_now(1) ||
        (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) == COLUMN_MAJOR || (values[3] != NULL && (mode != CONSTANT || is_array(values[3]))) ||
        !take_widths(values[1], x->ndim, before, after) || (from = data_of(x)) == NULL) {
        return decline_unless_raised();
    }
    double size = 1;
    for (int dim = 0; dim < x->ndim; dim++) {
        if (!find_parts(mode, x->shape[dim], before[dim], after[dim], parts[dim])) {
            return DECLINED;
        }
        shape[dim] = x->shape[dim] + before[dim] + after[dim];
        size *= (double)shape[dim];
    }
    if (size > (double)MOST_ELEMENTS) {
        return DECLINED;
    }
    Py_INCREF(x);
    PyObject *result = new_copy(x, from, x->ndim, shape, &to);
    if (is_answer(result)) {
        PyObject *zero = mode == CONSTANT && values[3] == NULL ? PyLong_FromLong(0) : NULL;
        PyObject *value = zero == NULL && mode == CONSTANT ? values[3] : zero;
        const int done = PyErr_Occurred() ? -1 : write_parts(x, from, tensor_of(result), to, parts, value);
        Py_XDECREF(zero);
        result = answer_if(done, result);
    }
    Py_DECREF(x);
    return result;
}

/* ------------------------------------------------------------------ meshgrid */

/* How many arrays C makes a grid of. */
enum { MOST_GRIDDED = 3 };

/* Whether the first two axes change places: 1 if they do, 0 if not, -1 if Python has to look at it. */
static int is_turned_grid(PyObject *indexing)
{
    if (indexing == NULL) {
        return 1;
    }
    if (!PyUnicode_Check(indexing)) {
        return -1;
    }
    return PyUnicode_CompareWithASCIIString(indexing, "xy") == 0   ? 1
           : PyUnicode_CompareWithASCIIString(indexing, "ij") == 0 ? 0
                                                                   : -1;
}

/* A new array of a shape whose elements along `axis` are those of a vector, the same wherever the other axes are. */
static PyObject *copy_along(Tensor *x, int axis, int ndim, const npy_intp *shape)
{
    const char *from = data_of(x);
    npy_intp step = dtypes[x->code].itemsize;
    Walk box;
    if (from == NULL) {
        return decline_unless_raised();
    }
    for (int dim = 0; dim < ndim; dim++) {
        step *= shape[dim];
    }
    start_box(&box);
    for (int dim = 0; dim < ndim; dim++) {
        step /= shape[dim];
        add_box_axis(&box, shape[dim], dim == axis ? x->strides[0] : 0, step);
    }
    return copied_box(&box, x, from, ndim, shape);
}

static PyObject *call_meshgrid(int which, PyObject *const *values, Py_ssize_t count)
{
    const int number = values[2] == NULL ? 2 : MOST_GRIDDED, turned = is_turned_grid(values[MOST_GRIDDED]);
    npy_intp shape[MOST_GRIDDED];
    int axes[MOST_GRIDDED], sparse = 0, copies = 1;
    if (turned < 0 || !take_flag(values[4], &sparse) || !take_flag(values[5], &copies) || !copies || !is_computed_now(1)) {
        return DECLINED;
    }
    double size = 1;
    for (int i = 0; i < number; i++) {
        const Tensor *x = layout_of_any(values[i]);
        if (x == NULL || x->ndim != 1 || x->size == 0) {
            return decline_unless_raised();
        }
        axes[i] = i < 2 && turned ? 1 - i : i;
        shape[axes[i]] = x->size;
        size *= (double)x->size;
    }
    if (size > (double)MOST_ELEMENTS) {
        return DECLINED;
    }
    PyObject *grids = PyTuple_New(number);
    for (int i = 0; grids != NULL && i < number; i++) {
        npy_intp thin[MOST_GRIDDED];
        for (int dim = 0; dim < number; dim++) {
            thin[dim] = sparse && dim != axes[i] ? 1 : shape[dim];
        }
        Tensor *x = layout_of_any(values[i]); /* which finalisers may have changed */
        PyObject *grid = x == NULL || x->ndim != 1 || x->size != shape[axes[i]] ? decline_unless_raised()
                                                                                : copy_along(x, axes[i], number, thin);
        if (!is_answer(grid)) {
            Py_DECREF(grids);
            return grid;
        }
        PyTuple_SET_ITEM(grids, i, grid);
    }
    return grids;
}

Implementation padding_functions[] = {
    {"pad_copies", call_pad, 0, "array, pad_width, mode=, *, constant_values="},
    {"meshgrid_copies", call_meshgrid, 0, "x1, x2, x3=, /, *, indexing=, sparse=, copy="},
    {NULL, NULL, 0, NULL},
};
