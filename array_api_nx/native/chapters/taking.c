#include "chapters.h"
#include "conversion.h"
#include "array_keys.h"
#include "keys.h"
#include "masks.h"
#include "array_selection.h"

/* x, indices and an axis: 0 if Python has to look at them. Without an axis, `*axis` stays as it
   is. */
static int take_operands(PyObject *const *values, Tensor **x, Tensor **indices, int *axis)
{
    *x = layout_of_any(values[0]);
    *indices = layout_of_any(values[1]);
    return *x != NULL && *indices != NULL && is_integer((*indices)->code) &&
           is_computed_now(1) &&
           (values[2] == NULL || take_axis(values[2], (*x)->ndim, axis));
}

/* Indices of the only axis, which lie one after the other. */
typedef struct {
    const npy_int64 *indices;
    npy_intp count, size, stride, itemsize;
    char *data, *taken;
    _Atomic(int) is_outside;
} DirectCopy;

/* Elements that a thread copies at a time. */
enum { TAKEN_AT_ONCE = 1 << 14 };

static void take_part(const void *parts, npy_intp number, char *scratch)
{
    DirectCopy *copy = (DirectCopy *)parts;
    const npy_intp begin = number * TAKEN_AT_ONCE;
    if (!move_by_indices(copy->indices + begin, least(TAKEN_AT_ONCE, copy->count - begin), copy->data, copy->size,
                         copy->stride, copy->itemsize, copy->taken + begin * copy->itemsize, copy->itemsize, 0)) {
        copy->is_outside = 1;
    }
}

PyObject *take_directly(const Tensor *x, char *data, const Tensor *indices, const char *where)
{
    char *taken;
    PyObject *result =
        new_array_like_memory(indices->ndim, indices->shape, (DTypeCode)x->code, 0, &taken);
    if (result == NULL) {
        return NULL;
    }
    DirectCopy copy = {(const npy_int64 *)where, indices->size, x->shape[0], x->strides[0], dtypes[x->code].itemsize,
                       data, taken, 0};
    const int is_done = run_in_parts(take_part, &copy, (indices->size - 1) / TAKEN_AT_ONCE + 1);
    return answer_if(is_done ? !copy.is_outside : -1, result);
}

/* A new row-major array of a shape for the elements that indices choose along an axis. `along` is how far the selection's
   positions lie apart in the array; NULL if the selection has one axis, and what it leaves is a region at each position. */
static PyObject *copy_chosen(Tensor *x, char *data, const Gather *selection, Tensor *indices, int axis,
                             const npy_intp *shape, const npy_intp *along)
{
    IndexedCopy copy;
    copy.selection = selection;
    copy.count = 0;
    copy.data = data;
    copy.along[0] = 0;
    const char *where = data_of(indices);
    if (where == NULL) {
        return decline_unless_raised();
    }
    add_index_array(&copy, indices, where, x->shape[axis], x->strides[axis]);
    PyObject *result = new_array_like_memory(x->ndim, shape, (DTypeCode)x->code, 0, &copy.copied);
    if (result == NULL) {
        return NULL;
    }
    const npy_intp *strides = tensor_of(result)->strides;
    copy.step = strides[along == NULL ? axis : x->ndim - 1];
    for (int dim = 0, kept = 0; dim < x->ndim; dim++) {
        if (along != NULL) {
            copy.along[dim] = along[dim];
        } else if (dim != axis) {
            copy.region_strides[kept++] = strides[dim];
        }
    }
    return answer_if(copy_indexed(&copy), result);
}

static PyObject *take(PyObject *const *values)
{
    Tensor *x, *indices;
    Gather selection;
    Region *region = &selection.region;
    npy_intp shape[ARRAY_DIMS];
    char *data, *where;
    int axis = -1;
    if (!take_operands(values, &x, &indices, &axis) || indices->ndim != 1 ||
        (axis < 0 && x->ndim != 1) || (data = data_of(x)) == NULL ||
        (where = data_of(indices)) == NULL) {
        return DECLINED;
    }
    axis = axis < 0 ? 0 : axis;
    selection.ndim = 1;
    selection.shape[0] = selection.count = indices->size;
    start_region(region, x);
    for (int dim = 0; dim < x->ndim; dim++) {
        shape[dim] = dim == axis ? selection.count : x->shape[dim];
        if (dim != axis) {
            add_axis(region, x->shape[dim], x->strides[dim]);
        }
    }
    if (region->size == 0 || selection.count == 0 || selection.count > MOST_ELEMENTS / region->size) {
        return DECLINED;
    }
    if (is_direct(x, indices)) {
        return take_directly(x, data, indices, where);
    }
    return copy_chosen(x, data, &selection, indices, axis, shape, NULL);
}

static PyObject *take_along_axis(PyObject *const *values)
{
    Tensor *x, *indices;
    Gather selection;
    npy_intp along[ARRAY_DIMS];
    char *data;
    int axis = -1;
    if (!take_operands(values, &x, &indices, &axis) || x->ndim == 0 ||
        indices->ndim != x->ndim || !(indices->flags & ROW_MAJOR) ||
        (data = data_of(x)) == NULL) {
        return DECLINED;
    }
    axis = axis < 0 ? x->ndim - 1 : axis;
    selection.ndim = x->ndim;
    selection.count = 1;
    start_region(&selection.region, x);
    for (int dim = 0; dim < x->ndim; dim++) {
        const npy_intp size = x->shape[dim], chosen = indices->shape[dim];
        if (dim != axis && size != chosen && size != 1 && chosen != 1) {
            return DECLINED;
        }
        selection.shape[dim] = dim == axis || size == 1 ? chosen : size;
        along[dim] = dim == axis || size == 1 ? 0 : x->strides[dim];
        if (selection.shape[dim] == 0 || selection.count > MOST_ELEMENTS / selection.shape[dim]) {
            return DECLINED;
        }
        selection.count *= selection.shape[dim];
    }
    return copy_chosen(x, data, &selection, indices, axis, selection.shape, along);
}

/* ------------------------------------------------------------------ nonzero */

/* Write the positions of those elements of a row that are not 0; its first element has the
   position `first`. Returns how many they are. */
static npy_intp find_in_row(DTypeCode code, const char *row, npy_intp stride, npy_intp columns,
                            npy_intp first, npy_intp *positions)
{
    npy_intp found = 0;
#define FIND(CODE, TYPE, ...)                                                      \
    case CODE:                                                                     \
        for (npy_intp column = 0; column < columns; column++) {                    \
            const TYPE *element = (const TYPE *)(row + column * stride);           \
            positions[found] = first + column;                                     \
            found += IS_TRUE(*element);                                                \
        }                                                                          \
        return found;
    switch (code) {
        EACH_DTYPE(FIND)
    default:
        return 0;
    }
#undef FIND
}

/* The positions of all elements that are not 0, counted in row-major order. */
static npy_intp find_nonzero(const Tensor *x, const char *data, npy_intp *positions)
{
    npy_intp index[ARRAY_DIMS], first = 0, found = 0;
    int dim;
    const int last = x->ndim - 1;
    if (x->size == 0) {
        return 0;
    }
    set_to_zero(index, x->ndim);
    do {
        found += find_in_row((DTypeCode)x->code, data, x->strides[last], x->shape[last],
                             first, positions + found);
        first += x->shape[last];
        dim = next_index(last, x->shape, index);
        data += distance(dim, last, x->shape, x->strides);
    } while (dim >= 0);
    return found;
}

/* Write the indices of positions into a table with a column per axis. */
static void write_indices(const Tensor *x, const npy_intp *positions, npy_intp count,
                          npy_int64 *table)
{
    npy_intp index[ARRAY_DIMS], row = 0;
    const int last = x->ndim - 1;
    const npy_intp columns = x->shape[last];
    if (last == 0) {
        for (npy_intp i = 0; i < count; i++) {
            table[i] = positions[i];
        }
        return;
    }
    set_to_zero(index, last);
    for (npy_intp i = 0; i < count; i++) {
        while (positions[i] - row >= columns) {
            next_index(last, x->shape, index);
            row += columns;
        }
        for (int dim = 0; dim < last; dim++) {
            *table++ = index[dim];
        }
        *table++ = positions[i] - row;
    }
}

/* A tuple of the columns of a table, which are views of it, as NumPy's are. */
static PyObject *split_columns(PyObject *table, int columns)
{
    Tensor *whole = tensor_of(table);
    PyObject *result = PyTuple_New(columns);
    for (int column = 0; result != NULL && column < columns; column++) {
        PyObject *array = new_view(whole, 1);
        if (array == NULL) {
            Py_CLEAR(result);
            break;
        }
        Tensor *tensor = tensor_of(array);
        tensor->shape[0] = whole->shape[0];
        tensor->strides[0] = columns * (npy_intp)sizeof(npy_int64);
        tensor->offset += whole->size > 0 ? column * (npy_intp)sizeof(npy_int64) : 0;
        finish_layout(tensor, 0);
        PyTuple_SET_ITEM(result, column, array);
    }
    return result;
}

/* `call_nonzero` of booleans that follow each other. */
static PyObject *locate_true(const Tensor *x, const char *data)
{
    Scratch positions;
    char *table;
    npy_intp shape[2] = {count_true(data, x->size), x->ndim};
    PyObject *array = new_array_like_memory(2, shape, NX_INT64, 0, &table), *result = NULL;
    if (array == NULL) {
        return NULL;
    }
    const int is_vector = x->ndim == 1;
    if (take_scratch(&positions, is_vector ? 0 : shape[0] * (npy_intp)sizeof(npy_int64)) == 0) {
        char *found = is_vector ? table : positions.data;
        if (run_masked(LOCATE, NULL, 0, data, x->size, found, shape[0]) == 0) {
            if (!is_vector) {
                write_indices(x, (const npy_intp *)found, shape[0], (npy_int64 *)table);
            }
            result = split_columns(array, x->ndim);
        }
        free_scratch(&positions);
    }
    Py_DECREF(array);
    return result;
}

static PyObject *call_nonzero(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_of_any(values[0]);
    Scratch positions;
    char *data, *table;
    if (x == NULL || x->ndim == 0 || !is_computed_now(1) || (data = data_of(x)) == NULL) {
        return DECLINED;
    }
    if (dtypes[x->code].itemsize == 1 && (x->flags & ROW_MAJOR)) {
        return locate_true(x, data); /* any byte but 0 is true */
    }
    if (x->size > limits.at_once) {
        PyObject *truths = x->code == BOOL ? DECLINED : cast_array(x, BOOL);
        if (truths == NULL || truths == DECLINED) {
            return truths;
        }
        PyObject *result = (data = data_of(tensor_of(truths))) == NULL ? NULL
                           : tensor_of(truths)->flags & ROW_MAJOR ? locate_true(tensor_of(truths), data)
                                                                  : DECLINED;
        Py_DECREF(truths);
        return result;
    }
    if (take_scratch(&positions, x->size * (npy_intp)sizeof(npy_intp)) < 0) {
        return NULL;
    }
    npy_intp *const found = (npy_intp *)positions.data;
    npy_intp shape[2] = {find_nonzero(x, data, found), x->ndim};
    PyObject *array = new_array_like_memory(2, shape, NX_INT64, 0, &table);
    PyObject *result = NULL;
    if (array != NULL) {
        write_indices(x, found, shape[0], (npy_int64 *)table);
        result = split_columns(array, x->ndim);
        Py_DECREF(array);
    }
    free_scratch(&positions);
    return result;
}

/* The arrays stay while memory is found and threads are counted. */
static PyObject *call_taking(int along, PyObject *const *values, Py_ssize_t count)
{
    Tensor *held[2] = {layout_of_any(values[0]), layout_of_any(values[1])};
    Py_XINCREF(held[0]);
    Py_XINCREF(held[1]);
    PyObject *result = along ? take_along_axis(values) : take(values);
    Py_XDECREF(held[0]);
    Py_XDECREF(held[1]);
    return result;
}

Implementation taking_functions[] = {
    {"take", call_taking, 0, "x, indices, /, *, axis="},
    {"take_along_axis", call_taking, 1, "x, indices, /, *, axis="},
    {"nonzero", call_nonzero, 0, "x, /"},
    {NULL, NULL, 0, NULL},
};
