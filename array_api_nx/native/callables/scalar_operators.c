/* NumPy's scalars to the left of arrays of the face, as in `np.float64(2) * x`. Python asks the scalar's class first,
   which finds `x.__array_ufunc__` by way of the ufunc, slowly (docs/tuning.md, 143). So the operators of these classes
   ask the array first, which answers the same; other operands stay NumPy's. */

#include "common.h"
#include "face.h"
#include "scalar_operators.h"

#define EACH_SCALAR(M)                                                                              \
    M(Byte) M(Short) M(Int) M(Long) M(LongLong) M(UByte) M(UShort) M(UInt) M(ULong) M(ULongLong)    \
    M(Half) M(Float) M(Double) M(CFloat) M(CDouble)
#define EACH_BINARY(M, TYPE)                                                                        \
    M(TYPE, add) M(TYPE, subtract) M(TYPE, multiply) M(TYPE, true_divide) M(TYPE, floor_divide)     \
    M(TYPE, remainder)

/* Python calls a slot once where both classes have the same one. So each class has functions of its own. */
#define BINARY(TYPE, SLOT)                                                                          \
    static binaryfunc numpys_##TYPE##_##SLOT;                                                       \
    static PyObject *TYPE##_##SLOT(PyObject *x, PyObject *y)                                        \
    {                                                                                               \
        PyObject *result = is_face(y) ? Py_TYPE(y)->tp_as_number->nb_##SLOT(x, y) : Py_NotImplemented; \
        return result != Py_NotImplemented ? result : numpys_##TYPE##_##SLOT(x, y);                 \
    }
#define OTHERS(TYPE)                                                                                \
    static ternaryfunc numpys_##TYPE##_power;                                                       \
    static PyObject *TYPE##_power(PyObject *x, PyObject *y, PyObject *modulus)                      \
    {                                                                                               \
        PyObject *result = is_face(y) ? Py_TYPE(y)->tp_as_number->nb_power(x, y, modulus) : Py_NotImplemented; \
        return result != Py_NotImplemented ? result : numpys_##TYPE##_power(x, y, modulus);         \
    }                                                                                               \
    static richcmpfunc numpys_##TYPE##_compare;                                                     \
    static PyObject *TYPE##_compare(PyObject *x, PyObject *y, int comparison)                       \
    {                                                                                               \
        PyObject *result = is_face(y) ? Py_TYPE(y)->tp_richcompare(y, x, mirrored[comparison]) : Py_NotImplemented; \
        return result != Py_NotImplemented ? result : numpys_##TYPE##_compare(x, y, comparison);    \
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
