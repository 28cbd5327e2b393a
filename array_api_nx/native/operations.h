/* One operation, element by element, on several threads: a kernel of one step, made on the spot.

   For arrays that are too small to be worth putting off, but large enough for NumPy's calls to be
   slowed down by new memory and a single processor. */

#ifndef ARRAY_API_NX_OPERATIONS_H
#define ARRAY_API_NX_OPERATIONS_H

#include "common.h"
#include "loops.h"
#include "sizes.h"
#include "walk.h"

/* Whether the loop can read the array in place. */
static inline int is_readable(PyArrayObject *array, const PyArray_Descr *dtype)
{
    return PyArray_TYPE(array) == dtype->type_num && PyArray_NDIM(array) <= MAX_DIMS - 2 &&
           PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array) &&
           (npy_uintp)PyArray_DATA(array) % (npy_uintp)alignment(PyArray_ITEMSIZE(array)) == 0;
}

/* Whether `value` is a standard dtype in native byte order, with elements of `itemsize` bytes. Of
   other dtypes the type number does not say how long elements are, or how to read them. */
static inline int is_native(PyObject *value, npy_intp itemsize)
{
    if (!PyArray_DescrCheck(value)) {
        return 0;
    }
    const PyArray_Descr *dtype = (const PyArray_Descr *)value;
    return is_standard(dtype->type_num) && PyArray_ISNBO(dtype->byteorder) &&
           PyDataType_ELSIZE(dtype) == itemsize;
}

/* Whether the walk has not too many axes for `run_divided`. */
int can_divide(const Walk *walk);

/* Run the loop over a walk, whose last operand is the target, by at most `threads` threads, without
   the GIL. `serial_limit` elements are worth a task; `materialise_scalar` says that the loop is slow
   with scalars, `is_exact` that its bits do not depend on how its operands lie. 0 with an exception set if there
   was no memory or a signal came. */
int run_divided(const Walk *walk, const Loop *loop, npy_intp serial_limit, int materialise_scalar,
                int is_exact, npy_intp threads, npy_uint8 *flags);

#endif
