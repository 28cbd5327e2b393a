#include "iteration.h"
#include "parts.h"

/* It refers to no more than an array, which never refers back, so that the garbage collector need
   not know it. */
typedef struct {
    PyObject_HEAD
    PyObject *array;
    npy_intp next, count;
} Rows;

static PyTypeObject *rows_type;

static PyObject *rows_next(PyObject *object)
{
    Rows *rows = (Rows *)object;
    if (rows->next >= rows->count) {
        return NULL;
    }
    PyObject *number = PyLong_FromSsize_t(rows->next++);
    PyObject *row = number == NULL ? NULL : PyObject_GetItem(rows->array, number);
    Py_XDECREF(number);
    return row;
}

static void rows_dealloc(PyObject *object)
{
    Py_DECREF(((Rows *)object)->array);
    free_instance(object);
}

static PyType_Slot rows_slots[] = {
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, rows_next},
    {Py_tp_dealloc, rows_dealloc},
    {0, NULL},
};

static PyType_Spec rows_spec = {
    .name = "array_api_nx._native.Rows",
    .basicsize = sizeof(Rows),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = rows_slots,
};

PyObject *iterate_rows(PyObject *array)
{
    const Tensor *layout = layout_of(array);
    if (layout == NULL || layout->ndim == 0) {
        return DECLINED;
    }
    Rows *rows = PyObject_New(Rows, rows_type);
    if (rows != NULL) {
        rows->array = Py_NewRef(array);
        rows->next = 0;
        rows->count = layout->shape[0];
    }
    return (PyObject *)rows;
}

int add_iteration(PyObject *module)
{
    rows_type = (PyTypeObject *)PyType_FromSpec(&rows_spec);
    return rows_type == NULL ? -1 : 0;
}
