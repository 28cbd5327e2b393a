/* One operation, element by element, in one call: into new memory, by several threads.

   For arrays that are too small to be worth putting off, but large enough for NumPy's calls to be
   slowed down by new memory and a single processor. It is a kernel of one step, made on the spot,
   that goes over the axes in their order, or from the last to the first. */

#ifndef ARRAY_API_NX_OPERATIONS_H
#define ARRAY_API_NX_OPERATIONS_H

#include "common.h"
#include "loops.h"
#include "sizes.h"
#include "tiles.h"

/* A task begins at a multiple of this many columns, so that no two write to the same lines. */
enum { GRAIN = 1024 };

/* Whether the loop can read the array in place. */
static inline int is_readable(PyArrayObject *array, const PyArray_Descr *dtype)
{
    return PyArray_TYPE(array) == dtype->type_num && PyArray_NDIM(array) <= MAX_DIMS - 2 &&
           PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array) &&
           (npy_uintp)PyArray_DATA(array) % (npy_uintp)alignment(PyArray_ITEMSIZE(array)) == 0;
}

/* Whether `value` is a standard dtype in native byte order, with elements of `itemsize` bytes. Of
   other dtypes the type number does not say how long elements are, or what they mean. */
static inline int is_native(PyObject *value, npy_intp itemsize)
{
    if (!PyArray_DescrCheck(value)) {
        return 0;
    }
    const PyArray_Descr *dtype = (const PyArray_Descr *)value;
    return is_standard(dtype->type_num) && PyArray_ISNBO(dtype->byteorder) &&
           PyDataType_ELSIZE(dtype) == itemsize;
}

/* Add `compute` and `update` to the module; -1 with an exception set. */
int add_operations(PyObject *module);

#endif
