/* zeros, ones, full, empty, those like another array, arange, linspace and eye. */

#include "creation.h"
#include "conversion.h"
#include "flags.h"

/* The default dtype of device `cpu` for real numbers. */
static const DTypeCode REAL = FLOAT64;

/* ------------------------------------------------------------------ one value */

typedef union {
    npy_uint64 words[2];
    char bytes[16];
} Value;

/* A new array that holds a value everywhere; of undefined contents if that is NULL. DECLINED if it
   has no elements: which strides it has then, NumPy's versions see differently. */
static PyObject *new_filled(int ndim, const npy_intp *shape, DTypeCode code, const Value *value)
{
    const npy_intp itemsize = dtypes[code].itemsize;
    npy_intp bytes = itemsize;
    char *target;
    for (int dim = 0; dim < ndim; dim++) {
        if (shape[dim] == 0) {
            return DECLINED;
        }
        bytes *= shape[dim];
    }
    PyObject *result = new_array_like_memory(ndim, shape, code, 0, &target);
    if (result == NULL || value == NULL) {
        return result;
    }
    if (value->words[0] == 0 && (itemsize <= 8 || value->words[1] == 0)) {
        memset(target, 0, (size_t)bytes);
        return result;
    }
    memcpy(target, value->bytes, (size_t)itemsize);
    for (npy_intp done = itemsize; done < bytes; done *= 2) {
        memcpy(target + done, target, (size_t)(done < bytes - done ? done : bytes - done));
    }
    return result;
}

/* A Python scalar, exactly represented or rounded as NumPy does. 0 where Python has to look. */
static int take_value(PyObject *scalar, DTypeCode code, Value *value)
{
    *value = (Value){{0, 0}};
    return write_scalar(value->bytes, code, scalar);
}

static void make_number(int number, DTypeCode code, Value *value)
{
    *value = (Value){{0, 0}};
    write_number(value->bytes, code, number);
}

enum { OF_ZEROS, OF_ONES, UNDEFINED };

static PyObject *new_constant(int kind, int ndim, const npy_intp *shape, DTypeCode code)
{
    Value value;
    if (limits.at_once < 0) {
        return DECLINED;
    }
    if (kind != UNDEFINED) {
        make_number(kind == OF_ONES, code, &value);
    }
    return new_filled(ndim, shape, code, kind == UNDEFINED ? NULL : &value);
}

/* zeros, ones and empty(shape, *, dtype, device). */
static PyObject *constant_twin(int kind, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *const wanted[3] = {keyword.shape, keyword.dtype, keyword.device};
    PyObject *values[3];
    npy_intp shape[ARRAY_DIMS];
    DTypeCode code = REAL;
    int ndim;
    if (!take_arguments(args, count, names, wanted, 3, 1, values) || values[0] == NULL ||
        !take_dtype_or_type(values[1], &code) || !is_new_on_cpu(values[2]) ||
        !take_shape(values[0], &ndim, shape)) {
        return DECLINED;
    }
    return new_constant(kind, ndim, shape, code);
}

/* The array that a new one is to be like, with its dtype, unless another one is given. NULL where
   Python has to look. */
static Tensor *take_like(PyObject *x, PyObject *dtype, PyObject *device, DTypeCode *code)
{
    Tensor *tensor = x != NULL && is_array(x) ? layout_of(x) : NULL;
    if (tensor == NULL || tensor->size > limits.at_once || tensor->size == 0 ||
        (device != NULL && device != Py_None && device != ((Array *)x)->device)) {
        return NULL;
    }
    *code = (DTypeCode)tensor->code;
    return take_dtype_or_type(dtype, code) ? tensor : NULL;
}

/* zeros_like, ones_like and empty_like(x, /, *, dtype, device). */
static PyObject *constant_like_twin(int kind, PyObject *const *args, Py_ssize_t count,
                                    PyObject *names)
{
    PyObject *const wanted[3] = {NULL, keyword.dtype, keyword.device};
    PyObject *values[3];
    DTypeCode code;
    if (!take_arguments(args, count, names, wanted, 3, 1, values)) {
        return DECLINED;
    }
    const Tensor *x = take_like(values[0], values[1], values[2], &code);
    return x == NULL ? DECLINED : new_constant(kind, x->ndim, x->shape, code);
}

/* An array of a shape, filled with a scalar or the element of a 0-d array; the value's own dtype if
   `code` is NO_DTYPE. */
static PyObject *fill(int ndim, const npy_intp *shape, PyObject *scalar, DTypeCode code,
                      PyObject *device)
{
    Value value;
    if (limits.at_once < 0 || scalar == NULL) {
        return DECLINED;
    }
    if (is_array(scalar)) {
        Tensor *x = layout_of(scalar);
        const char *data;
        if (x == NULL || x->ndim != 0 || (code != NO_DTYPE && code != x->code) ||
            (device != NULL && device != Py_None && device != ((Array *)scalar)->device) ||
            (data = data_of(x)) == NULL) {
            return DECLINED;
        }
        code = (DTypeCode)x->code;
        value = (Value){{0, 0}};
        memcpy(value.bytes, data, (size_t)dtypes[code].itemsize);
        return new_filled(ndim, shape, code, &value);
    }
    code = code == NO_DTYPE ? dtype_of_scalar(scalar) : code;
    if (!is_new_on_cpu(device) || code == NO_DTYPE || !take_value(scalar, code, &value)) {
        return DECLINED;
    }
    return new_filled(ndim, shape, code, &value);
}

/* full(shape, fill_value, *, dtype, device). */
static PyObject *full_twin(int ignored, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *const wanted[4] = {keyword.shape, keyword.fill_value, keyword.dtype, keyword.device};
    PyObject *values[4];
    npy_intp shape[ARRAY_DIMS];
    DTypeCode code = NO_DTYPE;
    int ndim;
    (void)ignored;
    if (!take_arguments(args, count, names, wanted, 4, 2, values) || values[0] == NULL ||
        !take_dtype_or_type(values[2], &code) || !take_shape(values[0], &ndim, shape)) {
        return DECLINED;
    }
    return fill(ndim, shape, values[1], code, values[3]);
}

/* full_like(x, /, fill_value, *, dtype, device). */
static PyObject *full_like_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                                PyObject *names)
{
    PyObject *const wanted[4] = {NULL, keyword.fill_value, keyword.dtype, keyword.device};
    PyObject *values[4];
    DTypeCode code;
    (void)ignored;
    if (!take_arguments(args, count, names, wanted, 4, 2, values)) {
        return DECLINED;
    }
    const Tensor *x = take_like(values[0], values[2], values[3], &code);
    return x == NULL ? DECLINED : fill(x->ndim, x->shape, values[1], code, cpu.device);
}

/* ------------------------------------------------------------------ evenly spaced values */

/* Up to this magnitude all integers are doubles, and so are their sums. */
static const double EXACT = 4503599627370496.0; /* 2**52 */

/* A float, or an int that is exact as one; `*whole` becomes 0 for a float. 0 for anything else. */
static int take_number(PyObject *value, double *number, int *whole)
{
    if (PyFloat_CheckExact(value)) {
        *number = PyFloat_AS_DOUBLE(value);
        *whole = 0;
        return isfinite(*number);
    }
    int overflow;
    if (!PyLong_CheckExact(value)) {
        return 0;
    }
    *number = (double)PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow && fabs(*number) < EXACT;
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

/* arange(start, /, stop, step, *, dtype, device). NumPy writes the first two values and lets a
   function of the dtype continue; so does this. */
static PyObject *arange_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                             PyObject *names)
{
    PyObject *const wanted[5] = {NULL, keyword.stop, keyword.step, keyword.dtype, keyword.device};
    PyObject *values[5];
    double start = 0, stop, step = 1;
    int whole = 1;
    DTypeCode code = NO_DTYPE;
    (void)ignored;
    if (!take_arguments(args, count, names, wanted, 5, 3, values) || values[0] == NULL ||
        !is_new_on_cpu(values[4]) || !take_dtype_or_type(values[3], &code) ||
        limits.at_once < 0) {
        return DECLINED;
    }
    if (values[1] == NULL || values[1] == Py_None) {
        if (!take_number(values[0], &stop, &whole)) {
            return DECLINED;
        }
    } else if (!take_number(values[0], &start, &whole) ||
               !take_number(values[1], &stop, &whole)) {
        return DECLINED;
    }
    if ((values[2] != NULL && !take_number(values[2], &step, &whole)) || step == 0) {
        return DECLINED;
    }
    if (code == NO_DTYPE) {
        code = whole ? INT64 : REAL;
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

/* linspace(start, stop, /, num, *, dtype, device, endpoint), as NumPy computes it: multiples of the
   step, then the start added. Declined wherever a floating-point error is met. */
static PyObject *linspace_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                               PyObject *names)
{
    PyObject *const wanted[6] = {NULL,          NULL,           keyword.num,
                                 keyword.dtype, keyword.device, keyword.endpoint};
    PyObject *values[6];
    double start, stop;
    int whole, endpoint = 1, overflow;
    DTypeCode code = REAL;
    (void)ignored;
    if (!take_arguments(args, count, names, wanted, 6, 3, values) || count < 2 ||
        values[2] == NULL || !PyLong_CheckExact(values[2]) ||
        !take_dtype_or_type(values[3], &code) || code != FLOAT64 || !is_new_on_cpu(values[4]) ||
        !take_flag(values[5], &endpoint) || !take_number(values[0], &start, &whole) ||
        !take_number(values[1], &stop, &whole)) {
        return DECLINED;
    }
    npy_intp num = (npy_intp)PyLong_AsLongLongAndOverflow(values[2], &overflow);
    if (overflow || num < 1 || num > limits.at_once) {
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
    int overflow;
    if (!PyLong_CheckExact(value)) {
        return 0;
    }
    const long long found = PyLong_AsLongLongAndOverflow(value, &overflow);
    *number = (npy_intp)found;
    return !overflow && found > -NPY_MAX_INT32 && found < NPY_MAX_INT32;
}

/* eye(n_rows, n_cols, /, *, k, dtype, device). */
static PyObject *eye_twin(int ignored, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *const wanted[5] = {NULL, NULL, keyword.k, keyword.dtype, keyword.device};
    PyObject *values[5];
    npy_intp shape[2], k = 0;
    DTypeCode code = REAL;
    Value zero = {{0, 0}}, one;
    (void)ignored;
    if (!take_arguments(args, count, names, wanted, 5, 2, values) || count < 1 ||
        !take_dtype_or_type(values[3], &code) || !is_new_on_cpu(values[4]) ||
        !take_small(values[0], &shape[0]) || (values[2] != NULL && !take_small(values[2], &k))) {
        return DECLINED;
    }
    shape[1] = shape[0];
    if ((values[1] != NULL && values[1] != Py_None && !take_small(values[1], &shape[1])) ||
        shape[0] < 1 || shape[1] < 1 || shape[0] > limits.at_once / shape[1]) {
        return DECLINED;
    }
    PyObject *result = new_filled(2, shape, code, &zero);
    if (result == NULL || result == DECLINED) {
        return result;
    }
    char *target = data_of((Tensor *)((Array *)result)->handle);
    const npy_intp itemsize = dtypes[code].itemsize;
    make_number(1, code, &one);
    for (npy_intp row = k < 0 ? -k : 0; row < shape[0] && row + k < shape[1]; row++) {
        memcpy(target + (row * shape[1] + row + k) * itemsize, one.bytes, (size_t)itemsize);
    }
    return result;
}

const TwinEntry creation_twins[] = {
    {"zeros", constant_twin, OF_ZEROS},
    {"ones", constant_twin, OF_ONES},
    {"empty", constant_twin, UNDEFINED},
    {"zeros_like", constant_like_twin, OF_ZEROS},
    {"ones_like", constant_like_twin, OF_ONES},
    {"empty_like", constant_like_twin, UNDEFINED},
    {"full", full_twin, 0},
    {"full_like", full_like_twin, 0},
    {"arange", arange_twin, 0},
    {"linspace", linspace_twin, 0},
    {"eye", eye_twin, 0},
    {NULL, NULL, 0},
};
