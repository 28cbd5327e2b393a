/* Loops over vectors of ints that choose entries of a table: count how often, and look up. Python cuts
   vectors into slices for several threads. */

#include "arguments.h"
#include "compiler.h"
#include "parts.h"
#include "vectors.h"

/* Tables that are counted in by turns: to add to one number twice in a row takes the processor as long as
   to add to five (docs/tuning.md, 115). */
enum { COUNT_TABLES = 4 };

typedef struct {
    int (*count)(const char *data, npy_intp size, npy_uint64 least, npy_intp length,
                 npy_int64 *counts);
    int (*look_up)(const char *data, npy_intp size, npy_uint64 least, npy_intp length,
                   const npy_int64 *table, npy_int64 *out);
} TableLoops;

/* The place of an element in a table whose first entry belongs to `least`: out of range, taken as
   unsigned, for elements that have none. */
#define PLACE(x) ((npy_uint64)(x) - least)

#define DEFINE_TABLES(CODE, TYPE, ...)                                                          \
    /* Add to `counts`, COUNT_TABLES tables one after the other, how often each element occurs. 0 if \
       an element has no place. */                                                              \
    static int count_##CODE(const char *data, npy_intp size, npy_uint64 least, npy_intp length, \
                            npy_int64 *counts)                                                  \
    {                                                                                           \
        const TYPE *elements = (const TYPE *)data;                                              \
        npy_int64 *const second = counts + length, *const third = second + length,              \
                         *const fourth = third + length;                                        \
        const npy_uint64 limit = (npy_uint64)length;                                            \
        npy_intp i = 0;                                                                         \
        for (; i + COUNT_TABLES <= size; i += COUNT_TABLES) {                                               \
            const npy_uint64 p = PLACE(elements[i]), q = PLACE(elements[i + 1]),                \
                             r = PLACE(elements[i + 2]), s = PLACE(elements[i + 3]);            \
            if (p >= limit || q >= limit || r >= limit || s >= limit) {                         \
                return 0;                                                                       \
            }                                                                                   \
            counts[p]++;                                                                        \
            second[q]++;                                                                        \
            third[r]++;                                                                         \
            fourth[s]++;                                                                        \
        }                                                                                       \
        for (; i < size; i++) {                                                                 \
            const npy_uint64 place = PLACE(elements[i]);                                        \
            if (place >= limit) {                                                               \
                return 0;                                                                       \
            }                                                                                   \
            counts[place]++;                                                                    \
        }                                                                                       \
        return 1;                                                                               \
    }                                                                                           \
                                                                                                \
    CLONED(static, int, look_up_##CODE,                                                         \
           (const char *data, npy_intp size, npy_uint64 least, npy_intp length,                 \
            const npy_int64 *table, npy_int64 *out),                                            \
           (data, size, least, length, table, out))                                             \
    {                                                                                           \
        const TYPE *elements = (const TYPE *)data;                                              \
        for (npy_intp i = 0; i < size; i++) {                                                   \
            const npy_uint64 place = PLACE(elements[i]);                                        \
            if (place >= (npy_uint64)length) {                                                  \
                return 0;                                                                       \
            }                                                                                   \
            out[i] = table[place];                                                              \
        }                                                                                       \
        return 1;                                                                               \
    }

EACH_INTEGER(DEFINE_TABLES)

static const TableLoops table_loops[DTYPE_COUNT] = {
#define LOOPS_OF(CODE, ...) [CODE] = {count_##CODE, look_up_##CODE},
    EACH_INTEGER(LOOPS_OF)
#undef LOOPS_OF
};

/* The arguments that the functions below have in common. NULL with an exception set if they do not fit. */
static const TableLoops *read_ints(PyObject *vector, PyObject *least, const char **data,
                                   npy_intp *size, npy_uint64 *first)
{
    if ((*data = vector_data(vector, -1, 0, size)) == NULL) {
        return NULL;
    }
    const TableLoops *own = &table_loops[code_of_number(PyArray_TYPE((PyArrayObject *)vector))];
    if (own->count == NULL) {
        refuse("the elements must be ints");
        return NULL;
    }
    *first = PyLong_AsUnsignedLongLongMask(least);
    return *first == (npy_uint64)-1 && PyErr_Occurred() ? NULL : own;
}

static PyObject *count_values(PyObject *module, PyObject *args)
{
    PyObject *vector, *least, *out;
    npy_intp size, length;
    const char *data;
    npy_uint64 first;
    if (!PyArg_ParseTuple(args, "OOO:count_values", &vector, &least, &out)) {
        return NULL;
    }
    const TableLoops *own = read_ints(vector, least, &data, &size, &first);
    char *counts = own == NULL ? NULL : vector_data(out, NPY_INT64, 1, &length);
    if (counts == NULL) {
        return NULL;
    }
    if (length % COUNT_TABLES != 0) {
        refuse("the counts must be four tables");
        return NULL;
    }
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = own->count(data, size, first, length / COUNT_TABLES, (npy_int64 *)counts);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(done);
}

static PyObject *look_up(PyObject *module, PyObject *args)
{
    PyObject *vector, *least, *table, *out;
    npy_intp size, length, room;
    const char *data, *entries = NULL;
    char *found = NULL;
    npy_uint64 first;
    if (!PyArg_ParseTuple(args, "OOOO:look_up", &vector, &least, &table, &out)) {
        return NULL;
    }
    const TableLoops *own = read_ints(vector, least, &data, &size, &first);
    if (own == NULL || (entries = vector_data(table, NPY_INT64, 0, &length)) == NULL ||
        (found = vector_data(out, NPY_INT64, 1, &room)) == NULL) {
        return NULL;
    }
    if (room != size) {
        refuse("the result must have the size of the vector");
        return NULL;
    }
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = own->look_up(data, size, first, length, (const npy_int64 *)entries, (npy_int64 *)found);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(done);
}

static PyMethodDef methods[] = {
    {"count_values", count_values, METH_VARARGS,
     "count_values(vector, least, counts)\n--\n\n"
     "Add how often each int from `least` on occurs to `counts`, four tables one after the other whose "
     "sum it is. False if an int is less, or has no place in the tables."},
    {"look_up", look_up, METH_VARARGS,
     "look_up(vector, least, table, out)\n--\n\n"
     "Write table[vector - least] to `out`. False if an int has no place in the table."},
    {NULL, NULL, 0, NULL},
};

int add_tables(PyObject *module)
{
    return PyModule_AddIntMacro(module, COUNT_TABLES) < 0 ? -1 : PyModule_AddFunctions(module, methods);
}
