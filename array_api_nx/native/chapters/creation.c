/* zeros, ones, full, empty, those like another array, arange, linspace and eye. */

#include "axis_orders.h"
#include "boxes.h"
#include "chapters.h"
#include "conversion.h"
#include "elements.h"
#include "flags.h"
#include "memory.h"
#include "sizes.h"
#include "storage.h"

/* The default dtype of device `cpu` for real numbers. */
static const DTypeCode REAL = FLOAT64;

/* ------------------------------------------------------------------ one value */

/* A new row-major array of zeros. */
static PyObject *new_zeros(int ndim, const npy_intp *shape, DTypeCode code)
{
    npy_intp bytes = dtypes[code].itemsize;
    char *data;
    for (int dim = 0; dim < ndim; dim++) {
        bytes *= shape[dim];
    }
    if (bytes <= BLOCK_BYTES) {
        PyObject *array = new_array_like_memory(ndim, shape, code, 0, &data);
        return array == NULL ? NULL : (memset(data, 0, (size_t)bytes), array);
    }
    Tensor *tensor = new_pending(ndim, shape, code);
    if (tensor != NULL && !fill_with_zeros((Storage *)tensor->storage, bytes)) {
        Py_CLEAR(tensor);
    }
    return wrap_tensor(tensor, code);
}

/* A new array that holds a value everywhere; of undefined contents if that is NULL. DECLINED if it has several axes and no
   elements. */
static PyObject *new_filled(int ndim, const npy_intp *shape, DTypeCode code, const Element *value)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    npy_intp bytes = itemsize;
    char *target;
    for (int dim = 0; dim < ndim; dim++) {
        if (shape[dim] == 0) {
            return ndim == 1 ? new_without_elements(code) : DECLINED;
        }
        bytes *= shape[dim];
    }
    if (value != NULL && value->words[0] == 0 && (itemsize <= 8 || value->words[1] == 0)) {
        return new_zeros(ndim, shape, code);
    }
    PyObject *result = new_array_like_memory(ndim, shape, code, 0, &target);
    if (result == NULL || value == NULL) {
        return result;
    }
    memcpy(target, value->bytes, (size_t)itemsize);
    if (bytes / itemsize <= limits.at_once) {
        repeat_bytes(target, itemsize, bytes);
        return result;
    }
    Tensor *filled = tensor_of(result);
    Walk box;
    start_box(&box);
    add_box_axis(&box, filled->size - 1, 0, itemsize);
    if (!copy_box(&box, filled, target, filled, target + itemsize)) {
        Py_CLEAR(result);
    }
    return result;
}

static void make_number(int number, DTypeCode code, Element *value)
{
    *value = (Element){{0, 0}};
    write_number(value->bytes, code, number);
}

/* What new arrays hold. With IN_ORDER added to that, those like another array have the order of its axes. */
enum { OF_ZEROS, OF_ONES, UNDEFINED, GIVEN, IN_ORDER };

/* An array of a shape, filled with a number, a scalar or the element of a 0-d array; of the value's own
   dtype if `code` is NO_DTYPE. */
static PyObject *fill(int kind, int ndim, const npy_intp *shape, PyObject *given, DTypeCode code,
                      PyObject *device)
{
    Element value = {{0, 0}};
    if (limits.at_once < 0) {
        return DECLINED;
    }
    if (kind == GIVEN && is_array(given)) {
        Tensor *x = layout_of(given);
        const char *data;
        if (x == NULL || x->ndim != 0 || (code != NO_DTYPE && code != x->code) ||
            (is_given(device) && device != ((Array *)given)->device) ||
            (data = data_of(x)) == NULL) {
            return DECLINED;
        }
        code = (DTypeCode)x->code;
        memcpy(value.bytes, data, (size_t)dtypes[code].itemsize);
        return new_filled(ndim, shape, code, &value);
    }
    if (kind == GIVEN && code == NO_DTYPE && (code = dtype_of_scalar(given)) == NO_DTYPE) {
        code = dtype_of_numpy_scalar(given);
    }
    if (!is_new_on_cpu(device) || code == NO_DTYPE ||
        (kind == GIVEN && !write_scalar(value.bytes, code, given) && !write_numpy_scalar(value.bytes, code, given))) {
        return DECLINED;
    }
    if (kind == OF_ONES) {
        make_number(1, code, &value);
    }
    return new_filled(ndim, shape, code, kind == UNDEFINED ? NULL : &value);
}

static PyObject *call_new(int kind, PyObject *const *values, Py_ssize_t count)
{
    PyObject *const *options = values + 1 + (kind == GIVEN);
    npy_intp shape[ARRAY_DIMS];
    DTypeCode code = kind == GIVEN ? NO_DTYPE : REAL;
    int ndim;
    return take_dtype_or_type(options[0], &code) && take_shape(values[0], MOST_ELEMENTS, &ndim, shape)
               ? fill(kind, ndim, shape, values[1], code, options[1])
               : DECLINED;
}

/* With the dtype of an array, unless another one is given. Row-major, or in that order for NumPy's face. */
static PyObject *call_new_like(int which, PyObject *const *values, Py_ssize_t count)
{
    const int kind = which % IN_ORDER;
    PyObject *const *options = values + 1 + (kind == GIVEN);
    const Tensor *x = layout_of_any(values[0]);
    if (x == NULL || x->size > MOST_ELEMENTS || x->size == 0 ||
        (is_given(options[1]) && options[1] != ((Array *)values[0])->device)) {
        return DECLINED;
    }
    DTypeCode code = (DTypeCode)x->code;
    if (!take_dtype_or_type(options[0], &code)) {
        return DECLINED;
    }
    if (which == kind || x->flags & ROW_MAJOR) {
        return fill(kind, x->ndim, x->shape, values[1], code, cpu.device);
    }
    AxisOrder order;
    npy_intp sizes[ARRAY_DIMS];
    order_copy(x, order);
    sizes_in_order(x, order, sizes);
    return result_in_order(fill(kind, x->ndim, sizes, values[1], code, cpu.device), order);
}

/* ------------------------------------------------------------------ evenly spaced values */

/* Up to this magnitude all integers are doubles, and so are their sums. */
static const double EXACT = 4503599627370496.0; /* 2**52 */

/* A float or a scalar of float64, or an int that is exact as one; `*whole` becomes 0 for a float. 0 for anything
   else. */
static int take_real(PyObject *value, double *number, int *whole)
{
    npy_intp integer;
    if (PyFloat_CheckExact(value) || Py_IS_TYPE(value, &PyDoubleArrType_Type)) {
        *number = PyFloat_AS_DOUBLE(value);
        *whole = 0;
        return isfinite(*number);
    }
    const int is_taken = take_number(value, &integer);
    *number = (double)integer;
    return is_taken && fabs(*number) < EXACT;
}

/* Whether a number below EXACT may be written so. */
static int fits(DTypeCode code, double number)
{
    if (code == FLOAT64) {
        return 1;
    }
    if (fabs(number) > EXACT) {
        return 0;
    }
    return code == FLOAT32 ? number == 0 || fabs(number) > 1e-30
                           : is_integer(code) && holds_integer(code, (long long)number);
}

/* NumPy writes the first two values and lets a
   function of the dtype continue; so does this. */
static PyObject *call_arange(int which, PyObject *const *values, Py_ssize_t count)
{
    double start = 0, stop, step = 1;
    int whole = 1;
    DTypeCode code = NO_DTYPE;
    if (!is_new_on_cpu(values[4]) || !take_dtype_or_type(values[3], &code) ||
        limits.at_once < 0) {
        return DECLINED;
    }
    if (!is_given(values[1])) {
        if (!take_real(values[0], &stop, &whole)) {
            return DECLINED;
        }
    } else if (!take_real(values[0], &start, &whole) ||
               !take_real(values[1], &stop, &whole)) {
        return DECLINED;
    }
    if ((values[2] != NULL && !take_real(values[2], &step, &whole)) || step == 0) {
        return DECLINED;
    }
    if (code == NO_DTYPE) {
        code = whole ? NX_INT64 : REAL;
    }
    const double number = ceil((stop - start) / step);
    if (!(number >= 1 && number <= (double)limits.at_once) || (!whole && !is_inexact(code))) {
        return DECLINED;
    }
    npy_intp length = (npy_intp)number;
    const double last = start + (double)(length - 1) * step;
    if (code == BOOL || !fits(code, start) || !fits(code, last) ||
        (length > 1 && !fits(code, start + step))) {
        return DECLINED;
    }
    char *target;
    PyObject *result = new_array_like_memory(1, &length, code, 0, &target);
    if (result != NULL) {
        write_number(target, code, start);
        if (length > 1) {
            write_number(target + dtypes[code].itemsize, code, start + step);
        }
        if (length > 2) {
            PyDataType_GetArrFuncs(dtypes[code].descr)->fill(target, length, NULL);
        }
    }
    return result;
}

/* As NumPy computes it: multiples of the step, then the start added. Declined wherever a floating-point
   error is met. */
static PyObject *call_linspace(int which, PyObject *const *values, Py_ssize_t count)
{
    double start, stop;
    npy_intp num;
    int whole, endpoint = 1;
    DTypeCode code = REAL;
    if (!take_number(values[2], &num) || num < 1 || num > limits.at_once ||
        !take_dtype_or_type(values[3], &code) || code != FLOAT64 || !is_new_on_cpu(values[4]) ||
        !take_flag(values[5], &endpoint) || !take_real(values[0], &start, &whole) ||
        !take_real(values[1], &stop, &whole)) {
        return DECLINED;
    }
    char *target;
    PyObject *result = new_array_like_memory(1, &num, code, 0, &target);
    if (result == NULL) {
        return NULL;
    }
    double *element = (double *)target;
    const double parts = (double)(endpoint ? num - 1 : num);
    clear_flags();
    const double delta = stop - start;
    const double step = parts > 0 ? delta / parts : 0;
    for (npy_intp i = 0; i < num; i++) {
        element[i] = (double)i;
    }
    /* One operation at a time, so that no compiler joins two and rounds only once. */
    if (step != 0) {
        for (npy_intp i = 0; i < num; i++) {
            element[i] *= step;
        }
    } else {
        for (npy_intp i = 0; i < num; i++) {
            element[i] = (parts > 0 ? element[i] / parts : element[i]) * delta;
        }
    }
    for (npy_intp i = 0; i < num; i++) {
        element[i] += start;
    }
    if (endpoint && num > 1) {
        element[num - 1] = stop;
    }
    if (take_flags() != 0) {
        Py_DECREF(result);
        return DECLINED;
    }
    return result;
}

/* ------------------------------------------------------------------ a diagonal */

/* An exact int of a small magnitude. */
static int take_small(PyObject *value, npy_intp *number)
{
    return take_number(value, number) && *number > -NPY_MAX_INT32 && *number < NPY_MAX_INT32;
}

static PyObject *call_eye(int which, PyObject *const *values, Py_ssize_t count)
{
    npy_intp shape[2], k = 0;
    DTypeCode code = REAL;
    Element zero = {{0, 0}}, one;
    if (!take_dtype_or_type(values[3], &code) || !is_new_on_cpu(values[4]) ||
        !take_small(values[0], &shape[0]) || (values[2] != NULL && !take_small(values[2], &k))) {
        return DECLINED;
    }
    shape[1] = shape[0];
    if ((is_given(values[1]) && !take_small(values[1], &shape[1])) ||
        shape[0] < 1 || shape[1] < 1 || shape[0] > MOST_ELEMENTS / shape[1] || limits.at_once < 0) {
        return DECLINED;
    }
    PyObject *result = new_filled(2, shape, code, &zero);
    if (result == NULL || result == DECLINED) {
        return result;
    }
    char *target = data_of(tensor_of(result));
    const npy_intp itemsize = dtypes[code].itemsize;
    make_number(1, code, &one);
    for (npy_intp row = k < 0 ? -k : 0; row < shape[0] && row + k < shape[1]; row++) {
        memcpy(target + (row * shape[1] + row + k) * itemsize, one.bytes, (size_t)itemsize);
    }
    return result;
}

/* np.diag(v, k): the matrix that has a vector as a diagonal; or the diagonal of a matrix, a view that is not written. */
static PyObject *call_diag(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_of_any(values[0]);
    const char *source = x == NULL || x->size == 0 ? NULL : data_of(x);
    npy_intp k = 0;
    if (source == NULL || x->ndim > 2 || x->ndim == 0 || (values[1] != NULL && !take_small(values[1], &k))) {
        return decline_unless_raised();
    }
    const npy_intp rows = x->shape[0], columns = x->shape[x->ndim - 1], down = k < 0 ? -k : 0, right = k > 0 ? k : 0;
    if (x->ndim == 2) {
        PyObject *view = down >= rows || right >= columns ? DECLINED : new_view(x, 1);
        if (!is_answer(view)) {
            return view;
        }
        Tensor *diagonal = tensor_of(view);
        diagonal->shape[0] = least(rows - down, columns - right);
        diagonal->strides[0] = x->strides[0] + x->strides[1];
        diagonal->offset += down * x->strides[0] + right * x->strides[1];
        finish_layout(diagonal, 1);
        return view;
    }
    const npy_intp side = rows + down + right, shape[2] = {side, side}, itemsize = dtypes[x->code].itemsize;
    if (side > MOST_ELEMENTS / side || limits.at_once < 0) {
        return DECLINED;
    }
    Py_INCREF(x);
    PyObject *result = new_zeros(2, shape, (DTypeCode)x->code);
    if (result != NULL && data_of(x) != source) { /* finalisers have moved the elements */
        Py_DECREF(result);
        result = decline_unless_raised();
    }
    for (npy_intp i = 0; is_answer(result) && i < rows; i++) {
        char *target = data_of(tensor_of(result)) + ((down + i) * side + right + i) * itemsize;
        memcpy(target, source + i * x->strides[0], (size_t)itemsize);
    }
    Py_DECREF(x);
    return result;
}

Implementation creation_functions[] = {
    {"diagonal_matrix", call_diag, 0, "v, k="},
    {"zeros", call_new, OF_ZEROS, "shape, *, dtype=, device="},
    {"ones", call_new, OF_ONES, "shape, *, dtype=, device="},
    {"empty", call_new, UNDEFINED, "shape, *, dtype=, device="},
    {"zeros_like", call_new_like, OF_ZEROS, "x, /, *, dtype=, device="},
    {"ones_like", call_new_like, OF_ONES, "x, /, *, dtype=, device="},
    {"empty_like", call_new_like, UNDEFINED, "x, /, *, dtype=, device="},
    {"zeros_in_order", call_new_like, OF_ZEROS + IN_ORDER, "x, /, *, dtype=, device="},
    {"ones_in_order", call_new_like, OF_ONES + IN_ORDER, "x, /, *, dtype=, device="},
    {"empty_in_order", call_new_like, UNDEFINED + IN_ORDER, "x, /, *, dtype=, device="},
    {"full_in_order", call_new_like, GIVEN + IN_ORDER, "x, /, fill_value, *, dtype=, device="},
    {"full", call_new, GIVEN, "shape, fill_value, *, dtype=, device="},
    {"full_like", call_new_like, GIVEN, "x, /, fill_value, *, dtype=, device="},
    {"arange", call_arange, 0, "start, /, stop=, step=, *, dtype=, device="},
    {"linspace", call_linspace, 0, "start, stop, /, num, *, dtype=, device=, endpoint="},
    {"eye", call_eye, 0, "n_rows, n_cols=, /, *, k=, dtype=, device="},
    {NULL, NULL, 0, NULL},
};
