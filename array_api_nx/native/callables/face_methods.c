/* Methods and functions that NumPy's arrays alone have. */

#include "axis_orders.h"
#include "boxes.h"
#include "chapters.h"
#include "conversion.h"
#include "elementwise.h"
#include "face.h"
#include "indexing.h"
#include "layouts.h"
#include "movement.h"
#include "nodes.h"
#include "scalars.h"

/* None, after all elements of an array were written; DECLINED if C does not write them. */
static PyObject *write_all(PyObject *array, PyObject *value)
{
    const int done = set_item(array, Py_Ellipsis, value);
    return done == 1 ? Py_NewRef(Py_None) : done < 0 ? NULL : DECLINED;
}

/* x.fill(value), which is one element. */
static PyObject *fill(int which, PyObject *const *values, Py_ssize_t count)
{
    const Tensor *value = layout_of_any(values[1]);
    if (!is_array(values[0]) || (is_array(values[1]) && (value == NULL || value->ndim > 0))) {
        return decline_unless_raised();
    }
    return write_all(values[0], values[1]);
}

/* x.ravel(), a view of what lies row by row, and, with copies, x.flatten(). */
static PyObject *flatten(int copies, PyObject *const *values, Py_ssize_t count)
{
    static PyObject *all;
    FIND_ONCE(reshape, "reshape")
    if (all == NULL && (all = PyLong_FromLong(-1)) == NULL) {
        return NULL;
    }
    const Tensor *x = layout_of_any(values[0]);
    if (x == NULL) {
        return DECLINED;
    }
    PyObject *const given[3] = {values[0], all, copies || !(x->flags & ROW_MAJOR) ? Py_True : NULL};
    return reshape->compute(reshape->code, given, 2);
}

PyObject *view_elements(Tensor *x, DTypeCode code, npy_intp offset)
{
    PyObject *view = new_view_as(x, x->ndim, code);
    if (view == NULL) {
        return NULL;
    }
    Tensor *other = tensor_of(view);
    other->offset += offset;
    for (int dim = 0; dim < x->ndim; dim++) {
        other->shape[dim] = x->shape[dim];
        other->strides[dim] = x->strides[dim];
    }
    finish_layout(other, x->flags & READ_ONLY);
    return view;
}

/* The layout of an array whose elements are at hand for views of them. NULL, perhaps with an exception set, for others:
   where all is deferred, Python makes the views, since its arrays have the dtype of their storage. */
static Tensor *layout_at_hand(PyObject *array)
{
    Tensor *x = layout_of_any(array);
    return x == NULL || is_watched || limits.at_once < 1 || data_of(x) == NULL ? NULL : x;
}

/* x.view(), also of another dtype with elements of the same size; of bytes as booleans it is NumPy's, as they may be any. */
static PyObject *view(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_at_hand(values[0]);
    DTypeCode code = x == NULL ? NO_DTYPE : (DTypeCode)x->code;
    if (x == NULL || (values[1] != NULL && (values[1] == Py_None || !take_dtype_or_type(values[1], &code))) ||
        code == NO_DTYPE || (code == BOOL && x->code != BOOL) || dtypes[code].itemsize != dtypes[x->code].itemsize) {
        return decline_unless_raised();
    }
    return view_elements(x, code, 0);
}

/* x.real and x.imag: views of the parts of complex numbers; of others the array itself, and zeros that are not written. */
static PyObject *view_part(int imaginary, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_at_hand(values[0]);
    char *zeros;
    if (x == NULL) {
        return decline_unless_raised();
    }
    if (is_complex(x->code)) {
        const DTypeCode code = part_of(x->code);
        return view_elements(x, code, imaginary ? dtypes[code].itemsize : 0);
    }
    if (!imaginary) {
        return Py_NewRef(values[0]);
    }
    if (!(x->flags & ROW_MAJOR) || x->size > limits.at_once) {
        return DECLINED;
    }
    PyObject *result = new_array_like_memory(x->ndim, x->shape, (DTypeCode)x->code, 0, &zeros);
    if (result != NULL) {
        memset(zeros, 0, (size_t)(x->size * dtypes[x->code].itemsize));
        tensor_of(result)->flags |= READ_ONLY;
    }
    return result;
}

/* x.conj(): of real numbers the array itself. */
static PyObject *conjugate(int which, PyObject *const *values, Py_ssize_t count)
{
    FIND_ONCE(conj, "conj")
    const Tensor *x = layout_of_any(values[0]);
    if (x == NULL) {
        return DECLINED;
    }
    return is_complex(x->code) ? compute_unary((OperationCode)conj->code, values[0]) : Py_NewRef(values[0]);
}

/* np.round(x, decimals) as NumPy computes it: by a product, a quotient and whole numbers between them. */
static PyObject *round_decimals(int which, PyObject *const *values, Py_ssize_t count)
{
    FIND_ONCE(round, "round")
    FIND_ONCE(copy, "copy")
    Tensor *x = layout_of_any(values[0]);
    AxisOrder order;
    npy_intp decimals = 0;
    if (x == NULL || x->code == BOOL || is_complex(x->code) || is_float16(x->code) ||
        (values[1] != NULL && !take_number(values[1], &decimals)) || decimals < -22 || decimals > 22) {
        return DECLINED;
    }
    if (is_integer(x->code)) {
        PyObject *const given[2] = {values[0], NULL};
        return decimals < 0 || !(x->flags & ROW_MAJOR) ? DECLINED : copy->compute(copy->code, given, 1);
    }
    if (decimals == 0) {
        return compute_unary((OperationCode)round->code, values[0]);
    }
    order_axes(x->ndim, x->shape, x->strides, order);
    if (!(x->flags & COLUMN_MAJOR) && !is_row_order(x->ndim, order)) { /* NumPy's result is row-major */
        PyObject *rows = copy_into_shape(x, x->ndim, x->shape);
        PyObject *const given[2] = {rows, values[1]};
        PyObject *result = is_answer(rows) ? round_decimals(which, given, count) : rows;
        drop_answer(rows);
        return result;
    }
    double power = 1; /* exact up to 1e22 */
    for (npy_intp i = 0; i < (decimals < 0 ? -decimals : decimals); i++) {
        power *= 10;
    }
    PyObject *factor = PyFloat_FromDouble(power);
    if (factor == NULL) {
        return NULL;
    }
    PyObject *scaled = compute_binary(decimals > 0 ? OP_MULTIPLY : OP_DIVIDE, values[0], factor);
    PyObject *whole = is_answer(scaled) ? compute_unary((OperationCode)round->code, scaled) : scaled;
    PyObject *result = is_answer(whole) ? compute_binary(decimals > 0 ? OP_DIVIDE : OP_MULTIPLY, whole, factor) : whole;
    drop_answer(scaled);
    drop_answer(whole);
    Py_DECREF(factor);
    return result;
}

/* x.item(): the only element, that of a place in C's order, or that of an index for each axis. */
static PyObject *item(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = count > 0 ? layout_at_hand(values[0]) : NULL;
    npy_intp offset = 0, position;
    if (x == NULL || (count == 1 ? x->size != 1 : count != 2 && count != x->ndim + 1)) {
        return decline_unless_raised();
    }
    if (count == 2 && x->ndim != 1) {
        if (!take_number(values[1], &position) || position < -x->size || position >= x->size) {
            return DECLINED;
        }
        position += position < 0 ? x->size : 0;
        for (int dim = x->ndim - 1; dim >= 0; dim--) {
            offset += position % x->shape[dim] * x->strides[dim];
            position /= x->shape[dim];
        }
    } else {
        for (int dim = 0; dim < count - 1; dim++) {
            const npy_intp size = x->shape[dim];
            if (!take_number(values[dim + 1], &position) || position < -size || position >= size) {
                return DECLINED;
            }
            offset += (position < 0 ? position + size : position) * x->strides[dim];
        }
    }
    return read_scalar(data_of(x) + offset, (DTypeCode)x->code);
}

/* The elements along the axes from `dim` on in nested lists. */
static PyObject *list_elements(const Tensor *x, int dim, const char *data)
{
    if (dim == x->ndim) {
        return read_scalar(data, (DTypeCode)x->code);
    }
    PyObject *list = PyList_New(x->shape[dim]);
    for (npy_intp i = 0; list != NULL && i < x->shape[dim]; i++, data += x->strides[dim]) {
        PyObject *each = list_elements(x, dim + 1, data);
        if (each == NULL) {
            Py_CLEAR(list);
        } else {
            PyList_SET_ITEM(list, i, each);
        }
    }
    return list;
}

/* x.tolist(). */
static PyObject *list_all(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_at_hand(values[0]);
    return x == NULL ? decline_unless_raised() : list_elements(x, 0, data_of(x));
}

/* np.inner(x, y), sums of products along the last axes of both: the product of matrices with `y` transposed. And np.vdot(x, y)
   of real elements, that of both as vectors, which NumPy does not copy for BLAS. */
static PyObject *inner(int is_vdot, PyObject *const *values, Py_ssize_t count)
{
    FIND_ONCE(dot, "dot")
    FIND_ONCE(matmul, "matmul")
    const Tensor *x = layout_of_any(values[0]), *y = layout_of_any(values[1]);
    if (x == NULL || y == NULL || x->ndim == 0 || x->ndim > 2 || y->ndim == 0 || y->ndim > 2 || x->size == 0 || y->size == 0 ||
        (is_vdot && is_complex(x->code))) {
        return DECLINED;
    }
    if (is_vdot && (x->ndim > 1 || y->ndim > 1)) {
        PyObject *const rows[2] = {flatten(0, values, 1), flatten(0, values + 1, 1)};
        PyObject *result = is_answer(rows[0]) && is_answer(rows[1]) ? inner(1, rows, 2) : decline_unless_raised();
        drop_answer(rows[0]);
        drop_answer(rows[1]);
        return result;
    }
    PyObject *turned = y->ndim == 1 ? Py_NewRef(values[1]) : reverse_axes(values[1]);
    if (turned == NULL || turned == DECLINED) {
        return turned;
    }
    PyObject *const operands[2] = {values[0], turned};
    const Implementation *product_of = is_vdot ? matmul : dot;
    PyObject *const before = is_vdot ? ignore_errors() : NULL; /* which NumPy's vdot does not look for */
    PyObject *product = PyErr_Occurred() ? NULL : product_of->compute(product_of->code, operands, 2);
    Py_DECREF(turned);
    return before == NULL ? product : restore_errors(before, product);
}

/* number in x. */
static PyObject *contains(int which, PyObject *const *values, Py_ssize_t count)
{
    FIND_ONCE(any, "any")
    PyObject *number = values[1];
    if (!is_array(values[0]) || !(PyLong_Check(number) || PyFloat_Check(number) || PyArray_IsScalar(number, Number))) {
        return DECLINED;
    }
    PyObject *equal = PyObject_RichCompare(values[0], number, Py_EQ), *found = equal;
    if (equal != NULL && is_array(equal)) {
        PyObject *const given[MOST_PARAMETERS] = {equal};
        found = any->compute(any->code, given, 1);
        Py_DECREF(equal);
    }
    if (found == NULL || found == DECLINED) {
        return found;
    }
    const int truth = PyObject_IsTrue(found);
    Py_DECREF(found);
    return truth < 0 ? NULL : PyBool_FromLong(truth);
}

/* x.sort() of an array of one axis: what np.sort gives, written to the array. NumPy sorts rows where they lie. */
static PyObject *sort_in_place(int which, PyObject *const *values, Py_ssize_t count)
{
    FIND_ONCE(sort, "unstable_sort")
    Tensor *x = values[1] == Py_None ? NULL : layout_of_any(values[0]);
    if (x == NULL || x->ndim != 1 || !is_writeable(x)) {
        return decline_unless_raised();
    }
    PyObject *sorted = sort->compute(sort->code, values, 1);
    if (sorted == NULL || sorted == DECLINED) {
        return sorted;
    }
    PyObject *written = write_all(values[0], sorted);
    Py_DECREF(sorted);
    return written;
}

/* np.ascontiguousarray(x), np.atleast_1d(x), atleast_2d, and atleast_3d where it gives the array itself. */
static PyObject *keep_shape(int least_ndim, PyObject *const *values, Py_ssize_t count)
{
    const int is_order = least_ndim == 0; /* the first of these functions, which has a dtype, too */
    if (count != 1 || (is_order && is_given(values[1])) || PyArray_Check(values[0])) {
        return DECLINED;
    }
    if (!is_array(values[0])) {
        PyObject *made = new_array_of(values[0], NULL);
        PyObject *const given[2] = {made};
        PyObject *result = is_answer(made) ? keep_shape(least_ndim, given, 1) : made;
        drop_answer(made);
        return result;
    }
    Tensor *x = layout_of(values[0]);
    if (x == NULL || (x->ndim < least_ndim && least_ndim > 2)) {
        return DECLINED;
    }
    return is_order && !(x->flags & ROW_MAJOR) ? copy_into_shape(x, x->ndim, x->shape)
                                               : view_with_axes(values[0], is_order ? 1 : least_ndim);
}

/* np.flipud(m) and np.fliplr(m): the flips along the first axis and the second. */
static PyObject *flip_axis(int axis, PyObject *const *values, Py_ssize_t count)
{
    FIND_ONCE(flip, "flip")
    const Tensor *x = layout_of_any(values[0]);
    PyObject *number = x == NULL || x->ndim <= axis ? DECLINED : PyLong_FromLong(axis);
    if (number == NULL || number == DECLINED) {
        return number;
    }
    PyObject *const given[2] = {values[0], number};
    PyObject *result = flip->compute(flip->code, given, 1);
    Py_DECREF(number);
    return result;
}

/* None, after an assignment to `target[mask]` that is `done`, as `set_item` says. */
static PyObject *none_if(int done)
{
    return done > 0 ? Py_NewRef(Py_None) : decline_unless_raised();
}

/* Write the source's elements to the places of the target where a mask of its shape is true. */
static PyObject *write_where(PyObject *target, PyObject *mask, PyObject *source)
{
    const Tensor *x = layout_of_any(target), *truths = layout_of_any(mask), *given = layout_of_any(source);
    if (x == NULL || truths == NULL || truths->code != BOOL || x->ndim == 0 || !has_shape(x, truths->ndim, truths->shape)) {
        return DECLINED;
    }
    if (given == NULL || given->size == 1) {
        return is_array(source) == (given != NULL) ? none_if(set_item(target, mask, source)) : DECLINED;
    }
    if (given->code != x->code || !has_shape(x, given->ndim, given->shape)) {
        return DECLINED;
    }
    PyObject *chosen = get_item(source, mask);
    if (!is_answer(chosen)) {
        return chosen;
    }
    PyObject *result = none_if(set_item(target, mask, chosen));
    Py_DECREF(chosen);
    return result;
}

/* np.copyto(target, source, where=mask) of one dtype. */
static PyObject *copy_to(int which, PyObject *const *values, Py_ssize_t count)
{
    const Tensor *target = layout_of_any(values[0]), *source = layout_of_any(values[1]);
    if (values[2] != NULL && values[2] != Py_True) {
        return source == NULL || (target != NULL && target->code == source->code)
                   ? write_where(values[0], values[2], values[1])
                   : DECLINED;
    }
    if (target == NULL || source == NULL || target->code != source->code) {
        return DECLINED;
    }
    return write_all(values[0], values[1]);
}

/* np.putmask(a, mask, values) and np.place(arr, mask, vals), of one value, or of as many as there are elements. */
static PyObject *put_where(int has_values_in_turn, PyObject *const *values, Py_ssize_t count)
{
    PyObject *given = values[2];
    if (PyList_CheckExact(given) && PyList_GET_SIZE(given) == 1) {
        given = PyList_GET_ITEM(given, 0);
    }
    const Tensor *target = layout_of_any(values[0]), *source = layout_of_any(given);
    if (target == NULL || (source != NULL && (target->code != source->code || (has_values_in_turn && source->size != 1)))) {
        return DECLINED;
    }
    return write_where(values[0], values[1], given);
}

Implementation face_functions[] = {
    {"ascontiguousarray", keep_shape, 0, "a, dtype="},
    {"atleast_1d", keep_shape, 1, "*"},
    {"atleast_2d", keep_shape, 2, "*"},
    {"atleast_3d", keep_shape, 3, "*"},
    {"conjugate", conjugate, 0, "self, /"},
    {"contains", contains, 0, "self, key, /"},
    {"copyto", copy_to, 0, "dst, src, *, where="},
    {"fill", fill, 0, "self, value, /"},
    {"flatten", flatten, 1, "self, /"},
    {"fliplr", flip_axis, 1, "m"},
    {"flipud", flip_axis, 0, "m"},
    {"imag_part", view_part, 1, "self, /"},
    {"inner", inner, 0, "a, b, /"},
    {"item", item, 0, "*"},
    {"place", put_where, 1, "arr, mask, vals"},
    {"putmask", put_where, 0, "a, mask, values"},
    {"ravel", flatten, 0, "self, /"},
    {"real_part", view_part, 0, "self, /"},
    {"round_decimals", round_decimals, 0, "a, decimals="},
    {"sort_in_place", sort_in_place, 0, "self, axis=, *, -=, stable="},
    {"tolist", list_all, 0, "self, /"},
    {"vdot", inner, 1, "a, b, /"},
    {"view", view, 0, "self, dtype="},
    {NULL, NULL, 0, NULL},
};
