/* How elements of any layout are laid one after the other. */

#include "pack.h"
#include "elements.h"
#include "loops.h"
#include "nest.h"
#include "sizes.h"

/* ------------------------------------------------------------------ orders of axes */

/* NumPy inserts one axis after the other, the last first, before those that it finds to be
   slower. An axis of one element, or of elements that are all the same one, cannot be compared
   with others: it is passed by. (For casts NumPy compares these, too: see `order_of_cast` in
   conversion.c.) */
void order_axes(int ndim, const npy_intp *shape, const npy_intp *strides, npy_uint8 *order)
{
    order_rows(ndim, order);
    for (int i = 1; i < ndim; i++) {
        const npy_uint8 axis = order[i];
        const npy_intp stride = shape[axis] > 1 ? magnitude(strides[axis]) : 0;
        int place = i;
        for (int j = i - 1; stride != 0 && j >= 0; j--) {
            const npy_intp other = shape[order[j]] > 1 ? magnitude(strides[order[j]]) : 0;
            if (other == 0) {
                continue;
            }
            if (other <= stride) {
                break;
            }
            place = j;
        }
        memmove(order + place + 1, order + place, (size_t)(i - place));
        order[place] = axis;
    }
}

void dense_strides(int ndim, const npy_intp *shape, const npy_uint8 *order, npy_intp itemsize,
                   npy_intp *strides)
{
    npy_intp stride = itemsize;
    for (int i = 0; i < ndim; i++) {
        strides[order[i]] = stride;
        stride *= shape[order[i]];
    }
}

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
    }
#undef TURN
}

/* Converts `n` elements that lie `stride` bytes apart. */
typedef void (*RowConversion)(const char *from, npy_intp stride, npy_intp n, char *to);

/* The compiler makes vector instructions of the first loop. */
#define CONVERSION(NAME, FROM, TO, EXPRESSION)                                   \
    static void NAME(const char *from, npy_intp stride, npy_intp n, char *to)           \
    {                                                                                   \
        TO *target = (TO *)to;                                                          \
        if (stride == (npy_intp)sizeof(FROM)) {                               \
            for (npy_intp i = 0; i < n; i++) {                                          \
                const FROM *x = (const FROM *)from + i;                         \
                target[i] = (TO)(EXPRESSION);                                           \
            }                                                                           \
            return;                                                                     \
        }                                                                               \
        for (npy_intp i = 0; i < n; i++) {                                              \
            const FROM *x = (const FROM *)(from + i * stride);                          \
            target[i] = (TO)(EXPRESSION);                                               \
        }                                                                               \
    }

#define WIDEN_SIGNED(CODE, TYPE, ...) CONVERSION(widen_##CODE, TYPE, npy_int64, *x)
#define WIDEN_UNSIGNED(CODE, TYPE, ...) CONVERSION(widen_##CODE, TYPE, npy_uint64, *x)
#define MAKE_FLOAT(CODE, TYPE, ...) CONVERSION(float_##CODE, TYPE, npy_double, *x)
#define TEST(CODE, TYPE, ...) CONVERSION(test_##CODE, TYPE, npy_bool, IS_TRUE(*x))
CONVERSION(widen_BOOL, npy_bool, npy_int64, truth_of(*x))
CONVERSION(float_BOOL, npy_bool, npy_double, truth_of(*x))
EACH_SIGNED(WIDEN_SIGNED)
EACH_UNSIGNED(WIDEN_UNSIGNED)
EACH_INTEGER(MAKE_FLOAT)
EACH_DTYPE(TEST)

#define WIDENING(CODE, ...) [CODE] = widen_##CODE,
#define FLOAT_CONVERSION(CODE, ...) [CODE] = float_##CODE,
#define TESTS(CODE, ...) [CODE] = test_##CODE,
static const RowConversion widenings[DTYPE_COUNT] = {EACH_BOOL(WIDENING) EACH_INTEGER(WIDENING)};
static const RowConversion float_conversions[DTYPE_COUNT] = {
    EACH_BOOL(FLOAT_CONVERSION) EACH_INTEGER(FLOAT_CONVERSION)};
static const RowConversion tests[DTYPE_COUNT] = {EACH_DTYPE(TESTS)};

#define WIDEN_HALF(CODE, ...)                                                            \
    static void single_##CODE(const char *from, npy_intp stride, npy_intp n, char *to)   \
    {                                                                                    \
        char *args[2] = {(char *)from, to};                                              \
        const npy_intp steps[2] = {stride, sizeof(npy_float)};                           \
        cast_function(CODE, FLOAT32)(args, &n, steps, NULL);                             \
    }
EACH_HALF(WIDEN_HALF)
#define SINGLE_CONVERSION(CODE, ...) [CODE] = single_##CODE,
static const RowConversion single_conversions[DTYPE_COUNT] = {EACH_HALF(SINGLE_CONVERSION)};

static RowConversion find_conversion(DTypeCode from, DTypeCode to)
{
    switch (to) {
    case BOOL:
        return tests[from];
    case NX_INT64:
        return is_unsigned(from) ? NULL : widenings[from];
    case NX_UINT64:
        return is_signed(from) ? NULL : widenings[from];
    case FLOAT32:
        return single_conversions[from];
    case FLOAT64:
        return float_conversions[from];
    default:
        return NULL;
    }
}

int can_pack(DTypeCode from, DTypeCode to)
{
    return from == to || find_conversion(from, to) != NULL;
}

void pack(const char *data, DTypeCode from, int ndim, const npy_intp *shape,
          const npy_intp *strides, const npy_uint8 *order, DTypeCode to, char *out)
{
    const RowConversion convert =
        from == to && from != BOOL ? NULL : find_conversion(from, to);
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
    const npy_intp n = last >= 0 ? lengths[last] : 1, step = last >= 0 ? steps[last] : itemsize;
    do {
        convert(data, step, n, out);
        out += n * itemsize;
        dim = next_index(last, lengths, index);
        data += distance(dim, last, lengths, steps);
    } while (dim >= 0);
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
    if (code == x->code) {
        return 0;
    }
    const npy_intp itemsize = dtypes[code].itemsize;
    if (take_scratch(&elements->scratch, x->size * itemsize) < 0) {
        return -1;
    }
    pack(data, (DTypeCode)x->code, x->ndim, x->shape, x->strides, elements->order, code,
         elements->scratch.data);
    dense_strides(x->ndim, x->shape, elements->order, itemsize, elements->dense);
    elements->data = elements->scratch.data;
    elements->strides = elements->dense;
    return 0;
}
