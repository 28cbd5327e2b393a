#include "call_steps.h"
#include "arguments.h"
#include "chapters.h"
#include "pack.h"
#include "sizes.h"

static int read_numbers(PyObject *tuple, int count, npy_intp *numbers)
{
    for (int i = 0; i < count; i++) {
        if (!read_int(PyTuple_GET_ITEM(tuple, i), NPY_MIN_INTP / 2, NPY_MAX_INTP / 2,
                      "a size or stride", &numbers[i])) {
            return 0;
        }
    }
    return 1;
}

/* An Array of a layout, whose memory has no address yet. */
static PyObject *read_operand(PyObject *description, int *number)
{
    npy_intp value, offset;
    char *data;
    const npy_intp one = 1;
    if (!check_tuple(description, 5, 5, "an operand") ||
        !check_tuple(PyTuple_GET_ITEM(description, 2), 0, ARRAY_DIMS, "a shape")) {
        return NULL;
    }
    PyObject *shape = PyTuple_GET_ITEM(description, 2), *strides = PyTuple_GET_ITEM(description, 3);
    const int ndim = (int)PyTuple_GET_SIZE(shape);
    const DTypeCode code = code_of_dtype(PyTuple_GET_ITEM(description, 1));
    if (code == NO_DTYPE) {
        PyErr_SetString(PyExc_TypeError, "an operand has a dtype of the standard");
        return NULL;
    }
    if (!check_tuple(strides, ndim, ndim, "strides") ||
        !read_int(PyTuple_GET_ITEM(description, 0), 0, NPY_MAX_INT, "an array's number", &value) ||
        !read_int(PyTuple_GET_ITEM(description, 4), 0, NPY_MAX_INTP / 2, "an offset", &offset)) {
        return NULL;
    }
    *number = (int)value;
    Tensor *memory = new_memory(1, &one, code, 0, &data);
    PyObject *operand = memory == NULL ? NULL : new_view(memory, ndim);
    Py_XDECREF(memory);
    if (operand == NULL) {
        return NULL;
    }
    Tensor *tensor = tensor_of(operand);
    if (!read_numbers(shape, ndim, tensor->shape) || !read_numbers(strides, ndim, tensor->strides)) {
        Py_DECREF(operand);
        return NULL;
    }
    tensor->offset = offset;
    finish_layout(tensor, READ_ONLY);
    return operand;
}

static int read_call(CallStep *call, PyObject *description)
{
    npy_intp result;
    if (!check_tuple(description, 5, 5, "a call") ||
        !check_tuple(PyTuple_GET_ITEM(description, 1), 1, CALL_OPERANDS, "operands")) {
        return 0;
    }
    PyObject *operands = PyTuple_GET_ITEM(description, 1);
    PyObject *names = PyTuple_GET_ITEM(description, 3);
    PyObject *values = PyTuple_GET_ITEM(description, 4);
    const npy_intp most = CALL_ARGUMENTS - CALL_OPERANDS;
    if (!check_tuple(names, 0, most, "names") ||
        !check_tuple(values, PyTuple_GET_SIZE(names), most, "values") ||
        !read_int(PyTuple_GET_ITEM(description, 2), 0, NPY_MAX_INT, "an array's number",
                  &result)) {
        return 0;
    }
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(description, 0));
    call->implementation = name == NULL ? NULL : find_implementation(name);
    if (call->implementation == NULL) {
        return PyErr_Occurred() ? 0 : refuse("%s has no C implementation", name);
    }
    call->result = (int)result;
    for (; call->operand_count < PyTuple_GET_SIZE(operands); call->operand_count++) {
        const int i = call->operand_count;
        call->arguments[i] = read_operand(PyTuple_GET_ITEM(operands, i), &call->arrays[i]);
        if (call->arguments[i] == NULL) {
            return 0;
        }
        call->argument_count++;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(values); i++) {
        call->arguments[call->argument_count++] = Py_NewRef(PyTuple_GET_ITEM(values, i));
    }
    call->position_count = call->argument_count - (int)PyTuple_GET_SIZE(names);
    call->names = PyTuple_GET_SIZE(names) == 0 ? NULL : Py_NewRef(names);
    Parameters parameters;
    if (read_parameters(call->implementation, &parameters) < 0) {
        return 0;
    }
    call->values = sort_arguments(&parameters, call->arguments, call->position_count, call->names,
                                  call->room);
    return 1;
}

CallStep *read_call_step(PyObject *description)
{
    CallStep *call = PyMem_Calloc(1, sizeof(CallStep));
    if (call == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (!read_call(call, description)) {
        free_call_step(call);
        return NULL;
    }
    return call;
}

void free_call_step(CallStep *call)
{
    if (call != NULL) {
        for (int i = 0; i < call->argument_count; i++) {
            Py_DECREF(call->arguments[i]);
        }
        Py_XDECREF(call->names);
        PyMem_Free(call);
    }
}

void operand_reach(const CallStep *call, int i, npy_intp *low, npy_intp *high)
{
    const Tensor *tensor = tensor_of(call->arguments[i]);
    *low = *high = 0;
    if (tensor->size > 0) {
        find_reach(tensor->ndim, tensor->shape, tensor->strides, low, high);
        *high += dtypes[tensor->code].itemsize;
    }
    *low += tensor->offset;
    *high += tensor->offset;
}

/* Whether a result fits the memory that it is copied to. */
static int copy_result(const CallStep *call, PyObject *result, char *target)
{
    Tensor *tensor = layout_of_any(result);
    const char *data = tensor == NULL ? NULL : data_of(tensor);
    if (data == NULL || tensor->size * dtypes[tensor->code].itemsize != call->result_bytes) {
        return 0;
    }
    if (tensor->flags & ROW_MAJOR) {
        memcpy(target, data, (size_t)call->result_bytes);
    } else {
        AxisOrder order;
        const DTypeCode code = (DTypeCode)tensor->code;
        order_rows(tensor->ndim, order);
        pack(data, code, tensor->ndim, tensor->shape, tensor->strides, order, code, target);
    }
    return 1;
}

int run_call_step(const CallStep *call, char *const *addresses)
{
    for (int i = 0; i < call->operand_count; i++) {
        ((Storage *)tensor_of(call->arguments[i])->storage)->address = addresses[call->arrays[i]];
    }
    int flags = 0;
    collect_errors(&flags);
    PyObject *result = call->values == NULL
                           ? DECLINED
                           : call->implementation->compute(call->implementation->code, call->values,
                                                           call->position_count);
    collect_errors(NULL);
    if (result == NULL || result == DECLINED) {
        return result == NULL ? -1 : 0;
    }
    const int done = flags == 0 && copy_result(call, result, addresses[call->result]);
    Py_DECREF(result);
    return done;
}
