/* What the type Array asks Python. */

#ifndef ARRAY_API_NX_ARRAY_H
#define ARRAY_API_NX_ARRAY_H

#include "common.h"

/* What C answers itself or declines. */
#define METHOD_LIST(M)                                                                          \
    M(shape) M(ndim) M(size) M(T) M(mT) M(__array_interface__)                                  \
    M(__getitem__) M(__setitem__) M(__len__) M(__iter__)                                        \
    M(__bool__) M(__int__) M(__float__) M(__complex__) M(__index__)                             \
    M(__abs__) M(__invert__) M(__neg__) M(__pos__)                                              \
    M(__add__) M(__radd__) M(__iadd__) M(__sub__) M(__rsub__) M(__isub__)                       \
    M(__mul__) M(__rmul__) M(__imul__) M(__truediv__) M(__rtruediv__) M(__itruediv__)           \
    M(__floordiv__) M(__rfloordiv__) M(__ifloordiv__) M(__mod__) M(__rmod__) M(__imod__)        \
    M(__pow__) M(__rpow__) M(__ipow__) M(__and__) M(__rand__) M(__iand__)                       \
    M(__or__) M(__ror__) M(__ior__) M(__xor__) M(__rxor__) M(__ixor__)                          \
    M(__lshift__) M(__rlshift__) M(__ilshift__) M(__rshift__) M(__rrshift__) M(__irshift__)     \
    M(__matmul__) M(__rmatmul__) M(__imatmul__)                                                 \
    M(__lt__) M(__le__) M(__eq__) M(__ne__) M(__gt__) M(__ge__)

#define AS_INDEX(NAME) METHOD_##NAME,
enum { METHOD_LIST(AS_INDEX) METHOD_COUNT };

/* Ask the Python function of a method, which is that of NumPy's face where the first array is the face's. */
PyObject *ask_python(int method, PyObject *const *args, size_t count);

static inline PyObject *ask_one(int method, PyObject *self)
{
    return ask_python(method, &self, 1);
}

/* Keep the Python functions of all methods, by their names; 0 with an exception set if one is missing. */
int keep_meanings(int of_face, PyObject *methods);

/* The only element as a number of Python, by C or by the method's Python function. */
PyObject *as_float(PyObject *self);
PyObject *as_int(PyObject *self);
PyObject *as_index(PyObject *self);
PyObject *as_complex(PyObject *self, PyObject *ignored);
int as_bool(PyObject *self);

/* The attribute _handle. */
PyObject *array_get_handle(PyObject *self, void *closure);
int array_set_handle(PyObject *self, PyObject *value, void *closure);

#endif
