#include "parts.h"
#include "arguments.h"
#include "memory.h"
#include "operations.h"
#include "sizes.h"
#include "threads.h"

enum { MAX_PARTS = MAX_WORKERS + 1 };

/* The accumulator of each task. Each has a cache line of its own. */
typedef struct {
    npy_int64 lines[MAX_PARTS][ALIGNMENT / sizeof(npy_int64)];
} Parts;

/* Read the first argument of `total`; 0 with an exception set if it is no reduction. */
static int read_total(PyObject *value, const Loop **loop, PyObject **element, PyArrayObject **identity,
                      npy_intp *serial_limit)
{
    if (!check_tuple(value, 4, 4, "a reduction")) {
        return 0;
    }
    *loop = PyCapsule_GetPointer(PyTuple_GET_ITEM(value, 0), LOOP_NAME);
    *element = PyTuple_GET_ITEM(value, 1);
    *identity = (PyArrayObject *)PyTuple_GET_ITEM(value, 2);
    if (*loop == NULL ||
        !read_int(PyTuple_GET_ITEM(value, 3), 0, NPY_MAX_INTP, "serial_limit", serial_limit)) {
        return 0;
    }
    const npy_intp size = (*loop)->itemsizes[0];
    if ((*loop)->function == NULL || (*loop)->sources != 2 || (*loop)->itemsizes[2] != size ||
        size > (npy_intp)sizeof(npy_int64)) {
        return refuse("the loop is none of (accumulator, element) -> accumulator of up to 8 bytes");
    }
    if (!PyArray_CheckExact(*identity) || PyArray_NDIM(*identity) != 0 ||
        !is_native((PyObject *)PyArray_DESCR(*identity), size) ||
        !is_native(*element, (*loop)->itemsizes[1])) {
        return refuse("the identity, without axes, and the elements must have the loop's dtypes");
    }
    return 1;
}

/* Reduce the accumulators of all tasks into the first one. */
static void add_parts(const Loop *loop, Parts *parts, npy_intp tasks)
{
    const npy_intp one = 1, steps[MAX_SOURCES + 1] = {0};
    for (npy_intp task = 1; task < tasks; task++) {
        if (loop->itemsizes[0] == loop->itemsizes[1]) {
            char *args[] = {(char *)parts->lines[0], (char *)parts->lines[task],
                            (char *)parts->lines[0]};
            loop->function(args, &one, steps, loop->data);
        } else {
            parts->lines[0][0] += parts->lines[task][0]; /* they are counts */
        }
    }
}

/* Reduce the array into the first accumulator. 0 with an exception set if there was no memory or a
   signal came. */
static int run_total(const Loop *loop, PyArrayObject *array, npy_intp each, npy_intp threads,
                     Parts *parts)
{
    const npy_intp size = PyArray_SIZE(array);
    const npy_intp tasks = (size - 1) / each + 1;
    const Run run = {loop,
                     {(char *)parts->lines, PyArray_BYTES(array), (char *)parts->lines},
                     {0, loop->itemsizes[1], 0},
                     size,
                     each,
                     sizeof(parts->lines[0])};
    Team team;
    int complete = acquire_team(&team, 0, tasks, threads);
    if (complete) {
        release_gil(&team.interrupt);
        run_loop(&team, &run, tasks);
        complete = take_gil(&team.interrupt);
        add_parts(loop, parts, tasks);
    } else {
        PyErr_NoMemory();
    }
    release_team(&team);
    return complete;
}

static PyObject *total(PyObject *module, PyObject *const *args, Py_ssize_t arg_count)
{
    const Loop *loop;
    PyObject *element;
    PyArrayObject *identity;
    npy_intp serial_limit, threads;
    Parts parts;
    if (arg_count != 3) {
        PyErr_SetString(PyExc_TypeError, "total takes a reduction, threads and an array");
        return NULL;
    }
    if (!read_total(args[0], &loop, &element, &identity, &serial_limit) ||
        !read_int(args[1], 1, NPY_MAX_INTP, "threads", &threads)) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)args[2];
    if (!PyArray_CheckExact(array) || !is_readable(array, (PyArray_Descr *)element) ||
        !PyArray_ISONESEGMENT(array) || PyArray_SIZE(array) == 0) {
        Py_RETURN_NONE;
    }
    const npy_intp size = PyArray_SIZE(array);
    const npy_intp share = threads == 1 ? size : share_of(size, serial_limit);
    const npy_intp each = greatest(share, (size - 1) / MAX_PARTS + 1);
    for (npy_intp i = 0; i * each < size; i++) {
        memcpy(parts.lines[i], PyArray_DATA(identity), (size_t)loop->itemsizes[0]);
    }
    if (!run_total(loop, array, each, threads, &parts)) {
        return NULL;
    }
    PyArray_Descr *dtype = PyArray_DESCR(identity);
    Py_INCREF(dtype);
    PyObject *result = new_array(0, NULL, dtype, loop->itemsizes[0]);
    if (result != NULL) {
        memcpy(PyArray_DATA((PyArrayObject *)result), parts.lines[0], (size_t)loop->itemsizes[0]);
    }
    return result;
}

PyMethodDef totals_methods[] = {
    {"total", (PyCFunction)(void (*)(void))total, METH_FASTCALL,
     "total(reduction, threads, array)\n--\n\n"
     "All elements of an array reduced to one, an ndarray without axes; None, with nothing done, "
     "unless the array lies in one piece.\n\n"
     "reduction: (loop, dtype of the elements, identity, elements up to which one thread computes "
     "all). The order of the elements must not matter to it; accumulators of another dtype than "
     "the elements are counts."},
    {NULL, NULL, 0, NULL},
};
