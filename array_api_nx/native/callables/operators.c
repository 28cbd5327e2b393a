#include "operators.h"

#define BINARY_OPERATORS(M)                                                                \
    M(add, Add) M(sub, Subtract) M(mul, Multiply) M(truediv, TrueDivide)                   \
    M(floordiv, FloorDivide) M(mod, Remainder) M(and, And) M(or, Or) M(xor, Xor)            \
    M(lshift, Lshift) M(rshift, Rshift) M(matmul, MatrixMultiply)
#define DEFINE_BINARY(NAME, FUNCTION)                          \
    static PyObject *do_##NAME(PyObject *const *args)          \
    {                                                          \
        return PyNumber_##FUNCTION(args[0], args[1]);          \
    }                                                          \
    static PyObject *do_r##NAME(PyObject *const *args)         \
    {                                                          \
        return PyNumber_##FUNCTION(args[1], args[0]);          \
    }                                                          \
    static PyObject *do_i##NAME(PyObject *const *args)         \
    {                                                          \
        return PyNumber_InPlace##FUNCTION(args[0], args[1]);   \
    }
BINARY_OPERATORS(DEFINE_BINARY)

#define OTHER_OPERATORS(M)                                                \
    M(pow, 2, PyNumber_Power(args[0], args[1], Py_None))                     \
    M(rpow, 2, PyNumber_Power(args[1], args[0], Py_None))                    \
    M(ipow, 2, PyNumber_InPlacePower(args[0], args[1], Py_None))             \
    M(lt, 2, PyObject_RichCompare(args[0], args[1], Py_LT))                  \
    M(le, 2, PyObject_RichCompare(args[0], args[1], Py_LE))                  \
    M(eq, 2, PyObject_RichCompare(args[0], args[1], Py_EQ))                  \
    M(ne, 2, PyObject_RichCompare(args[0], args[1], Py_NE))                  \
    M(gt, 2, PyObject_RichCompare(args[0], args[1], Py_GT))                  \
    M(ge, 2, PyObject_RichCompare(args[0], args[1], Py_GE))                  \
    M(abs, 1, PyNumber_Absolute(args[0]))                                    \
    M(invert, 1, PyNumber_Invert(args[0]))                                   \
    M(neg, 1, PyNumber_Negative(args[0]))                                    \
    M(pos, 1, PyNumber_Positive(args[0]))                                    \
    M(getitem, 2, PyObject_GetItem(args[0], args[1]))                        \
    M(setitem, 3, PyObject_SetItem(args[0], args[1], args[2]) < 0 ? NULL : Py_NewRef(Py_None))
#define DEFINE_OTHER(NAME, COUNT, CALL)                        \
    static PyObject *do_##NAME(PyObject *const *args)   \
    {                                                   \
        return CALL;                                    \
    }
OTHER_OPERATORS(DEFINE_OTHER)

static const struct {
    const char *name;
    int count; /* of arguments */
    Operator operator;
} operators[] = {
#define BINARY_ROWS(NAME, FUNCTION)         \
    {"__" #NAME "__", 2, do_##NAME},        \
    {"__r" #NAME "__", 2, do_r##NAME},      \
    {"__i" #NAME "__", 2, do_i##NAME},
    BINARY_OPERATORS(BINARY_ROWS)
#define OTHER_ROW(NAME, COUNT, CALL) {"__" #NAME "__", COUNT, do_##NAME},
    OTHER_OPERATORS(OTHER_ROW)
    {NULL, 0, NULL},
};

Operator find_operator(const char *name, int *count)
{
    int i = 0;
    while (operators[i].name != NULL && strcmp(operators[i].name, name) != 0) {
        i++;
    }
    *count = operators[i].count;
    return operators[i].operator;
}
