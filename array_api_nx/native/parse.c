#include "parse.h"
#include "arguments.h"
#include "kernel_rules.h"
#include "sizes.h"

#include <stddef.h>

/* All functions here that fail return 0, with an exception set. */

void free_kernel(Kernel *kernel)
{
    if (kernel != NULL) {
        PyMem_Free(kernel->operands);
        PyMem_Free(kernel->registers);
        PyMem_Free(kernel->steps);
        PyMem_Free(kernel);
    }
}

/* ------------------------------------------------------------------ reading

   The fields of the classes of kernel.py are rows of tables. Reading keeps each number in its range, so
   that slots and dims are among those that exist; kernel_rules.c relates the fields to each other. */

typedef enum {
    SIZE,    /* a number from `low` on */
    PER_DIM, /* such a number for each dim */
    NUMBERS, /* the same, or None */
    FLAG, ITEMSIZE, ACCESS, BOX, FILL, LOOP, SLOT, SOURCES, IDENTITY, DIMS, TILE, SPLIT,
    OPERANDS, REGISTERS, PROGRAM,
} Kind;

typedef struct {
    const char *name;
    Kind kind;
    size_t place; /* in the record */
    npy_intp low;
} Field;

#define FIELD(TYPE, NAME, KIND, MEMBER, LOW) {NAME, KIND, offsetof(TYPE, MEMBER), LOW}

static const Field operand_fields[] = {
    FIELD(KernelOperand, "itemsize", ITEMSIZE, itemsize, 1),
    FIELD(KernelOperand, "strides", PER_DIM, strides, -MAX_BYTES),
    FIELD(KernelOperand, "task_stride", SIZE, task_stride, 0),
    FIELD(KernelOperand, "access", ACCESS, access, 0),
    FIELD(KernelOperand, "box", BOX, start, 0),
    FIELD(KernelOperand, "fill", FILL, fill, 0),
    FIELD(KernelOperand, "numbers", NUMBERS, numbers, -MAX_BYTES),
    {NULL, SIZE, 0, 0},
};

static const Field instruction_fields[] = {
    FIELD(KernelStep, "loop", LOOP, loop, 0),
    FIELD(KernelStep, "sources", SOURCES, sources, 0),
    FIELD(KernelStep, "target", SLOT, target, 0),
    {NULL, SIZE, 0, 0},
};

static const Field product_fields[] = {
    FIELD(KernelStep, "loop", LOOP, loop, 0),
    FIELD(KernelStep, "left", SLOT, sources[0], 0),
    FIELD(KernelStep, "right", SLOT, sources[1], 0),
    FIELD(KernelStep, "target", SLOT, target, 0),
    FIELD(KernelStep, "inner", SIZE, inner, 1),
    FIELD(KernelStep, "left_step", SIZE, inner_steps[0], -MAX_BYTES),
    FIELD(KernelStep, "right_step", SIZE, inner_steps[1], -MAX_BYTES),
    {NULL, SIZE, 0, 0},
};

static const Field reduction_fields[] = {
    FIELD(KernelStep, "loop", LOOP, loop, 0),
    FIELD(KernelStep, "source", SLOT, sources[1], 0),
    FIELD(KernelStep, "target", SLOT, target, 0),
    FIELD(KernelStep, "rows", FLAG, rows, 0),
    FIELD(KernelStep, "columns", FLAG, columns, 0),
    FIELD(KernelStep, "identity", IDENTITY, identity, 0),
    {NULL, SIZE, 0, 0},
};

static const Field kernel_fields[] = {
    FIELD(Kernel, "dims", DIMS, dims, 0),
    FIELD(Kernel, "tile", TILE, tile_rows, 1),
    FIELD(Kernel, "split", SPLIT, split, 0),
    FIELD(Kernel, "step", SIZE, step, 1),
    FIELD(Kernel, "tasks", SIZE, tasks, 0),
    FIELD(Kernel, "operands", OPERANDS, operands, 1),
    FIELD(Kernel, "registers", REGISTERS, registers, 0),
    FIELD(Kernel, "program", PROGRAM, steps, 1),
    {NULL, SIZE, 0, 0},
};

static int read_field(Kernel *kernel, PyObject *value, const Field *field, void *record);

/* Read the fields of an object, or of the keywords of a call, into a record. */
static int read_fields(Kernel *kernel, PyObject *given, const Field *fields, void *record)
{
    for (const Field *field = fields; field->name != NULL; field++) {
        PyObject *value = PyDict_Check(given)
                              ? Py_XNewRef(PyDict_GetItemString(given, field->name))
                              : PyObject_GetAttrString(given, field->name);
        if (value == NULL && !PyErr_Occurred()) {
            PyErr_Format(PyExc_TypeError, "a kernel needs the keyword %s", field->name);
        }
        const int good = value != NULL && read_field(kernel, value, field, record);
        Py_XDECREF(value);
        if (!good) {
            return 0;
        }
    }
    return 1;
}

/* Read an integer from 0 to `high`. */
static int read_number(PyObject *value, int high, const char *name, int *number)
{
    npy_intp found;
    const int good = read_int(value, 0, high, name, &found);
    *number = good ? (int)found : 0;
    return good;
}

/* Read so many integers from a tuple. */
static int read_ints(PyObject *value, npy_intp count, npy_intp low, const char *name, npy_intp *ints)
{
    int good = check_tuple(value, count, count, name);
    for (npy_intp i = 0; good && i < count; i++) {
        good = read_int(PyTuple_GET_ITEM(value, i), low, MAX_BYTES, name, &ints[i]);
    }
    return good;
}

static int read_itemsize(PyObject *value, npy_intp *itemsize)
{
    if (!read_int(value, 1, MAX_ITEMSIZE, "an itemsize", itemsize)) {
        return 0;
    }
    if (*itemsize != sizeof(Moments) && (*itemsize & (*itemsize - 1)) != 0) {
        return refuse("an itemsize must be a power of 2, not %zd", *itemsize);
    }
    return 1;
}

static int read_access(PyObject *value, Access *access)
{
    static const char *const names[] = {"direct", "packed", "invariant", "streamed"};
    for (int i = 0; PyUnicode_Check(value) && i < 4; i++) {
        if (PyUnicode_CompareWithASCIIString(value, names[i]) == 0) {
            *access = (Access)i;
            return 1;
        }
    }
    return refuse("access must be 'direct', 'packed', 'invariant' or 'streamed', not %R", value);
}

/* Where the operand has memory: everywhere, or in a box. */
static int read_box(const Kernel *kernel, PyObject *value, KernelOperand *operand)
{
    memcpy(operand->end, kernel->dims, sizeof(operand->end));
    int good = value == Py_None || check_tuple(value, kernel->ndim, kernel->ndim, "a box");
    for (int i = 0; good && value != Py_None && i < kernel->ndim; i++) {
        PyObject *range = PyTuple_GET_ITEM(value, i);
        good = check_tuple(range, 2, 2, "a range of a box") &&
               read_int(PyTuple_GET_ITEM(range, 0), 0, kernel->dims[i], "start",
                        &operand->start[i]) &&
               read_int(PyTuple_GET_ITEM(range, 1), operand->start[i] + 1, kernel->dims[i], "end",
                        &operand->end[i]);
    }
    return good;
}

static int read_loop(PyObject *value, Loop *loop)
{
    PyObject *pointer = PyObject_GetAttrString(value, "pointer");
    const Loop *found = pointer == NULL ? NULL : PyCapsule_GetPointer(pointer, LOOP_NAME);
    if (found != NULL) {
        *loop = *found;
    }
    Py_XDECREF(pointer); /* the loop keeps it */
    return found != NULL;
}

static int read_identity(PyObject *value, npy_intp size, char *identity)
{
    if (!PyArray_Check(value) || PyArray_NDIM((PyArrayObject *)value) != 0 ||
        PyArray_ITEMSIZE((PyArrayObject *)value) != size || size > MAX_ITEMSIZE) {
        return refuse("a reduction's identity must be a 0-d ndarray of %zd bytes", size);
    }
    memcpy(identity, PyArray_DATA((PyArrayObject *)value), (size_t)size);
    return 1;
}

/* Room for the records of a tuple; NULL with an exception set. */
static void *make_records(PyObject *value, const Field *field, npy_intp high, size_t size, int *count)
{
    if (!check_tuple(value, field->low, high, field->name)) {
        return NULL;
    }
    *count = (int)PyTuple_GET_SIZE(value);
    void *records = PyMem_Calloc((size_t)*count + 1, size);
    return records == NULL ? PyErr_NoMemory() : records;
}

static int read_operands(Kernel *kernel, PyObject *value, const Field *field)
{
    kernel->operands =
        make_records(value, field, MAX_OPERANDS, sizeof(KernelOperand), &kernel->operand_count);
    int good = kernel->operands != NULL;
    for (int i = 0; good && i < kernel->operand_count; i++) {
        good = read_fields(kernel, PyTuple_GET_ITEM(value, i), operand_fields, &kernel->operands[i]);
    }
    return good;
}

static int read_registers(Kernel *kernel, PyObject *value, const Field *field)
{
    kernel->registers =
        make_records(value, field, MAX_REGISTERS, sizeof(KernelRegister), &kernel->register_count);
    int good = kernel->registers != NULL;
    for (int i = 0; good && i < kernel->register_count; i++) {
        good = read_itemsize(PyTuple_GET_ITEM(value, i), &kernel->registers[i].itemsize);
    }
    return good;
}

static int read_program(Kernel *kernel, PyObject *value, const Field *field)
{
    kernel->steps = make_records(value, field, MAX_STEPS, sizeof(KernelStep), &kernel->step_count);
    int good = kernel->steps != NULL;
    for (int i = 0; good && i < kernel->step_count; i++) {
        PyObject *given = PyTuple_GET_ITEM(value, i);
        KernelStep *step = &kernel->steps[i];
        step->reduces = PyObject_HasAttrString(given, "identity");
        good = read_fields(kernel, given,
                           step->reduces                            ? reduction_fields
                           : PyObject_HasAttrString(given, "inner") ? product_fields
                                                                    : instruction_fields,
                           step);
    }
    return good;
}

static int read_field(Kernel *kernel, PyObject *value, const Field *field, void *record)
{
    void *const place = (char *)record + field->place;
    const int last_slot = kernel->operand_count + kernel->register_count - 1;
    switch (field->kind) {
    case SIZE:
        return read_int(value, field->low, MAX_BYTES, field->name, place);
    case FLAG:
        return (*(int *)place = PyObject_IsTrue(value)) >= 0;
    case ITEMSIZE:
        return read_itemsize(value, place);
    case NUMBERS:
        ((KernelOperand *)record)->drawn = value != Py_None;
        return value == Py_None ||
               read_ints(value, kernel->ndim, field->low, field->name, place);
    case PER_DIM:
        return read_ints(value, kernel->ndim, field->low, field->name, place);
    case ACCESS:
        return read_access(value, place);
    case BOX:
        return read_box(kernel, value, record);
    case FILL:
        *(int *)place = -1;
        return value == Py_None || read_number(value, kernel->operand_count - 1, field->name, place);
    case LOOP:
        return read_loop(value, place);
    case SLOT:
        return read_number(value, last_slot, "a slot", place);
    case SOURCES: {
        const int count = ((KernelStep *)record)->loop.sources;
        int good = check_tuple(value, count, count, "an instruction's sources");
        for (int i = 0; good && i < count; i++) {
            good = read_number(PyTuple_GET_ITEM(value, i), last_slot, "a slot", (int *)place + i);
        }
        return good;
    }
    case IDENTITY:
        return read_identity(value, ((KernelStep *)record)->loop.itemsizes[0], place);
    case DIMS:
        kernel->ndim = PyTuple_Check(value) ? (int)least(PyTuple_GET_SIZE(value), MAX_DIMS) : 0;
        return check_tuple(value, 2, MAX_DIMS, field->name) &&
               read_ints(value, kernel->ndim, 0, "a dim", place);
    case TILE:
        return read_ints(value, 2, 1, "a tile's rows or columns", place);
    case SPLIT:
        return read_number(value, kernel->ndim - 1, field->name, place);
    case OPERANDS:
        return read_operands(kernel, value, field);
    case REGISTERS:
        return read_registers(kernel, value, field);
    case PROGRAM:
        return read_program(kernel, value, field);
    }
    return 0;
}

Kernel *parse_kernel(PyObject *keywords)
{
    Kernel *kernel = PyMem_Calloc(1, sizeof(Kernel));
    if (kernel == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (!read_fields(kernel, keywords, kernel_fields, kernel) || !check_kernel(kernel)) {
        free_kernel(kernel);
        return NULL;
    }
    return kernel;
}
