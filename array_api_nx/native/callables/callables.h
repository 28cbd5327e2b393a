/* Compiled callables: the C implementation of a function in front of the Python function. */

#ifndef ARRAY_API_NX_CALLABLES_H
#define ARRAY_API_NX_CALLABLES_H

#include "chapters.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc call; /* that of the standard's functions, or of the face's */
    PyObject *function; /* the Python function */
    PyObject *attributes, *weakrefs;
    Compute compute; /* of the C implementation; NULL if Python answers all calls */
    int code;
    Parameters parameters;
    enum { NOTHING, NDARRAYS, NUMPYS } adopts; /* which objects of NumPy are operands like arrays of ours:
                                                  none, arrays, or arrays and scalars */
    /* Of functions of the face alone: */
    PyObject *numpys;  /* NumPy's function, which computes what the implementation declines */
    PyObject *direct;  /* what that calls in the end, where no argument has its class asked; or NULL */
    PyObject *defaults; /* by the names of parameters: values that mean nothing */
    npy_intp most;     /* the most elements of an array for which it does */
    int is_operation;  /* whether `code` is an OperationCode */
    int dtype_place;   /* of the parameter dtype; or -1 */
    npy_uint32 refused; /* bits of the dtypes that the face leaves to NumPy */
    char takes_out;     /* whether an argument behind all others is `out` */
    char gives_scalars; /* whether results without axes become scalars */
    npy_uint8 operands, sequences; /* bits of the parameters that are arrays, and of those that are lists of arrays */
    char copies;        /* whether all that it does is to copy elements */
    char is_product;    /* whether there is nothing to warn of where arrays have no elements */
    char keeps_order;   /* whether NumPy's results have the operand's order of axes in memory */
} Function;

/* The most arguments of a call that is made once more with others in their places. */
enum { MOST_ADOPTED = 8 };

/* Let the implementation compute; DECLINED if it does not. */
typedef PyObject *(*CallImplementation)(const Function *self, PyObject *const *args, Py_ssize_t count,
                                        PyObject *names);

static inline PyObject *call_implementation(const Function *self, PyObject *const *args,
                                            Py_ssize_t count, PyObject *names)
{
    PyObject *room[MOST_PARAMETERS];
    PyObject *const *values = sort_arguments(&self->parameters, args, count, names, room);
    return values == NULL ? DECLINED : self->compute(self->code, values, count);
}

/* The same with NumPy's objects among the arguments adopted; DECLINED if there are none. */
PyObject *call_adopted(const Function *self, CallImplementation call, PyObject *const *args, Py_ssize_t count,
                       PyObject *names);

/* A callable in front of a Python function of the standard's; `entry` is NULL if Python answers all calls. */
PyObject *make_function(PyObject *function, const Implementation *entry);

/* Make a function no method of the objects whose class has it, as NumPy's functions in C are none. */
void unbind(Function *function);

/* Whether the implementation is one of a table. */
int is_in(const Implementation *table, const Implementation *entry);

#endif
