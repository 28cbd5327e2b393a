/* Other objects as arrays, arrays as ndarrays, and one dtype as another. */

#ifndef ARRAY_API_NX_CONVERSION_H
#define ARRAY_API_NX_CONVERSION_H

#include "functions.h"

/* An array of no axes that holds a Python scalar; DECLINED unless the dtype represents that, and
   while small arrays may have to be deferred. */
PyObject *new_scalar_array(PyObject *value, DTypeCode code);

/* A dtype argument: one of ours, or a Python type that stands for one. `*code` stays as it is if
   nothing or None is given. */
int take_dtype_or_type(PyObject *value, DTypeCode *code);

/* An array over the memory of an ndarray, or over a copy of it; DECLINED for other dtypes than
   `wanted`, unless that is NO_DTYPE, and for memory that is not laid out in elements. */
PyObject *array_from_ndarray(PyArrayObject *array, DTypeCode wanted, int copy);

/* An array over the memory of an exact ndarray, or of a NumPy scalar, as an operand that Python would
   make of it too; DECLINED for other objects, and where Python is to make it or to refuse it. */
PyObject *adopt_operand(PyObject *object);

/* The array of an object that asarray gives, of a dtype unless that is NULL; DECLINED where C makes none. */
PyObject *new_array_of(PyObject *object, PyObject *dtype);

/* An array itself, or the view of it that has new axes before its own, so that there are `ndim`; DECLINED where C does not
   know its layout. */
PyObject *view_with_axes(PyObject *array, int ndim);

/* How NumPy lays out a copy or a cast. Of an array that is neither row-major nor column-major it sorts the axes by their
   strides, the longest first, and keeps the order of equal ones. Unlike its iterators, whose order `order_axes` finds,
   it does so with axes of one element, and with those along which elements repeat, whose stride of 0 makes them the last.
   Column-major arrays stay so. */
void order_copy(const Tensor *x, npy_uint8 *order);

/* A NumPy array of an array's memory; DECLINED where Python is to make it or to refuse it. */
PyObject *shared_ndarray(PyObject *array);

/* Keep the exception that is set, which stays set, until `__array__` of this array is called, and forget any other one. Without
   an array none is kept. */
void keep_unheard(PyObject *array);

/* A copy with another dtype, one that the operand's is promoted to, whose axes lie in the operand's order: row-major or
   column-major. NULL, perhaps without an exception, where C does not cast. */
Tensor *cast_operand(Tensor *x, DTypeCode code);

/* An Array of another dtype with the same elements, of any layout: a new reference. NumPy's warnings are given. */
PyObject *cast_array(Tensor *x, DTypeCode code);

#endif
