/* NumPy in our place: the arguments of a call as NumPy takes them, and its results as arrays of the face. */

#include "conversion.h"
#include "face.h"
#include "layouts.h"
#include "parts.h"
#include "sizes.h"

npy_intp numpys_calls;

/* adoption.as_faces, for what C does not adopt. */
static PyObject *as_faces_function;

/* Whether an object of another class has a method that may give an array of the face, or computes with arrays itself;
   sets `*overrides` as `to_numpys` does. */
static int may_give_array(PyObject *object, int *overrides)
{
    static PyTypeObject *without; /* the last class that had none */
    PyTypeObject *type = Py_TYPE(object);
    if (object == Py_None || PyLong_Check(object) || PyFloat_Check(object) || PyUnicode_Check(object) ||
        PyArray_IsScalar(object, Generic) || PyArray_DescrCheck(object) || PyType_Check(object)) {
        return 0;
    }
    *overrides |= !PyArray_CheckExact(object) || PyDataType_REFCHK(PyArray_DESCR((PyArrayObject *)object));
    if (PyArray_Check(object) || type == without) {
        return 0;
    }
    if (PyObject_HasAttrString((PyObject *)type, "__array__") ||
        PyObject_HasAttrString((PyObject *)type, "__array_ufunc__")) {
        return 1;
    }
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) { /* a class of Python's statements may get the method, or end */
        without = type;
    }
    return 0;
}

/* Whether a list or tuple has only Python's numbers, as those of x.tolist() have. */
static int are_numbers(PyObject *sequence)
{
    PyObject *const *items = PySequence_Fast_ITEMS(sequence);
    Py_ssize_t i = 0;
    while (i < PySequence_Fast_GET_SIZE(sequence) && (PyFloat_CheckExact(items[i]) || PyLong_Check(items[i]))) {
        i++;
    }
    return i == PySequence_Fast_GET_SIZE(sequence);
}

/* What `to_numpys` converts: arrays of up to `most` elements, in lists of `depth` lists around them. */
typedef struct {
    npy_intp most;
    int depth, *overrides;
} Conversion;

static PyObject *to_numpys_item(PyObject *item, const void *context)
{
    const Conversion *limit = context;
    if (is_face(item)) {
        Tensor *x = layout_of(item);
        if (x == NULL || is_watched || x->size > limit->most || data_of(x) == NULL) {
            return NULL;
        }
        return new_ndarray(x);
    }
    if (item == (PyObject *)face_type) {
        return Py_NewRef(&PyArray_Type);
    }
    if ((PyTuple_CheckExact(item) || PyList_CheckExact(item)) && limit->depth <= NPY_MAXDIMS) {
        if (are_numbers(item)) {
            return Py_NewRef(item);
        }
        const Conversion inner = {limit->most, limit->depth + 1, limit->overrides};
        return convert_items(item, to_numpys_item, &inner);
    }
    return PyDict_CheckExact(item) || is_array(item) || may_give_array(item, limit->overrides) ? NULL : Py_NewRef(item);
}

PyObject *to_numpys(PyObject *object, npy_intp most, int *overrides)
{
    int ignored;
    const Conversion limit = {most, 0, overrides == NULL ? &ignored : overrides};
    return to_numpys_item(object, &limit);
}

/* The arguments of a call, and what NumPy was given for them. */
typedef struct {
    PyObject *const *given, *const *args;
    Py_ssize_t count;
} Arguments;

/* A view that NumPy made of an argument, as a view of the argument's storage: so it is known who reads and writes that.
   DECLINED for other arrays. */
static PyObject *view_argument(PyArrayObject *array, PyObject *given, PyObject *arg)
{
    PyObject *base = PyArray_BASE(array);
    const DTypeCode code = base == NULL ? NO_DTYPE : code_of_dtype((PyObject *)PyArray_DESCR(array));
    if (code == NO_DTYPE || (base != given && base != PyArray_BASE((PyArrayObject *)given)) ||
        PyArray_SIZE(array) == 0) {
        return DECLINED;
    }
    Tensor *x = layout_of(arg);
    if (x == NULL || x->storage == NULL || is_watched || (code != x->code && (code == BOOL || limits.at_once < 1))) {
        return decline_unless_raised();
    }
    const Storage *storage = (const Storage *)x->storage;
    const npy_intp itemsize = dtypes[code].itemsize, offset = PyArray_BYTES(array) - storage->address;
    npy_intp low, high;
    find_reach(PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array), &low, &high);
    if (storage->address == NULL || offset + low < 0 || offset + high + itemsize > storage->bytes ||
        offset % itemsize != 0) {
        return DECLINED;
    }
    for (int dim = 0; dim < PyArray_NDIM(array); dim++) {
        if (PyArray_STRIDE(array, dim) % itemsize != 0) {
            return DECLINED;
        }
    }
    PyObject *view = new_view_as(x, PyArray_NDIM(array), code);
    if (view == NULL) {
        return NULL;
    }
    Tensor *tensor = tensor_of(view);
    const int is_row_major = PyArray_IS_C_CONTIGUOUS(array);
    npy_intp step = itemsize;
    for (int dim = PyArray_NDIM(array) - 1; dim >= 0; dim--) {
        tensor->shape[dim] = PyArray_DIM(array, dim);
        tensor->strides[dim] = is_row_major ? step : PyArray_STRIDE(array, dim);
        step *= PyArray_DIM(array, dim);
    }
    tensor->offset = offset;
    tensor->flags |= BOUNDED;
    finish_layout(tensor, !PyArray_ISWRITEABLE(array));
    return view;
}

/* The Array around a new array of NumPy's that nothing else refers to; DECLINED for others, and for layouts that ours
   cannot have. */
static PyObject *take_new(PyArrayObject *array)
{
    const DTypeCode code = code_of_dtype((PyObject *)PyArray_DESCR(array));
    if (Py_REFCNT(array) != 1 || code == NO_DTYPE || PyArray_SIZE(array) > limits.large ||
        !(PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE)) || is_watched) {
        return DECLINED;
    }
    return wrap_ndarray(Py_NewRef((PyObject *)array), code);
}

/* Whether arrays of a type are NumPy's in the face, too: of objects, strings, records and dates. */
static int is_of_other_elements(int type)
{
    return PyTypeNum_ISOBJECT(type) || PyTypeNum_ISFLEXIBLE(type) || PyTypeNum_ISDATETIME(type);
}

/* Whether an array may be a view of bytes as booleans, of others than 0 and 1: where these do not lie one after the other,
   Python looks for them. */
static int may_have_other_bools(PyArrayObject *array)
{
    PyObject *base = PyArray_BASE(array);
    if (PyArray_TYPE(array) != NPY_BOOL || base == NULL ||
        (PyArray_CheckExact(base) && PyArray_TYPE((PyArrayObject *)base) == NPY_BOOL &&
         PyArray_CHKFLAGS((PyArrayObject *)base, NPY_ARRAY_OWNDATA))) {
        return 0;
    }
    if (!PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS)) {
        return 1;
    }
    const npy_uint8 *bytes = PyArray_DATA(array);
    const npy_intp size = PyArray_SIZE(array);
    npy_uint8 bits = 0;
    for (npy_intp i = 0; i < size; i++) {
        bits |= bytes[i];
    }
    return bits > 1;
}

static PyObject *from_numpys_item(PyObject *item, const void *context)
{
    const Arguments *arguments = context;
    for (Py_ssize_t i = 0; i < arguments->count; i++) {
        PyObject *given = arguments->given[i], *arg = arguments->args[i];
        if (item == given) {
            return Py_NewRef(arg);
        }
        for (Py_ssize_t j = 0; PyTuple_CheckExact(given) && j < PyTuple_GET_SIZE(given); j++) {
            if (item == PyTuple_GET_ITEM(given, j)) { /* of out */
                return Py_NewRef(PyTuple_GET_ITEM(arg, j));
            }
        }
    }
    if (PyTuple_CheckExact(item) || PyList_CheckExact(item)) {
        return are_numbers(item) ? Py_NewRef(item) : convert_items(item, from_numpys_item, context);
    }
    if (PyTuple_Check(item)) { /* one with names, such as EighResult */
        PyObject *plain = PySequence_Tuple(item), *items = NULL;
        if (plain != NULL) {
            items = convert_items(plain, from_numpys_item, context);
        }
        PyObject *result = items == NULL    ? NULL
                           : items == plain ? Py_NewRef(item)
                                            : PyObject_CallObject((PyObject *)Py_TYPE(item), items);
        Py_XDECREF(plain);
        Py_XDECREF(items);
        return result;
    }
    if (!PyArray_CheckExact(item) || is_of_other_elements(PyArray_TYPE((PyArrayObject *)item))) {
        return Py_NewRef(item);
    }
    PyObject *adopted = DECLINED;
    for (Py_ssize_t i = 0; adopted == DECLINED && i < arguments->count; i++) {
        if (is_face(arguments->args[i])) {
            adopted = view_argument((PyArrayObject *)item, arguments->given[i], arguments->args[i]);
        }
    }
    if (adopted == DECLINED) {
        adopted = take_new((PyArrayObject *)item);
    }
    if (adopted == DECLINED && !may_have_other_bools((PyArrayObject *)item)) {
        adopted = array_from_ndarray((PyArrayObject *)item, NO_DTYPE, 0);
    }
    if (adopted == DECLINED) {
        return PyErr_Occurred() ? NULL : PyObject_CallOneArg(as_faces_function, item);
    }
    return face_of(adopted, 0);
}

PyObject *from_numpys(PyObject *result, PyObject *const *given, PyObject *const *args, Py_ssize_t count)
{
    numpys_calls++;
    if (result == NULL || result == Py_None || PyArray_IsScalar(result, Generic)) {
        return result;
    }
    const Arguments arguments = {given, args, count};
    PyObject *converted = from_numpys_item(result, &arguments);
    Py_DECREF(result);
    return converted;
}

/* ------------------------------------------------------------------ the module's part */

static PyObject *count_numpys(PyObject *module, PyObject *more)
{
    const Py_ssize_t added = PyLong_AsSsize_t(more);
    if (added == -1 && PyErr_Occurred()) {
        return NULL;
    }
    numpys_calls += added;
    return PyLong_FromSsize_t(numpys_calls);
}

static PyObject *numpys(PyObject *module, PyObject *object)
{
    PyObject *found = to_numpys(object, MOST_ELEMENTS, NULL);
    return found != NULL || PyErr_Occurred() ? found : Py_NewRef(Py_None);
}

KEEP_ARGUMENT(set_as_faces, as_faces_function)

PyMethodDef face_conversion_methods[] = {
    {"count_numpys", count_numpys, METH_O,
     "count_numpys(more, /)\n--\n\nHow often the face had NumPy compute, `more` added."},
    {"numpys", numpys, METH_O,
     "numpys(object, /)\n--\n\nThe object with NumPy's arrays in place of those of the face, in lists and tuples too; "
     "None if C does not say."},
    {"set_as_faces", set_as_faces, METH_O, "set_as_faces(function)\n--\n\nadoption.as_faces."},
    {NULL, NULL, 0, NULL},
};
