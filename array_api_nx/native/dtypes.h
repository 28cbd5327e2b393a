/* The standard's dtypes as small numbers. */

#ifndef ARRAY_API_NX_DTYPES_H
#define ARRAY_API_NX_DTYPES_H

#include "common.h"

/* The standard's dtypes, in the order of core/dtypes.py. NO_DTYPE stands for all others, which only
   the storages of other engines have. */
typedef enum {
    BOOL, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64,
    FLOAT32, FLOAT64, COMPLEX64, COMPLEX128, DTYPE_COUNT, NO_DTYPE = DTYPE_COUNT
} DTypeCode;

typedef struct {
    PyArray_Descr *descr; /* the object of core/dtypes.py */
    npy_intp itemsize;
    int type_number;      /* NumPy's */
    char kind;            /* NumPy's: 'b', 'i', 'u', 'f' or 'c' */
} DTypeInfo;

/* A bool as a number, 0 or 1. Memory of callers and of other libraries may hold any byte, and each but
   0 is true, as in NumPy. Copies, masks and conditions take bytes as they are; what computes with
   bools, or compares two, reads them by this function. (It returns an int because GCC 12 makes no
   vectors of casts from a byte that was compared to a floating-point number.) */
static inline int truth_of(npy_bool byte)
{
    return byte != 0;
}

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

/* The code of the dtype with NumPy's type number; NO_DTYPE for other types. */
DTypeCode code_of_number(int type_number);

#endif
