/* NumPy's scalars to the left of arrays of the face, as in `np.float64(2) * x`. Python asks the scalar's class first,
   which finds `x.__array_ufunc__` by way of the ufunc, slowly (docs/tuning.md, 143). So the operators of these classes
   ask the array first, which answers the same; other operands stay NumPy's, but for objects whose `__array__` gives an array
   of the face, which NumPy does not take for one. */

#include "common.h"
#include "face.h"
#include "names.h"
#include "scalar_operators.h"

#define EACH_SCALAR(M)                                                                              \
    M(Byte) M(Short) M(Int) M(Long) M(LongLong) M(UByte) M(UShort) M(UInt) M(ULong) M(ULongLong)    \
    M(Half) M(Float) M(Double) M(CFloat) M(CDouble)
#define EACH_BINARY(M, TYPE)                                                                        \
    M(TYPE, add) M(TYPE, subtract) M(TYPE, multiply) M(TYPE, true_divide) M(TYPE, floor_divide)     \
    M(TYPE, remainder)

/* The array of the face that the `__array__` of a scalar's other operand gives, if that has made NumPy raise a ValueError; else
   NULL, with what NumPy has raised. */
static PyObject *take_given_face(PyObject *scalar, PyObject *operand)
{
    PyObject *type, *value, *traceback;
    if (!PyErr_ExceptionMatches(PyExc_ValueError) || !PyArray_CheckScalar(scalar) || PyArray_Check(operand)) {
        return NULL;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *array = PyObject_CallMethodNoArgs(operand, names_of.__array__);
    if (array != NULL && is_face(array)) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return array;
    }
    Py_XDECREF(array);
    PyErr_Restore(type, value, traceback); /* in place of what the call has raised */
    return NULL;
}

/* The end of an operator: NumPy's result, or CALL with `face` as the second operand. */
#define OR_WITH_FACE(CALL)                                                                          \
        PyObject *face = result == NULL ? take_given_face(x, y) : NULL;                             \
        if (face != NULL) {                                                                         \
            result = CALL;                                                                          \
            Py_DECREF(face);                                                                        \
        }                                                                                           \
        return result;

/* Python calls a slot once where both classes have the same one. So each class has functions of its own. */
#define BINARY(TYPE, SLOT)                                                                          \
    static binaryfunc numpys_##TYPE##_##SLOT;                                                       \
    static PyObject *TYPE##_##SLOT(PyObject *x, PyObject *y)                                        \
    {                                                                                               \
        PyObject *result = is_face(y) ? Py_TYPE(y)->tp_as_number->nb_##SLOT(x, y) : Py_NotImplemented; \
        result = result != Py_NotImplemented ? result : numpys_##TYPE##_##SLOT(x, y);               \
        OR_WITH_FACE(Py_TYPE(face)->tp_as_number->nb_##SLOT(x, face))                               \
    }
#define OTHERS(TYPE)                                                                                \
    static ternaryfunc numpys_##TYPE##_power;                                                       \
    static PyObject *TYPE##_power(PyObject *x, PyObject *y, PyObject *modulus)                      \
    {                                                                                               \
        PyObject *result = is_face(y) ? Py_TYPE(y)->tp_as_number->nb_power(x, y, modulus) : Py_NotImplemented; \
        result = result != Py_NotImplemented ? result : numpys_##TYPE##_power(x, y, modulus);       \
        OR_WITH_FACE(Py_TYPE(face)->tp_as_number->nb_power(x, face, modulus))                       \
    }                                                                                               \
    static richcmpfunc numpys_##TYPE##_compare;                                                     \
    static PyObject *TYPE##_compare(PyObject *x, PyObject *y, int comparison)                       \
    {                                                                                               \
        PyObject *result = is_face(y) ? Py_TYPE(y)->tp_richcompare(y, x, mirrored[comparison]) : Py_NotImplemented; \
        result = result != Py_NotImplemented ? result : numpys_##TYPE##_compare(x, y, comparison);  \
        OR_WITH_FACE(Py_TYPE(face)->tp_richcompare(face, x, mirrored[comparison]))                  \
    }
#define FUNCTIONS(TYPE) EACH_BINARY(BINARY, TYPE) OTHERS(TYPE)

static const int mirrored[] = {
    [Py_LT] = Py_GT, [Py_LE] = Py_GE, [Py_EQ] = Py_EQ, [Py_NE] = Py_NE, [Py_GT] = Py_LT, [Py_GE] = Py_LE,
};

EACH_SCALAR(FUNCTIONS)

#define REPLACE(SLOT, NUMPYS, OURS)                                                                 \
    if ((SLOT) != NULL && (SLOT) != (OURS)) {                                                       \
        (NUMPYS) = (SLOT);                                                                          \
        (SLOT) = (OURS);                                                                            \
    }
#define REPLACE_BINARY(TYPE, NAME) REPLACE(numbers->nb_##NAME, numpys_##TYPE##_##NAME, TYPE##_##NAME)
#define REPLACE_ALL(TYPE)                                                                           \
    numbers = Py##TYPE##ArrType_Type.tp_as_number;                                                  \
    EACH_BINARY(REPLACE_BINARY, TYPE)                                                               \
    REPLACE(numbers->nb_power, numpys_##TYPE##_power, TYPE##_power)                                 \
    REPLACE(Py##TYPE##ArrType_Type.tp_richcompare, numpys_##TYPE##_compare, TYPE##_compare)         \
    PyType_Modified(&Py##TYPE##ArrType_Type);

void ask_arrays_first(void)
{
    PyNumberMethods *numbers;
    EACH_SCALAR(REPLACE_ALL)
}
