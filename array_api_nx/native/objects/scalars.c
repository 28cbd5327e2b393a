#include "scalars.h"
#include "loops.h"

/* Integers up to this magnitude are exact as floats of either precision. */
enum { EXACT_IN_FLOAT = 1 << 24 };

/* The largest number of float16. */
enum { HALF_MAX = 65504 };

int holds_integer(DTypeCode code, long long number)
{
#define HOLDS(CODE, TYPE, KIND, BYTES) \
    case CODE:                         \
        return (long long)(TYPE)number == number && !(KIND == 'u' && number < 0);
    switch (code) {
        EACH_INTEGER(HOLDS)
    default:
        return 0;
    }
#undef HOLDS
}

static void write_integer(char *target, DTypeCode code, long long number)
{
#define WRITE(CODE, TYPE, ...)                  \
    case CODE:                                  \
        *(TYPE *)target = (TYPE)number;         \
        return;
    switch (code) {
        EACH_INTEGER(WRITE)
    default:
        return;
    }
#undef WRITE
}

void write_number(char *target, DTypeCode code, double number)
{
#define WRITE_FLOAT(CODE, TYPE, ...)    \
    case CODE:                          \
        *(TYPE *)target = (TYPE)number; \
        return;
    switch (code) {
        EACH_FLOAT(WRITE_FLOAT)
    case BOOL:
        *(npy_bool *)target = number != 0;
        return;
    case COMPLEX64:
        *(npy_float *)target = (npy_float)number;
        return;
    case COMPLEX128:
        *(npy_double *)target = number;
        return;
    default:
        write_integer(target, code, (long long)number);
    }
#undef WRITE_FLOAT
}

static int write_int(char *target, DTypeCode code, PyObject *value)
{
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) {
        return 0;
    }
    if (is_integer(code)) {
        if (!holds_integer(code, number)) {
            return 0;
        }
        write_integer(target, code, number);
        return 1;
    }
    const long long most = is_float16(code) ? HALF_MAX : EXACT_IN_FLOAT;
    if (!is_inexact(code) || number < -most || number > most) {
        return 0;
    }
    if (is_complex(code)) {
        memset(target, 0, (size_t)dtypes[code].itemsize);
    }
    write_number(target, code, (double)number);
    return 1;
}

/* Whether the number, rounded to single precision, is no infinity unless it was one before. */
static int fits_float(double number)
{
    return !isfinite(number) || fabs(number) <= FLT_MAX;
}

static int write_complex(char *target, DTypeCode code, double real, double imag)
{
    switch (code) {
    case COMPLEX128:
        ((npy_double *)target)[0] = real;
        ((npy_double *)target)[1] = imag;
        return 1;
    case COMPLEX64:
        if (!fits_float(real) || !fits_float(imag)) {
            return 0;
        }
        ((npy_float *)target)[0] = (npy_float)real;
        ((npy_float *)target)[1] = (npy_float)imag;
        return 1;
    default:
        return 0;
    }
}

int write_scalar(char *target, DTypeCode code, PyObject *value)
{
    if (PyFloat_CheckExact(value)) {
        const double number = PyFloat_AS_DOUBLE(value);
        if (code == FLOAT64) {
            *(npy_double *)target = number;
            return 1;
        }
        if (code == FLOAT32 || is_float16(code)) {
            if (is_float16(code) ? isfinite(number) && fabs(number) > HALF_MAX : !fits_float(number)) {
                return 0;
            }
            write_number(target, code, number);
            return 1;
        }
        return write_complex(target, code, number, 0);
    }
    if (PyLong_CheckExact(value)) {
        return write_int(target, code, value);
    }
    if (PyBool_Check(value)) {
        if (code == BOOL) {
            *(npy_bool *)target = value == Py_True;
            return 1;
        }
        return write_int(target, code, value);
    }
    if (PyComplex_CheckExact(value)) {
        const Py_complex number = PyComplex_AsCComplex(value);
        return write_complex(target, code, number.real, number.imag);
    }
    return 0;
}

int write_numpy_scalar(char *target, DTypeCode code, PyObject *value)
{
    const DTypeCode found = dtype_of_numpy_scalar(value);
    if (found == NO_DTYPE || code == NO_DTYPE || promotions[code][found] != code) {
        return 0;
    }
    if (found == code) {
        memcpy(target, data_of_numpy_scalar(value), (size_t)dtypes[code].itemsize);
        return 1;
    }
    const npy_intp one = 1, steps[2] = {0, 0};
    char *args[2] = {(char *)data_of_numpy_scalar(value), target};
    cast_function(found, code)(args, &one, steps, NULL);
    return 1;
}

PyObject *read_scalar(const char *element, DTypeCode code)
{
#define READ(MAKE, TYPE, CODE) \
    case CODE:                 \
        return MAKE(*(const TYPE *)element);
#define READ_SIGNED(CODE, TYPE, ...) READ(PyLong_FromLongLong, TYPE, CODE)
#define READ_UNSIGNED(CODE, TYPE, ...) READ(PyLong_FromUnsignedLongLong, TYPE, CODE)
#define READ_FLOAT(CODE, TYPE, ...) READ(PyFloat_FromDouble, TYPE, CODE)
    const npy_float *floats = (const npy_float *)element;
    const npy_double *doubles = (const npy_double *)element;
    switch (code) {
        READ(PyBool_FromLong, npy_bool, BOOL)
        EACH_SIGNED(READ_SIGNED)
        EACH_UNSIGNED(READ_UNSIGNED)
        EACH_FLOAT(READ_FLOAT)
    case COMPLEX64:
        return PyComplex_FromDoubles((double)floats[0], (double)floats[1]);
    default:
        return PyComplex_FromDoubles(doubles[0], doubles[1]);
    }
#undef READ
#undef READ_SIGNED
#undef READ_UNSIGNED
#undef READ_FLOAT
}
