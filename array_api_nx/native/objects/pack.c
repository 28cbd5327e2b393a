/* How elements of any layout are laid one after the other. */

#include "pack.h"
#include "elements.h"
#include "loops.h"
#include "nest.h"
#include "sizes.h"

/* ------------------------------------------------------------------ memory */

int take_scratch(Scratch *scratch, npy_intp bytes)
{
    scratch->heap = NULL;
    scratch->data = (char *)scratch->inside;
    if (bytes > SCRATCH_BYTES) {
        scratch->heap = PyMem_Malloc((size_t)bytes);
        if (scratch->heap == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        scratch->data = scratch->heap;
    }
    return 0;
}

/* ------------------------------------------------------------------ rows */

void turn_columns(const char *from, npy_intp step, npy_intp rows, npy_intp columns,
                  npy_intp itemsize, char *to)
{
#define TURN(SIZE)                                                                  \
    case SIZE:                                                                      \
        for (npy_intp row = 0; row < rows; row++, from += step) {                   \
            for (npy_intp column = 0; column < columns; column++) {                 \
                memcpy(to + (column * rows + row) * SIZE, from + column * SIZE, SIZE); \
            }                                                                       \
        }                                                                           \
        return;
    switch (itemsize) {
        TURN(1)
        TURN(2)
        TURN(4)
        TURN(8)
        TURN(16)
    }
#undef TURN
}

/* Whether the numbers that one dtype becomes another by are these alone: NumPy's iterators convert others in parts. */
static int converts(DTypeCode from, DTypeCode to)
{
    switch (to) {
    case BOOL:
        return 1;
    case NX_INT64:
        return from == BOOL || is_signed(from);
    case NX_UINT64:
        return from == BOOL || is_unsigned(from);
    case FLOAT32:
        return is_float16(from);
    case FLOAT64:
        return from == BOOL || is_integer(from);
    default:
        return 0;
    }
}

int can_pack(DTypeCode from, DTypeCode to)
{
    return from == to || converts(from, to);
}

void pack(const char *data, DTypeCode from, int ndim, const npy_intp *shape,
          const npy_intp *strides, const npy_uint8 *order, DTypeCode to, char *out)
{
    const PyUFuncGenericFunction convert = from == to && from != BOOL ? NULL : cast_function(from, to);
    const npy_intp itemsize = dtypes[to].itemsize;
    npy_intp lengths[ARRAY_DIMS], steps[ARRAY_DIMS], index[ARRAY_DIMS];
    int dim;
    npy_intp *const all = steps;
    const npy_intp *const given = steps;
    for (int i = 0; i < ndim; i++) {
        lengths[ndim - 1 - i] = shape[order[i]];
        steps[ndim - 1 - i] = strides[order[i]];
        index[i] = 0;
    }
    const int last = merge_axes(ndim, lengths, 1, &given, lengths, &all) - 1;
    if (convert == NULL) {
        npy_intp dense[ARRAY_DIMS];
        AxisOrder merged;
        order_rows(last + 1, merged);
        dense_strides(last + 1, lengths, merged, itemsize, dense);
        copy_elements(last + 1, lengths, out, dense, data, steps, itemsize);
        return;
    }
    const npy_intp n = last >= 0 ? lengths[last] : 1, both[2] = {last >= 0 ? steps[last] : itemsize, itemsize};
    do {
        char *args[2] = {(char *)data, out};
        convert(args, &n, both, NULL);
        out += n * itemsize;
        dim = next_index(last, lengths, index);
        data += distance(dim, last, lengths, steps);
    } while (dim >= 0);
}

/* Copy elements, which are of the dtype `from`, as those of their own. As `order_elements`. */
static int pack_as(Ordered *elements, DTypeCode from)
{
    const npy_intp itemsize = dtypes[elements->code].itemsize;
    if (take_scratch(&elements->scratch, elements->size * itemsize) < 0) {
        return -1;
    }
    pack(elements->data, from, elements->ndim, elements->shape, elements->strides, elements->order, elements->code,
         elements->scratch.data);
    dense_strides(elements->ndim, elements->shape, elements->order, itemsize, elements->dense);
    elements->data = elements->scratch.data;
    elements->strides = elements->dense;
    return 0;
}

int order_elements(Ordered *elements, const Tensor *x, const char *data, DTypeCode code)
{
    elements->ndim = x->ndim;
    elements->code = code;
    elements->size = x->size;
    elements->data = data;
    elements->shape = x->shape;
    elements->strides = x->strides;
    elements->scratch.heap = NULL;
    order_axes(x->ndim, x->shape, x->strides, elements->order);
    return code == x->code ? 0 : pack_as(elements, (DTypeCode)x->code);
}

int pack_elements(Ordered *elements)
{
    return pack_as(elements, elements->code);
}
