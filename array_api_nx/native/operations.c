#include "operations.h"
#include "parts.h"
#include "arguments.h"
#include "flags.h"
#include "functions.h"
#include "memory.h"
#include "nest.h"
#include "threads.h"

/* Operands are packed if they do not lie along the rows that the loop reads, or if these are short,
   and scalars if the loop is slow with them. Such a tile has at most PACKED_CELLS elements. Where an
   operand is transposed, tiles have the sizes of backends/cpu/engine/schedule.py. */
enum { PACKED_CELLS = 2048 };

typedef struct {
    char *addresses[MAX_SOURCES + 1];
    KernelOperand operands[MAX_SOURCES + 1];
    KernelStep step;
    Kernel kernel;
} Single;

/* The fields of loops.Loop.operation. */
typedef struct {
    const Loop *loop;
    PyObject *inputs;
    PyArray_Descr *output;
    npy_intp serial_limit; /* elements up to which one thread computes all */
    int materialise_scalar, reversible; /* reversible: is_exact of the Loop */
} ElementwiseLoop;

/* A kernel of one step over the operands of a walk. Returns how many dims it has: two at least. */
static int describe(Single *single, const Walk *walk, const Loop *loop)
{
    memset(&single->step, 0, sizeof(KernelStep));
    memset(&single->kernel, 0, sizeof(Kernel));
    single->step.loop = *loop;
    single->step.target = loop->sources;
    single->kernel.operand_count = loop->sources + 1;
    single->kernel.step_count = 1;
    single->kernel.operands = single->operands;
    single->kernel.steps = &single->step;
    Walk merged;
    merge_walk(walk, &merged);
    const int surplus = merged.ndim < 2 ? 2 - merged.ndim : 0;
    for (int dim = 0; dim < surplus; dim++) {
        single->kernel.dims[dim] = 1;
    }
    for (int dim = 0; dim < merged.ndim; dim++) {
        single->kernel.dims[surplus + dim] = merged.shape[dim];
    }
    for (int i = 0; i <= loop->sources; i++) {
        KernelOperand *operand = &single->operands[i];
        memset(operand, 0, sizeof(KernelOperand));
        operand->itemsize = loop->itemsizes[i];
        operand->fill = -1;
        for (int dim = 0; dim < merged.ndim; dim++) {
            operand->strides[surplus + dim] = merged.strides[i][dim];
        }
        single->addresses[i] = walk->data[i];
        if (i < loop->sources) {
            single->step.sources[i] = i;
        }
    }
    if (merged.ndim == 0) {
        /* As NumPy does for arrays without axes: some loops compute other last bits of a target that
           they do not step through, because it might be a source. */
        single->operands[loop->sources].strides[1] = loop->itemsizes[loop->sources];
    }
    return surplus + merged.ndim;
}

/* Have every tile of the operand copied to a buffer before the loop reads it; set the tile's size. */
static void pack(Single *single, int i, Access access, npy_intp rows, npy_intp columns)
{
    Kernel *kernel = &single->kernel;
    KernelOperand *operand = &single->operands[i];
    kernel->tile_rows = rows;
    kernel->tile_columns = columns;
    operand->access = access;
    operand->buffer = kernel->scratch;
    /* Tiles may become larger when another operand is packed, up to PACKED_CELLS. Loops take adjacent
       operands for overlapping. */
    const npy_intp bytes = greatest(rows * columns, PACKED_CELLS) * operand->itemsize;
    kernel->scratch += (bytes / LINE + 4) * LINE;
    if (access == PACKED) {
        single->step.loads[single->step.load_count++] = i;
    }
}

/* Whether the operand's elements lie closer together along a column of a tile than along a row. */
static int is_across(const KernelOperand *operand, int ndim)
{
    const npy_intp row = magnitude(operand->strides[ndim - 2]);
    return row > 0 && row < magnitude(operand->strides[ndim - 1]);
}

static int is_scalar(const KernelOperand *operand, int ndim)
{
    int dim = 0;
    while (dim < ndim && operand->strides[dim] == 0) {
        dim++;
    }
    return dim == ndim;
}

/* Whether the rows of a tile are short, and those of the target follow each other, but not those of
   all sources. */
static int has_short_rows(const Single *single, int ndim)
{
    const npy_intp rows = single->kernel.dims[ndim - 2], columns = single->kernel.dims[ndim - 1];
    const int sources = single->step.loop.sources;
    int gaps = 0;
    for (int i = 0; i <= sources; i++) {
        const npy_intp *strides = single->operands[i].strides + ndim - 2;
        const int gap = strides[0] != columns * strides[1];
        if (gap && i == sources) {
            return 0;
        }
        gaps |= gap;
    }
    return gaps && rows > 1 && columns <= tile_sizes.packed_columns;
}

/* Choose the tiles, and divide the work into tasks of about `share` of `count` elements. */
static void divide(Single *single, int ndim, npy_intp count, npy_intp share, int materialise_scalar,
                   int is_exact)
{
    Kernel *kernel = &single->kernel;
    const int sources = single->step.loop.sources;
    const npy_intp columns = kernel->dims[ndim - 1];
    npy_intp across = 0, largest = 1;
    kernel->ndim = ndim;
    kernel->tile_rows = kernel->dims[ndim - 2];
    kernel->tile_columns = columns;
    for (int i = 0; i < sources; i++) {
        const KernelOperand *operand = &single->operands[i];
        if (is_across(operand, ndim) && operand->itemsize > across) {
            across = operand->itemsize;
        }
        largest = greatest(largest, operand->itemsize);
    }
    const int is_short = is_exact && across == 0 && has_short_rows(single, ndim);
    const npy_intp rows = across > 0 ? greatest(1, least(tile_sizes.transposed_rows,
                                                     tile_sizes.column_bytes / across))
                          : is_short ? PACKED_CELLS / columns
                                     : 1; /* a task has whole tiles */
    const npy_intp width = across > 0 ? greatest(greatest(1, tile_sizes.transposed_columns),
                                                 tile_sizes.row_bytes / largest)
                                      : PACKED_CELLS / rows;
    for (int i = 0; i < sources; i++) {
        const npy_intp itemsize = single->operands[i].itemsize;
        const npy_intp row = single->operands[i].strides[ndim - 2];
        const npy_intp column = single->operands[i].strides[ndim - 1];
        if (across > 0 ? column != 0 && column != itemsize
                       : is_slow_step(column, itemsize) || (is_short && row != columns * column)) {
            pack(single, i, PACKED, rows, width);
        } else if (materialise_scalar && across == 0 && is_scalar(&single->operands[i], ndim)) {
            pack(single, i, INVARIANT, 1, least(columns, PACKED_CELLS));
        }
    }
    kernel->tasks = 0;
    for (int dim = 0; dim < ndim && kernel->tasks < (count - 1) / share + 1; dim++) {
        const npy_intp size = kernel->dims[dim];
        const npy_intp grain = dim == ndim - 1 ? GRAIN : dim == ndim - 2 ? rows : 1;
        const npy_intp step = (greatest(1, share / (count / size)) + grain - 1) / grain * grain;
        const npy_intp tasks = (size - 1) / step + 1;
        if (tasks > kernel->tasks) {
            kernel->split = dim;
            kernel->step = step;
            kernel->tasks = tasks;
        }
    }
}

int can_divide(const Walk *walk)
{
    Walk merged;
    return merge_walk(walk, &merged) <= MAX_DIMS;
}

int run_divided(const Walk *walk, const Loop *loop, npy_intp serial_limit, int materialise_scalar,
                int is_exact, npy_intp threads, npy_uint8 *flags)
{
    Single single;
    Team team;
    const npy_intp share = threads == 1 ? walk->count : share_of(walk->count, serial_limit);
    divide(&single, describe(&single, walk, loop), walk->count, share, materialise_scalar, is_exact);
    int complete = acquire_team(&team, single.kernel.scratch, single.kernel.tasks, threads);
    if (complete) {
        npy_uint8 raised[MAX_STEPS];
        release_gil(&team.interrupt);
        run_kernel(&team, &single.kernel, single.addresses, raised);
        *flags = raised[0];
        complete = take_gil(&team.interrupt);
    } else {
        PyErr_NoMemory();
    }
    release_team(&team);
    return complete;
}

static PyArray_Descr *input_dtype(const ElementwiseLoop *operation, int i)
{
    return (PyArray_Descr *)PyTuple_GET_ITEM(operation->inputs, i);
}

/* Read the tuple loops.Loop.operation; 0 with an exception set if it is not one. */
static int read_operation(PyObject *value, ElementwiseLoop *operation)
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

/* Describe the operands, ndarrays and Python scalars, with their axes in NumPy's order; 0 if NumPy has
   to compute. `shape` becomes that of the result. */
static int take_operands(Walk *walk, const ElementwiseLoop *operation, PyObject *const *values,
                         npy_cdouble *scalars, npy_intp *shape)
{
    const int sources = operation->loop->sources;
    walk->ndim = 0;
    walk->operands = sources;
    for (int i = 0; i < sources; i++) {
        const PyArray_Descr *dtype = input_dtype(operation, i);
        if (PyArray_CheckExact(values[i])) {
            PyArrayObject *array = (PyArrayObject *)values[i];
            if (!is_readable(array, dtype) ||
                !broadcast_shape(&walk->ndim, walk->shape, PyArray_NDIM(array), PyArray_DIMS(array))) {
                return 0;
            }
            walk->data[i] = PyArray_BYTES(array);
        } else if (write_scalar((char *)&scalars[i], code_of_number(dtype->type_num), values[i])) {
            walk->data[i] = (char *)&scalars[i];
        } else {
            return 0;
        }
    }
    walk->count = 1;
    for (int dim = 0; dim < walk->ndim; dim++) {
        const npy_intp size = walk->shape[dim];
        if (size == 0 || walk->count > MAX_BYTES / MAX_ITEMSIZE / size) {
            return 0;
        }
        walk->count *= size;
        shape[dim] = size;
    }
    for (int i = 0; i < sources; i++) {
        if (PyArray_CheckExact(values[i])) {
            PyArrayObject *array = (PyArrayObject *)values[i];
            join_strides_of(walk, i, PyArray_NDIM(array), PyArray_DIMS(array),
                            PyArray_STRIDES(array));
        } else {
            join_strides_of(walk, i, 0, NULL, NULL);
        }
    }
    for (int dim = 0; dim < walk->ndim; dim++) {
        for (int i = 0; i < sources; i++) {
            if (walk->strides[i][dim] % alignment(operation->loop->itemsizes[i]) != 0) {
                return 0;
            }
        }
    }
    return order_walk(walk, operation->reversible) && can_divide(walk);
}

static PyObject *compute(PyObject *module, PyObject *const *args, Py_ssize_t arg_count)
{
    ElementwiseLoop operation = {NULL, NULL, NULL, 0, 0, 0};
    Walk walk;
    npy_cdouble scalars[MAX_SOURCES];
    npy_intp shape[ARRAY_DIMS], threads;
    if (arg_count < 2) {
        PyErr_SetString(PyExc_TypeError, "there must be an operation, threads and operands");
        return NULL;
    }
    if (!read_operation(args[0], &operation) ||
        !read_int(args[1], 1, NPY_MAX_INTP, "threads", &threads)) {
        return NULL;
    }
    const Loop *loop = operation.loop;
    if (arg_count != 2 + loop->sources) {
        return PyErr_Format(PyExc_TypeError, "the operation takes %d operands", loop->sources);
    }
    if (!take_operands(&walk, &operation, args + 2, scalars, shape)) {
        Py_RETURN_NONE;
    }
    if (walk.turned) {
        reverse_sizes(shape, walk.ndim);
    }
    const npy_intp itemsize = PyDataType_ELSIZE(operation.output);
    Py_INCREF(operation.output);
    PyObject *array = new_array(walk.ndim, shape, operation.output, walk.count * itemsize);
    if (array == NULL) {
        return NULL;
    }
    walk.data[walk.operands] = PyArray_BYTES((PyArrayObject *)array);
    lay_out(&walk, walk.operands++, itemsize);
    npy_uint8 flags = 0;
    if (!run_divided(&walk, loop, operation.serial_limit, operation.materialise_scalar,
                     operation.reversible, walk.count <= operation.serial_limit ? 1 : threads,
                     &flags)) {
        Py_CLEAR(array);
    } else if (walk.turned) {
        Py_SETREF(array, PyArray_Transpose((PyArrayObject *)array, NULL));
    }
    return array == NULL || flags == 0 ? array : Py_BuildValue("(Ni)", array, (int)flags);
}

PyMethodDef operations_methods[] = {
    {"compute", (PyCFunction)(void (*)(void))compute, METH_FASTCALL,
     "compute(operation, threads, *operands)\n--\n\n"
     "A loop element by element over broadcast operands, ndarrays and Python scalars, as a new "
     "ndarray; with floating-point flags, as NumPy's bits, in a tuple if there are any.\n\n"
     "None, with nothing done, if operands are not aligned arrays of the loop's dtypes or scalars "
     "that these hold, do not broadcast, or broadcast to no elements, and where NumPy's result would "
     "be neither row-major nor column-major.\n\n"
     "operation: (loop, dtypes of its inputs, its output's, elements up to which one thread "
     "computes all, whether the loop is slow with scalars, whether it gives the same bits when it "
     "reads backwards)."},
    {NULL, NULL, 0, NULL},
};
