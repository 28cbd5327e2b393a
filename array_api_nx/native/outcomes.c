#include "outcomes.h"
#include "parts.h"
#include "arguments.h"
#include "copies.h"
#include "flags.h"
#include "sizes.h"
#include "sums.h"

/* Find the loop that combines the accumulators of tasks, which each has its own. Moments need none. */
static int read_combining(const Kernel *kernel, PyObject *description, Outcome *outcome)
{
    const npy_intp itemsize = kernel->operands[outcome->operand].itemsize;
    const int is_combined = outcome->copies > 1 && itemsize != sizeof(Moments);
    if ((description != Py_None) != is_combined) {
        return refuse("accumulators of several tasks need a loop that combines them, others none");
    }
    if (!is_combined) {
        return 1;
    }
    const Loop *loop = PyCapsule_GetPointer(description, LOOP_NAME);
    if (loop == NULL) {
        return 0;
    }
    if (loop->function == NULL || loop->sources != 2 || loop->itemsizes[0] != itemsize ||
        loop->itemsizes[1] != itemsize || loop->itemsizes[2] != itemsize) {
        return refuse("the loop that combines accumulators takes other elements");
    }
    outcome->combining = loop;
    for (int i = 0; i < kernel->step_count; i++) {
        if (kernel->steps[i].reduces && kernel->steps[i].target == outcome->operand) {
            outcome->identity = kernel->steps[i].identity;
        }
    }
    return outcome->identity != NULL || refuse("nothing accumulates what is combined");
}

/* Check that something was accumulated, and that the array that it goes to has room for it. */
static int read_outcome(SequenceObject *self, const Pass *pass, PyObject *description,
                        Outcome *outcome)
{
    const int count = self->given_count + self->fixed_count;
    if (!check_tuple(description, 4, 4, "an outcome") ||
        !read_int(PyTuple_GET_ITEM(description, 0), 0, pass->kernel->operand_count - 1,
                  "an operand", &outcome->operand) ||
        !read_int(PyTuple_GET_ITEM(description, 1), 0, count - 1, "an array's number",
                  &outcome->target)) {
        return 0;
    }
    PyObject *const divisor = PyTuple_GET_ITEM(description, 2);
    outcome->divides = divisor != Py_None;
    outcome->divisor = outcome->divides ? PyFloat_AsDouble(divisor) : 1;
    if (outcome->divisor == -1 && PyErr_Occurred()) {
        return 0;
    }
    const KernelOperand *operand = &pass->kernel->operands[outcome->operand];
    const int number = (int)outcome->target, target_is_given = number < self->given_count;
    const npy_intp size = memory_size(self, number);
    const PyArray_Descr *dtype =
        target_is_given ? self->given[number].dtype
                        : PyArray_DESCR(self->fixed[number - self->given_count]);
    const int is_real = dtype->type_num == NPY_FLOAT || dtype->type_num == NPY_DOUBLE;
    outcome->itemsize = PyDataType_ELSIZE(dtype);
    outcome->copies = operand->task_stride == 0 ? 1 : pass->kernel->tasks;
    if (outcome->copies == 0) {
        return refuse("a kernel without tasks has no accumulators for each of them");
    }
    outcome->count = (operand->high - operand->low) / operand->itemsize / outcome->copies;
    if (!operand->accumulates || outcome->count * outcome->itemsize != size ||
        (operand->task_stride != 0 && operand->task_stride != outcome->count * operand->itemsize)) {
        return refuse("an outcome is of accumulators, and fills its array");
    }
    if (!read_combining(pass->kernel, PyTuple_GET_ITEM(description, 3), outcome)) {
        return 0;
    }
    if (!outcome->divides && outcome->combining == NULL) {
        return refuse("an outcome is divided, combined, or both");
    }
    if (outcome->divides && !is_real) {
        return refuse("what is divided goes to floats or doubles");
    }
    if (!(outcome->divides && operand->itemsize == sizeof(Moments)) &&
        operand->itemsize != outcome->itemsize) {
        return refuse("an outcome has elements of other bytes than its accumulators");
    }
    if (target_is_given) {
        self->given[number].written = 1;
        self->given[number].misaligned |= (npy_uintp)alignment(outcome->itemsize) - 1;
        return 1;
    }
    PyArrayObject *array = self->fixed[number - self->given_count];
    return (PyArray_ISWRITEABLE(array) && PyArray_ISALIGNED(array)) ||
           refuse("an outcome goes to an array that cannot take it");
}

int read_outcomes(SequenceObject *self, Pass *pass, PyObject *description)
{
    if (!check_tuple(description, 0, MAX_OPERANDS, "the outcomes")) {
        return 0;
    }
    const Py_ssize_t count = PyTuple_GET_SIZE(description);
    pass->outcomes = count == 0 ? NULL : PyMem_Calloc((size_t)count, sizeof(Outcome));
    if (count > 0 && pass->outcomes == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    while (pass->outcome_count < count) {
        const int i = pass->outcome_count++;
        if (!read_outcome(self, pass, PyTuple_GET_ITEM(description, i), &pass->outcomes[i])) {
            return 0;
        }
    }
    return 1;
}

int check_combined(const Pass *pass)
{
    for (int i = 0; i < pass->kernel->operand_count; i++) {
        int combined = pass->kernel->operands[i].task_stride == 0;
        for (int j = 0; j < pass->outcome_count; j++) {
            combined |= pass->outcomes[j].operand == i;
        }
        if (!combined) {
            return refuse("operand %d has accumulators per task that nothing combines", i);
        }
    }
    return 1;
}

/* Combine the accumulators of all tasks as a ufunc reduces them: those of one result at once, of
   several task by task. */
static void combine(const Outcome *outcome, const char *from, npy_intp itemsize, char *to)
{
    const npy_intp several = outcome->count > 1, row = outcome->count * itemsize;
    npy_intp count = several ? outcome->count : outcome->copies;
    npy_intp steps[3] = {several * itemsize, itemsize, several * itemsize};
    fill(to, outcome->identity, itemsize, outcome->count);
    for (npy_intp i = 0; i < (several ? outcome->copies : 1); i++) {
        char *args[3] = {to, (char *)from + i * row, to};
        outcome->combining->function(args, &count, steps, outcome->combining->data);
    }
}

/* Divide in double precision, as NumPy does for a mean. */
static void divide(const Outcome *outcome, const char *from, npy_intp itemsize, char *to)
{
    for (npy_intp j = 0; j < outcome->count; j++, from += itemsize) {
        const double sum = itemsize == sizeof(Moments)      ? ((const Moments *)from)->squares
                           : itemsize == sizeof(npy_double) ? *(const npy_double *)from
                                                            : *(const npy_float *)from;
        const double quotient = sum / outcome->divisor;
        if (outcome->itemsize == sizeof(npy_double)) {
            ((npy_double *)to)[j] = quotient;
        } else {
            ((npy_float *)to)[j] = (npy_float)quotient;
        }
    }
}

void run_outcomes(const Pass *pass, char *const *bases, char *const *addresses)
{
    for (int i = 0; i < pass->outcome_count; i++) {
        const Outcome *outcome = &pass->outcomes[i];
        const KernelOperand *operand = &pass->kernel->operands[outcome->operand];
        const char *from = addresses[outcome->operand] + operand->low;
        char *to = bases[outcome->target];
        if (operand->itemsize == sizeof(Moments)) {
            merge_parts((Moments *)from, outcome->copies, outcome->count);
        } else if (outcome->combining != NULL && outcome->count > 0) {
            combine(outcome, from, operand->itemsize, to);
            from = to;
        }
        if (outcome->divides) {
            divide(outcome, from, operand->itemsize, to);
        }
    }
    if (pass->outcome_count > 0) {
        clear_flags();
    }
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

PyMethodDef outcomes_methods[] = {
    {"merge_moments", merge_moments, METH_O,
     "merge_moments(rows)\n--\n\n"
     "Merge the moments of all rows of a contiguous array into those of the first one."},
    {NULL, NULL, 0, NULL},
};
