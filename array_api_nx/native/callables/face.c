#include "face.h"
#include "array.h"
#include "chapters.h"
#include "conversion.h"
#include "elementwise.h"
#include "indexing.h"
#include "layouts.h"
#include "parts.h"
#include "movement.h"
#include "products.h"
#include "scalar_operators.h"
#include "scalars.h"

/* adoption.scalar, for results of other devices. */
static PyObject *convert_function;

/* ------------------------------------------------------------------ results */

PyObject *scalar_of(const char *element, DTypeCode code)
{
    if (code == BOOL) {
        return PyArray_Scalar((void *)element, dtypes[code].descr, NULL); /* one of the two that there are */
    }
    PyTypeObject *type = dtypes[code].descr->typeobj;
    PyObject *scalar = type->tp_alloc(type, 0);
    if (scalar != NULL) {
        memcpy((char *)data_of_numpy_scalar(scalar), element, (size_t)dtypes[code].itemsize);
    }
    return scalar;
}

static PyObject *face_of_array(PyObject *array, int gives_scalars)
{
    Tensor *x = gives_scalars ? layout_of(array) : NULL;
    if (gives_scalars && x == NULL) {
        PyObject *converted = PyErr_Occurred() ? NULL : PyObject_CallOneArg(convert_function, array);
        Py_DECREF(array);
        return converted;
    }
    if (x == NULL || x->ndim > 0) {
        return share_array(array, face_type);
    }
    const char *element = data_of(x);
    PyObject *scalar = element == NULL ? NULL : scalar_of(element, (DTypeCode)x->code);
    if (element == NULL && !PyErr_Occurred()) {
        scalar = PyObject_CallOneArg(convert_function, array);
    }
    Py_DECREF(array);
    return scalar;
}

static void put(PyObject *items, Py_ssize_t place, PyObject *item)
{
    if (PyTuple_CheckExact(items)) {
        PyTuple_SET_ITEM(items, place, item);
    } else {
        PyList_SET_ITEM(items, place, item);
    }
}

PyObject *convert_items(PyObject *sequence, PyObject *(*convert)(PyObject *item, const void *context),
                        const void *context)
{
    PyObject *kept = keep_items(sequence);
    const Py_ssize_t count = kept == NULL ? -1 : PyTuple_GET_SIZE(kept);
    PyObject *items = NULL; /* once one differs: most keys are made of what stays the same */
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *given = PyTuple_GET_ITEM(kept, i), *item = convert(given, context);
        if (items == NULL && item == given) {
            Py_DECREF(item);
            continue;
        }
        if (items == NULL && item != NULL) {
            items = PyTuple_CheckExact(sequence) ? PyTuple_New(count) : PyList_New(count);
            for (Py_ssize_t before = 0; items != NULL && before < i; before++) {
                put(items, before, Py_NewRef(PyTuple_GET_ITEM(kept, before)));
            }
        }
        if (item == NULL || items == NULL) {
            Py_XDECREF(item);
            Py_XDECREF(items);
            Py_DECREF(kept);
            return NULL;
        }
        put(items, i, item);
    }
    Py_XDECREF(kept);
    return items == NULL && count >= 0 ? Py_NewRef(sequence) : items;
}

static PyObject *face_of_item(PyObject *item, const void *gives_scalars)
{
    return face_of(Py_NewRef(item), *(const int *)gives_scalars);
}

PyObject *face_of(PyObject *result, int gives_scalars)
{
    if (result == NULL || result == DECLINED) {
        return result;
    }
    if (Py_IS_TYPE(result, array_type)) {
        return face_of_array(result, gives_scalars);
    }
    const int is_list = PyList_CheckExact(result) && PyList_GET_SIZE(result) > 0;
    const PyObject *first = is_list ? PyList_GET_ITEM(result, 0) : NULL;
    if (first != NULL && (PyFloat_CheckExact(first) || PyLong_Check(first) || PyComplex_CheckExact(first))) {
        return result; /* x.tolist() */
    }
    if (PyTuple_CheckExact(result) || PyList_CheckExact(result)) {
        Py_SETREF(result, convert_items(result, face_of_item, &gives_scalars));
    } else if (PyTuple_Check(result)) { /* a named tuple, which nobody else has seen yet */
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result); i++) {
            PyObject *given = PyTuple_GET_ITEM(result, i), *item = face_of(Py_NewRef(given), gives_scalars);
            if (item == NULL) {
                Py_DECREF(result);
                return NULL;
            }
            PyTuple_SET_ITEM(result, i, item);
            Py_DECREF(given);
        }
    }
    return result;
}

static PyObject *standard_of_item(PyObject *item, const void *unused)
{
    return is_face(item) ? share_array(Py_NewRef(item), array_type) : Py_NewRef(item);
}

PyObject *standard_of(PyObject *object)
{
    return PyTuple_CheckExact(object) || PyList_CheckExact(object) ? convert_items(object, standard_of_item, NULL)
                                                                  : standard_of_item(object, NULL);
}

/* ------------------------------------------------------------------ slots */

PyObject *operand_of(PyObject *object, PyObject *dtype)
{
    if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
        return Py_NewRef(object);
    }
    PyObject *array = new_array_of(object, dtype);
    return array == DECLINED && !PyErr_Occurred() ? Py_NewRef(object) : face_of(array, 0);
}

/* What a slot of Array gives for operands. */
static PyObject *call_slot(binaryfunc slot, PyObject *x, PyObject *y)
{
    if (is_array(x) && (is_array(y) || PyFloat_Check(y) || PyLong_Check(y))) {
        return face_of(slot(x, y), 1);
    }
    PyObject *first = operand_of(x, NULL), *second = first == NULL ? NULL : operand_of(y, NULL);
    PyObject *result = second == NULL ? NULL : face_of(slot(first, second), 1);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return result;
}

#define UNARY_SLOT(SLOT)                                                       \
    static PyObject *face_##SLOT(PyObject *self)                               \
    {                                                                          \
        return face_of(array_type->tp_as_number->nb_##SLOT(self), 1);          \
    }
#define BINARY_SLOT(SLOT)                                                      \
    static PyObject *face_##SLOT(PyObject *x, PyObject *y)                     \
    {                                                                          \
        return call_slot(array_type->tp_as_number->nb_##SLOT, x, y);           \
    }
#define EACH_UNARY(M) M(invert) M(negative) M(positive)
#define EACH_BINARY(M)                                                         \
    M(add) M(subtract) M(multiply) M(true_divide) M(floor_divide) M(remainder) \
    M(and) M(or) M(xor) M(lshift) M(rshift)
/* These give the array itself. */
#define EACH_UPDATE(M)                                                         \
    M(inplace_add) M(inplace_subtract) M(inplace_multiply) M(inplace_true_divide)             \
    M(inplace_floor_divide) M(inplace_remainder) M(inplace_and) M(inplace_or) M(inplace_xor)  \
    M(inplace_lshift) M(inplace_rshift) M(inplace_matrix_multiply)

EACH_UNARY(UNARY_SLOT)
EACH_BINARY(BINARY_SLOT)
EACH_UPDATE(BINARY_SLOT)

static int has_bools(PyObject *x)
{
    return is_array(x) && ((Array *)x)->dtype == (PyObject *)dtypes[BOOL].descr;
}

/* NumPy multiplies matrices of booleans, which ours are integers for. */
static PyObject *face_matrix_multiply(PyObject *x, PyObject *y)
{
    PyObject *const operands[2] = {x, y};
    if (!has_bools(x) || !has_bools(y)) {
        return face_of(array_type->tp_as_number->nb_matrix_multiply(x, y), 1);
    }
    PyObject *result = is_face(x) && is_face(y) ? face_of(multiply_booleans(x, y), 1) : DECLINED;
    return result != DECLINED || PyErr_Occurred() ? result : ask_python(METHOD___matmul__, operands, 2);
}

PyObject *magnitudes_of_booleans(PyObject *x)
{
    return has_bools(x) ? face_of(compute_binary(OP_BITWISE_OR, x, x), 1) : DECLINED;
}

static PyObject *face_absolute(PyObject *x)
{
    PyObject *result = magnitudes_of_booleans(x);
    return result != DECLINED || PyErr_Occurred() ? result : face_of(array_type->tp_as_number->nb_absolute(x), 1);
}

/* NumPy has the square root for an exponent of 0.5, though it is another number for -inf and -0.0, and integers for the squares
   of booleans. */
static PyObject *face_power(PyObject *x, PyObject *y, PyObject *modulus)
{
    Tensor *truths = is_face(x) && has_bools(x) && PyLong_CheckExact(y) && PyLong_AsLong(y) == 2 ? layout_of(x) : NULL;
    if (truths != NULL && truths->size > 0 && (truths->flags & (ROW_MAJOR | COLUMN_MAJOR))) {
        PyObject *result = cast_array(truths, NX_INT8);
        if (result != DECLINED) {
            return face_of(result, 1);
        }
    }
    const Tensor *base = is_face(x) && PyFloat_CheckExact(y) && PyFloat_AS_DOUBLE(y) == 0.5 ? layout_of(x) : NULL;
    if (base != NULL && is_inexact(base->code)) {
        PyObject *result = compute_unary(OP_SQRT, x);
        if (result != DECLINED) {
            return face_of(result, 1);
        }
    }
    return face_of(array_type->tp_as_number->nb_power(x, y, modulus), 1);
}

static PyObject *face_inplace_power(PyObject *x, PyObject *y, PyObject *modulus)
{
    return face_of(array_type->tp_as_number->nb_inplace_power(x, y, modulus), 1);
}

/* x == None and x != None: no element is None. DECLINED for other comparisons. */
static PyObject *compare_with_none(PyObject *self, int comparison)
{
    Tensor *x = layout_of(self);
    char *target;
    if (x == NULL || (comparison != Py_EQ && comparison != Py_NE) || x->size > limits.at_once) {
        return DECLINED;
    }
    PyObject *result = new_array_like_memory(x->ndim, x->shape, BOOL, !(x->flags & ROW_MAJOR), &target);
    if (result != NULL) {
        memset(target, comparison == Py_NE, (size_t)x->size);
    }
    return result;
}

static PyObject *face_compare(PyObject *x, PyObject *y, int comparison)
{
    PyObject *result = y == Py_None ? compare_with_none(x, comparison) : DECLINED;
    if (result != DECLINED) {
        return face_of(result, 1);
    }
    PyObject *operand = operand_of(y, NULL);
    result = operand == NULL ? NULL : face_of(array_type->tp_richcompare(x, operand, comparison), 1);
    Py_XDECREF(operand);
    return result;
}

/* NumPy warns where an array with axes becomes a number. */
static int has_axes(PyObject *self)
{
    const Tensor *x = layout_of(self);
    return x != NULL && x->ndim > 0;
}

static PyObject *face_float(PyObject *self)
{
    return has_axes(self) ? ask_one(METHOD___float__, self) : array_type->tp_as_number->nb_float(self);
}

static PyObject *face_int(PyObject *self)
{
    return has_axes(self) ? ask_one(METHOD___int__, self) : array_type->tp_as_number->nb_int(self);
}

/* ------------------------------------------------------------------ the class */

#define SLOT_OF(SLOT) {Py_nb_##SLOT, face_##SLOT},

static PyType_Slot face_slots[] = {
    {Py_tp_new, NULL}, /* `add_face` takes these from Array */
    {Py_tp_dealloc, NULL},
    {Py_tp_traverse, NULL},
    {Py_tp_clear, NULL},
    {Py_sq_length, NULL},
    {Py_mp_length, NULL},
    {Py_nb_bool, NULL},
    {Py_nb_index, NULL},
    {Py_bf_getbuffer, NULL},
    {Py_tp_members, face_members},
    {Py_tp_getset, face_attributes},
    {Py_tp_richcompare, face_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_iter, face_iterate},
    {Py_sq_item, face_item},
    {Py_mp_subscript, face_subscript},
    {Py_mp_ass_subscript, face_assign},
    {Py_nb_float, face_float},
    {Py_nb_int, face_int},
    EACH_UNARY(SLOT_OF) EACH_BINARY(SLOT_OF) EACH_UPDATE(SLOT_OF)
    {Py_nb_absolute, face_absolute},
    {Py_nb_matrix_multiply, face_matrix_multiply},
    {Py_nb_power, face_power},
    {Py_nb_inplace_power, face_inplace_power},
    {0, NULL},
};

static PyType_Spec face_spec = {
    .name = "array_api_nx._native.Face",
    .basicsize = sizeof(Array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = face_slots,
};

/* ------------------------------------------------------------------ the module's part */

static PyObject *standard(PyObject *module, PyObject *array)
{
    return standard_of(array);
}

static PyObject *adopt(PyObject *module, PyObject *array)
{
    if (!is_array(array)) {
        return PyErr_Format(PyExc_TypeError, "adopt takes an Array, not %.200s", Py_TYPE(array)->tp_name);
    }
    return share_array(Py_NewRef(array), face_type);
}

/* Overwrite the slots of a class by those that its base has. */
static void take_slots(void *slots, const void *of_base, size_t size)
{
    static const char none[sizeof(void *)];
    for (size_t i = 0; i < size; i += sizeof(void *)) {
        if (memcmp((const char *)of_base + i, none, sizeof(void *)) != 0) {
            memcpy((char *)slots + i, (const char *)of_base + i, sizeof(void *));
        }
    }
}

static PyObject *complete_face(PyObject *module, PyObject *args)
{
    PyObject *type, *methods, *convert, *assign;
    if (!PyArg_ParseTuple(args, "O!OOO", &PyType_Type, &type, &methods, &convert, &assign) ||
        !keep_meanings(1, methods)) {
        return NULL;
    }
    PyTypeObject *face = (PyTypeObject *)type;
    if (face->tp_basicsize != array_type->tp_basicsize || face->tp_base->tp_as_number == NULL) {
        return PyErr_Format(PyExc_TypeError, "the face's arrays must have Face as base, and no fields of their own");
    }
    /* There is nothing in such an array that the functions of Array do not know. */
    face->tp_dealloc = array_type->tp_dealloc;
    face->tp_traverse = array_type->tp_traverse;
    face->tp_clear = array_type->tp_clear;
    /* Python would have some slots look their method up. */
    take_slots(face->tp_as_number, face->tp_base->tp_as_number, sizeof(PyNumberMethods));
    take_slots(face->tp_as_sequence, face->tp_base->tp_as_sequence, sizeof(PySequenceMethods));
    take_slots(face->tp_as_mapping, face->tp_base->tp_as_mapping, sizeof(PyMappingMethods));
    face_type = (PyTypeObject *)Py_NewRef(type);
    Py_XSETREF(convert_function, Py_NewRef(convert));
    keep_attributes(methods, assign);
    ask_arrays_first();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"standard", standard, METH_O,
     "standard(array)\n--\n\nThe Array with the contents of an array of NumPy's face."},
    {"adopt", adopt, METH_O, "adopt(array)\n--\n\nThe array of NumPy's face with the contents of an Array."},
    {"complete_face", complete_face, METH_VARARGS,
     "complete_face(type, methods, convert, assign)\n--\n\n"
     "The class of the face's arrays; what it asks where C declines; a function for results of other devices; and "
     "assign(array, name, value)."},
    {NULL, NULL, 0, NULL},
};

int add_face(PyObject *module)
{
    for (int i = 0; face_slots[i].pfunc == NULL; i++) {
        face_slots[i].pfunc = PyType_GetSlot(array_type, face_slots[i].slot);
    }
    PyObject *type = PyType_FromSpec(&face_spec);
    const int failed = type == NULL || PyModule_AddObjectRef(module, "Face", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : PyModule_AddFunctions(module, functions);
}
