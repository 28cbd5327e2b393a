/* Kernel.reduce: a kernel reduces one array, and the result is divided. */

#include "parts.h"
#include "arguments.h"
#include "copies.h"
#include "flags.h"
#include "kernel.h"
#include "memory.h"
#include "sizes.h"
#include "sums.h"
#include "threads.h"

/* How the result follows from the accumulators, once the kernel has run. */
typedef struct {
    const Kernel *kernel;
    const Loop *combining; /* the accumulators of two tasks; NULL for moments, and if there is one copy */
    npy_intp count, copies; /* elements of the result; so many tasks have accumulators of their own */
    npy_intp itemsize;      /* of the result */
    int divides;            /* sums, or the sums of squares of moments */
    double divisor;
} Reduction;

static int has_moments(const Reduction *reduction)
{
    return reduction->kernel->operands[1].itemsize == sizeof(Moments);
}

/* Check that the kernel reduces operand 0 to operand 1, and does nothing else; 0 with an exception set. */
static int read_kernel(Reduction *reduction)
{
    const Kernel *kernel = reduction->kernel;
    const KernelOperand *operand = &kernel->operands[kernel->operand_count - 1];
    if (kernel->operand_count != 2 || kernel->step_count != 1 || !kernel->steps[0].reduces ||
        kernel->steps[0].target != 1 || kernel->operands[0].drawn || is_empty(kernel)) {
        return refuse("the kernel must reduce operand 0, which has elements, to operand 1");
    }
    reduction->copies = operand->task_stride == 0 ? 1 : kernel->tasks;
    reduction->count = (operand->high - operand->low) / operand->itemsize / reduction->copies;
    return operand->task_stride == 0 || operand->task_stride == reduction->count * operand->itemsize ||
           refuse("the accumulators of tasks must follow each other");
}

/* Read the loop that combines the accumulators of tasks, which moments do without; 0 with an exception set. */
static int read_combining(PyObject *description, Reduction *reduction)
{
    const npy_intp itemsize = reduction->kernel->operands[1].itemsize;
    const int is_combined = reduction->copies > 1 && !has_moments(reduction);
    if ((description != Py_None) != is_combined) {
        return refuse("accumulators of several tasks need a loop that combines them, others none");
    }
    const Loop *loop = is_combined ? PyCapsule_GetPointer(description, LOOP_NAME) : NULL;
    reduction->combining = loop;
    if (!is_combined || loop == NULL) {
        return !is_combined;
    }
    return (loop->function != NULL && loop->sources == 2 && loop->itemsizes[0] == itemsize &&
            loop->itemsizes[1] == itemsize && loop->itemsizes[2] == itemsize) ||
           refuse("the loop that combines accumulators takes other elements");
}

/* Check the array, and the size of the result; 0 with an exception set. */
static int check_memory(PyObject *object, const PyArray_Dims *shape, const Reduction *reduction)
{
    const KernelOperand *operand = &reduction->kernel->operands[0];
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object) || !PyArray_CHKFLAGS(array, NPY_ARRAY_CARRAY_RO) ||
        !PyArray_ISNOTSWAPPED(array) ||
        (PyArray_TYPE(array) != NPY_FLOAT && PyArray_TYPE(array) != NPY_DOUBLE) ||
        operand->itemsize != reduction->itemsize) {
        return refuse("the array must have the floats or doubles of operand 0, contiguous and aligned");
    }
    if (operand->low < 0 || operand->high > PyArray_NBYTES(array)) {
        return refuse("operand 0 covers the bytes %zd to %zd, the array has %zd", operand->low, operand->high,
                      PyArray_NBYTES(array));
    }
    if (reduction->count != PyArray_MultiplyList(shape->ptr, shape->len)) {
        return refuse("the kernel has %zd results, the shape others", reduction->count);
    }
    return has_moments(reduction) ? reduction->divides || refuse("a sum of squares must be divided")
                                  : reduction->kernel->operands[1].itemsize == reduction->itemsize ||
                                        refuse("the accumulators must have the itemsize of the array");
}

/* Combine the accumulators of all tasks as a ufunc reduces them: those of one result at once, of
   several task by task. */
static void combine(const Reduction *reduction, const char *from, char *to)
{
    const npy_intp itemsize = reduction->itemsize;
    const npy_intp several = reduction->count > 1, row = reduction->count * itemsize;
    npy_intp count = several ? reduction->count : reduction->copies;
    npy_intp steps[3] = {several * itemsize, itemsize, several * itemsize};
    fill(to, reduction->kernel->steps[0].identity, itemsize, reduction->count);
    for (npy_intp i = 0; i < (several ? reduction->copies : 1); i++) {
        char *args[3] = {to, (char *)from + i * row, to};
        reduction->combining->function(args, &count, steps, reduction->combining->data);
    }
}

/* Divide in double precision, as NumPy does for a mean. */
static void divide(const Reduction *reduction, const char *from, char *to)
{
    const npy_intp itemsize = reduction->kernel->operands[1].itemsize;
    for (npy_intp j = 0; j < reduction->count; j++, from += itemsize) {
        const double sum = itemsize == sizeof(Moments)      ? ((const Moments *)from)->squares
                           : itemsize == sizeof(npy_double) ? *(const npy_double *)from
                                                            : *(const npy_float *)from;
        const double quotient = sum / reduction->divisor;
        if (reduction->itemsize == sizeof(npy_double)) {
            ((npy_double *)to)[j] = quotient;
        } else {
            ((npy_float *)to)[j] = (npy_float)quotient;
        }
    }
}

/* Compute the result from the accumulators, which may lie in its memory. No floating-point error is reported. */
static void finish(const Reduction *reduction, char *from, char *to)
{
    if (has_moments(reduction)) {
        merge_parts((Moments *)from, reduction->copies, reduction->count);
    } else if (reduction->combining != NULL) {
        combine(reduction, from, to);
        from = to;
    }
    if (reduction->divides) {
        divide(reduction, from, to);
    }
    clear_flags();
}

/* Run the kernel on the elements at `data`. 0 with an exception set. */
static int run(const Reduction *reduction, char *data, char *accumulators, char *result, npy_intp threads,
               npy_uint8 *flags)
{
    const Kernel *kernel = reduction->kernel;
    char *addresses[2] = {data, accumulators - kernel->operands[1].low};
    Team team;
    int complete = acquire_team(&team, kernel->scratch, kernel->tasks, threads);
    if (complete) {
        release_gil(&team.interrupt);
        fill(accumulators, kernel->steps[0].identity, kernel->operands[1].itemsize,
             reduction->count * reduction->copies);
        run_kernel(&team, kernel, addresses, flags);
        finish(reduction, accumulators, result);
        complete = take_gil(&team.interrupt);
    } else {
        PyErr_NoMemory();
    }
    release_team(&team);
    return complete;
}

/* Reduce an array to a new one. */
static PyObject *reduce(const Reduction *reduction, PyArrayObject *array, const PyArray_Dims *shape,
                        npy_intp threads)
{
    const npy_intp bytes = reduction->kernel->operands[1].itemsize * reduction->count * reduction->copies;
    PyArray_Descr *dtype = PyArray_DESCR(array);
    npy_uint8 flags[MAX_STEPS] = {0};
    PyObject *accumulators = NULL, *found = NULL;
    Py_INCREF(dtype);
    PyObject *result = new_array(shape->len, shape->ptr, dtype, reduction->count * reduction->itemsize);
    if (result != NULL && (reduction->copies > 1 || has_moments(reduction))) {
        npy_intp length = bytes;
        accumulators = new_array(1, &length, PyArray_DescrFromType(NPY_UBYTE), bytes);
    } else {
        accumulators = Py_XNewRef(result);
    }
    if (accumulators != NULL && run(reduction, PyArray_BYTES(array), PyArray_BYTES((PyArrayObject *)accumulators),
                                    PyArray_BYTES((PyArrayObject *)result), threads, flags)) {
        found = Py_BuildValue("(Oi)", result, flags[0]);
    }
    Py_XDECREF(accumulators);
    Py_XDECREF(result);
    return found;
}

PyObject *kernel_reduce(PyObject *object, PyObject *const *args, Py_ssize_t arg_count)
{
    PyArray_Dims shape = {NULL, 0};
    Reduction reduction = {.kernel = ((KernelObject *)object)->kernel, .copies = 1};
    npy_intp threads;
    if (arg_count != 5) {
        PyErr_SetString(PyExc_TypeError, "reduce takes the array, the shape of the result, the divisor, the loop "
                                         "that combines accumulators, and the number of threads");
        return NULL;
    }
    reduction.divides = args[2] != Py_None;
    reduction.divisor = reduction.divides ? PyFloat_AsDouble(args[2]) : 1;
    if ((reduction.divisor == -1 && PyErr_Occurred()) ||
        !read_int(args[4], 1, NPY_MAX_INTP, "threads", &threads) ||
        !read_kernel(&reduction) || !read_combining(args[3], &reduction) ||
        !PyArray_IntpConverter(args[1], &shape)) {
        return NULL;
    }
    reduction.itemsize = PyArray_Check(args[0]) ? PyArray_ITEMSIZE((PyArrayObject *)args[0]) : 0;
    PyObject *result = check_memory(args[0], &shape, &reduction)
                           ? reduce(&reduction, (PyArrayObject *)args[0], &shape, threads)
                           : NULL;
    PyDimMem_FREE(shape.ptr);
    return result;
}

/* ------------------------------------------------------------------ the module's part */

static PyObject *merge_moments(PyObject *module, PyObject *object)
{
    if (!PyArray_CheckExact(object)) {
        PyErr_SetString(PyExc_TypeError, "merge_moments takes an ndarray");
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_NDIM(array) != 2 || PyArray_DIM(array, 0) == 0 || !PyArray_ISCARRAY(array) ||
        PyArray_ITEMSIZE(array) != sizeof(Moments)) {
        refuse("moments to merge are the rows of an array, writable and contiguous");
        return NULL;
    }
    merge_parts((Moments *)PyArray_DATA(array), PyArray_DIM(array, 0), PyArray_DIM(array, 1));
    clear_flags();
    Py_RETURN_NONE;
}

PyMethodDef kernel_reductions_methods[] = {
    {"merge_moments", merge_moments, METH_O,
     "merge_moments(rows)\n--\n\n"
     "Merge the moments of all rows of a contiguous array into those of the first one."},
    {NULL, NULL, 0, NULL},
};
