/* Keys with index arrays and masks in them. */

#ifndef ARRAY_API_NX_ARRAY_KEYS_H
#define ARRAY_API_NX_ARRAY_KEYS_H

#include "array_selection.h"

/* Whether indices of the only axis of an array lie one after the other in memory. */
static inline int is_direct(const Tensor *x, const Tensor *indices)
{
    return x->ndim == 1 && indices->code == NX_INT64 && (indices->flags & ROW_MAJOR);
}

/* The elements that such indices choose, of any number; DECLINED if one is out of range. */
PyObject *take_directly(const Tensor *x, char *data, const Tensor *indices, const char *where);

/* An array in a key: indices of one axis, or a mask of several. */
typedef struct {
    Tensor *array;
    int axis; /* of the indexed array, the first one that it takes */
} ArrayItem;

/* The arrays in a key. */
typedef struct {
    int count;
    ArrayItem items[INDEX_ARRAYS];
} ArrayItems;

/* x[key] and x[key] = value for keys with arrays in them. `selection` has the region that the other items
   of the key leave, and the place of the arrays' axes. `data` is where the elements of `x` begin, which
   may be written. The second gives 1 if written, 0 if declined, -1 with an exception set. */
PyObject *get_by_arrays(Tensor *x, const ArrayItems *arrays, Gather *selection);
int set_by_arrays(Tensor *x, char *data, const ArrayItems *arrays, Gather *selection,
                  PyObject *value);

#endif
