/* The dtypes as small numbers. */

#ifndef ARRAY_API_NX_DTYPES_H
#define ARRAY_API_NX_DTYPES_H

#include "common.h"
#include "compiler.h"

/* The dtypes, a line each: X(code, type of an element, kind, bytes), or X(A, code, ...) in the
   lists that pass an argument on. The kind is NumPy's. The order is that of core/dtypes.py; `set_dtypes`
   compares the two when the package is imported. A dtype without a line is declined everywhere. Codes of
   integers have a prefix because `INT8` and the like are types of Windows' headers, which Python.h
   includes there. */
#define EACH_SIGNED_WITH(X, A)        \
    X(A, NX_INT8, npy_int8, 'i', 1)   \
    X(A, NX_INT16, npy_int16, 'i', 2) \
    X(A, NX_INT32, npy_int32, 'i', 4) \
    X(A, NX_INT64, npy_int64, 'i', 8)
#define EACH_UNSIGNED_WITH(X, A)        \
    X(A, NX_UINT8, npy_uint8, 'u', 1)   \
    X(A, NX_UINT16, npy_uint16, 'u', 2) \
    X(A, NX_UINT32, npy_uint32, 'u', 4) \
    X(A, NX_UINT64, npy_uint64, 'u', 8)
#ifdef HAS_FLOAT16
__extension__ typedef _Float16 Half;
#define EACH_HALF_WITH(X, A) X(A, FLOAT16, Half, 'f', 2)
#else
#define EACH_HALF_WITH(X, A)
#endif
#define EACH_BROAD_FLOAT_WITH(X, A)  \
    X(A, FLOAT32, npy_float, 'f', 4) \
    X(A, FLOAT64, npy_double, 'f', 8)
#define EACH_FLOAT_WITH(X, A) EACH_HALF_WITH(X, A) EACH_BROAD_FLOAT_WITH(X, A)
#define EACH_COMPLEX_WITH(X, A)          \
    X(A, COMPLEX64, npy_cfloat, 'c', 8)  \
    X(A, COMPLEX128, npy_cdouble, 'c', 16)
#define EACH_INTEGER_WITH(X, A) EACH_SIGNED_WITH(X, A) EACH_UNSIGNED_WITH(X, A)

#define WITHOUT(X, ...) X(__VA_ARGS__)
#define EACH_BOOL(X) X(BOOL, npy_bool, 'b', 1)
#define EACH_SIGNED(X) EACH_SIGNED_WITH(WITHOUT, X)
#define EACH_UNSIGNED(X) EACH_UNSIGNED_WITH(WITHOUT, X)
#define EACH_INTEGER(X) EACH_SIGNED(X) EACH_UNSIGNED(X)
#define EACH_HALF(X) EACH_HALF_WITH(WITHOUT, X)
#define EACH_BROAD_FLOAT(X) EACH_BROAD_FLOAT_WITH(WITHOUT, X)
#define EACH_FLOAT(X) EACH_FLOAT_WITH(WITHOUT, X)
#define EACH_COMPLEX(X) EACH_COMPLEX_WITH(WITHOUT, X)
#define EACH_REAL(X) EACH_BOOL(X) EACH_INTEGER(X) EACH_FLOAT(X)
#define EACH_DTYPE(X) EACH_REAL(X) EACH_COMPLEX(X)

/* NO_DTYPE is the code of all other dtypes, which only the storages of other engines have. */
#define DTYPE_CODE(CODE, ...) CODE,
typedef enum { EACH_DTYPE(DTYPE_CODE) DTYPE_COUNT, NO_DTYPE = DTYPE_COUNT } DTypeCode;

#define DTYPE_HAS_ITS_SIZE(CODE, TYPE, KIND, BYTES) \
    _Static_assert(sizeof(TYPE) == (BYTES), #CODE " has another size");
EACH_DTYPE(DTYPE_HAS_ITS_SIZE)

typedef struct {
    PyArray_Descr *descr; /* the object of core/dtypes.py */
    npy_intp itemsize;
    int type_number; /* NumPy's */
    char kind;
} DTypeInfo;

/* Kinds of dtypes; NO_DTYPE is of none. */
#define DTYPE_CASE(CODE, ...) case CODE:
#define DEFINE_KIND(NAME, EACH)           \
    static inline int NAME(int code)      \
    {                                     \
        switch (code) {                   \
            EACH(DTYPE_CASE) return 1;    \
        default:                          \
            return 0;                     \
        }                                 \
    }
#define EACH_INEXACT(X) EACH_FLOAT(X) EACH_COMPLEX(X)
DEFINE_KIND(is_signed, EACH_SIGNED)
DEFINE_KIND(is_unsigned, EACH_UNSIGNED)
DEFINE_KIND(is_integer, EACH_INTEGER)
DEFINE_KIND(is_inexact, EACH_INEXACT)
DEFINE_KIND(is_complex, EACH_COMPLEX)

static inline int is_float16(int code)
{
#ifdef HAS_FLOAT16
    return code == FLOAT16;
#else
    return 0;
#endif
}

/* The dtype of the parts of complex numbers. */
static inline DTypeCode part_of(int code)
{
    return code == COMPLEX64 ? FLOAT32 : FLOAT64;
}

/* A real floating-point element as a double; 0 for elements of other dtypes. */
static inline double read_float(const char *element, int code)
{
#define READ_AS_DOUBLE(CODE, TYPE, ...) \
    case CODE:                          \
        return *(const TYPE *)element;
    switch (code) {
        EACH_FLOAT(READ_AS_DOUBLE)
    default:
        return 0;
    }
#undef READ_AS_DOUBLE
}

/* A bool as a number, 0 or 1. Memory of callers and of other libraries may hold any byte, and each but
   0 is true, as in NumPy. Copies, masks and conditions take bytes as they are; what computes with
   bools, or compares two, reads them by this function. (It returns an int because GCC 12 makes no
   vectors of casts from a byte that was compared to a floating-point number.) */
static inline int truth_of(npy_bool byte)
{
    return byte != 0;
}

/* Whether a number is not 0. GCC compares the parts of a complex number faster than the number. */
#define IS_TRUE(X)                                                \
    _Generic((X),                                                 \
        npy_cfloat: crealf(X) != 0 || cimagf(X) != 0,              \
        npy_cdouble: creal(X) != 0 || cimag(X) != 0,               \
        default: (X) != 0)

extern DTypeInfo dtypes[DTYPE_COUNT];
extern npy_uint8 promotions[DTYPE_COUNT][DTYPE_COUNT];

/* The code of an object of core/dtypes.py; NO_DTYPE for any other, one that equals it included. */
static inline DTypeCode code_of_dtype(PyObject *object)
{
    int code = 0;
    while (code < DTYPE_COUNT && (PyObject *)dtypes[code].descr != object) {
        code++;
    }
    return (DTypeCode)code;
}

/* What a dtype promotes to with a Python scalar, by the dtype of an array of that scalar; NO_DTYPE for
   NO_DTYPE. Scalars change the kind, never the precision. */
static inline DTypeCode promote_with_scalar(DTypeCode code, DTypeCode scalar)
{
    const DTypeCode floating = is_inexact(code) ? code : FLOAT64;
    switch (scalar) {
    case NO_DTYPE:
        return NO_DTYPE;
    case BOOL:
        return code;
    case NX_INT64:
        return code == BOOL ? NX_INT64 : code;
    case FLOAT64:
        return floating;
    default:
        return (DTypeCode)promotions[floating][COMPLEX64];
    }
}

/* The code of the dtype with NumPy's type number; NO_DTYPE for other types. */
DTypeCode code_of_number(int type_number);

#endif
