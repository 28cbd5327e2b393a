/* The engine: runs the kernels of kernel.py with NumPy's inner loops, without the GIL.

   Loops are handed out as capsules, for loops.py to keep. A Kernel is parsed and checked once and
   run any number of times. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* clang-format off: each builds on those before it */
#include "atomics.h"
#include "context.h"
#include "loops.h"
#include "sums.h"
#include "copies.h"
#include "interrupt.h"
#include "tiles.h"
#include "threads.h"
#include "parse.h"
#include "memory.h"
/* clang-format on */

/* ------------------------------------------------------------------ loops */

static void free_loop(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, LOOP_NAME));
}

static PyObject *wrap_loop(const Loop *loop)
{
    Loop *copy = PyMem_Malloc(sizeof(Loop));
    if (copy == NULL) {
        return PyErr_NoMemory();
    }
    *copy = *loop;
    PyObject *capsule = PyCapsule_New(copy, LOOP_NAME, free_loop);
    if (capsule == NULL) {
        PyMem_Free(copy);
    }
    return capsule;
}

/* A capsule of the loop if it was found, else None. */
static PyObject *found_loop(int found, const Loop *loop)
{
    if (found) {
        return wrap_loop(loop);
    }
    Py_RETURN_NONE;
}

static PyObject *ufunc_loop(PyObject *module, PyObject *args)
{
    PyUFuncObject *ufunc;
    PyObject *dtypes;
    int types[MAX_SOURCES + 1];
    npy_intp sizes[MAX_SOURCES + 1];
    Loop loop;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!:ufunc_loop", &PyUFunc_Type, &ufunc, &PyTuple_Type, &dtypes)) {
        return NULL;
    }
    if (ufunc->nout != 1 || ufunc->nin > MAX_SOURCES || PyTuple_GET_SIZE(dtypes) != ufunc->nargs) {
        Py_RETURN_NONE;
    }
    for (int i = 0; i < ufunc->nargs; i++) {
        PyObject *dtype = PyTuple_GET_ITEM(dtypes, i);
        if (!PyArray_DescrCheck(dtype)) {
            PyErr_SetString(PyExc_TypeError, "ufunc_loop takes a tuple of NumPy dtypes");
            return NULL;
        }
        types[i] = ((PyArray_Descr *)dtype)->type_num;
        sizes[i] = PyDataType_ELSIZE((PyArray_Descr *)dtype);
    }
    return found_loop(find_ufunc(ufunc, types, sizes, &loop), &loop);
}

static PyObject *cast_loop(PyObject *module, PyObject *args)
{
    PyArray_Descr *from, *to;
    Loop loop;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!:cast_loop", &PyArrayDescr_Type, &from, &PyArrayDescr_Type,
                          &to)) {
        return NULL;
    }
    return found_loop(find_cast(from->type_num, to->type_num, &loop), &loop);
}

static PyObject *select_loop(PyObject *module, PyObject *itemsize)
{
    Loop loop;
    (void)module;
    const npy_intp size = PyLong_AsSsize_t(itemsize);
    if (size == -1 && PyErr_Occurred()) {
        return NULL;
    }
    return found_loop(find_select(size, &loop), &loop);
}

static PyObject *get_count_loop(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    return wrap_loop(&count_loop);
}

static PyObject *sum_loop(PyObject *module, PyObject *dtype)
{
    Loop loop;
    (void)module;
    return PyArray_DescrCheck(dtype)
               ? found_loop(find_sum(((PyArray_Descr *)dtype)->type_num, &loop), &loop)
               : found_loop(0, NULL);
}

static PyObject *moments_loop(PyObject *module, PyObject *dtype)
{
    Loop loop;
    (void)module;
    return PyArray_DescrCheck(dtype)
               ? found_loop(find_moments(((PyArray_Descr *)dtype)->type_num, &loop), &loop)
               : found_loop(0, NULL);
}

/* ------------------------------------------------------------------ Kernel */

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    PyObject *description; /* keeps the loops alive */
} KernelObject;

static PyTypeObject *kernel_type;

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *description;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Kernel takes its description by position");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O:Kernel", &description)) {
        return NULL;
    }
    Kernel *kernel = parse_kernel(description);
    if (kernel == NULL) {
        return NULL;
    }
    KernelObject *self = (KernelObject *)type->tp_alloc(type, 0);
    if (self == NULL) {
        free_kernel(kernel);
        return NULL;
    }
    self->kernel = kernel;
    self->description = Py_NewRef(description);
    return (PyObject *)self;
}

static void kernel_dealloc(PyObject *object)
{
    KernelObject *self = (KernelObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    free_kernel(self->kernel);
    Py_XDECREF(self->description);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Find the array of operand `number`, and the address of its element at index (0, ..., 0). 0 with an
   exception set if the kernel cannot work on that array: if the operand leaves its memory, or is not
   aligned in it, or writes to memory that is read-only. */
static int locate(const Kernel *kernel, int number, PyObject *memory, PyArrayObject **array,
                  char **address)
{
    const Operand *operand = &kernel->operands[number];
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
    if ((uintptr_t)*address % (uintptr_t)alignment(operand->itemsize) != 0) {
        return refuse("operand %d is not aligned to %zd bytes", number,
                      alignment(operand->itemsize));
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

static int is_empty(const Kernel *kernel)
{
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->dims[i] == 0) {
            return 1;
        }
    }
    return 0;
}

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
    if (arg_count != 2) {
        PyErr_SetString(PyExc_TypeError, "run takes the memories and the number of threads");
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

static PyMethodDef kernel_methods[] = {
    {"run", (PyCFunction)(void (*)(void))kernel_run, METH_FASTCALL,
     "run($self, memories, threads)\n--\n\n"
     "Run all tasks; floating-point flags per step, as NumPy's bits.\n\n"
     "memories holds (contiguous ndarray, byte position of the first element) per operand."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_doc, "Kernel(description)\n--\n\nA parsed and checked kernel.Kernel."},
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_methods, kernel_methods},
    {0, NULL},
};

static PyType_Spec kernel_spec = {
    .name = "array_api_nx.native._engine.Kernel",
    .basicsize = sizeof(KernelObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = kernel_slots,
};

/* clang-format off */
#include "sequence.h"
#include "operations.h"
#include "totals.h"
#include "calls.h"
/* clang-format on */

/* ------------------------------------------------------------------ threads */

/* What threadpoolctl looks for in the dynamic symbol table, to know this library. */
Py_EXPORTED_SYMBOL const int array_api_nx_engine = 1;

static PyObject *forget_threads(PyObject *module, PyObject *ignored)
{
    (void)module;
    (void)ignored;
    unlock_spares();
    if (!make_pool()) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------ the module */

static int execute(PyObject *module)
{
    import_array1(-1);
    import_umath1(-1);
    if (pool == NULL && !make_pool()) {
        PyErr_NoMemory();
        return -1;
    }
    if (pool_buffer_type == NULL && !make_spares()) {
        return -1;
    }
    kernel_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &kernel_spec, NULL);
    if (kernel_type == NULL || PyModule_AddType(module, kernel_type) < 0) {
        return -1;
    }
    array_name = PyUnicode_InternFromString("array");
    PyObject *type = PyType_FromModuleAndSpec(module, &sequence_spec, NULL);
    if (array_name == NULL || type == NULL) {
        return -1;
    }
    int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    type = failed ? NULL : PyType_FromModuleAndSpec(module, &context_caller_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

static PyMethodDef methods[] = {
    {"ufunc_loop", ufunc_loop, METH_VARARGS,
     "ufunc_loop(ufunc, dtypes)\n--\n\n"
     "The ufunc's inner loop for exactly these dtypes of inputs and output, or None."},
    {"cast_loop", cast_loop, METH_VARARGS,
     "cast_loop(source, target)\n--\n\nA loop that casts between two dtypes, or None."},
    {"select_loop", select_loop, METH_O,
     "select_loop(itemsize)\n--\n\n"
     "A loop (bool, value, value) -> value that takes the first value where true, or None."},
    {"count_loop", get_count_loop, METH_NOARGS,
     "count_loop()\n--\n\nA loop (int64, bool) -> int64 that adds."},
    {"sum_loop", sum_loop, METH_O,
     "sum_loop(dtype)\n--\n\n"
     "A loop (accumulator, element) -> accumulator that adds up real numbers, or None."},
    {"moments_loop", moments_loop, METH_O,
     "moments_loop(dtype)\n--\n\n"
     "What folds real numbers into pairs of their mean and their squared distances from it, or "
     "None."},
    {"compute", (PyCFunction)(void (*)(void))compute, METH_FASTCALL,
     "compute(operation, threads, limit, *operands)\n--\n\n"
     "A loop element by element over broadcast operands, ndarrays and Python scalars, as a new "
     "ndarray; with floating-point flags, as NumPy's bits, in a tuple if there are any.\n\n"
     "None, with nothing done, if operands are not aligned arrays of the loop's dtypes, do not "
     "broadcast, or broadcast to no elements or more than the limit, and where NumPy's result would "
     "be neither row-major nor column-major.\n\n"
     "operation: (loop, dtypes of its inputs, its output's, elements up to which one thread "
     "computes all, whether the loop is slow with scalars, whether it gives the same bits when it "
     "reads backwards)."},
    {"update", (PyCFunction)(void (*)(void))update, METH_FASTCALL,
     "update(operation, target, *operands)\n--\n\n"
     "Compute a loop over few elements, and write them to an array that may be an operand. Whether "
     "that was done: not, if there are more than some hundred elements, if operands are not scalars "
     "or row-major arrays of the target's shape, and if there were floating-point errors."},
    {"total", (PyCFunction)(void (*)(void))total, METH_FASTCALL,
     "total(reduction, threads, array)\n--\n\n"
     "All elements of an array reduced to one, an ndarray without axes; None, with nothing done, "
     "unless the array lies in one piece.\n\n"
     "reduction: (loop, dtype of the elements, identity, elements up to which one thread computes "
     "all). The order of the elements must not matter to it; accumulators of another dtype than "
     "the elements are counts."},
    {"parallel_for", (PyCFunction)(void (*)(void))parallel_for, METH_FASTCALL,
     "parallel_for(task, count, threads)\n--\n\n"
     "Call task(i) for each i in range(count), on at most so many threads, this one among them. See "
     "parallel.py."},
    {"retire_workers", retire_workers, METH_NOARGS,
     "retire_workers()\n--\n\n"
     "Have no thread but the calling one call tasks of parallel_for from now on, and wait for those "
     "that do, as the interpreter has to before it ends."},
    {"forget_threads", forget_threads, METH_NOARGS,
     "forget_threads()\n--\n\nStart afresh without threads, as a forked child has to."},
    {"empty", empty, METH_VARARGS,
     "empty(shape, dtype)\n--\n\n"
     "An uninitialised row-major ndarray. Large ones lie in memory that is kept afterwards."},
    {"limit_spares", limit_spares, METH_O,
     "limit_spares(bytes)\n--\n\nKeep at most so much memory. Larger arrays are NumPy's."},
    {"release_spares", release_spares, METH_NOARGS,
     "release_spares()\n--\n\nGive all memory that waits back to the system."},
    {"count_spares", count_spares, METH_NOARGS,
     "count_spares()\n--\n\n(bytes that wait, in how many blocks, limit, hits, misses)."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_engine",
    .m_doc = "The engine: kernels of NumPy's inner loops, without the GIL.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__engine(void)
{
    return PyModuleDef_Init(&module);
}
