/* The type Array: attributes, operators, indexing and conversions, each with its Python method behind
   it. Methods that C does not know are attached by Python (see frontend/array.py). */

#include "array.h"
#include "parts.h"
#include "conversion.h"
#include "elementwise.h"
#include "face.h"
#include "indexing.h"
#include "movement.h"
#include "products.h"
#include "recorded_calls.h"
#include "iteration.h"

static const char *const method_names[] = {
#define AS_NAME(NAME) #NAME,
    METHOD_LIST(AS_NAME)
};

static PyObject *meanings[2][METHOD_COUNT]; /* the Python functions, and those of NumPy's face */

PyObject *ask_python(int method, PyObject *const *args, size_t count)
{
    PyObject **found = &meanings[is_call_of_face(args, count)][method];
    if (PyErr_Occurred()) {
        return NULL; /* a pending operand raised an error when it was computed */
    }
    if (*found == NULL) {
        return PyErr_Format(PyExc_NotImplementedError, "%s has no Python function",
                            method_names[method]);
    }
    /* Another thread may put another function in its place meanwhile. */
    PyObject *meaning = Py_NewRef(*found), *given[3];
    const int is_mixed = found == &meanings[0][method] && (is_face(args[0]) || (count > 1 && is_face(args[1])) ||
                                                           (count > 2 && is_face(args[2])));
    for (size_t i = 0; is_mixed && i < count; i++) {
        given[i] = standard_of(args[i]);
    }
    PyObject *result = call_python(meaning, NULL, is_mixed ? given : args, count, NULL);
    for (size_t i = 0; is_mixed && i < count; i++) {
        Py_XDECREF(given[i]);
    }
    Py_DECREF(meaning);
    return result;
}

static PyObject *ask_two(int method, PyObject *self, PyObject *other)
{
    PyObject *args[2] = {self, other};
    return ask_python(method, args, 2);
}

/* ------------------------------------------------------------------ the shell */

PyObject *array_get_handle(PyObject *self, void *closure)
{
    PyObject *handle = ((Array *)self)->handle;
    if (handle == NULL) {
        PyErr_SetString(PyExc_AttributeError, "this array has no contents yet");
        return NULL;
    }
    return Py_NewRef(handle);
}

int array_set_handle(PyObject *self, PyObject *value, void *closure)
{
    if (refuse_deletion(value)) {
        return -1;
    }
    Py_XSETREF(((Array *)self)->handle, Py_NewRef(value));
    if (!is_tensor(value) || ((Tensor *)value)->is_tracked) {
        TRACK((Array *)self);
    }
    return 0;
}

static PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    if (PyTuple_GET_SIZE(args) != 0 || keywords != NULL) {
        PyErr_SetString(PyExc_TypeError, "Array() takes no arguments; make arrays with asarray");
        return NULL;
    }
    Array *array = (Array *)type->tp_alloc(type, 0);
    if (array != NULL) {
        array->is_tracked = 1;
    }
    return (PyObject *)array;
}

static int array_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Array *)self)->handle);
    return 0;
}

static int array_clear(PyObject *self)
{
    Py_CLEAR(((Array *)self)->handle);
    return 0;
}

static void array_dealloc(PyObject *self)
{
    Array *array = (Array *)self;
    if (is_face(self)) {
        set_type(self, array_type); /* its memory may become an Array's */
    }
    if (keep_array(array)) {
        return;
    }
    UNTRACK(array);
    if (array->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    array_clear(self);
    Py_CLEAR(array->dtype);
    Py_CLEAR(array->device);
    free_array(self);
}

/* ------------------------------------------------------------------ attributes */

/* As `layout_of`, for the shape alone: the backend of the device does not matter. */
static inline Tensor *shape_holder(PyObject *self)
{
    PyObject *handle = ((Array *)self)->handle;
    return is_tensor(handle) && (((Tensor *)handle)->flags & KNOWN) ? (Tensor *)handle
                                                                    : layout_of(self);
}

#define SHAPE_ATTRIBUTE(NAME, VALUE)                                           \
    static PyObject *get_##NAME(PyObject *self, void *closure)                 \
    {                                                                          \
        Tensor *layout = shape_holder(self);                                   \
        return layout != NULL ? VALUE : ask_one(METHOD_##NAME, self);          \
    }

SHAPE_ATTRIBUTE(shape, shape_of(layout))
SHAPE_ATTRIBUTE(ndim, PyLong_FromLong(layout->ndim))
SHAPE_ATTRIBUTE(size, PyLong_FromSsize_t(layout->size))

/* ------------------------------------------------------------------ operators */

static inline PyObject *placed_one(PyObject *result, PyObject *x)
{
    return is_committed(x) ? commit_result(result, &x, 1) : result;
}

static inline PyObject *placed_two(PyObject *result, PyObject *x, PyObject *y)
{
    PyObject *const operands[2] = {x, y};
    return is_committed(x) || is_committed(y) ? commit_result(result, operands, 2) : result;
}

#define UNARY_OPERATOR(NAME, CODE)                                         \
    static PyObject *unary_##NAME(PyObject *self)                           \
    {                                                                       \
        PyObject *result = compute_unary(CODE, self);                       \
        return result != DECLINED ? placed_one(result, self)                \
                                  : ask_one(METHOD___##NAME##__, self);     \
    }

UNARY_OPERATOR(abs, OP_ABS)
UNARY_OPERATOR(invert, OP_BITWISE_INVERT)
UNARY_OPERATOR(neg, OP_NEGATIVE)
UNARY_OPERATOR(pos, OP_POSITIVE)

/* What computes an operator on two objects; `code` is for one of several operators. */
typedef PyObject *(*Operator)(OperationCode code, PyObject *x, PyObject *y);

/* The result of an operator; an operand may be an object of NumPy. */
static inline PyObject *operate(Operator compute, OperationCode code, PyObject *x, PyObject *y)
{
    PyObject *result = compute(code, x, y);
    if (result != DECLINED) {
        return result;
    }
    PyObject *adopted = PyErr_Occurred() ? NULL : adopt_operand(is_array(x) ? y : x);
    if (adopted == NULL || adopted == DECLINED) {
        return adopted;
    }
    result = is_array(x) ? compute(code, x, adopted) : compute(code, adopted, y);
    Py_DECREF(adopted);
    return result;
}

static PyObject *multiply(OperationCode code, PyObject *x, PyObject *y)
{
    return multiply_matrices(x, y);
}

/* Operators: the name of their methods, their slot, and what computes them and updates in place. */
#define ELEMENTWISE(X, NAME, SLOT, CODE) \
    X(NAME, SLOT, operate(compute_binary, CODE, x, y), operate(update_binary, CODE, x, y))
#define EACH_OPERATOR(X)                                       \
    ELEMENTWISE(X, add, add, OP_ADD)                           \
    ELEMENTWISE(X, sub, subtract, OP_SUBTRACT)                 \
    ELEMENTWISE(X, mul, multiply, OP_MULTIPLY)                 \
    ELEMENTWISE(X, truediv, true_divide, OP_DIVIDE)            \
    ELEMENTWISE(X, floordiv, floor_divide, OP_FLOOR_DIVIDE)    \
    ELEMENTWISE(X, mod, remainder, OP_REMAINDER)               \
    ELEMENTWISE(X, and, and, OP_BITWISE_AND)                   \
    ELEMENTWISE(X, or, or, OP_BITWISE_OR)                      \
    ELEMENTWISE(X, xor, xor, OP_BITWISE_XOR)                   \
    ELEMENTWISE(X, lshift, lshift, OP_BITWISE_LEFT_SHIFT)      \
    ELEMENTWISE(X, rshift, rshift, OP_BITWISE_RIGHT_SHIFT)     \
    X(matmul, matrix_multiply, operate(multiply, 0, x, y), DECLINED)

/* Python calls the slot of either operand's type. */
#define BINARY_OPERATOR(NAME, SLOT, RESULT, UPDATED)                           \
    static PyObject *binary_##NAME(PyObject *x, PyObject *y)                   \
    {                                                                          \
        PyObject *result = RESULT;                                             \
        if (result != DECLINED) {                                              \
            return placed_two(result, x, y);                                   \
        }                                                                      \
        return is_array(x) ? ask_two(METHOD___##NAME##__, x, y)                \
                           : ask_two(METHOD___r##NAME##__, y, x);              \
    }                                                                          \
    static PyObject *inplace_##NAME(PyObject *x, PyObject *y)                  \
    {                                                                          \
        PyObject *result = UPDATED;                                            \
        return result != DECLINED ? result : ask_two(METHOD___i##NAME##__, x, y); \
    }

EACH_OPERATOR(BINARY_OPERATOR)
BINARY_OPERATOR(pow, power, operate(compute_binary, OP_POW, x, y), DECLINED)

static PyObject *power(PyObject *x, PyObject *y, PyObject *modulus)
{
    PyObject *args[3] = {x, y, modulus};
    return modulus == Py_None ? binary_pow(x, y)
                              : ask_python(METHOD___pow__, args, 3); /* which raises the error */
}

static PyObject *inplace_power(PyObject *x, PyObject *y, PyObject *modulus)
{
    return inplace_pow(x, y);
}

static PyObject *compare(PyObject *x, PyObject *y, int comparison)
{
    static const struct {
        OperationCode op;
        int method;
    } comparisons[] = {
        [Py_LT] = {OP_LESS, METHOD___lt__},    [Py_LE] = {OP_LESS_EQUAL, METHOD___le__},
        [Py_EQ] = {OP_EQUAL, METHOD___eq__},   [Py_NE] = {OP_NOT_EQUAL, METHOD___ne__},
        [Py_GT] = {OP_GREATER, METHOD___gt__}, [Py_GE] = {OP_GREATER_EQUAL, METHOD___ge__},
    };
    PyObject *result = operate(compute_binary, comparisons[comparison].op, x, y);
    return result != DECLINED ? placed_two(result, x, y)
                              : ask_two(comparisons[comparison].method, x, y);
}

/* ------------------------------------------------------------------ sequences */

static Py_ssize_t length(PyObject *self)
{
    /* While calls are recorded, this is one on every device. */
    Tensor *layout = cpu.answered[0] != NULL ? shape_holder(self) : NULL;
    if (layout != NULL && layout->ndim > 0) {
        return layout->shape[0];
    }
    PyObject *found = ask_one(METHOD___len__, self);
    const Py_ssize_t count = found == NULL ? -1 : PyLong_AsSsize_t(found);
    Py_XDECREF(found);
    return count;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    PyObject *result = get_item(self, key);
    if (result != DECLINED) {
        PyObject *const operands[2] = {self, key};
        return PyTuple_Check(key) ? place_result(result, operands, 2)
                                  : placed_two(result, self, key);
    }
    PyObject *adopted = PyErr_Occurred() ? NULL : adopt_operand(key);
    if (adopted == NULL || adopted == DECLINED) {
        return adopted == NULL ? NULL : ask_two(METHOD___getitem__, self, key);
    }
    result = get_item(self, adopted);
    Py_DECREF(adopted);
    return result != DECLINED ? placed_one(result, self)
                              : ask_two(METHOD___getitem__, self, key);
}

static int assign_subscript(PyObject *self, PyObject *key, PyObject *value)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted; select the others");
        return -1;
    }
    int done = set_item(self, key, value);
    if (done != 0) {
        return done < 0 ? -1 : 0;
    }
    PyObject *adopted = PyErr_Occurred() ? NULL : adopt_operand(value);
    if (adopted == NULL) {
        return -1;
    }
    if (adopted != DECLINED) {
        done = set_item(self, key, adopted);
        Py_DECREF(adopted);
        if (done != 0) {
            return done < 0 ? -1 : 0;
        }
    }
    PyObject *args[3] = {self, key, value}, *result = ask_python(METHOD___setitem__, args, 3);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* For reversed(). */
static PyObject *item_at(PyObject *self, Py_ssize_t position)
{
    PyObject *key = PyLong_FromSsize_t(position);
    PyObject *item = key == NULL ? NULL : subscript(self, key);
    Py_XDECREF(key);
    return item;
}

static PyObject *iterate(PyObject *self)
{
    PyObject *rows = iterate_rows(self);
    return rows != DECLINED ? rows : ask_one(METHOD___iter__, self);
}

/* ------------------------------------------------------------------ the type */

#define TRANSPOSE(NAME, FUNCTION)                                                          \
    static PyObject *get_##NAME(PyObject *self, void *closure)                             \
    {                                                                                      \
        PyObject *result = FUNCTION(self);                                                 \
        return result != DECLINED ? placed_one(result, self) : ask_one(METHOD_##NAME, self); \
    }

TRANSPOSE(T, reverse_axes)
TRANSPOSE(mT, transpose_last)

/* Methods that Python makes of slots name their parameter `value`; the standard says `other`. */
#define AS_METHODS(NAME, ...)                                                        \
    static PyObject *method_##NAME(PyObject *self, PyObject *other)                \
    {                                                                              \
        return binary_##NAME(self, other);                                         \
    }                                                                              \
    static PyObject *reflected_##NAME(PyObject *self, PyObject *other)             \
    {                                                                              \
        return binary_##NAME(other, self);                                         \
    }                                                                              \
    static PyObject *updating_##NAME(PyObject *self, PyObject *other)              \
    {                                                                              \
        return inplace_##NAME(self, other);                                        \
    }

#define AS_COMPARISON(NAME, COMPARISON)                                            \
    static PyObject *method_##NAME(PyObject *self, PyObject *other)                \
    {                                                                              \
        return compare(self, other, COMPARISON);                                   \
    }

#define OPERATOR_METHODS(M) EACH_OPERATOR(M) M(pow, power)

#define COMPARISON_METHODS(M) \
    M(lt, Py_LT) M(le, Py_LE) M(eq, Py_EQ) M(ne, Py_NE) M(gt, Py_GT) M(ge, Py_GE)

OPERATOR_METHODS(AS_METHODS)
COMPARISON_METHODS(AS_COMPARISON)

#define METHOD_ENTRY(NAME, FUNCTION) \
    {NAME, FUNCTION, METH_O | METH_COEXIST, NAME "($self, other, /)\n--\n\n"},
#define OPERATOR_ENTRIES(NAME, ...)                    \
    METHOD_ENTRY("__" #NAME "__", method_##NAME)       \
    METHOD_ENTRY("__r" #NAME "__", reflected_##NAME)   \
    METHOD_ENTRY("__i" #NAME "__", updating_##NAME)
#define COMPARISON_ENTRY(NAME, COMPARISON) METHOD_ENTRY("__" #NAME "__", method_##NAME)

static PyMethodDef array_methods[] = {
    OPERATOR_METHODS(OPERATOR_ENTRIES)
    COMPARISON_METHODS(COMPARISON_ENTRY)
    {"__complex__", as_complex, METH_NOARGS, "__complex__($self, /)\n--\n\n"},
    {NULL, NULL, 0, NULL},
};

/* NumPy asks for it before __array__, so that all arrays but those of bytes decline at once. */
static PyObject *get_array_interface(PyObject *self, void *closure)
{
    if (((Array *)self)->dtype == (PyObject *)dtypes[NX_UINT8].descr) {
        return ask_one(METHOD___array_interface__, self);
    }
    PyErr_SetString(PyExc_AttributeError, "only uint8 arrays have __array_interface__");
    return NULL;
}

/* Lend the memory as NumPy's array of it does, to which the view refers then. */
static int lend_buffer(PyObject *self, Py_buffer *view, int flags)
{
    view->obj = NULL;
    /* PyTorch's asarray takes the bytes for floats. It asks for bytes that can be written, and where they are refused, with the
       exception still set, for bytes that can be read. */
    if (!(flags & PyBUF_FORMAT) && ((flags & PyBUF_WRITABLE) || PyErr_Occurred())) {
        PyErr_Format(PyExc_BufferError, "arrays of %S lend no bytes without a dtype to be written; use memoryview(x)",
                     ((Array *)self)->dtype);
        return -1;
    }
    keep_unheard(NULL);
    PyObject *array = shared_ndarray(self);
    if (array == DECLINED) {
        PyObject *standard = standard_of(self);
        array = standard == NULL ? NULL : PyObject_CallMethod(standard, "__array__", "OO", Py_None, Py_False);
        Py_XDECREF(standard);
    }
    if (array == NULL) {
        const int is_refusal = PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
        keep_unheard(is_refusal ? NULL : self);
        return -1;
    }
    const int result = PyObject_GetBuffer(array, view, flags);
    Py_DECREF(array);
    return result;
}

static int refuse_shape(PyObject *self, PyObject *value, void *closure)
{
    PyErr_SetString(PyExc_AttributeError,
                    "the shape of an array cannot be assigned; use x = x.reshape(shape)");
    return -1;
}

static PyGetSetDef array_attributes[] = {
    {"_handle", array_get_handle, array_set_handle, NULL, NULL},
    {"shape", get_shape, refuse_shape, "Sizes of the axes.", NULL},
    {"ndim", get_ndim, NULL, "Number of axes.", NULL},
    {"size", get_size, NULL, "Number of elements.", NULL},
    {"__array_interface__", get_array_interface, NULL,
     "For Pillow, and so of uint8 arrays alone; others have `__array__`.", NULL},
    {"T", get_T, NULL,
     "The transpose: a view with all axes in reverse order.", NULL},
    {"mT", get_mT, NULL,
     "The transpose of each matrix in a stack: a view. ValueError below two axes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef array_members[] = {
    {"_dtype", T_OBJECT_EX, offsetof(Array, dtype), 0, NULL},
    {"_device", T_OBJECT_EX, offsetof(Array, device), 0, NULL},
    {"dtype", T_OBJECT_EX, offsetof(Array, dtype), READONLY, "Data type of the elements."},
    {"device", T_OBJECT_EX, offsetof(Array, device), READONLY, "Where the elements live."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Array, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

#define OPERATOR_SLOTS(NAME, SLOT, ...) \
    {Py_nb_##SLOT, binary_##NAME}, {Py_nb_inplace_##SLOT, inplace_##NAME},

static PyType_Slot array_slots[] = {
    {Py_tp_new, array_new},
    {Py_tp_traverse, array_traverse},
    {Py_tp_clear, array_clear},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_getset, array_attributes},
    {Py_tp_members, array_members},
    {Py_tp_methods, array_methods},
    {Py_tp_richcompare, compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_iter, iterate},
    {Py_sq_length, length},
    {Py_sq_item, item_at},
    {Py_mp_length, length},
    {Py_mp_subscript, subscript},
    {Py_mp_ass_subscript, assign_subscript},
    {Py_nb_bool, as_bool},
    {Py_nb_float, as_float},
    {Py_nb_int, as_int},
    {Py_nb_index, as_index},
    {Py_bf_getbuffer, lend_buffer},
    {Py_nb_absolute, unary_abs},
    {Py_nb_invert, unary_invert},
    {Py_nb_negative, unary_neg},
    {Py_nb_positive, unary_pos},
    EACH_OPERATOR(OPERATOR_SLOTS)
    {Py_nb_power, power},
    {Py_nb_inplace_power, inplace_power},
    {0, NULL},
};

static PyType_Spec array_spec = {
    .name = "array_api_nx.frontend.array.Array",
    .basicsize = sizeof(Array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = array_slots,
};

int keep_meanings(int of_face, PyObject *methods)
{
    if (!PyDict_Check(methods)) {
        PyErr_Format(PyExc_TypeError, "the methods must come in a dict");
        return 0;
    }
    for (int i = 0; i < METHOD_COUNT; i++) {
        PyObject *function = PyDict_GetItemString(methods, method_names[i]);
        if (function == NULL) {
            PyErr_Format(PyExc_KeyError, "%s", method_names[i]);
            return 0;
        }
        Py_XSETREF(meanings[of_face][i], Py_NewRef(function));
    }
    return 1;
}

static PyObject *complete_array(PyObject *module, PyObject *methods)
{
    return keep_meanings(0, methods) ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef functions[] = {
    {"complete_array", complete_array, METH_O,
     "complete_array(methods)\n--\n\n"
     "What Array asks where C declines: the Python functions by their names; KeyError if one is "
     "missing."},
    {NULL, NULL, 0, NULL},
};

int add_array(PyObject *module)
{
    array_type = face_type = (PyTypeObject *)PyType_FromSpec(&array_spec);
    PyObject *names = array_type == NULL ? NULL : PyTuple_New(METHOD_COUNT);
    for (int i = 0; names != NULL && i < METHOD_COUNT; i++) {
        put_item(&names, i, PyUnicode_FromString(method_names[i]));
    }
    if (names == NULL || PyModule_AddObjectRef(module, "ARRAY_METHODS", names) < 0 ||
        PyModule_AddObjectRef(module, "Array", (PyObject *)array_type) < 0) {
        Py_XDECREF(names);
        return -1;
    }
    Py_DECREF(names);
    return PyModule_AddFunctions(module, functions);
}
