/* Public functions whose common calls C answers: compiled callables in front of Python functions. */

#ifndef ARRAY_API_NX_FUNCTIONS_H
#define ARRAY_API_NX_FUNCTIONS_H

#include "scalars.h"
#include "settings.h"

/* Answers a call, or declines it: then the Python function behind it is called with the same
   arguments. It raises nothing but MemoryError, interrupts, and what numpy.errstate asks for. */
typedef PyObject *(*Twin)(int code, PyObject *const *args, Py_ssize_t count, PyObject *names);

typedef struct {
    const char *name; /* of the Python function */
    Twin twin;
    int code;         /* for twins that stand for several functions */
} TwinEntry;

/* Names of arguments, interned, so that they are compared by address. */
#define KEYWORD_LIST(K)                                                                          \
    K(axis) K(axes) K(keepdims) K(dtype) K(device) K(copy) K(correction) K(min) K(max)           \
    K(descending) K(stable) K(side) K(sorter) K(shape) K(fill_value) K(shift)                    \
    K(include_initial) K(k) K(stop) K(step) K(num) K(endpoint) K(api_version) K(invert) K(offset) \
    K(stream) K(max_version) K(dl_device)

#define AS_MEMBER(NAME) PyObject *NAME;
typedef struct {
    KEYWORD_LIST(AS_MEMBER)
} Keywords;
#undef AS_MEMBER

extern Keywords keyword;

/* Sort arguments into `values`, which become NULL where nothing is given. `wanted` has the name of
   each, NULL for those by position alone; so many as `positional` may stand by position. 0 if they
   do not fit, which Python will say in its words. */
static inline int take_arguments(PyObject *const *args, Py_ssize_t count, PyObject *names,
                                 PyObject *const *wanted, int total, int positional,
                                 PyObject **values)
{
    if (count > positional) {
        return 0;
    }
    for (int i = 0; i < total; i++) {
        values[i] = i < count ? args[i] : NULL;
    }
    const Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int j = 0;
        while (j < total && wanted[j] != name) {
            j++;
        }
        if (j == total || values[j] != NULL) {
            return 0;
        }
        values[j] = args[count + i];
    }
    return 1;
}

/* The readers below return 0, without an exception, for what the Python function has to look at. */

/* An axis as an exact int, counted from the front or the back. */
static inline int take_axis(PyObject *value, int ndim, int *axis)
{
    int overflow;
    if (!PyLong_CheckExact(value)) {
        return 0;
    }
    const long number = PyLong_AsLongAndOverflow(value, &overflow);
    if (overflow || number < -ndim || number >= ndim) {
        return 0;
    }
    *axis = (int)(number < 0 ? number + ndim : number);
    return 1;
}

/* True or False; `*flag` stays as it is if nothing is given. */
static inline int take_flag(PyObject *value, int *flag)
{
    if (value != NULL) {
        if (!PyBool_Check(value)) {
            return 0;
        }
        *flag = value == Py_True;
    }
    return 1;
}

/* A dtype of ours; `*code` stays as it is if nothing or None is given. */
static inline int take_dtype(PyObject *value, DTypeCode *code)
{
    if (value == NULL || value == Py_None) {
        return 1;
    }
    const DTypeCode found = code_of_dtype(value);
    if (found == NO_DTYPE) {
        return 0;
    }
    *code = found;
    return 1;
}

/* A shape: an exact int, or a tuple of them, none negative. Also 0 if there are too many elements to
   be computed at once. */
int take_shape(PyObject *value, int *ndim, npy_intp *shape);

/* The twin for the function of a name, or NULL. */
const TwinEntry *find_twin(const char *name);

int add_functions(PyObject *module);

#endif
