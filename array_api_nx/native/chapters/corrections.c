#include "corrections.h"
#include "half_loops.h"
#include "nodes.h"

/* Whether a number has its sign bit set, as negative numbers and -0.0 have, or may have it: elements that do not
   lie in one run are not looked at, nor are those that are pending. -1 with an exception set. */
static int has_sign_bit(Tensor *x)
{
    if (is_unsigned(x->code) || x->code == BOOL) {
        return 0;
    }
    if (!(x->flags & (ROW_MAJOR | COLUMN_MAJOR)) || !is_computed_now(x->size) || is_recorded_size(x->size)) {
        return 1;
    }
    const char *data = data_of(x);
    if (data == NULL) {
        return PyErr_Occurred() ? -1 : 1;
    }
    const npy_intp itemsize = dtypes[x->code].itemsize;
#if NPY_BYTE_ORDER == NPY_LITTLE_ENDIAN
    data += itemsize - 1;
#endif
    npy_uint8 signs = 0;
    for (npy_intp i = 0; i < x->size; i++) {
        signs |= (npy_uint8)data[i * itemsize];
    }
    return signs >> 7;
}

/* Whether all numbers are free of sign bits. */
static int is_unsigned_array(Tensor *x)
{
    return has_sign_bit(x) == 0;
}

/* An int or float; 0 for others. */
static int read_number(PyObject *scalar, double *number)
{
    if (PyFloat_CheckExact(scalar)) {
        *number = PyFloat_AS_DOUBLE(scalar);
        return 1;
    }
    int overflow = 1;
    if (PyLong_CheckExact(scalar)) {
        *number = (double)PyLong_AsLongLongAndOverflow(scalar, &overflow);
    }
    return !overflow;
}

int choose_power(Tensor *x, PyObject *exponent, DTypeCode code, OperationCode *op)
{
    double number;
    if (!read_number(exponent, &number) || x->code == BOOL) {
        return 0;
    }
    if (PyLong_CheckExact(exponent) && number == 2) {
        *op = OP_SQUARE; /* of complex numbers, too */
        return 1;
    }
    if (is_integer(code)) {
        return number >= 0;
    }
    if (is_complex(code)) { /* for these exponents NumPy's operator calls other functions */
        return number != 0 && number != 1 && number != 2 && number != -1 && number != 0.5;
    }
    if (!is_inexact(code)) {
        return 0;
    }
    if (PyLong_CheckExact(exponent) && number == -1) {
        *op = OP_RECIPROCAL;
        return is_inexact(x->code) && !is_recorded_size(x->size);
    }
    /* NumPy takes the square root, which is wrong for -inf and -0.0. */
    return number != 0.5 || is_unsigned_array(x);
}

/* Whether the exponents are not all the same by their layout: then NumPy has no faster function. */
static int is_vector(const Tensor *exponents)
{
    return exponents->size > 1 && (exponents->flags & (ROW_MAJOR | COLUMN_MAJOR));
}

/* Whether a single exponent is 0.5; also if it cannot be read. */
static int is_half(Tensor *exponent)
{
    const char *data = data_of(exponent);
    return data == NULL || read_float(data, exponent->code) == 0.5;
}

int is_plain_power_of(PyObject *base, Tensor *x, DTypeCode code)
{
    double number;
    if (!read_number(base, &number)) {
        return 0;
    }
    if (is_integer(code)) {
        return is_unsigned_array(x);
    }
    if (is_complex(code)) {
        return x->ndim > 0;
    }
    return is_inexact(code) && (is_vector(x) || (x->ndim == 0 && (!is_half(x) || !signbit(number))));
}

int is_plain_power(Tensor *x, Tensor *y)
{
    const int code = promotions[x->code][y->code];
    if (is_integer(code)) {
        return is_unsigned_array(y);
    }
    if (is_complex(code)) {
        return y->ndim > 0;
    }
    if (!is_inexact(code)) {
        return 0;
    }
    if (y->ndim == 0) {
        return !is_half(y) || is_unsigned_array(x);
    }
    return is_vector(y) && (x->ndim == 0 || has_shape(x, y->ndim, y->shape));
}

static int is_infinite(const char *element, DTypeCode code)
{
    return isinf(read_float(element, code));
}

/* Whether one of many elements that follow each other is infinite. A comparison for equality raises no flag for NaN. */
#define ANY_INFINITE(CODE, TYPE, ...)                                                                    \
    CLONED(static, int, any_infinite_##CODE, (const char *data, npy_intp count), (data, count))          \
    {                                                                                                    \
        const TYPE *elements = (const TYPE *)data;                                                       \
        int found = 0;                                                                                   \
        for (npy_intp i = 0; i < count; i++) {                                                           \
            found |= IS_INFINITE(elements[i]);                                                           \
        }                                                                                                \
        return found;                                                                                    \
    }
EACH_FLOAT(ANY_INFINITE)

#define ANY_ENTRY(CODE, ...) [CODE] = any_infinite_##CODE,
static int (*const any_infinite[DTYPE_COUNT])(const char *data, npy_intp count) = {EACH_FLOAT(ANY_ENTRY)};

int may_be_infinite(DTypeCode code, Tensor *const *operands, char *const *numbers, int count)
{
    for (int i = 0; i < count; i++) {
        Tensor *x = operands[i];
        if (x == NULL && is_infinite(numbers[i], code)) {
            return 1;
        }
        if (x == NULL || !is_inexact(x->code)) {
            continue;
        }
        const int is_run = (x->flags & (ROW_MAJOR | COLUMN_MAJOR)) != 0;
        const char *data = is_run || x->ndim == 1 ? data_of(x) : NULL;
        const npy_intp step = is_run ? dtypes[x->code].itemsize : x->strides[0];
        if (data == NULL) {
            return 1;
        }
        if (step == dtypes[x->code].itemsize && any_infinite[x->code] != NULL) {
            if (any_infinite[x->code](data, x->size)) {
                return 1;
            }
            continue;
        }
        for (npy_intp j = 0; j < x->size; j++) {
            if (is_infinite(data + j * step, (DTypeCode)x->code)) {
                return 1;
            }
        }
    }
    return 0;
}
