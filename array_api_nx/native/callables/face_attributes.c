/* The attributes of the arrays of NumPy's face. */

#include "array.h"
#include "chapters.h"
#include "face.h"
#include "layouts.h"
#include "movement.h"

/* What members of the class mean, by their names; and what assigns to attributes: assign(array, name, value). */
static PyObject *members, *assign_function;

void keep_attributes(PyObject *meanings, PyObject *assign)
{
    Py_XSETREF(members, Py_NewRef(meanings));
    Py_XSETREF(assign_function, Py_NewRef(assign));
}

static PyObject *get_shape(PyObject *self, void *closure)
{
    Tensor *x = layout_of(self);
    return x != NULL ? shape_of(x) : ask_one(METHOD_shape, self);
}

static PyObject *get_ndim(PyObject *self, void *closure)
{
    const Tensor *x = layout_of(self);
    return x != NULL ? PyLong_FromLong(x->ndim) : ask_one(METHOD_ndim, self);
}

static PyObject *get_size(PyObject *self, void *closure)
{
    const Tensor *x = layout_of(self);
    return x != NULL ? PyLong_FromSsize_t(x->size) : ask_one(METHOD_size, self);
}

static PyObject *get_T(PyObject *self, void *closure)
{
    PyObject *result = reverse_axes(self);
    return result == DECLINED ? ask_one(METHOD_T, self) : face_of(result, 0);
}

/* An attribute that C alone has, of arrays of other devices. */
static PyObject *read_by_python(PyObject *self, const char *name)
{
    PyObject *read = PyErr_Occurred() ? NULL : PyDict_GetItemString(members, name);
    return read == NULL ? NULL : PyObject_CallOneArg(read, self);
}

static PyObject *get_itemsize(PyObject *self, void *closure)
{
    const Tensor *x = layout_of(self);
    return x != NULL ? PyLong_FromSsize_t(dtypes[x->code].itemsize) : read_by_python(self, closure);
}

static PyObject *get_nbytes(PyObject *self, void *closure)
{
    const Tensor *x = layout_of(self);
    return x != NULL ? PyLong_FromSsize_t(x->size * dtypes[x->code].itemsize) : read_by_python(self, closure);
}

static PyObject *get_strides(PyObject *self, void *closure)
{
    const Tensor *x = layout_of(self);
    return x != NULL ? tuple_of_sizes(x->ndim, x->strides, 1) : read_by_python(self, closure);
}

/* What an attribute of NumPy's array over the same elements is. */
static PyObject *read_numpys(PyObject *self, void *closure)
{
    PyObject *array = to_numpys(self, MOST_ELEMENTS, NULL);
    PyObject *value = array == NULL ? read_by_python(self, closure) : PyObject_GetAttrString(array, closure);
    Py_XDECREF(array);
    return value;
}

static void free_interface(PyObject *capsule)
{
    Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
    PyMem_Free(PyCapsule_GetPointer(capsule, NULL));
}

/* NumPy's own interface names the dtype by a string, which every reader parses; this one holds the dtype, which
   NumPy takes as well. */
static PyObject *read_interface(PyObject *self, void *closure)
{
    PyObject *object = to_numpys(self, MOST_ELEMENTS, NULL);
    if (object == NULL) {
        return read_by_python(self, closure);
    }
    PyArrayObject *array = (PyArrayObject *)object;
    PyArrayInterface *interface = PyMem_Malloc(sizeof(PyArrayInterface));
    PyObject *capsule = interface == NULL ? PyErr_NoMemory() : PyCapsule_New(interface, NULL, free_interface);
    if (capsule == NULL || PyCapsule_SetContext(capsule, object) < 0) {
        Py_DECREF(object);
        if (capsule == NULL) {
            PyMem_Free(interface);
        }
        Py_XDECREF(capsule);
        return NULL;
    }
    *interface = (PyArrayInterface){
        .two = 2,
        .nd = PyArray_NDIM(array),
        .typekind = PyArray_DESCR(array)->kind,
        .itemsize = (int)PyArray_ITEMSIZE(array),
        .flags = PyArray_FLAGS(array) | NPY_ARRAY_NOTSWAPPED | NPY_ARR_HAS_DESCR,
        .shape = PyArray_DIMS(array),
        .strides = PyArray_STRIDES(array),
        .data = PyArray_DATA(array),
        .descr = (PyObject *)PyArray_DESCR(array),
    };
    return capsule;
}

static int set_by_python(PyObject *self, PyObject *value, void *closure)
{
    if (refuse_deletion(value)) {
        return -1;
    }
    PyObject *done = PyObject_CallFunction(assign_function, "OsO", self, (const char *)closure, value);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* x.shape = shape, where a view has it; by Python where not. */
static int set_shape(PyObject *self, PyObject *shape, void *closure)
{
    FIND_ONCE(reshape, "reshape")
    PyObject *const values[3] = {self, shape, Py_False};
    PyObject *view = shape == NULL || layout_of(self) == NULL ? DECLINED : reshape->compute(reshape->code, values, 3);
    if (view == DECLINED || view == NULL) {
        return view == NULL || PyErr_Occurred() ? -1 : set_by_python(self, shape, closure);
    }
    const int done = array_set_handle(self, ((Array *)view)->handle, NULL);
    Py_DECREF(view);
    return done;
}

static PyObject *get_dtype(PyObject *self, void *closure)
{
    return Py_XNewRef(((Array *)self)->dtype);
}

PyMemberDef face_members[] = {
    {"_dtype", T_OBJECT_EX, offsetof(Array, dtype), 0, NULL},
    {"_device", T_OBJECT_EX, offsetof(Array, device), 0, NULL},
    {"device", T_OBJECT_EX, offsetof(Array, device), READONLY, "Where the elements live."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Array, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyGetSetDef face_attributes[] = {
    {"_handle", array_get_handle, array_set_handle, NULL, NULL},
    {"shape", get_shape, set_shape, NULL, "shape"},
    {"dtype", get_dtype, set_by_python, NULL, "dtype"},
    {"ndim", get_ndim, NULL, NULL, NULL},
    {"size", get_size, NULL, NULL, NULL},
    {"T", get_T, NULL, NULL, NULL},
    {"base", read_numpys, NULL, NULL, "base"},
    {"__array_struct__", read_interface, NULL, NULL, "__array_struct__"},
    {"itemsize", get_itemsize, NULL, NULL, "itemsize"},
    {"nbytes", get_nbytes, NULL, NULL, "nbytes"},
    {"strides", get_strides, set_by_python, NULL, "strides"},
    {NULL, NULL, NULL, NULL, NULL},
};
