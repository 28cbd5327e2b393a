/* Inner loops: what is known of one, the loops that are not a ufunc's (casts, selection, counting),
   and the capsules in which loops.py keeps them.

   All have the signature of a ufunc's inner loop. A target may be the very memory of a source of
   the same itemsize, so nothing here is `restrict`. */

#ifndef ARRAY_API_NX_LOOPS_H
#define ARRAY_API_NX_LOOPS_H

#include "dtypes.h"

enum { MAX_SOURCES = 4 };

/* What the capsules of loops are named; each holds a pointer to a Loop. */
#define LOOP_NAME "array_api_nx.loop"

/* Operations on float32 and float64 that can be links of chains (links.h). */
typedef enum { NO_LINK, ADD_LINK, SUBTRACT_LINK, MULTIPLY_LINK, DIVIDE_LINK, SQUARE_LINK,
               NEGATIVE_LINK, SQRT_LINK, ABSOLUTE_LINK } LinkOperation;

typedef struct {
    PyUFuncGenericFunction function; /* NULL: moments, see sums.h */
    void *data;
    int sources;
    npy_intp itemsizes[MAX_SOURCES + 1]; /* of the sources, then of the target */
    int is_arithmetic; /* whether it raises floating-point flags by vector instructions alone */
    LinkOperation link;
} Loop;

typedef struct {
    npy_uint64 low, high;
} Pair;

/* The head of a function that is an inner loop. */
#define LOOP(NAME) \
    static void NAME(char **args, npy_intp const *count, npy_intp const *steps, void *data)

/* Whether these are bools or numbers of the standard's sizes, whichever C type they are. Others may
   be objects, of any length, or of several meanings. */
static inline int is_standard(int type)
{
    return PyTypeNum_ISBOOL(type) || PyTypeNum_ISINTEGER(type) || type == NPY_FLOAT ||
           type == NPY_DOUBLE || type == NPY_CFLOAT || type == NPY_CDOUBLE;
}

/* What casts numbers of one dtype to another, a copy if they are the same; NULL from real and complex
   numbers to integers, and from complex to real numbers. */
PyUFuncGenericFunction cast_function(DTypeCode from, DTypeCode to);

/* The loop (bool, value, value) -> value for values of that many bytes. Whether there is one. */
int find_select(npy_intp itemsize, Loop *loop);

/* Add the functions that make capsules to the module; -1 with an exception set. */
int add_loops(PyObject *module);

#endif
