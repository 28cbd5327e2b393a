/* Elements of float16: loops that convert them by instructions of the processor, where it has them, and integers that
   they are compared by. */

#ifndef ARRAY_API_NX_HALF_LOOPS_H
#define ARRAY_API_NX_HALF_LOOPS_H

#include "dtypes.h"
#include "inner_loops.h"

/* A loop of a ufunc on float16. */
typedef struct {
    const char *name; /* the ufunc's */
    PyUFuncGenericFunction function;
    PyUFuncGenericFunction numpys;
    PyUFuncGenericFunction floats; /* NumPy's for floats, by which elements are reduced, or NULL */
    void *floats_data;
} HalfLoop;

/* In place of NumPy's loop of the ufunc for operands of a type, with the same bits, a faster one, if there
   is one: `*function` and `*data`, which the function takes. Whether there is. */
int replace_half_loop(PyObject *ufunc, int type, PyUFuncGenericFunction *function, void **data);

/* A faster cast from or to float16 than C's; NULL if there is none. */
PyUFuncGenericFunction half_cast(DTypeCode from, DTypeCode to);

/* Sort a row by NumPy's function for uint16, which counts digits: its sort of float16 with AVX-512 loses elements of
   rows in which many are equal (2.4.6). NaN come last. -1 as that function. */
int sort_halves(char *row, npy_intp length, PyArray_SortFunc *sort_integers);

/* In place of NumPy's argmax or argmin of elements of a dtype a faster function with the same results, if there is one. */
PyArray_ArgFunc *faster_search(DTypeCode code, int is_largest, PyArray_ArgFunc *numpys);

#ifdef HAS_FLOAT16
/* A number of 16 bits that is as large as another one where its element is; the largest for NaN. Without
   instructions that convert elements, to compare these takes ten times as long. */
enum { RANK_OF_ZERO = 0x8000, RANK_OF_NAN = 0xffff };

static inline npy_uint16 rank_of_half(Half x)
{
    npy_uint16 bits;
    memcpy(&bits, &x, sizeof(bits));
    const npy_uint16 magnitude = bits & 0x7fff;
    const npy_uint16 rank = magnitude == 0 ? RANK_OF_ZERO : bits ^ (bits & 0x8000 ? 0xffff : 0x8000);
    return magnitude > 0x7c00 ? RANK_OF_NAN : rank;
}

static inline int is_infinite_half(Half x)
{
    npy_uint16 bits;
    memcpy(&bits, &x, sizeof(bits));
    return (bits & 0x7fff) == 0x7c00;
}

#define BY_RANK(x, IF_HALF, ELSE) _Generic((x), Half: (IF_HALF), default: (ELSE))
#else
#define BY_RANK(x, IF_HALF, ELSE) (ELSE)
#endif

/* What elements of any real dtype are compared by, and whether one is NaN, which differs from all, or infinite. */
#define RANK(x) BY_RANK(x, rank_of_half(x), x)
#define IS_NAN(x) BY_RANK(x, rank_of_half(x) == RANK_OF_NAN, (x) != (x))
#define IS_INFINITE(x) BY_RANK(x, is_infinite_half(x), (x) == INFINITY || (x) == -INFINITY)
#define DIFFERS(x, y) BY_RANK(x, rank_of_half(x) != rank_of_half(y) || IS_NAN(x), (x) != (y))

#endif
