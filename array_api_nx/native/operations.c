#include "operations.h"
#include "arguments.h"
#include "flags.h"
#include "memory.h"
#include "threads.h"

#include <float.h>
#include <math.h>

/* Operands are packed if they do not lie along the rows that the loop reads, and scalars if the loop
   is slow with them. Such a tile has at most PACKED_CELLS elements. ACROSS_BYTES decides its rows:
   an operand that lies across the others is read in columns of so many bytes, two cache lines. */
enum { PACKED_CELLS = 2048, ACROSS_BYTES = 128 };

/* Integers below are exact as floats. */
enum { EXACT_IN_FLOAT = 1 << 24 };

typedef struct {
    Complex128 scalars[MAX_SOURCES]; /* or whatever fits there */
    char *addresses[MAX_SOURCES + 1];
    Operand operands[MAX_SOURCES + 1];
    Step step;
    Kernel kernel;
} Single;

/* The fields of loops.Loop.operation. */
typedef struct {
    const Loop *loop;
    PyObject *inputs;
    PyArray_Descr *output;
    npy_intp serial_limit; /* elements up to which one thread computes all */
    int materialise_scalar, reversible; /* reversible: is_exact of the Loop */
} Operation;

/* What the operands broadcast to. */
typedef struct {
    int ndim;
    npy_intp shape[MAX_DIMS];
    npy_intp count; /* elements */
    int turned;     /* whether the axes are in the opposite order: column-major for row-major */
} Space;

/* Whether the number, rounded to single precision, is no infinity unless it was one before. */
static int fits_float(double number)
{
    return !isfinite(number) || fabs(number) <= FLT_MAX;
}

/* Get a Python scalar as two floats. Whether they are its exact value. */
static int read_scalar(PyObject *value, Py_complex *number)
{
    number->imag = 0;
    if (PyFloat_CheckExact(value)) {
        number->real = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    if (PyComplex_CheckExact(value)) {
        *number = PyComplex_AsCComplex(value);
        return 1;
    }
    if (!PyLong_CheckExact(value)) {
        return 0;
    }
    int overflow;
    const long integer = PyLong_AsLongAndOverflow(value, &overflow);
    number->real = (double)integer;
    return overflow == 0 && integer > -EXACT_IN_FLOAT && integer < EXACT_IN_FLOAT;
}

/* Write a Python scalar as a number of the dtype. 0, with nothing written, where that takes a
   conversion that may fail or run Python code. */
static int write_plainly(char *target, const PyArray_Descr *dtype, PyObject *value)
{
    Py_complex number;
    if (dtype->type_num == NPY_INT64) {
        int overflow;
        *(npy_int64 *)target = PyLong_CheckExact(value)
                                   ? PyLong_AsLongLongAndOverflow(value, &overflow)
                                   : (overflow = 1);
        return overflow == 0;
    }
    if (!read_scalar(value, &number)) {
        return 0;
    }
    switch (dtype->type_num) {
    case NPY_CDOUBLE:
        ((npy_double *)target)[1] = number.imag; /* fall through */
    case NPY_DOUBLE:
        *(npy_double *)target = number.real;
        return dtype->type_num == NPY_CDOUBLE || !PyComplex_CheckExact(value);
    case NPY_CFLOAT:
        if (!fits_float(number.imag)) {
            return 0;
        }
        ((npy_float *)target)[1] = (npy_float)number.imag; /* fall through */
    case NPY_FLOAT:
        if (!fits_float(number.real)) {
            return 0;
        }
        *(npy_float *)target = (npy_float)number.real;
        return dtype->type_num == NPY_CFLOAT || !PyComplex_CheckExact(value);
    default:
        return 0;
    }
}

/* Describe an operand, which is an array or a Python scalar, and broadcast the space with its shape.
   0 if the loop cannot read the operand in place, or the shapes do not broadcast. */
static int take_operand(Single *single, int i, PyObject *value, const PyArray_Descr *dtype,
                        Space *space)
{
    Operand *operand = &single->operands[i];
    memset(operand, 0, sizeof(Operand));
    operand->itemsize = single->step.loop.itemsizes[i];
    operand->fill = -1;
    if (!PyArray_CheckExact(value)) {
        single->addresses[i] = (char *)&single->scalars[i];
        return 1;
    }
    PyArrayObject *array = (PyArrayObject *)value;
    if (!is_readable(array, dtype)) {
        return 0;
    }
    single->addresses[i] = PyArray_BYTES(array);
    const int surplus = PyArray_NDIM(array) - space->ndim;
    if (surplus > 0) {
        memmove(space->shape + surplus, space->shape, (size_t)space->ndim * sizeof(npy_intp));
        for (int dim = 0; dim < surplus; dim++) {
            space->shape[dim] = 1;
        }
        space->ndim += surplus;
    }
    npy_intp *sizes = space->shape + space->ndim - PyArray_NDIM(array);
    for (int dim = 0; dim < PyArray_NDIM(array); dim++) {
        const npy_intp size = PyArray_DIM(array, dim);
        if (sizes[dim] == 1) {
            sizes[dim] = size;
        } else if (size != 1 && size != sizes[dim]) {
            return 0;
        }
    }
    return 1;
}

/* Set the operand's strides along the axes of the space: 0 where it is broadcast. */
static void take_strides(Operand *operand, PyObject *value, int ndim)
{
    if (!PyArray_CheckExact(value)) {
        return;
    }
    PyArrayObject *array = (PyArrayObject *)value;
    const int missing = ndim - PyArray_NDIM(array);
    for (int dim = missing; dim < ndim; dim++) {
        if (PyArray_DIM(array, dim - missing) > 1) {
            operand->strides[dim] = PyArray_STRIDE(array, dim - missing);
        }
    }
}

/* Whether the loop gives NumPy's bits if it follows the operands' strides as they are, all of which
   must be aligned.

   NumPy turns an axis round if every operand that moves along it moves backwards. Here no axis is
   turned, so that such operands are declined. Where only some of them move backwards, NumPy turns
   nothing either; but if the loop is not reversible, its last bits may be others than NumPy's, and
   it is declined too. */
static int is_forward(const Single *single, int ndim, int reversible)
{
    for (int dim = 0; dim < ndim; dim++) {
        int forwards = 0, backwards = 0;
        for (int i = 0; i < single->step.loop.sources; i++) {
            const npy_intp stride = single->operands[i].strides[dim];
            if (stride % alignment(single->operands[i].itemsize) != 0) {
                return 0;
            }
            forwards |= stride > 0;
            backwards |= stride < 0;
        }
        if (backwards && !(forwards && reversible)) {
            return 0;
        }
    }
    return 1;
}

/* Whether the magnitudes of the operand's strides never grow from the first axis to the last, or, if
   `turned`, strictly decrease from the last axis to the first. Axes along which the operand is
   broadcast do not count; `*whole` says whether there is none. */
static int is_ordered(const Operand *operand, const Space *space, int turned, int *whole)
{
    npy_intp outer = NPY_MAX_INTP;
    int ordered = 1;
    *whole = 1;
    for (int i = 0; i < space->ndim; i++) {
        const int dim = turned ? space->ndim - 1 - i : i;
        const npy_intp stride = magnitude(operand->strides[dim]);
        if (stride > 0) {
            ordered = ordered && (turned ? stride < outer : stride <= outer);
            outer = stride;
        } else if (space->shape[dim] > 1) {
            *whole = 0;
        }
    }
    return ordered;
}

/* Whether NumPy would iterate over the axes in their order, or, if `turned`, in the opposite one.

   NumPy sorts axes by comparing pairs of them. An operand has a say about a pair if it is broadcast
   along neither axis of it. NumPy swaps a pair only if some operands have a say, and
   all of these have the longer stride on the second axis. So it keeps every pair if all operands are
   ordered, or if one is that has a say about every pair. It swaps every pair if all operands are
   ordered the other way round, and one of them has a say about every pair. */
static int is_in_order(const Single *single, const Space *space, int turned)
{
    int all = 1, one = 0;
    for (int i = 0; i < single->step.loop.sources; i++) {
        int whole;
        const int ordered = is_ordered(&single->operands[i], space, turned, &whole);
        all = all && ordered;
        one = one || (ordered && whole);
    }
    return turned ? all && one : all || one;
}

static void reverse(npy_intp *values, int count)
{
    for (int i = 0; i < count / 2; i++) {
        const npy_intp value = values[i];
        values[i] = values[count - 1 - i];
        values[count - 1 - i] = value;
    }
}

/* Put the axes into the order in which NumPy would iterate over them. 0 if that is neither the order
   of the result's axes nor the opposite one. */
static int order_axes(Single *single, Space *space)
{
    space->turned = !is_in_order(single, space, 0);
    if (space->turned) {
        if (!is_in_order(single, space, 1)) {
            return 0;
        }
        reverse(space->shape, space->ndim);
        for (int i = 0; i < single->step.loop.sources; i++) {
            reverse(single->operands[i].strides, space->ndim);
        }
    }
    return 1;
}

/* Merge neighbouring axes through which every operand steps as through one, and leave out axes of
   size 1. The kernel gets at least two dims; returns how many. */
static int merge_axes(Single *single, int operands, int ndim, const npy_intp *shape)
{
    npy_intp *dims = single->kernel.dims;
    int kept = 0;
    for (int dim = 0; dim < ndim; dim++) {
        if (shape[dim] == 1) {
            continue;
        }
        int joins = kept > 0;
        for (int i = 0; joins && i < operands; i++) {
            const npy_intp *strides = single->operands[i].strides;
            joins = strides[kept - 1] == shape[dim] * strides[dim];
        }
        if (joins) {
            dims[kept - 1] *= shape[dim];
        } else {
            dims[kept++] = shape[dim];
        }
        for (int i = 0; i < operands; i++) {
            single->operands[i].strides[kept - 1] = single->operands[i].strides[dim];
        }
    }
    if (kept > 1) {
        return kept;
    }
    dims[1] = kept > 0 ? dims[0] : 1;
    dims[0] = 1;
    for (int i = 0; i < operands; i++) {
        npy_intp *strides = single->operands[i].strides;
        strides[1] = kept > 0 ? strides[0] : 0;
        strides[0] = 0;
    }
    return 2;
}

/* Have every tile of the operand copied to a buffer before the loop reads it; set the tile's size. */
static void pack(Single *single, int i, Access access, npy_intp rows, npy_intp columns)
{
    Kernel *kernel = &single->kernel;
    Operand *operand = &single->operands[i];
    kernel->tile_rows = rows;
    kernel->tile_columns = columns;
    operand->access = access;
    operand->buffer = kernel->scratch;
    kernel->scratch += PACKED_CELLS * (npy_intp)sizeof(Complex128);
    if (access == PACKED) {
        single->step.loads[single->step.load_count++] = i;
    }
}

/* Whether the operand's elements lie closer together along a column of a tile than along a row. */
static int is_across(const Operand *operand, int ndim)
{
    const npy_intp row = magnitude(operand->strides[ndim - 2]);
    return row > 0 && row < magnitude(operand->strides[ndim - 1]);
}

static int is_scalar(const Operand *operand, int ndim)
{
    int dim = 0;
    while (dim < ndim && operand->strides[dim] == 0) {
        dim++;
    }
    return dim == ndim;
}

/* Choose the tiles, and divide the work into at most `threads` tasks. */
static void divide(Single *single, int ndim, npy_intp threads, int materialise_scalar)
{
    Kernel *kernel = &single->kernel;
    const int sources = single->step.loop.sources;
    const npy_intp columns = kernel->dims[ndim - 1];
    npy_intp across = 0;
    kernel->ndim = ndim;
    kernel->tile_rows = kernel->dims[ndim - 2];
    kernel->tile_columns = columns;
    for (int i = 0; i < sources; i++) {
        const Operand *operand = &single->operands[i];
        if (is_across(operand, ndim) && operand->itemsize > across) {
            across = operand->itemsize;
        }
    }
    const npy_intp rows = across > 0 ? ACROSS_BYTES / across : 1; /* a task has whole tiles */
    for (int i = 0; i < sources; i++) {
        const npy_intp column = single->operands[i].strides[ndim - 1];
        if (column != 0 && column != single->operands[i].itemsize) {
            pack(single, i, PACKED, rows, PACKED_CELLS / rows);
        } else if (materialise_scalar && across == 0 && is_scalar(&single->operands[i], ndim)) {
            pack(single, i, INVARIANT, 1, least(columns, PACKED_CELLS));
        }
    }
    kernel->split = 0;
    while (kernel->dims[kernel->split] == 1 && kernel->split < ndim - 1) {
        kernel->split++;
    }
    const npy_intp size = kernel->dims[kernel->split];
    const npy_intp grain = kernel->split == ndim - 1 ? GRAIN : kernel->split == ndim - 2 ? rows : 1;
    const npy_intp step = (size - 1) / threads + 1; /* threads may be as many as a number can say */
    kernel->step = (step + grain - 1) / grain * grain;
    kernel->tasks = (size - 1) / kernel->step + 1;
}

/* Whether the kernel is one row without packed operands, so that one call of the loop computes it. */
static int is_run(const Single *single)
{
    const Kernel *kernel = &single->kernel;
    return kernel->ndim == 2 && kernel->dims[0] == 1 && kernel->scratch == 0;
}

/* Compute all tasks; returns the floating-point flags. Call it without the GIL. */
static npy_uint8 run_whole(Single *single, Team *team)
{
    const Kernel *kernel = &single->kernel;
    npy_uint8 flags[MAX_STEPS];
    if (!is_run(single)) {
        run_kernel(team, kernel, single->addresses, flags);
        return flags[0];
    }
    Run run = {&single->step.loop, {NULL}, {0}, kernel->dims[1], kernel->step, 0};
    for (int i = 0; i < kernel->operand_count; i++) {
        run.args[i] = single->addresses[i];
        run.steps[i] = single->operands[i].strides[1];
    }
    return run_loop(team, &run, kernel->tasks);
}

/* Compute into `array`, whose reference is stolen. Returns the result, or a pair of it and
   floating-point flags; NULL with an exception set if there was no memory or a signal came. */
static PyObject *run_single(Single *single, npy_intp threads, PyObject *array, int turned)
{
    npy_uint8 flags = 0;
    Team team;
    int complete = acquire_team(&team, single->kernel.scratch, single->kernel.tasks, threads);
    if (complete) {
        release_gil(&team.interrupt);
        flags = run_whole(single, &team);
        complete = take_gil(&team.interrupt);
    } else {
        PyErr_NoMemory();
    }
    release_team(&team);
    if (!complete) {
        Py_DECREF(array);
        return NULL;
    }
    if (turned) {
        PyObject *whole = array;
        array = PyArray_Transpose((PyArrayObject *)whole, NULL);
        Py_DECREF(whole);
    }
    return array == NULL || flags == 0 ? array : Py_BuildValue("(Ni)", array, (int)flags);
}

static PyArray_Descr *input_dtype(const Operation *operation, int i)
{
    return (PyArray_Descr *)PyTuple_GET_ITEM(operation->inputs, i);
}

/* Describe all operands, with their axes in the order of iteration. 0 if NumPy has to compute, be it
   that elements are more than the limit, or none. */
static int take_operands(Single *single, const Operation *operation, npy_intp limit,
                         PyObject *const *values, Space *space)
{
    const int sources = operation->loop->sources;
    space->ndim = 0;
    space->count = 1;
    for (int i = 0; i < sources; i++) {
        if (!take_operand(single, i, values[i], input_dtype(operation, i), space)) {
            return 0;
        }
    }
    for (int dim = 0; dim < space->ndim; dim++) {
        if (space->shape[dim] == 0 || space->count > limit / space->shape[dim]) {
            return 0;
        }
        space->count *= space->shape[dim];
    }
    for (int i = 0; i < sources; i++) {
        take_strides(&single->operands[i], values[i], space->ndim);
    }
    return is_forward(single, space->ndim, operation->reversible) && order_axes(single, space);
}

/* Convert the Python scalars among the operands. 1 if that may have run Python code, else 0. -1
   without an exception where NumPy has to convert them, because it would warn of an overflow; -1
   with an exception set if a conversion failed. */
static int convert_scalars(Single *single, const Operation *operation, PyObject *const *values)
{
    int ran = 0;
    for (int i = 0; i < operation->loop->sources; i++) {
        PyArray_Descr *dtype = input_dtype(operation, i);
        if (PyArray_CheckExact(values[i]) ||
            write_plainly(single->addresses[i], dtype, values[i])) {
            continue;
        }
        const int single_precision = dtype->type_num == NPY_FLOAT || dtype->type_num == NPY_CFLOAT;
        if (single_precision && !PyLong_Check(values[i])) {
            return -1;
        }
        if (PyArray_Pack(dtype, single->addresses[i], values[i]) < 0) {
            return -1;
        }
        ran = 1;
    }
    return ran;
}

/* The result; or a pair of it and floating-point flags; or None if NumPy has to compute it; NULL
   with an exception set. */
static PyObject *compute_single(Single *single, const Operation *operation, npy_intp threads,
                                npy_intp limit, PyObject *const *values)
{
    const int sources = operation->loop->sources;
    Space space;
    if (!take_operands(single, operation, limit, values, &space)) {
        Py_RETURN_NONE;
    }
    /* Not earlier: where NumPy computes, it converts the scalars itself. */
    const int ran = convert_scalars(single, operation, values);
    if (ran < 0) {
        if (PyErr_Occurred()) {
            return NULL;
        }
        Py_RETURN_NONE;
    }
    /* The Python code of a conversion may have changed shapes and strides of arrays. */
    if (ran > 0 && !take_operands(single, operation, limit, values, &space)) {
        Py_RETURN_NONE;
    }
    Operand *target = &single->operands[sources];
    memset(target, 0, sizeof(Operand));
    target->itemsize = PyDataType_ELSIZE(operation->output);
    target->fill = -1;
    npy_intp stride = target->itemsize;
    for (int dim = space.ndim - 1; dim >= 0; dim--) {
        target->strides[dim] = stride;
        stride *= space.shape[dim];
    }
    const int dims = merge_axes(single, sources + 1, space.ndim, space.shape);
    Py_INCREF(operation->output);
    PyObject *array = new_array(space.ndim, space.shape, operation->output, stride);
    if (array == NULL) {
        return NULL;
    }
    single->addresses[sources] = PyArray_BYTES((PyArrayObject *)array);
    if (space.count <= operation->serial_limit) {
        threads = 1;
    }
    divide(single, dims, threads, operation->materialise_scalar);
    return run_single(single, threads, array, space.turned);
}

/* Read the tuple loops.Loop.operation; 0 with an exception set if it is not one. */
static int read_operation(PyObject *value, Operation *operation)
{
    if (!check_tuple(value, 6, 6, "an operation")) {
        return 0;
    }
    const Loop *loop = PyCapsule_GetPointer(PyTuple_GET_ITEM(value, 0), LOOP_NAME);
    operation->loop = loop;
    operation->inputs = PyTuple_GET_ITEM(value, 1);
    operation->output = (PyArray_Descr *)PyTuple_GET_ITEM(value, 2);
    if (loop == NULL || !check_tuple(operation->inputs, loop->sources, loop->sources, "inputs") ||
        !read_int(PyTuple_GET_ITEM(value, 3), 0, NPY_MAX_INTP, "serial_limit",
                  &operation->serial_limit)) {
        return 0;
    }
    if (loop->function == NULL) {
        return refuse("moments are not computed element by element");
    }
    operation->materialise_scalar = PyTuple_GET_ITEM(value, 4) == Py_True;
    operation->reversible = PyTuple_GET_ITEM(value, 5) == Py_True;
    for (int i = 0; i <= loop->sources; i++) {
        PyObject *dtype = i < loop->sources ? PyTuple_GET_ITEM(operation->inputs, i)
                                            : (PyObject *)operation->output;
        if (!is_native(dtype, loop->itemsizes[i])) {
            return refuse("dtype %d is not the loop's", i);
        }
    }
    return 1;
}

/* ------------------------------------------------------------------ small arrays */

/* Elements up to which a loop is called at once, without releasing the GIL, which takes as long as
   some hundred additions; NumPy does the same. */
enum { FEW = 500 };

/* Operands for one call of a loop. */
typedef struct {
    Complex128 scalars[MAX_SOURCES]; /* or whatever fits there */
    char *addresses[MAX_SOURCES + 1];
    npy_intp steps[MAX_SOURCES + 1];
    PyArrayObject *first; /* an array that has the shape of the result, or NULL */
    npy_intp count;
} Few;

/* Describe the operands for one call of the loop. 0 unless each is a Python scalar or a row-major
   array, and all arrays have one shape. */
static int take_few(Few *few, const Operation *operation, PyObject *const *values)
{
    few->first = NULL;
    few->count = 1;
    for (int i = 0; i < operation->loop->sources; i++) {
        const PyArray_Descr *dtype = input_dtype(operation, i);
        few->addresses[i] = (char *)&few->scalars[i];
        few->steps[i] = 0;
        if (!PyArray_CheckExact(values[i])) {
            if (!write_plainly(few->addresses[i], dtype, values[i])) {
                return 0;
            }
            continue;
        }
        PyArrayObject *array = (PyArrayObject *)values[i];
        if (!is_readable(array, dtype) || !PyArray_IS_C_CONTIGUOUS(array)) {
            return 0;
        }
        few->addresses[i] = PyArray_BYTES(array);
        if (PyArray_NDIM(array) == 0) {
            continue;
        }
        few->steps[i] = PyArray_ITEMSIZE(array);
        if (few->first == NULL) {
            few->first = array;
            few->count = PyArray_SIZE(array);
        } else if (!PyArray_SAMESHAPE(few->first, array)) {
            return 0;
        }
    }
    return few->count > 0 && few->count <= FEW;
}

/* Compute the row-major result at `target`; returns the floating-point flags. */
static npy_uint8 run_few(Few *few, const Loop *loop, npy_intp itemsize, char *target)
{
    few->addresses[loop->sources] = target;
    few->steps[loop->sources] = itemsize;
    take_flags();
    loop->function(few->addresses, &few->count, few->steps, loop->data);
    return take_flags();
}

/* As compute_single, but NULL without an exception set if the elements are more than FEW. */
static PyObject *compute_few(const Operation *operation, npy_intp limit, PyObject *const *values)
{
    Few few;
    if (!take_few(&few, operation, values) || few.count > limit) {
        return NULL;
    }
    const int ndim = few.first == NULL ? 0 : PyArray_NDIM(few.first);
    npy_intp *shape = few.first == NULL ? NULL : PyArray_DIMS(few.first);
    const npy_intp itemsize = PyDataType_ELSIZE(operation->output);
    Py_INCREF(operation->output);
    PyObject *array = new_array(ndim, shape, operation->output, few.count * itemsize);
    if (array == NULL) {
        return NULL;
    }
    const npy_uint8 flags =
        run_few(&few, operation->loop, itemsize, PyArray_BYTES((PyArrayObject *)array));
    return flags == 0 ? array : Py_BuildValue("(Ni)", array, (int)flags);
}

/* ------------------------------------------------------------------ functions */

/* Check the arguments of `compute` and `update`, of which `before` precede the operands; 0 with an
   exception set. */
static int read_call(PyObject *const *args, Py_ssize_t arg_count, Py_ssize_t before,
                     Operation *operation)
{
    if (arg_count < before) {
        PyErr_Format(PyExc_TypeError, "there must be %zd arguments and operands", before);
        return 0;
    }
    if (!read_operation(args[0], operation)) {
        return 0;
    }
    if (arg_count != before + operation->loop->sources) {
        PyErr_Format(PyExc_TypeError, "the operation takes %d operands", operation->loop->sources);
        return 0;
    }
    return 1;
}

static PyObject *compute(PyObject *module, PyObject *const *args, Py_ssize_t arg_count)
{
    Operation operation;
    Single single;
    npy_intp threads, limit;
    (void)module;
    if (!read_call(args, arg_count, 3, &operation) ||
        !read_int(args[1], 1, NPY_MAX_INTP, "threads", &threads) ||
        !read_int(args[2], 0, NPY_MAX_INTP, "the limit", &limit)) {
        return NULL;
    }
    PyObject *few = compute_few(&operation, limit, args + 3);
    if (few != NULL || PyErr_Occurred()) {
        return few;
    }
    const int sources = operation.loop->sources;
    memset(&single.step, 0, sizeof(Step));
    memset(&single.kernel, 0, sizeof(Kernel));
    single.step.loop = *operation.loop;
    for (int i = 0; i < sources; i++) {
        single.step.sources[i] = i;
    }
    single.step.target = sources;
    single.kernel.operand_count = sources + 1;
    single.kernel.step_count = 1;
    single.kernel.operands = single.operands;
    single.kernel.steps = &single.step;
    return compute_single(&single, &operation, threads, least(limit, MAX_BYTES / MAX_ITEMSIZE),
                          args + 3);
}

static PyObject *update(PyObject *module, PyObject *const *args, Py_ssize_t arg_count)
{
    Operation operation;
    Few few;
    Complex128 results[FEW];
    (void)module;
    if (!read_call(args, arg_count, 2, &operation)) {
        return NULL;
    }
    if (!PyArray_CheckExact(args[1]) || !take_few(&few, &operation, args + 2)) {
        Py_RETURN_FALSE;
    }
    PyArrayObject *target = (PyArrayObject *)args[1];
    const npy_intp itemsize = PyDataType_ELSIZE(operation.output);
    const int alike = few.first == NULL ? PyArray_NDIM(target) == 0
                                        : PyArray_SAMESHAPE(few.first, target);
    if (!alike || !is_readable(target, operation.output) || !PyArray_ISWRITEABLE(target) ||
        !PyArray_IS_C_CONTIGUOUS(target) ||
        run_few(&few, operation.loop, itemsize, (char *)results) != 0) {
        Py_RETURN_FALSE;
    }
    memcpy(PyArray_BYTES(target), results, (size_t)(few.count * itemsize));
    Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
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
    {NULL, NULL, 0, NULL},
};

int add_operations(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
