/* Sequence: several kernels run one after the other in one call from Python.

   The arrays that the kernels work on are numbered: first the given ones, which are arguments of
   each call, then the fixed ones, which are the same in every call. Kernels and fixed arrays are
   checked when the sequence is made, given arrays in each call. */

#include "parts.h"
#include "arguments.h"
#include "copies.h"
#include "draws.h"
#include "kernel.h"
#include "memory.h"
#include "names.h"
#include "objects.h"
#include "outcomes.h"
#include "passes.h"
#include "sizes.h"
#include "threads.h"

/* The most passes that a sequence has, and the most arrays that so many passes can name. */
enum { MAX_PASSES = 64, MAX_ARRAYS = MAX_PASSES * MAX_OPERANDS };

static int read_expected(Expected *expected, PyObject *description)
{
    PyArray_Dims shape = {NULL, 0};
    if (!check_tuple(description, 2, 2, "an array given")) {
        return 0;
    }
    PyObject *dtype = PyTuple_GET_ITEM(description, 1);
    if (!PyArray_DescrCheck(dtype) || PyDataType_REFCHK((PyArray_Descr *)dtype)) {
        PyErr_SetString(PyExc_TypeError, "an array given needs a NumPy dtype without objects");
        return 0;
    }
    if (!PyArray_IntpConverter(PyTuple_GET_ITEM(description, 0), &shape)) {
        return 0;
    }
    int good = 1;
    expected->ndim = shape.len;
    expected->size = PyDataType_ELSIZE((PyArray_Descr *)dtype);
    for (int i = 0; good && i < shape.len; i++) {
        const npy_intp length = shape.ptr[i];
        if (length < 0) {
            good = refuse("an array has a negative size, %zd", length);
        } else if (length > 0 && expected->size > MAX_BYTES / length) {
            good = refuse("an array has too many bytes");
        }
        expected->shape[i] = length;
        expected->size *= good ? length : 0;
    }
    PyDimMem_FREE(shape.ptr);
    if (good) {
        expected->dtype = (PyArray_Descr *)Py_NewRef(dtype);
    }
    return good;
}

/* Check that the array of operand `i` is large enough, aligned, and writable if the pass writes it;
   0 with an exception set. */
static int check_source(SequenceObject *self, const Pass *pass, int i)
{
    const KernelOperand *operand = &pass->kernel->operands[i];
    const int number = pass->arrays[i];
    const npy_intp offset = pass->offsets[i];
    const npy_intp size = memory_size(self, number);
    /* The description of random numbers is longer than one of them. Each call reads it. */
    const npy_intp end = operand->drawn ? (npy_intp)sizeof(Drawing) : operand->high;
    const npy_intp aligned =
        alignment(operand->drawn ? (npy_intp)sizeof(npy_uint64) : operand->itemsize);
    npy_uintp address = (npy_uintp)offset;
    if (number < self->given_count) {
        self->given[number].written |= operand->written;
        self->given[number].misaligned |= (npy_uintp)aligned - 1;
    } else {
        PyArrayObject *array = self->fixed[number - self->given_count];
        if (operand->written && !PyArray_ISWRITEABLE(array)) {
            return refuse("array %d is written, but it is read-only", number);
        }
        address += (npy_uintp)PyArray_DATA(array);
    }
    /* A kernel without elements touches no memory but accumulators, which it initialises. */
    const int touched = !is_empty(pass->kernel) || (operand->accumulates && size > 0);
    if (touched && (offset + operand->low < 0 || offset + end > size)) {
        return refuse("operand %d covers the bytes %zd to %zd, its memory has %zd", i,
                      offset + operand->low, offset + end, size);
    }
    if (address % (npy_uintp)aligned != 0) {
        return refuse("operand %d is not aligned to %zd bytes", i, aligned);
    }
    return 1;
}

static int read_pass(SequenceObject *self, Pass *pass, PyObject *description)
{
    PyObject *kernel, *sources;
    if (!check_tuple(description, 3, 4, "a pass")) {
        return 0;
    }
    kernel = PyTuple_GET_ITEM(description, 0);
    sources = PyTuple_GET_ITEM(description, 1);
    if (Py_TYPE(kernel) != kernel_type) {
        PyErr_SetString(PyExc_TypeError, "a pass begins with a Kernel");
        return 0;
    }
    pass->kernel = ((KernelObject *)kernel)->kernel;
    const int count = pass->kernel->operand_count;
    if (!check_tuple(sources, count, count, "sources") ||
        !read_int(PyTuple_GET_ITEM(description, 2), 1, NPY_MAX_INTP, "threads", &pass->threads)) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        PyObject *source = PyTuple_GET_ITEM(sources, i);
        npy_intp number;
        if (!check_tuple(source, 2, 2, "a source") ||
            !read_int(PyTuple_GET_ITEM(source, 0), 0, self->given_count + self->fixed_count - 1,
                      "an array's number", &number) ||
            !read_int(PyTuple_GET_ITEM(source, 1), -MAX_BYTES, MAX_BYTES, "an offset",
                      &pass->offsets[i])) {
            return 0;
        }
        pass->arrays[i] = (int)number;
        if (!check_source(self, pass, i)) {
            return 0;
        }
    }
    if (PyTuple_GET_SIZE(description) == 4 &&
        !read_outcomes(self, pass, PyTuple_GET_ITEM(description, 3))) {
        return 0;
    }
    return check_combined(pass);
}

static int read_sequence(SequenceObject *self, PyObject *given, PyObject *fixed, PyObject *passes)
{
    if (!check_tuple(given, 0, MAX_ARRAYS, "the arrays given") ||
        !check_tuple(fixed, 0, MAX_ARRAYS, "the arrays fixed") ||
        !check_tuple(passes, 0, MAX_PASSES, "the passes")) {
        return 0;
    }
    self->given = PyMem_Calloc((size_t)PyTuple_GET_SIZE(given) + 1, sizeof(Expected));
    self->fixed = PyMem_Calloc((size_t)PyTuple_GET_SIZE(fixed) + 1, sizeof(PyArrayObject *));
    self->passes = PyMem_Calloc((size_t)PyTuple_GET_SIZE(passes) + 1, sizeof(Pass));
    if (self->given == NULL || self->fixed == NULL || self->passes == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (; self->given_count < PyTuple_GET_SIZE(given); self->given_count++) {
        if (!read_expected(&self->given[self->given_count],
                           PyTuple_GET_ITEM(given, self->given_count))) {
            return 0;
        }
    }
    for (; self->fixed_count < PyTuple_GET_SIZE(fixed); self->fixed_count++) {
        PyArrayObject *array = (PyArrayObject *)PyTuple_GET_ITEM(fixed, self->fixed_count);
        if (!PyArray_Check(array) || !PyArray_IS_C_CONTIGUOUS(array) ||
            PyDataType_REFCHK(PyArray_DESCR(array))) {
            return refuse("fixed array %d is no contiguous ndarray of numbers", self->fixed_count);
        }
        self->fixed[self->fixed_count] = (PyArrayObject *)Py_NewRef(array);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(passes); i++) {
        self->pass_count++; /* so that its parts are freed */
        if (!read_pass(self, &self->passes[i], PyTuple_GET_ITEM(passes, i))) {
            return 0;
        }
    }
    return 1;
}

static void sequence_dealloc(PyObject *object)
{
    SequenceObject *self = (SequenceObject *)object;
    for (int i = 0; self->given != NULL && i < self->given_count; i++) {
        Py_DECREF(self->given[i].dtype);
    }
    for (int i = 0; i < self->fixed_count; i++) {
        Py_DECREF(self->fixed[i]);
    }
    for (int i = 0; i < self->pass_count; i++) {
        PyMem_Free(self->passes[i].outcomes);
    }
    PyMem_Free(self->given);
    PyMem_Free(self->fixed);
    PyMem_Free(self->passes);
    Py_XDECREF(self->description);
    free_instance(object);
}

static PyObject *sequence_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *given, *fixed, *passes;
    int keeps_gil;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) > 0) {
        PyErr_SetString(PyExc_TypeError, "Sequence takes its description by position");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOp:Sequence", &given, &fixed, &passes, &keeps_gil)) {
        return NULL;
    }
    SequenceObject *self = (SequenceObject *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->keeps_gil = keeps_gil;
    self->description = Py_NewRef(passes);
    if (!read_sequence(self, given, fixed, passes)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* Whether a given array has the shape, dtype and layout that the sequence was made for. */
static int is_expected(const Expected *expected, PyObject *object)
{
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != expected->dtype->type_num || PyArray_NDIM(array) != expected->ndim ||
        PyArray_ITEMSIZE(array) != PyDataType_ELSIZE(expected->dtype) ||
        PyDataType_REFCHK(PyArray_DESCR(array)) ||
        !PyArray_CHKFLAGS(array, NPY_ARRAY_CARRAY_RO) || !PyArray_ISNOTSWAPPED(array) ||
        ((npy_uintp)PyArray_DATA(array) & expected->misaligned) != 0 ||
        (expected->written && !PyArray_ISWRITEABLE(array))) {
        return 0;
    }
    for (int i = 0; i < expected->ndim; i++) {
        if (PyArray_DIM(array, i) != expected->shape[i]) {
            return 0;
        }
    }
    return 1;
}

static void start_accumulators(const SequenceObject *self, const Pass *pass, char *const *addresses)
{
    const Kernel *kernel = pass->kernel;
    for (int i = 0; i < kernel->step_count; i++) {
        const KernelStep *step = &kernel->steps[i];
        if (step->reduces && step->target < kernel->operand_count &&
            memory_size(self, pass->arrays[step->target]) > 0) {
            const KernelOperand *operand = &kernel->operands[step->target];
            fill(addresses[step->target] + operand->low, step->identity, operand->itemsize,
                 (operand->high - operand->low) / operand->itemsize);
        }
    }
}

/* For each kernel a tuple of its steps' floating-point flags; or None, if no kernel raised any. */
static PyObject *sequence_flags(const SequenceObject *self, npy_uint8 (*flags)[MAX_STEPS])
{
    int any = 0;
    for (int i = 0; i < self->pass_count; i++) {
        for (int j = 0; j < self->passes[i].kernel->step_count; j++) {
            any |= flags[i][j];
        }
    }
    if (!any) {
        Py_RETURN_NONE;
    }
    PyObject *result = PyTuple_New(self->pass_count);
    for (int i = 0; result != NULL && i < self->pass_count; i++) {
        PyObject *each = flags_tuple(self->passes[i].kernel, flags[i]);
        if (each == NULL) {
            Py_CLEAR(result);
        } else {
            PyTuple_SET_ITEM(result, i, each);
        }
    }
    return result;
}

/* Find the addresses of all arrays. In the list of given ones, objects with an attribute `array` are
   replaced by that array, and arrays that are missing at the end are made. Returns 1; 0 if an array
   is not as expected; -1 with an exception set. */
static int collect(const SequenceObject *self, PyObject *arrays, char **bases)
{
    if (!PyList_Check(arrays) || PyList_GET_SIZE(arrays) > self->given_count) {
        PyErr_Format(PyExc_TypeError, "run takes a list of at most %d arrays", self->given_count);
        return -1;
    }
    const Py_ssize_t given = PyList_GET_SIZE(arrays);
    /* An attribute may be a property, and change the list: the items are checked afterwards. */
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arrays); i++) {
        PyObject *owner = PyList_GET_ITEM(arrays, i);
        if (PyArray_CheckExact(owner)) {
            continue;
        }
        Py_INCREF(owner);
        PyObject *array = PyObject_GetAttr(owner, names_of.array);
        Py_DECREF(owner);
        if (array == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
                return -1;
            }
            PyErr_Clear();
            return 0;
        }
        if (PyList_SetItem(arrays, i, array) < 0) {
            return -1;
        }
    }
    if (PyList_GET_SIZE(arrays) != given) {
        PyErr_SetString(PyExc_RuntimeError, "the list of arrays has changed its length");
        return -1;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        PyObject *array = PyList_GET_ITEM(arrays, i);
        if (!is_expected(&self->given[i], array)) {
            return 0;
        }
        bases[i] = PyArray_BYTES((PyArrayObject *)array);
    }
    for (Py_ssize_t i = given; i < self->given_count; i++) {
        Expected *expected = &self->given[i];
        Py_INCREF(expected->dtype);
        PyObject *array = new_array(expected->ndim, expected->shape, expected->dtype, expected->size);
        if (array == NULL || PyList_Append(arrays, array) < 0) {
            Py_XDECREF(array);
            return -1;
        }
        bases[i] = PyArray_BYTES((PyArrayObject *)array);
        Py_DECREF(array); /* the list has it */
    }
    for (int i = 0; i < self->fixed_count; i++) {
        bases[self->given_count + i] = PyArray_BYTES(self->fixed[i]);
    }
    return 1;
}

static int run_pass(const SequenceObject *self, const Pass *pass, char *const *bases,
                    npy_uint8 *flags, npy_intp threads, int releases)
{
    const Kernel *kernel = pass->kernel;
    char *addresses[MAX_OPERANDS];
    Team team;
    memset(flags, 0, (size_t)kernel->step_count);
    for (int i = 0; i < kernel->operand_count; i++) {
        addresses[i] = bases[pass->arrays[i]] + pass->offsets[i];
    }
    if (is_empty(kernel)) {
        start_accumulators(self, pass, addresses);
        run_outcomes(pass, bases, addresses);
        return 1;
    }
    for (int i = 0; i < kernel->operand_count; i++) {
        const KernelOperand *operand = &kernel->operands[i];
        if (operand->drawn &&
            drawn_itemsize((const Drawing *)addresses[i]) != operand->itemsize) {
            return refuse("operand %d must describe a draw of numbers of %zd bytes", i,
                          operand->itemsize);
        }
    }
    int complete = acquire_team(&team, kernel->scratch, kernel->tasks, threads);
    if (complete) {
        if (releases) {
            release_gil(&team.interrupt);
        }
        start_accumulators(self, pass, addresses);
        run_kernel(&team, kernel, addresses, flags);
        run_outcomes(pass, bases, addresses);
        complete = take_gil(&team.interrupt);
    } else {
        PyErr_NoMemory();
    }
    release_team(&team);
    return complete;
}

/* Run all passes. `bases` has room for the addresses of all arrays, `flags` for the flags of all
   passes. Returns flags, None, or False if an array is not as expected. */
static PyObject *run_passes(const SequenceObject *self, PyObject *arrays, char **bases,
                            npy_uint8 (*flags)[MAX_STEPS])
{
    PyObject *kept = NULL;
    const int found = collect(self, arrays, bases);
    if (found < 0) {
        return NULL;
    }
    if (!found) {
        Py_RETURN_FALSE;
    }
    if (!self->keeps_gil) {
        /* While the GIL is released, another thread may take arrays out of the list. */
        kept = PyList_AsTuple(arrays);
        if (kept == NULL) {
            return NULL;
        }
    }
    int done = 1;
    for (int i = 0; done && i < self->pass_count; i++) {
        const Pass *pass = &self->passes[i];
        const npy_intp most = least(pass->threads, pass->kernel->tasks);
        done = run_pass(self, pass, bases, flags[i], most, !self->keeps_gil || most > 1);
    }
    Py_XDECREF(kept);
    return done ? sequence_flags(self, flags) : NULL;
}

static PyObject *sequence_run(PyObject *object, PyObject *arrays)
{
    const SequenceObject *self = (SequenceObject *)object;
    const size_t numbers = (size_t)(self->given_count + self->fixed_count);
    /* Not on the stack: it can be large, and properties of given objects may run Python code. */
    char **bases = PyMem_Malloc(numbers * sizeof(*bases) + (size_t)self->pass_count * MAX_STEPS);
    if (bases == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *result = run_passes(self, arrays, bases, (npy_uint8(*)[MAX_STEPS])(bases + numbers));
    PyMem_Free(bases);
    return result;
}

static PyMethodDef sequence_methods[] = {
    {"run", sequence_run, METH_O,
     "run($self, arrays)\n--\n\n"
     "Run all passes over the list of arrays given, or of objects whose attribute `array` is one, "
     "which then takes their place; those that are missing at its end are made and appended.\n\n"
     "False if an array is not as expected; else floating-point flags per pass and step, or None if "
     "there are none."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot sequence_slots[] = {
    {Py_tp_doc, "Sequence(given, fixed, passes, keeps_gil)\n--\n\n"
                "Kernels to run one after the other.\n\n"
                "given: (shape, dtype) per array that comes with a call; fixed: arrays; passes: "
                "(Kernel, ((array's number, byte offset) per operand), threads[, ((operand, number of "
                "the array for the result, divisor or None, loop that combines the accumulators of "
                "tasks or None) per operand that is divided, or that each task has for itself)])."},
    {Py_tp_new, sequence_new},
    {Py_tp_dealloc, sequence_dealloc},
    {Py_tp_methods, sequence_methods},
    {0, NULL},
};

static PyType_Spec sequence_spec = {
    .name = "array_api_nx._native.Sequence",
    .basicsize = sizeof(SequenceObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = sequence_slots,
};

int add_sequence(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &sequence_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    return PyModule_AddType(module, (PyTypeObject *)type);
}
