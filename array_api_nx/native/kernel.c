#include "kernel.h"
#include "parts.h"
#include "arguments.h"
#include "draws.h"
#include "parse.h"
#include "sizes.h"
#include "threads.h"

PyTypeObject *kernel_type;
TileSizes tile_sizes;

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    if (PyTuple_GET_SIZE(args) > 0 || keywords == NULL) {
        PyErr_SetString(PyExc_TypeError, "Kernel takes its description by keywords");
        return NULL;
    }
    Kernel *kernel = parse_kernel(keywords);
    if (kernel == NULL) {
        return NULL;
    }
    KernelObject *self = (KernelObject *)type->tp_alloc(type, 0);
    if (self == NULL) {
        free_kernel(kernel);
        return NULL;
    }
    self->kernel = kernel;
    self->program = Py_NewRef(PyDict_GetItemString(keywords, "program"));
    return (PyObject *)self;
}

static void kernel_dealloc(PyObject *object)
{
    KernelObject *self = (KernelObject *)object;
    free_kernel(self->kernel);
    Py_XDECREF(self->program);
    free_instance(object);
}

/* Find the array of operand `number`, and the address of its element at index (0, ..., 0). 0 with an
   exception set if the kernel cannot work on that array: if the operand leaves its memory, or is not
   aligned in it, or writes to memory that is read-only. */
static int locate(const Kernel *kernel, int number, PyObject *memory, PyArrayObject **array,
                  char **address)
{
    const KernelOperand *operand = &kernel->operands[number];
    npy_intp offset;
    if (!check_tuple(memory, 2, 2, "a memory")) {
        return 0;
    }
    *array = (PyArrayObject *)PyTuple_GET_ITEM(memory, 0);
    if (!PyArray_Check(*array)) {
        PyErr_Format(PyExc_TypeError, "memory %d must be an ndarray, not %.100s", number,
                     Py_TYPE(*array)->tp_name);
        return 0;
    }
    const npy_intp size = PyArray_NBYTES(*array);
    if (!read_int(PyTuple_GET_ITEM(memory, 1), -MAX_BYTES, MAX_BYTES, "an offset", &offset)) {
        return 0;
    }
    if (!PyArray_IS_C_CONTIGUOUS(*array) || PyDataType_REFCHK(PyArray_DESCR(*array))) {
        return refuse("memory %d must be contiguous, without objects", number);
    }
    if (offset + operand->low < 0 || offset + operand->high > size) {
        return refuse("operand %d covers the bytes %zd to %zd, its memory has %zd", number,
                      offset + operand->low, offset + operand->high, size);
    }
    if (operand->written && !PyArray_ISWRITEABLE(*array)) {
        return refuse("operand %d is written, but its memory is read-only", number);
    }
    *address = PyArray_BYTES(*array) + offset;
    const npy_intp aligned =
        alignment(operand->drawn ? (npy_intp)sizeof(npy_uint64) : operand->itemsize);
    if ((uintptr_t)*address % (uintptr_t)aligned != 0) {
        return refuse("operand %d is not aligned to %zd bytes", number, aligned);
    }
    if (operand->drawn &&
        (offset != 0 || size < (npy_intp)sizeof(Drawing) ||
         drawn_itemsize((const Drawing *)*address) != operand->itemsize)) {
        return refuse("memory %d must describe a draw of numbers of %zd bytes", number,
                      operand->itemsize);
    }
    return 1;
}

/* The arrays of all operands, as `*count` new references, and the addresses in them; 0 with an
   exception set. */
static int locate_all(const Kernel *kernel, PyObject *memories, PyArrayObject **arrays,
                      char **addresses, int *count)
{
    PyObject *items = PySequence_Tuple(memories);
    if (items == NULL) {
        return 0;
    }
    int good = check_tuple(items, kernel->operand_count, kernel->operand_count, "memories");
    for (int i = 0; good && i < kernel->operand_count; i++) {
        good = locate(kernel, i, PyTuple_GET_ITEM(items, i), &arrays[i], &addresses[i]);
        if (good) {
            Py_INCREF(arrays[i]);
            *count = i + 1;
        }
    }
    Py_DECREF(items);
    return good;
}

/* The floating-point flags of a kernel's steps. */
static PyObject *flags_tuple(const Kernel *kernel, const npy_uint8 *flags)
{
    PyObject *result = PyTuple_New(kernel->step_count);
    for (int i = 0; result != NULL && i < kernel->step_count; i++) {
        PyTuple_SET_ITEM(result, i, PyLong_FromLong(flags[i])); /* small ints never fail */
    }
    return result;
}

static PyObject *kernel_run(PyObject *object, PyObject *const *args, Py_ssize_t arg_count)
{
    const Kernel *kernel = ((KernelObject *)object)->kernel;
    PyArrayObject *arrays[MAX_OPERANDS];
    char *addresses[MAX_OPERANDS];
    npy_uint8 flags[MAX_STEPS] = {0};
    npy_intp threads;
    int count = 0;
    PyObject *result = NULL;
    if (arg_count != 2 && arg_count != 3) {
        PyErr_SetString(PyExc_TypeError,
                        "run takes the memories, the number of threads, and maybe a listener");
        return NULL;
    }
    if (!read_int(args[1], 1, NPY_MAX_INTP, "threads", &threads)) {
        return NULL;
    }
    if (is_empty(kernel)) {
        return flags_tuple(kernel, flags);
    }
    if (locate_all(kernel, args[0], arrays, addresses, &count)) {
        Team team;
        if (acquire_team(&team, kernel->scratch, kernel->tasks, threads)) {
            team.interrupt.listener = arg_count < 3 || args[2] == Py_None ? NULL : args[2];
            release_gil(&team.interrupt);
            run_kernel(&team, kernel, addresses, flags);
            if (take_gil(&team.interrupt)) {
                result = flags_tuple(kernel, flags);
            }
        } else {
            PyErr_NoMemory();
        }
        release_team(&team);
    }
    for (int i = 0; i < count; i++) {
        Py_DECREF(arrays[i]);
    }
    return result;
}

static PyObject *set_tiles(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"transposed_rows", "column_bytes", "transposed_columns", "row_bytes",
                            "packed_columns", "fetched_bytes", "streamed_bytes", NULL};
    TileSizes sizes;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "$nnnnnnn:set_tiles", names,
                                     &sizes.transposed_rows, &sizes.column_bytes,
                                     &sizes.transposed_columns, &sizes.row_bytes,
                                     &sizes.packed_columns, &sizes.fetched_bytes,
                                     &sizes.streamed_bytes)) {
        return NULL;
    }
    if (least(sizes.transposed_rows, sizes.transposed_columns) < 1) {
        refuse("a tile must have elements");
        return NULL;
    }
    tile_sizes = sizes;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_tiles", (PyCFunction)(void (*)(void))set_tiles, METH_VARARGS | METH_KEYWORDS,
     "set_tiles(*, transposed_rows, column_bytes, transposed_columns, row_bytes, packed_columns, "
     "fetched_bytes, streamed_bytes)\n--\n\nThe constants of schedule.py that C reads."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef kernel_methods[] = {
    {"run", (PyCFunction)(void (*)(void))kernel_run, METH_FASTCALL,
     "run($self, memories, threads, listener=None)\n--\n\n"
     "Run all tasks; floating-point flags per step, as NumPy's bits.\n\n"
     "memories holds (contiguous ndarray, byte position of the first element) per operand. While a "
     "long run lasts, listener(begun, tasks) is called now and then."},
    {"reduce", (PyCFunction)(void (*)(void))kernel_reduce, METH_FASTCALL,
     "reduce($self, array, shape, divisor, combining, threads)\n--\n\n"
     "Reduce a contiguous array to a new one of a shape: that, and its floating-point flags.\n\n"
     "Sums, and the sums of squares of moments, are divided by the divisor, unless it is None. `combining` is "
     "the loop that combines the accumulators of tasks, where each has its own and they are no moments."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, "Kernel(*, dims, tile, split, step, tasks, operands, registers, program)\n--\n\n"
                "A checked kernel, of the fields of kernel.Kernel."},
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_methods, kernel_methods},
    {0, NULL},
};

static PyType_Spec kernel_spec = {
    .name = "array_api_nx._native.Kernel",
    .basicsize = sizeof(KernelObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = kernel_slots,
};

int add_kernel(PyObject *module)
{
    if (PyModule_AddFunctions(module, functions) < 0 || PyModule_AddIntMacro(module, MAX_OPERANDS) < 0 ||
        PyModule_AddIntMacro(module, MAX_STEPS) < 0) {
        return -1;
    }
    return add_type(module, &kernel_spec, &kernel_type);
}
