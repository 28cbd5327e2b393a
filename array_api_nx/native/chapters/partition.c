/* partition and argpartition by NumPy's functions, which take ndarrays. */

#include "chapters.h"
#include "sorting.h"

enum { PARTITION, ARGPARTITION };

/* The ndarray of a copy. */
static PyObject *copied(const Tensor *x, const char *data, int type)
{
    PyObject *array = PyArray_SimpleNew(x->ndim, x->shape, type);
    if (array != NULL) {
        memcpy(PyArray_BYTES((PyArrayObject *)array), data,
               (size_t)(x->size * dtypes[x->code].itemsize));
    }
    return array;
}

static PyObject *call_partition(int which, PyObject *const *values, Py_ssize_t count)
{
    const char *data;
    Tensor *x = sortable(values[0], limits.at_once, &data);
    if (x == NULL || x->ndim == 0 || x->code == BOOL || !(x->flags & ROW_MAJOR) ||
        !PyLong_CheckExact(values[1])) {
        return DECLINED;
    }
    int axis = x->ndim - 1;
    if (values[2] != NULL && !take_axis(values[2], x->ndim, &axis)) {
        return DECLINED;
    }
    npy_intp place = PyLong_AsSsize_t(values[1]);
    const npy_intp length = x->shape[axis], one = 1;
    if (place < -length || place >= length || (place == -1 && PyErr_Occurred())) {
        PyErr_Clear();
        return DECLINED;
    }
    place += place < 0 ? length : 0;
    const int type = dtypes[x->code].type_number;
    PyObject *where = PyArray_SimpleNewFromData(1, &one, NPY_INTP, &place);
    PyObject *array = where == NULL ? NULL
                      : which == PARTITION
                          ? copied(x, data, type)
                          : PyArray_SimpleNewFromData(x->ndim, x->shape, type, (void *)data);
    PyObject *found = NULL;
    if (array != NULL && which == ARGPARTITION) {
        found = PyArray_ArgPartition((PyArrayObject *)array, (PyArrayObject *)where, axis,
                                     NPY_INTROSELECT);
    } else if (array != NULL && PyArray_Partition((PyArrayObject *)array, (PyArrayObject *)where,
                                                  axis, NPY_INTROSELECT) == 0) {
        found = Py_NewRef(array);
    }
    Py_XDECREF(where);
    Py_XDECREF(array);
    const DTypeCode code = which == PARTITION ? (DTypeCode)x->code : NX_INT64;
    if (found != NULL && PyArray_DESCR((PyArrayObject *)found) != dtypes[code].descr) {
        Py_DECREF(found); /* NumPy's other name for int64 */
        return DECLINED;
    }
    return found == NULL ? NULL : wrap_ndarray(found, code);
}

Implementation partition_functions[] = {
    {"partition", call_partition, PARTITION, "x, /, kth, axis="},
    {"argpartition", call_partition, ARGPARTITION, "x, /, kth, axis="},
    {NULL, NULL, 0, NULL},
};
