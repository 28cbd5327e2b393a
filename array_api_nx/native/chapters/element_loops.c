/* Which loop computes an operation on operands of a dtype: Python is asked once
   (backends/cpu/engine/loops.py). And the functions of the operations, which the rows name. */

#include "chapters.h"
#include "elementwise.h"
#include "half_loops.h"
#include "orders.h"
#include "own_loops.h"
#include "parts.h"
#include "ufunc_fields.h"

static ElementLoop element_loops[MAX_OPERATIONS][DTYPE_COUNT];

/* The rows of the operations, by their codes. */
static PyObject *primitives[MAX_OPERATIONS];

/* ask(primitive, dtype): see `set_operations`. */
static PyObject *ask;

/* Nanoseconds that a loop takes over `serial_limit` elements (backends/cpu/engine/loops.py). */
#define SERIAL_TIME 24000.0

/* As in backends/cpu/engine/loops.py. */
enum { INEXACT, EXACT_IN_ROWS, EXACT };

int read_loop(PyObject *answer, ElementLoop *loop)
{
    PyObject *ufunc, *name;
    int index, operand, result, exactness, is_arithmetic, is_alone;
    Py_ssize_t serial_limit;
    if (answer == Py_None) {
        loop->state = NONE;
    } else if (answer != NULL &&
               PyArg_ParseTuple(answer, "O!iUiinipp", &PyUFunc_Type, &ufunc, &index, &name, &operand,
                                &result, &serial_limit, &exactness, &is_arithmetic, &is_alone)) {
        const char *types = read_ufunc_loop(ufunc, index, &loop->function, &loop->data);
        if (types == NULL || operand < 0 || operand >= DTYPE_COUNT || result < 0 || result >= DTYPE_COUNT ||
            operands_of(ufunc) >= WALK_OPERANDS) {
            PyErr_SetString(PyExc_ValueError, "there is no such loop");
        } else {
            Py_INCREF(ufunc); /* its loops are used for ever */
            const int replaced = replace_loop(ufunc, types[0], &loop->function, &loop->data);
            loop->name = Py_NewRef(name);
            loop->operand = (npy_uint8)operand;
            loop->result = (npy_uint8)result;
            loop->serial_limit = serial_limit;
            loop->time = serial_limit > 0 ? (float)(SERIAL_TIME / (double)serial_limit) : 1;
            loop->is_exact = exactness == EXACT;
            loop->is_exact_in_rows = exactness != INEXACT;
            /* NumPy's loops of float16 raise flags by functions. */
            loop->is_arithmetic = (char)(is_arithmetic && (replaced || !is_float16(operand)));
            loop->is_alone = (char)is_alone;
            loop->state = FOUND;
        }
    }
    Py_XDECREF(answer);
    return loop->state == FOUND;
}

/* The operations that orders can compute on operands of a dtype. */
static LinkOperation link_of(OperationCode op, DTypeCode code)
{
    static const npy_uint8 of_numbers[MAX_OPERATIONS] = {
        [OP_ADD] = ADD_LINK, [OP_SUBTRACT] = SUBTRACT_LINK, [OP_MULTIPLY] = MULTIPLY_LINK, [OP_DIVIDE] = DIVIDE_LINK,
        [OP_SQUARE] = SQUARE_LINK, [OP_NEGATIVE] = NEGATIVE_LINK, [OP_SQRT] = SQRT_LINK, [OP_ABS] = ABSOLUTE_LINK,
        [OP_LESS] = LESS_LINK, [OP_LESS_EQUAL] = LESS_EQUAL_LINK, [OP_GREATER] = GREATER_LINK,
        [OP_GREATER_EQUAL] = GREATER_EQUAL_LINK, [OP_EQUAL] = EQUAL_LINK, [OP_NOT_EQUAL] = NOT_EQUAL_LINK,
        [OP_ISNAN] = IS_NAN_LINK,
#ifdef HAS_TARGETS /* NumPy chooses between zeros, and between several NaN, in another way on other processors */
        [OP_MAXIMUM] = MAXIMUM_LINK, [OP_MINIMUM] = MINIMUM_LINK,
#endif
    };
    static const npy_uint8 of_booleans[MAX_OPERATIONS] = {
        [OP_BITWISE_AND] = AND_LINK, [OP_LOGICAL_AND] = AND_LINK, [OP_BITWISE_OR] = OR_LINK, [OP_LOGICAL_OR] = OR_LINK,
        [OP_BITWISE_XOR] = XOR_LINK, [OP_BITWISE_INVERT] = INVERT_LINK,
    };
    static const npy_uint8 of_complex[MAX_OPERATIONS] = {
        [OP_ADD] = ADD_LINK, [OP_SUBTRACT] = SUBTRACT_LINK, [OP_MULTIPLY] = MULTIPLY_LINK, [OP_DIVIDE] = DIVIDE_LINK,
        [OP_SQUARE] = SQUARE_LINK, [OP_NEGATIVE] = NEGATIVE_LINK, [OP_CONJ] = CONJUGATE_LINK,
    };
    return code == BOOL           ? of_booleans[op]
           : is_complex(code)     ? of_complex[op]
           : fits_registers(code) ? of_numbers[op]
                                  : NO_LINK;
}

#ifdef HAS_ORDERS

/* Whether an order gives the bits of a loop of one or two complex operands. Their number is such that they fill vectors of each
   length, and then none. */
static int has_bits_of(const ElementLoop *loop, int operands, DTypeCode code, OrderCode order)
{
    enum { NUMBERS = 27 };
    npy_double values[2][2 * NUMBERS], results[2][2 * NUMBERS];
    npy_uint64 state = 1;
    for (int k = 0; k < 4 * NUMBERS; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const npy_double value = (npy_double)(state >> 11) * 0x1p-52 - 1;
        if (code == COMPLEX64) {
            ((npy_float *)values[k % 2])[k / 2] = (npy_float)value;
        } else {
            values[k % 2][k / 2] = value;
        }
    }
    const npy_intp count = NUMBERS, size = dtypes[code].itemsize, steps[] = {size, size, size};
    char *args[] = {(char *)values[0], (char *)values[1], (char *)results[0]};
    args[operands] = (char *)results[0];
    loop->function(args, &count, steps, loop->data);
    const Order orders[] = {{READ_VECTOR, (char *)values[0], -1, 0},
                            {order, (char *)values[1], -1, 0},
                            {LAST, (char *)results[1], -1, 0}};
    run_orders(orders, 3, count * size, code, 0);
    return memcmp(results[0], results[1], (size_t)(count * size)) == 0;
}

/* Whether orders give the bits of NumPy's loop. Those of products and quotients of complex numbers depend on the processor and
   on how NumPy was built. */
static int has_numpys_bits(const ElementLoop *loop, DTypeCode code)
{
    switch (loop->link) {
    case MULTIPLY_LINK:
        are_products_fused[code == COMPLEX128] = 1;
        if (has_bits_of(loop, 2, code, MULTIPLY_VECTOR)) {
            return 1;
        }
        are_products_fused[code == COMPLEX128] = 0;
        return has_bits_of(loop, 2, code, MULTIPLY_VECTOR);
    case SQUARE_LINK:
        return find_loop(OP_MULTIPLY, code) != NULL && has_bits_of(loop, 1, code, SQUARE);
    case DIVIDE_LINK:
        return has_bits_of(loop, 2, code, DIVIDE_VECTOR);
    default:
        return 1;
    }
}

/* NumPy's loops of quotients of complex64 and of complex128. */
static struct {
    PyUFuncGenericFunction function;
    void *data;
} numpys_quotients[2];

/* Quotients of complex128, or of complex64 if `data` is NULL, in vectors, where operands follow one another or are one number
   for all. NumPy's loop takes four times as long. */
LOOP(divide_in_vectors)
{
    const DTypeCode code = data == NULL ? COMPLEX64 : COMPLEX128;
    const npy_intp size = dtypes[code].itemsize, bytes = *count * size;
    int is_row = steps[2] == size;
    for (int k = 0; k < 2; k++) {
        const npy_intp apart = (npy_intp)args[2] - (npy_intp)args[k];
        is_row &= steps[k] == size ? apart == 0 || apart >= bytes || apart <= -bytes
                                   : steps[k] == 0 && (apart >= bytes || apart <= -bytes);
    }
    if (!is_row || (*count > 1 && steps[0] == 0 && steps[1] == 0)) {
        numpys_quotients[data != NULL].function(args, count, steps, numpys_quotients[data != NULL].data);
        return;
    }
    const Order orders[] = {{READ_VECTOR + (steps[0] == 0), args[0], steps[0] == 0 ? 0 : -1, 0},
                            {DIVIDE_VECTOR + (steps[1] == 0), args[1], steps[1] == 0 ? 0 : -1, 0},
                            {LAST, args[2], -1, 0}};
    run_orders(orders, 3, bytes, code, 0);
}

/* Have a loop of complex numbers be one that vectors compute, or no operation of orders if these have other bits. */
static void choose_vectors(ElementLoop *loop, DTypeCode code)
{
    if (!has_numpys_bits(loop, code)) {
        loop->link = NO_LINK;
    } else if (loop->link == DIVIDE_LINK) {
        const int is_double = code == COMPLEX128;
        numpys_quotients[is_double].function = loop->function;
        numpys_quotients[is_double].data = loop->data;
        loop->function = divide_in_vectors;
        loop->data = is_double ? &numpys_quotients : NULL;
    }
}

#endif

/* Whether operands of a dtype raise no floating-point flags. NumPy's comparisons clear those that NaN raises. */
static int is_quiet(OperationCode op, DTypeCode code)
{
    switch (op) {
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_SQUARE:
    case OP_NEGATIVE:
    case OP_ABS:
    case OP_MAXIMUM:
    case OP_MINIMUM:
        return !is_inexact(code);
    case OP_BITWISE_AND:
    case OP_BITWISE_OR:
    case OP_BITWISE_XOR:
    case OP_BITWISE_LEFT_SHIFT:
    case OP_BITWISE_RIGHT_SHIFT:
    case OP_BITWISE_INVERT:
        return 1;
    default:
        return is_comparison(op) && !is_complex(code);
    }
}

static int ask_loop(OperationCode op, DTypeCode code, ElementLoop *loop)
{
    loop->row = primitives[op];
    loop->is_quiet = (char)is_quiet(op, code);
    loop->is_for_finite = op == OP_FLOOR_DIVIDE && is_inexact(code);
    loop->link = link_of(op, code);
    const int found = ask != NULL && primitives[op] != NULL &&
                      read_loop(PyObject_CallFunctionObjArgs(ask, primitives[op], (PyObject *)dtypes[code].descr, NULL), loop);
#ifdef HAS_ORDERS
    if (found && is_complex(code)) {
        choose_vectors(loop, code);
    }
#endif
    return found;
}

const ElementLoop *find_loop(OperationCode op, DTypeCode code)
{
    ElementLoop *loop = &element_loops[op][code];
    return loop->state == FOUND || (loop->state == UNASKED && ask_loop(op, code, loop)) ? loop
                                                                                        : NULL;
}

/* ------------------------------------------------------------------ functions */

static PyObject *call_unary(int which, PyObject *const *values, Py_ssize_t count)
{
    return compute_unary((OperationCode)which, values[0]);
}

static PyObject *call_binary(int which, PyObject *const *values, Py_ssize_t count)
{
    return compute_binary((OperationCode)which, values[0], values[1]);
}

/* From primitives, which Python code names operations by, to their codes. */
static PyObject *operation_codes;

int code_of_primitive(PyObject *primitive)
{
    PyObject *code =
        operation_codes == NULL ? NULL : PyDict_GetItemWithError(operation_codes, primitive);
    return code == NULL ? -1 : (int)PyLong_AsLong(code);
}

/* dispatch.unary(primitive, x). */
static PyObject *call_any_unary(int which, PyObject *const *values, Py_ssize_t count)
{
    const int code = code_of_primitive(values[0]);
    return code < 0 ? decline_unless_raised() : compute_unary((OperationCode)code, values[1]);
}

/* dispatch.binary(primitive, x1, x2, foreign), which declines foreign operands. */
static PyObject *call_any_binary(int which, PyObject *const *values, Py_ssize_t count)
{
    const int code = code_of_primitive(values[0]);
    return code < 0 ? decline_unless_raised() : compute_binary((OperationCode)code, values[1], values[2]);
}

/* The first two, one for each primitive, and the end. */
Implementation elementwise_functions[MAX_OPERATIONS + 3] = {
    {"unary", call_any_unary, 0, "primitive, x, /"},
    {"binary", call_any_binary, 0, "primitive, x1, x2, foreign=, /"},
};

static const char *const operation_names[] = {
#define AS_NAME(CODE, NAME) #NAME,
    NAMED_OPERATIONS(AS_NAME)
#undef AS_NAME
};

/* The code of a row: that which C refers to, or else `*next`, which then is one more. -1 with an
   exception set if there are too many. */
static int code_for(const char *name, int *next)
{
    for (int code = 0; code < NAMED_COUNT; code++) {
        if (strcmp(operation_names[code], name) == 0) {
            return code;
        }
    }
    if (*next == MAX_OPERATIONS) {
        PyErr_SetString(PyExc_ValueError, "there are more primitives than MAX_OPERATIONS");
        return -1;
    }
    return (*next)++;
}

/* Give a row its code, and make the implementation of its public function. -1 with an exception set. */
static int add_primitive(PyObject *primitive, Compute compute, PyObject *codes, int *next)
{
    PyObject *name = PyObject_GetAttrString(primitive, "name");
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name);
    const int code = text == NULL ? -1 : code_for(text, next);
    PyObject *number = code < 0 ? NULL : PyLong_FromLong(code);
    if (number == NULL || PyDict_SetItem(codes, primitive, number) < 0) {
        Py_XDECREF(name);
        Py_XDECREF(number);
        return -1;
    }
    Py_DECREF(number);
    Py_XSETREF(primitives[code], Py_NewRef(primitive)); /* which keeps the name as well */
    const char *parameters = compute == call_unary ? "x, /" : "x1, x2, /";
    elementwise_functions[2 + code] = (Implementation){text, compute, code, parameters};
    Py_DECREF(name);
    return 0;
}

static PyObject *set_primitives(PyObject *module, PyObject *args)
{
    PyObject *rows[2];
    static const Compute computes[2] = {call_unary, call_binary};
    int next = NAMED_COUNT;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &rows[0], &PyList_Type, &rows[1])) {
        return NULL;
    }
    PyObject *codes = PyDict_New();
    for (int operands = 0; codes != NULL && operands < 2; operands++) {
        for (Py_ssize_t i = 0; codes != NULL && i < PyList_GET_SIZE(rows[operands]); i++) {
            if (add_primitive(PyList_GET_ITEM(rows[operands], i), computes[operands], codes, &next) <
                0) {
                Py_CLEAR(codes);
            }
        }
    }
    for (int code = 0; codes != NULL && code < NAMED_COUNT; code++) {
        if (primitives[code] == NULL) {
            PyErr_Format(PyExc_KeyError, "%s", operation_names[code]);
            Py_CLEAR(codes);
        }
    }
    if (codes == NULL) {
        return NULL;
    }
    Py_XSETREF(operation_codes, codes);
    Py_RETURN_NONE;
}

KEEP_ARGUMENT(set_operations, ask)

PyMethodDef element_loops_methods[] = {
    {"set_primitives", set_primitives, METH_VARARGS,
     "set_primitives(unary, binary)\n--\n\n"
     "The rows of operations on one and on two operands; functions of their names get C implementations."},
    {"set_operations", set_operations, METH_O,
     "set_operations(ask)\n--\n\n"
     "A function that is called once per operation and dtype, as ask(primitive, dtype), and gives a tuple of the ufunc, the index of its loop, the name in warnings, the "
     "numbers of the dtype to compute in and of the result's, the elements up to which one thread is "
     "as fast as several, whether the loop gives the same bits backwards, whether it raises "
     "floating-point flags by vector instructions alone, whether it is slow with scalars, and whether "
     "one thread computes all; None if C does not compute it."},
    {NULL, NULL, 0, NULL},
};
