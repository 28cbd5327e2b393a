/* unique_all, unique_counts, unique_inverse, unique_values and isin, by sorting. */

#include "buckets.h"
#include "chapters.h"
#include "elements.h"
#include "flags.h"
#include "masks.h"
#include "parts.h"
#include "pack.h"
#include "sorting.h"

/* ------------------------------------------------------------------ distinct elements */

/* The results of a function, in the order of its fields. */
enum { VALUES = 1, INDICES = 2, INVERSE = 4, COUNTS = 8 };

/* The named tuples that hold several results. */
static PyTypeObject *result_types[16];

/* Put the elements in order, and, unless `order` is NULL, tell where each was; equal ones stay in
   their order then. -1 if there is no memory. */
static int sort_elements(char *elements, DTypeCode code, npy_intp size, npy_intp *order,
                         char *copy)
{
    const PyArray_ArrFuncs *functions = functions_of(code);
    const npy_intp itemsize = dtypes[code].itemsize;
    if (order == NULL) {
        return sort_row(elements, code, size);
    }
    const int by_keys = size >= KEYED_FROM && itemsize >= KEYED_BYTES;
    for (npy_intp i = 0; i < size && !by_keys; i++) {
        order[i] = i;
    }
    if (by_keys ? arrange_row(elements, code, size, ORDERED, (Places){NULL, 0}, 0, (char *)order) < 0
                : functions->argsort[NPY_STABLESORT](elements, order, size, NULL) < 0) {
        return -1;
    }
    memcpy(copy, elements, (size_t)(size * itemsize));
    for (npy_intp i = 0; i < size; i++) {
        copy_element(elements + i * itemsize, copy + order[i] * itemsize, itemsize);
    }
    return 0;
}

static int is_nan(const char *element, DTypeCode code)
{
    return isnan(read_float(element, code));
}

/* Mark the first of each run of equal elements, and return how many runs there are. */
static npy_intp mark_runs(const char *ascending, npy_intp itemsize, npy_intp size,
                          npy_bool *is_first)
{
    npy_intp runs = 1;
    is_first[0] = 1;
#define MARK(TYPE)                                                                \
    for (npy_intp i = 1; i < size; i++) {                                         \
        const TYPE *element = (const TYPE *)ascending + i;                        \
        runs += is_first[i] = element[0] != element[-1];                          \
    }                                                                             \
    break;
    switch (itemsize) {
    case 1:
        MARK(npy_uint8)
    case 2:
        MARK(npy_uint16)
    case 4:
        MARK(npy_uint32)
    default:
        MARK(npy_uint64)
    }
#undef MARK
    return runs;
}

/* Elements in ascending order, and facts about them. */
typedef struct {
    const char *ascending;
    const npy_bool *is_first; /* of a run of equal elements */
    const npy_intp *order;    /* where each was, or NULL */
    npy_intp size, runs;
} Sorted;

/* One of the results, as an Array. */
static PyObject *tell_one(const Sorted *sorted, int what, const Tensor *x)
{
    char *out;
    const npy_intp itemsize = dtypes[x->code].itemsize;
    PyObject *result = what == INVERSE
                           ? new_array_like_memory(x->ndim, x->shape, NX_INT64, 0, &out)
                           : new_array_like_memory(1, &sorted->runs,
                                                   what == VALUES ? (DTypeCode)x->code : NX_INT64, 0,
                                                   &out);
    if (result == NULL) {
        return NULL;
    }
    if (what == VALUES) {
        compress_run(sorted->ascending, itemsize, (const char *)sorted->is_first, sorted->size, out, sorted->runs);
        return result;
    }
    npy_int64 *numbers = (npy_int64 *)out, run = -1;
    for (npy_intp i = 0; i < sorted->size; i++) {
        const int starts = sorted->is_first[i];
        run += starts;
        switch (what) {
        case INDICES:
            if (starts) {
                numbers[run] = sorted->order[i];
            }
            break;
        case INVERSE:
            numbers[sorted->order[i]] = run;
            break;
        default:
            numbers[run] = starts ? 1 : numbers[run] + 1;
        }
    }
    return result;
}

static PyObject *tell_several(const Sorted *sorted, int what, const Tensor *x)
{
    PyTypeObject *type = result_types[what];
    Py_ssize_t count = 0;
    PyObject *items[4];
    for (int one = VALUES; one <= COUNTS; one *= 2) {
        if (what & one) {
            items[count] = tell_one(sorted, one, x);
            if (items[count] == NULL) {
                break;
            }
            count++;
        }
    }
    /* A named tuple is a tuple without fields of its own. */
    PyObject *result = PyErr_Occurred() ? NULL : type->tp_alloc(type, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (result == NULL) {
            Py_DECREF(items[i]);
        } else {
            PyTuple_SET_ITEM(result, i, items[i]);
        }
    }
    return result;
}

static PyObject *call_unique(int what, PyObject *const *values, Py_ssize_t count)
{
    const char *data;
    Scratch scratch;
    Tensor *x = sortable(values[0], limits.at_once, &data);
    if (x == NULL || (what != VALUES && result_types[what] == NULL)) {
        return DECLINED;
    }
    const DTypeCode code = (DTypeCode)x->code;
    const npy_intp itemsize = dtypes[code].itemsize, size = x->size;
    const int ordered = (what & (INDICES | INVERSE)) != 0;
    const PyArray_ArrFuncs *functions = functions_of(code);
    if (functions->argsort[NPY_STABLESORT] == NULL) {
        return DECLINED;
    }
    /* The order, the elements, a copy of them, and the marks, so that all are aligned. */
    const npy_intp order_bytes = ordered ? size * (npy_intp)sizeof(npy_intp) : 0;
    const npy_intp copies = ordered ? 2 : 1;
    if (take_scratch(&scratch, order_bytes + copies * size * itemsize + size) < 0) {
        return NULL;
    }
    npy_intp *order = ordered ? (npy_intp *)scratch.data : NULL;
    char *elements = scratch.data + order_bytes;
    npy_bool *is_first = (npy_bool *)(elements + copies * size * itemsize);
    pack_rows(x, data, elements);
    PyObject *result = DECLINED;
    int zeros = 0;
    if (sort_elements(elements, code, size, order, elements + size * itemsize) < 0) {
        result = PyErr_NoMemory();
    } else if (repeats_zero(elements, code, size) && (zeros = has_both_zeros(x, data)) != 0) {
        result = zeros < 0 ? NULL : DECLINED;
    } else if (!is_nan(elements + (size - 1) * itemsize, code)) {
        /* Without zeros of both signs and NaN, elements are equal if their bytes are. */
        Sorted sorted = {elements, is_first, order, size,
                         mark_runs(elements, itemsize, size, is_first)};
        result = what == VALUES ? tell_one(&sorted, VALUES, x) : tell_several(&sorted, what, x);
    }
    free_scratch(&scratch);
    return result;
}

/* ------------------------------------------------------------------ membership */

/* Neither equals any member: a NaN that is looked for, and a NaN among the members, which are
   sorted, so that it comes last. */
#define MEMBERSHIP(CODE, TYPE, ...)                                                               \
    static void find_##CODE(const char *sorted, npy_intp length, const char *values,              \
                            npy_intp count, int invert, npy_bool *out)                            \
    {                                                                                             \
        const TYPE *members = (const TYPE *)sorted;                                               \
        for (npy_intp i = 0; i < count; i++) {                                                    \
            const TYPE given = ((const TYPE *)values)[i];                                         \
            const TYPE value = CODE == BOOL ? (TYPE)truth_of((npy_bool)given) : given;            \
            npy_intp low = 0;                                                                     \
            for (npy_intp left = length; left > 1;) { /* without a branch to guess wrong */       \
                const npy_intp half = left >> 1;                                                  \
                low += members[low + half - 1] < value ? half : 0;                                \
                left -= half;                                                                     \
            }                                                                                     \
            out[i] = (length > 0 && members[low] == value) != invert;                             \
        }                                                                                         \
    }

EACH_REAL(MEMBERSHIP)

/* The same by comparisons of all values with each of a few members, a block at a time: whether they are equal is as wide as
   they are, so that the compiler makes vectors of both. */
#define TRUTH_1 npy_int8
#define TRUTH_2 npy_int16
#define TRUTH_4 npy_int32
#define TRUTH_8 npy_int64
#define MEMBERSHIP_OF_FEW(CODE, TYPE, KIND, BYTES)                                                        \
    CLONED_FOR_ROTATIONS(static, void, compare_##CODE,                                            \
                         (const char *elements, npy_intp length, const char *values, npy_intp count, \
                          int invert, npy_bool *out),                                             \
                         (elements, length, values, count, invert, out))                          \
    {                                                                                             \
        for (npy_intp begin = 0; begin < count; begin += BLOCK) {                                 \
            const npy_intp size = least(BLOCK, count - begin);                                    \
            const TYPE *sought = (const TYPE *)values + begin;                                    \
            TRUTH_##BYTES found[BLOCK];                                                           \
            for (npy_intp i = 0; i < size; i++) {                                                 \
                found[i] = sought[i] == ((const TYPE *)elements)[0];                              \
            }                                                                                     \
            for (npy_intp k = 1; k < length; k++) {                                               \
                const TYPE member = ((const TYPE *)elements)[k];                                  \
                for (npy_intp i = 0; i < size; i++) {                                             \
                    found[i] |= sought[i] == member;                                              \
                }                                                                                 \
            }                                                                                     \
            for (npy_intp i = 0; i < size; i++) {                                                 \
                out[begin + i] = (npy_bool)found[i] ^ (npy_bool)invert;                           \
            }                                                                                     \
        }                                                                                         \
    }

/* Elements of a block; members that are few; and the most comparisons that one thread makes, in some 20 milliseconds. */
enum { BLOCK = 1024, FEW_MEMBERS = 16, MOST_COMPARED = 1 << 26 };

EACH_INTEGER(MEMBERSHIP_OF_FEW)
EACH_BROAD_FLOAT(MEMBERSHIP_OF_FEW)

/* The same by a table of the bytes from the least member to the greatest one. 0 if there are more than `room` of them. */
#define MEMBERSHIP_BY_TABLE(CODE, TYPE, ...)                                                      \
    static int look_up_##CODE(const char *elements, npy_intp length, const char *values,          \
                              npy_intp count, int invert, npy_bool *out, npy_bool *table, npy_intp room) \
    {                                                                                             \
        const TYPE *members = (const TYPE *)elements, *sought = (const TYPE *)values;             \
        TYPE low = members[0], high = members[0];                                                 \
        for (npy_intp i = 1; i < length; i++) {                                                   \
            low = members[i] < low ? members[i] : low;                                            \
            high = members[i] > high ? members[i] : high;                                         \
        }                                                                                         \
        const npy_uint64 least = (npy_uint64)low, range = (npy_uint64)high - least;               \
        if (range >= (npy_uint64)room) {                                                          \
            return 0;                                                                             \
        }                                                                                         \
        memset(table, invert, (size_t)range + 1);                                                 \
        for (npy_intp i = 0; i < length; i++) {                                                   \
            table[(npy_uint64)members[i] - least] = !invert;                                      \
        }                                                                                         \
        for (npy_intp i = 0; i < count; i++) {                                                    \
            const npy_uint64 place = (npy_uint64)sought[i] - least;                               \
            out[i] = place <= range ? table[place] : (npy_bool)invert;                            \
        }                                                                                         \
        return 1;                                                                                 \
    }

EACH_INTEGER(MEMBERSHIP_BY_TABLE)

typedef int (*TableMembership)(const char *elements, npy_intp length, const char *values, npy_intp count, int invert,
                               npy_bool *out, npy_bool *table, npy_intp room);

static const TableMembership by_table[DTYPE_COUNT] = {
#define ENTRY(CODE, ...) [CODE] = look_up_##CODE,
    EACH_INTEGER(ENTRY)
#undef ENTRY
};

/* Integers are looked for by a table of all numbers between the smallest and the largest, as NumPy does, if the table has at
   most so many bytes for each element: that takes less time than a sort (docs/tuning.md, 145). */
enum { TABLE_BYTES = 6 };

typedef void (*Membership)(const char *sorted, npy_intp length, const char *values, npy_intp count,
                           int invert, npy_bool *out);

static const Membership memberships[DTYPE_COUNT] = {
#define ENTRY(CODE, ...) [CODE] = find_##CODE,
    EACH_REAL(ENTRY)
#undef ENTRY
};

static const Membership memberships_of_few[DTYPE_COUNT] = {
#define ENTRY(CODE, ...) [CODE] = compare_##CODE,
    EACH_INTEGER(ENTRY)
    EACH_BROAD_FLOAT(ENTRY)
#undef ENTRY
};

/* Whether all of `many`, which lie row by row, are compared with each of a few others. */
static int is_compared(const Tensor *many, const Tensor *few)
{
    return few->size <= FEW_MEMBERS && (many->flags & ROW_MAJOR) && memberships_of_few[many->code] != NULL &&
           many->size <= MOST_COMPARED / few->size;
}

static int is_member(DTypeCode code, const char *value, const char *members, npy_intp count)
{
    npy_bool found[BLOCK];
    for (npy_intp begin = 0; begin < count; begin += BLOCK) {
        const npy_intp size = least(BLOCK, count - begin);
        memberships_of_few[code](value, 1, members + begin * dtypes[code].itemsize, size, 0, found);
        if (memchr(found, 1, (size_t)size) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* Look through many members for each of a few values. */
static PyObject *look_through(const Tensor *x, const char *data, const Tensor *members, const char *elements, int invert)
{
    char *out;
    const DTypeCode code = (DTypeCode)x->code;
    PyObject *result = new_array_like_memory(x->ndim, x->shape, BOOL, 0, &out);
    for (npy_intp i = 0; result != NULL && i < x->size; i++) {
        out[i] = (char)(is_member(code, data + i * dtypes[code].itemsize, elements, members->size) != invert);
    }
    clear_flags(); /* comparisons with NaN */
    return result;
}

static PyObject *look_up(const Tensor *x, const char *data, const Tensor *y, const char *members, int invert)
{
    char *out;
    Scratch scratch;
    const DTypeCode code = (DTypeCode)x->code;
    const npy_intp itemsize = dtypes[code].itemsize;
    const int copies = !(x->flags & ROW_MAJOR);
    const npy_intp packed = (y->size + (copies ? x->size : 0)) * itemsize;
    const int compares = is_compared(x, y);
    const npy_intp room = by_table[code] != NULL && !compares ? TABLE_BYTES * (x->size + y->size) : 0;
    if (take_scratch(&scratch, packed + room) < 0) {
        return NULL;
    }
    PyObject *result = new_array_like_memory(x->ndim, x->shape, BOOL, 0, &out);
    if (result != NULL) {
        pack_rows(y, members, scratch.data);
        if (copies) {
            pack_rows(x, data, scratch.data + y->size * itemsize);
            data = scratch.data + y->size * itemsize;
        }
        if (compares) {
            memberships_of_few[code](scratch.data, y->size, data, x->size, invert, (npy_bool *)out);
            clear_flags(); /* comparisons with NaN */
        } else if (room > 0 && by_table[code](scratch.data, y->size, data, x->size, invert, (npy_bool *)out,
                                       (npy_bool *)scratch.data + packed, room)) {
            /* done */
        } else if (sort_row(scratch.data, code, y->size) < 0) {
            Py_CLEAR(result);
            PyErr_NoMemory();
        } else {
            npy_intp different = 1; /* each of which is kept once */
            for (npy_intp i = 1; i < y->size; i++) {
                const char *member = scratch.data + i * itemsize;
                if (memcmp(member, scratch.data + (different - 1) * itemsize, (size_t)itemsize) != 0) {
                    copy_element(scratch.data + different++ * itemsize, member, itemsize);
                }
            }
            memberships[code](scratch.data, different, data, x->size, invert, (npy_bool *)out);
        }
    }
    free_scratch(&scratch);
    return result;
}

static PyObject *call_isin(int which, PyObject *const *values, Py_ssize_t count)
{
    const char *data, *members;
    int invert = 0;
    if (!take_flag(values[2], &invert)) {
        return DECLINED;
    }
    Tensor *x = sortable(values[0], most_sortable(), &data);
    Tensor *y = sortable(values[1], most_sortable(), &members);
    if (x == NULL || y == NULL || x->code != y->code) {
        return DECLINED;
    }
    const int is_looked_through = y->size > limits.at_once;
    if ((x->size > limits.at_once && !is_compared(x, y)) ||
        (is_looked_through && !(is_compared(y, x) && x->flags & ROW_MAJOR))) {
        return DECLINED;
    }
    Py_INCREF(x); /* finalisers may give the arrays other memory meanwhile */
    Py_INCREF(y);
    PyObject *result = (is_looked_through ? look_through : look_up)(x, data, y, members, invert);
    Py_DECREF(x);
    Py_DECREF(y);
    return result;
}

Implementation distinct_functions[] = {
    {"unique_all", call_unique, VALUES | INDICES | INVERSE | COUNTS, "x, /"},
    {"unique_counts", call_unique, VALUES | COUNTS, "x, /"},
    {"unique_inverse", call_unique, VALUES | INVERSE, "x, /"},
    {"unique_values", call_unique, VALUES, "x, /"},
    {"isin", call_isin, 0, "x1, x2, /, *, invert="},
    {NULL, NULL, 0, NULL},
};

static PyObject *set_distinct(PyObject *module, PyObject *args)
{
    PyObject *all, *counts, *inverse;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyType_Type, &all, &PyType_Type, &counts, &PyType_Type,
                          &inverse)) {
        return NULL;
    }
    PyObject *const types[] = {all, counts, inverse};
    const int told[] = {VALUES | INDICES | INVERSE | COUNTS, VALUES | COUNTS, VALUES | INVERSE};
    for (int i = 0; i < 3; i++) {
        if (!PyType_FastSubclass((PyTypeObject *)types[i], Py_TPFLAGS_TUPLE_SUBCLASS) ||
            ((PyTypeObject *)types[i])->tp_basicsize != PyTuple_Type.tp_basicsize) {
            return PyErr_Format(PyExc_TypeError, "%R is no named tuple", types[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        Py_XSETREF(result_types[told[i]], (PyTypeObject *)Py_NewRef(types[i]));
    }
    Py_RETURN_NONE;
}

PyMethodDef distinct_methods[] = {
    {"set_distinct", set_distinct, METH_VARARGS,
     "set_distinct(UniqueAll, UniqueCounts, UniqueInverse)\n--\n\n"
     "The named tuples that functions of distinct elements return."},
    {NULL, NULL, 0, NULL},
};
