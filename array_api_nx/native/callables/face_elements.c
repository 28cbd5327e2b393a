/* Keys of the arrays of NumPy's face: elements and views, read and written, and iteration. */

#include "array.h"
#include "conversion.h"
#include "elements.h"
#include "face.h"
#include "indexing.h"
#include "layouts.h"
#include "parts.h"
#include "scalars.h"

/* Read an index from 0 to size - 1; 0, without an exception, for other objects than ints and NumPy's. */
static inline int read_position(PyObject *item, npy_intp size, npy_intp *position)
{
    int overflow = 0;
    if (PyLong_CheckExact(item)) {
        *position = (npy_intp)PyLong_AsLongLongAndOverflow(item, &overflow);
    } else if (PyArray_IsScalar(item, Int64)) {
        *position = (npy_intp)PyArrayScalar_VAL(item, Int64);
    } else if (PyArray_IsScalar(item, Integer) && !PyArray_IsScalar(item, Timedelta)) {
        PyObject *number = PyNumber_Index(item);
        *position = number == NULL ? -1 : (npy_intp)PyLong_AsLongLongAndOverflow(number, &overflow);
        Py_XDECREF(number);
        if (number == NULL) {
            return 0;
        }
    } else {
        return 0;
    }
    *position += *position < 0 ? size : 0;
    return !overflow && *position >= 0 && *position < size;
}

/* Where the element of a key of ints lies, one for each axis; NULL, perhaps with an exception set, for other keys. */
static char *find_element(Tensor *x, PyObject *key)
{
    npy_intp position, offset = 0;
    PyObject *const *items = PyTuple_CheckExact(key) ? PySequence_Fast_ITEMS(key) : &key;
    if ((PyTuple_CheckExact(key) ? PyTuple_GET_SIZE(key) : 1) != x->ndim) {
        return NULL;
    }
    for (int axis = 0; axis < x->ndim; axis++) {
        if (!read_position(items[axis], x->shape[axis], &position)) {
            return NULL;
        }
        offset += position * x->strides[axis];
    }
    char *data = data_of(x);
    return data == NULL ? NULL : data + offset;
}

static int has_ellipsis(PyObject *key)
{
    if (!PyTuple_Check(key)) {
        return key == Py_Ellipsis;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        if (PyTuple_GET_ITEM(key, i) == Py_Ellipsis) {
            return 1;
        }
    }
    return 0;
}

/* Indices up to this number are read one by one in less time than it takes to cast them (docs/tuning.md, 144). */
enum { FEW_INDICES = 16 };

/* An array in place of a list, which C's keys have not. Many indices of less than 64 bits are cast to int64, which C
   reads several times as fast; but no more than `most`, a pointer to a number. */
static PyObject *key_of_item(PyObject *item, const void *most)
{
    Tensor *x = is_face(item) ? layout_of(item) : NULL, *cast = NULL;
    if (PyList_CheckExact(item)) {
        return operand_of(item, NULL);
    }
    if (x != NULL && x->size > FEW_INDICES && x->size <= *(const npy_intp *)most && x->flags & ROW_MAJOR &&
        is_integer(x->code) && x->code != NX_INT64 && x->code != NX_UINT64) {
        cast = cast_operand(x, NX_INT64);
    }
    return cast != NULL ? wrap_tensor(cast, NX_INT64) : PyErr_Occurred() ? NULL : Py_NewRef(item);
}

/* A new key for C in place of a program's: lists are arrays in it, and integer arrays of at most `most` elements are
   int64. */
static PyObject *key_of(PyObject *key, npy_intp most)
{
    return PyTuple_CheckExact(key) ? convert_items(key, key_of_item, &most) : key_of_item(key, &most);
}

/* Whether NumPy selects by an item: a list, where C did not make an array of it before it asks this, or an array without axes,
   for which NumPy's result is a copy, where C's is a view, as it is for an int. */
static int is_numpys_item(PyObject *item)
{
    return PyList_CheckExact(item) || (PyArray_Check(item) && PyArray_NDIM((PyArrayObject *)item) == 0) ||
           (is_face(item) && layout_of(item) != NULL && tensor_of(item)->ndim == 0);
}

static int is_numpys_key(PyObject *key)
{
    int found = is_numpys_item(key);
    for (Py_ssize_t i = 0; !found && PyTuple_CheckExact(key) && i < PyTuple_GET_SIZE(key); i++) {
        found = is_numpys_item(PyTuple_GET_ITEM(key, i));
    }
    return found;
}

/* What NumPy selects; DECLINED if C does not say. */
static PyObject *select_by_numpy(PyObject *self, PyObject *key)
{
    PyObject *const args[2] = {self, key};
    PyObject *given[2] = {to_numpys(self, MOST_ELEMENTS, NULL), NULL}, *result = DECLINED;
    given[1] = given[0] == NULL ? NULL : to_numpys(key, MOST_ELEMENTS, NULL);
    if (given[1] != NULL) {
        result = from_numpys(PyObject_GetItem(given[0], given[1]), given, args, 1);
    }
    Py_XDECREF(given[0]);
    Py_XDECREF(given[1]);
    return result == DECLINED ? decline_unless_raised() : result;
}

PyObject *face_subscript(PyObject *self, PyObject *key)
{
    Tensor *x = layout_of(self);
    if (x != NULL && !is_watched) {
        const char *element = find_element(x, key);
        if (element != NULL || PyErr_Occurred()) {
            return element == NULL ? NULL : scalar_of(element, (DTypeCode)x->code);
        }
    }
    PyObject *const args[2] = {self, key};
    PyObject *own = key_of(key, MOST_ELEMENTS), *result = own == NULL ? NULL : is_numpys_key(own) ? DECLINED : get_item(self, own);
    Py_XDECREF(own);
    if (result == DECLINED && !PyErr_Occurred() && PyArray_Check(key) && !is_numpys_item(key)) {
        PyObject *adopted = adopt_operand(key);
        result = is_answer(adopted) ? get_item(self, adopted) : adopted;
        drop_answer(adopted);
    }
    if (result != DECLINED) {
        return face_of(place_result(result, args, 2), !has_ellipsis(key));
    }
    result = PyErr_Occurred() ? NULL : select_by_numpy(self, key);
    return result != DECLINED ? result : ask_python(METHOD___getitem__, args, 2);
}

PyObject *face_item(PyObject *self, Py_ssize_t position)
{
    Tensor *x = layout_of(self);
    if (x != NULL && x->ndim > 0 && position >= x->shape[0]) { /* the end of a loop */
        PyErr_Format(PyExc_IndexError, "index %zd is out of bounds for axis 0 with size %zd", position, x->shape[0]);
        return NULL;
    }
    if (x != NULL && x->ndim == 1 && position >= 0 && !is_watched) {
        const char *data = data_of(x);
        if (data != NULL || PyErr_Occurred()) {
            return data == NULL ? NULL : scalar_of(data + position * x->strides[0], (DTypeCode)x->code);
        }
    }
    PyObject *key = PyLong_FromSsize_t(position);
    PyObject *item = key == NULL ? NULL : face_subscript(self, key);
    Py_XDECREF(key);
    return item;
}

/* 1 if NumPy wrote the elements, 0 if C does not say, -1 with an exception set. */
static int assign_by_numpy(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *given[3] = {to_numpys(self, MOST_ELEMENTS, NULL), NULL, NULL};
    given[1] = given[0] == NULL ? NULL : to_numpys(key, MOST_ELEMENTS, NULL);
    given[2] = given[1] == NULL ? NULL : to_numpys(value, MOST_ELEMENTS, NULL);
    int done = PyErr_Occurred() ? -1 : 0;
    if (given[2] != NULL) {
        done = PyObject_SetItem(given[0], given[1], given[2]) < 0 ? -1 : 1;
        numpys_calls++;
    }
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(given[i]);
    }
    return done;
}

/* How many axes an int, slice, None or ..., or a tuple of them, selects; the most there are for other keys. */
static int count_selected(const Tensor *x, PyObject *key)
{
    PyObject **items = PyTuple_CheckExact(key) ? PySequence_Fast_ITEMS(key) : &key;
    const Py_ssize_t count = PyTuple_CheckExact(key) ? PyTuple_GET_SIZE(key) : 1;
    int ndim = x->ndim;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (items[i] == Py_None) {
            ndim++;
        } else if (items[i] == Py_Ellipsis || PySlice_Check(items[i])) {
            continue;
        } else if (PyLong_CheckExact(items[i]) || PyArray_IsScalar(items[i], Integer)) {
            ndim--;
        } else {
            return ARRAY_DIMS;
        }
    }
    return ndim;
}

/* Whether an array is not written to what a key selects: one with axes to an element, and one that was made of nested
   lists to fewer axes. */
static int is_refused(PyObject *self, PyObject *key, PyObject *value, int was_list)
{
    const Tensor *x = layout_of(self), *given = x == NULL ? NULL : layout_of_any(value);
    if (given == NULL || given->ndim == 0) {
        return 0;
    }
    const int ndim = count_selected(x, key);
    return (was_list && given->ndim > ndim) || (ndim == 0 && !has_ellipsis(key));
}

/* 1 if the elements were written, 0 if C does not say, perhaps with an exception set, -1 with one. */
static int assign_elements(PyObject *self, PyObject *key, PyObject *value)
{
    const int is_numpys = is_refused(self, key, value, 0);
    int done = PyErr_Occurred() ? -1 : is_numpys ? 0 : set_item(self, key, value);
    if (done == 0 && !is_numpys && !PyErr_Occurred()) {
        PyObject *adopted = adopt_operand(value);
        const int is_list = adopted == DECLINED;
        if (is_list && !PyErr_Occurred()) {
            adopted = operand_of(value, ((Array *)self)->dtype);
        }
        if (adopted != DECLINED) {
            done = adopted == NULL                                                 ? -1
                   : adopted == value || is_refused(self, key, adopted, is_list) ? 0
                                                                                 : set_item(self, key, adopted);
            Py_XDECREF(adopted);
        }
    }
    return done;
}

/* x[key] = value for a key of ints, one for each axis, and a number: 1 if it was written; 0, perhaps with an exception set,
   if C does not say. */
static int assign_number(Tensor *x, PyObject *key, PyObject *value)
{
    Element number;
    if (x == NULL || is_watched || is_array(value) ||
        !(write_scalar(number.bytes, (DTypeCode)x->code, value) ||
          write_numpy_scalar(number.bytes, (DTypeCode)x->code, value)) ||
        !is_writeable(x)) {
        return 0;
    }
    char *element = find_element(x, key);
    if (element != NULL) {
        copy_element(element, number.bytes, dtypes[x->code].itemsize);
    }
    return element != NULL;
}

/* The number of Python's that is a whole number of NumPy's, if a double is, too: it is rounded once in floating-point arrays
   that NumPy's number does not promote to. Otherwise the value as it is. A new reference, or NULL with an exception set. */
static PyObject *weaken_number(PyObject *value)
{
    PyObject *number = PyNumber_Long(value);
    int overflow;
    const npy_int64 found = number == NULL ? 0 : PyLong_AsLongLongAndOverflow(number, &overflow);
    const int is_double = number != NULL && !overflow && found <= (npy_int64)1 << 53 && found >= -((npy_int64)1 << 53);
    if (number != NULL && !is_double) {
        Py_SETREF(number, Py_NewRef(value));
    }
    return number;
}

/* What an array stores for a number of a dtype that does not promote to its own: its truth, or its whole part, where C can
   write that. Otherwise the value as it is. A new reference, or NULL with an exception set. */
static PyObject *lower_number(const Tensor *x, PyObject *value)
{
    const DTypeCode scalar = dtype_of_scalar(value), found = scalar != NO_DTYPE ? scalar : dtype_of_numpy_scalar(value);
    if (x != NULL && is_inexact(x->code) && !is_float16(x->code) && scalar == NO_DTYPE && is_integer(found)) {
        return weaken_number(value);
    }
    if (x == NULL || is_inexact((DTypeCode)x->code) || found == NO_DTYPE || is_complex(found) || found == (DTypeCode)x->code) {
        return Py_NewRef(value);
    }
    if (x->code == BOOL) {
        const int truth = PyObject_IsTrue(value);
        return truth < 0 ? NULL : PyBool_FromLong(truth);
    }
    if (!is_inexact(found)) {
        return PyNumber_Long(value);
    }
    const double number = PyFloat_AsDouble(value);
    return fabs(number) < 9e18 ? PyLong_FromDouble(number) : Py_NewRef(value); /* others may warn, or be refused */
}

int face_assign(PyObject *self, PyObject *key, PyObject *value)
{
    if (value == NULL) {
        return array_type->tp_as_mapping->mp_ass_subscript(self, key, value);
    }
    if (assign_number(layout_of(self), key, value)) {
        return 0;
    }
    PyObject *own = PyErr_Occurred() ? NULL : key_of(key, limits.at_once), *number = own == NULL ? NULL : lower_number(layout_of(self), value);
    int done = number == NULL ? -1 : is_numpys_key(own) ? 0 : assign_elements(self, own, number);
    Py_XDECREF(own);
    Py_XDECREF(number);
    if (done == 0) {
        done = PyErr_Occurred() ? -1 : assign_by_numpy(self, key, value);
    }
    if (done == 0) {
        PyObject *const args[3] = {self, key, value};
        PyObject *written = ask_python(METHOD___setitem__, args, 3);
        done = written == NULL ? -1 : 1;
        Py_XDECREF(written);
    }
    return done < 0 ? -1 : 0;
}

/* Items one by one, as NumPy's arrays have them read. */
PyObject *face_iterate(PyObject *self)
{
    const Tensor *x = layout_of(self);
    if (x == NULL || x->ndim == 0) {
        return ask_one(METHOD___iter__, self);
    }
    return PySeqIter_New(self);
}
