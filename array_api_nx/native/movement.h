/* Movement: views that show the elements of an array through another layout. It reads no
   elements, so that arrays of any size, and deferred ones, are moved alike. */

#ifndef ARRAY_API_NX_MOVEMENT_H
#define ARRAY_API_NX_MOVEMENT_H

#include "functions.h"

extern const TwinEntry movement_twins[];

/* A layout in the making: shape, and strides and offset in bytes. `read_only` is what it
   inherits. */
typedef struct {
    int ndim, read_only;
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    npy_intp offset;
} Layout;

/* Sizes may be anything whose product over nonzero sizes is at most this: the limit of
   core/shape.py, under which no number of bytes overflows. */
#define MAX_ELEMENTS (NPY_MAX_INTP / 16)

/* An exact int as its only item, or the items of a tuple or list. They stay valid until Python code
   runs. 0, without an exception, for other objects. */
static inline int take_items(PyObject *const *value, Py_ssize_t *count, PyObject *const **items)
{
    if (PyTuple_CheckExact(*value) || PyList_CheckExact(*value)) {
        *count = PySequence_Fast_GET_SIZE(*value);
        *items = PySequence_Fast_ITEMS(*value);
        return 1;
    }
    *count = 1;
    *items = value;
    return PyLong_CheckExact(*value);
}

/* An exact int; 0, without an exception, for all else. */
static inline int take_number(PyObject *value, npy_intp *number)
{
    int overflow = 1;
    *number = 0;
    if (PyLong_CheckExact(value)) {
        *number = (npy_intp)PyLong_AsLongLongAndOverflow(value, &overflow);
    }
    return !overflow;
}

/* The tensor of an array of which there can be views. NULL, perhaps with an exception set, if
   Python has to find out. */
Tensor *movable(PyObject *object);

/* Have a layout begin where that of `x` does. */
static inline void start_layout(const Tensor *x, Layout *layout)
{
    layout->offset = x->offset;
    layout->read_only = x->flags & READ_ONLY;
}

/* The layout of `x` as it is. */
void copy_layout(const Tensor *x, Layout *layout);

/* Keep `count` elements of an axis, from `start` on, `step` apart: View.slice for one axis. */
static inline void step_along(Layout *layout, int axis, npy_intp start, npy_intp count,
                              npy_intp step)
{
    layout->offset += start * layout->strides[axis];
    layout->shape[axis] = count;
    if (count > 1) { /* where nothing is stepped over, the stride stays */
        layout->strides[axis] *= step;
    }
}

/* The view of a movable tensor through a layout. */
PyObject *show(Tensor *of, const Layout *layout);

/* The last two axes exchanged. Declined if there are fewer. */
PyObject *transpose_last(PyObject *array);

/* The order of all axes reversed. */
PyObject *reverse_axes(PyObject *array);

#endif
