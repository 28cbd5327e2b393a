#include "array_selection.h"
#include "compiler.h"
#include "copies.h"
#include "keys.h"
#include "threads.h"

/* Unsigned, because an index that is out of range may give any product. */
static inline npy_intp add_product(npy_intp offset, npy_int64 position, npy_intp stride)
{
    return (npy_intp)((npy_uintp)offset + (npy_uintp)position * (npy_uintp)stride);
}

/* One row of index arrays. Its numbers are local variables, which the compiler keeps in registers: it
   cannot know that the offsets, which are written, are no strides. */
static inline int add_row(npy_intp *offsets, npy_intp columns, const char *row, npy_intp step,
                          DTypeCode code, npy_intp size, npy_intp stride, npy_intp base,
                          npy_intp along)
{
    npy_intp outside = 0;
    if (code == NX_INT64 && step == (npy_intp)sizeof(npy_int64)) {
        const npy_int64 *positions = (const npy_int64 *)row;
        for (npy_intp column = 0; column < columns; column++, base += along) {
            npy_int64 position = positions[column];
            position += position < 0 ? size : 0;
            outside |= position < 0 || position >= size;
            offsets[column] = add_product(offsets[column] + base, position, stride);
        }
        return !outside;
    }
    for (npy_intp column = 0; column < columns; column++, base += along, row += step) {
        npy_int64 position = read_integer(row, code);
        position += position < 0 ? size : 0;
        outside |= position < 0 || position >= size;
        offsets[column] = add_product(offsets[column] + base, position, stride);
    }
    return !outside;
}

/* The steps of an index array along the axes of a selection to whose shape it broadcasts. */
static void broadcast_steps(const Gather *selection, const Tensor *indices, npy_intp *steps)
{
    const int missing = selection->ndim - indices->ndim;
    for (int dim = 0; dim < selection->ndim; dim++) {
        const int axis = dim - missing;
        steps[dim] = axis < 0 || indices->shape[axis] == 1 ? 0 : indices->strides[axis];
    }
}

int add_indices(Gather *selection, const Tensor *indices, const char *data, npy_intp size, npy_intp stride)
{
    const int last = selection->ndim - 1;
    npy_intp strides[ARRAY_DIMS], index[ARRAY_DIMS];
    npy_intp *offsets = selection->offsets;
    int dim;
    broadcast_steps(selection, indices, strides);
    set_to_zero(index, selection->ndim);
    if (selection->count == 0) {
        return 1;
    }
    do {
        if (!add_row(offsets, selection->shape[last], data, strides[last],
                     (DTypeCode)indices->code, size, stride, 0, 0)) {
            return 0;
        }
        offsets += selection->shape[last];
        dim = next_index(last, selection->shape, index);
        data += distance(dim, last, selection->shape, strides);
    } while (dim >= 0);
    return 1;
}

/* Whether all indices are in range. */
CLONED(static, int, are_inside, (const npy_int64 *indices, npy_intp count, npy_intp size),
       (indices, count, size))
{
    npy_int64 outside = 0;
    for (npy_intp i = 0; i < count; i++) {
        outside |= (indices[i] < -size) | (indices[i] >= size);
    }
    return !outside;
}

/* What M, a macro that returns, does for a size of elements that the compiler knows. */
#define BY_SIZE(ITEMSIZE, M) \
    switch (ITEMSIZE) {      \
    case 8:                  \
        M(8)                 \
    case 4:                  \
        M(4)                 \
    case 1:                  \
        M(1)                 \
    case 2:                  \
        M(2)                 \
    default:                 \
        M(16)                \
    }

int move_by_indices(const npy_int64 *indices, npy_intp count, char *data, npy_intp size,
                    npy_intp stride, npy_intp itemsize, char *others, npy_intp step, int write)
{
    if (write && !are_inside(indices, count, size)) {
        return 0;
    }
    /* Each index is looked at where it is used, as another thread may write to the indices. */
#define MOVE(SIZE, TO, FROM, STEP)                                                     \
    for (npy_intp i = 0; i < count; i++) {                                             \
        npy_int64 position = indices[i];                                               \
        position += position < 0 ? size : 0;                                           \
        if ((npy_uint64)position >= (npy_uint64)size) {                                \
            return 0;                                                                  \
        }                                                                              \
        char *mine = data + (npy_intp)position * stride, *other = others + i * (STEP); \
        memcpy(TO, FROM, SIZE);                                                        \
    }                                                                                  \
    return 1;
#define MOVE_EITHER(SIZE)                                                              \
    if (write) {                                                                       \
        MOVE(SIZE, mine, other, step)                                                  \
    }                                                                                  \
    if (stride == (SIZE) && step == (SIZE)) {                                          \
        stride = SIZE;                                                                 \
        MOVE(SIZE, other, mine, SIZE)                                                  \
    }                                                                                  \
    MOVE(SIZE, other, mine, step)
    BY_SIZE(itemsize, MOVE_EITHER)
#undef MOVE_EITHER
#undef MOVE
}

/* ------------------------------------------------------------------ masks */

npy_intp find_chosen(const Tensor *mask, const char *data, const npy_intp *array_strides,
                     Scratch *offsets)
{
    npy_intp shape[ARRAY_DIMS], steps[ARRAY_DIMS], others[ARRAY_DIMS];
    npy_intp index[ARRAY_DIMS], base = 0, count = 0;
    const npy_intp *const given[2] = {mask->strides, array_strides};
    npy_intp *const merged[2] = {steps, others};
    int dim;
    if (take_scratch(offsets, mask->size * (npy_intp)sizeof(npy_intp)) < 0) {
        return -1;
    }
    npy_intp *values = (npy_intp *)offsets->data;
    if (mask->size == 0) {
        return 0;
    }
    const int last = merge_axes(mask->ndim, mask->shape, 2, given, shape, merged) - 1;
    if (last < 0) {
        values[0] = 0;
        return *data != 0;
    }
    set_to_zero(index, last);
    const npy_intp columns = shape[last], step = steps[last], gap = others[last];
    do {
        const char *row = data;
        npy_intp value = base;
        for (npy_intp column = 0; column < columns; column++, row += step, value += gap) {
            /* Written in any case, which is faster than to ask first. */
            values[count] = value;
            count += *row != 0;
        }
        dim = next_index(last, shape, index);
        data += distance(dim, last, shape, steps);
        base += distance(dim, last, shape, others);
    } while (dim >= 0);
    return count;
}

/* ------------------------------------------------------------------ elements */

/* The most bytes in a row of a target for which a value is repeated in a buffer once, and the buffer copied to each row. */
enum { REPEATED_BYTES = 512 };

/* Single elements: no axis remains but those of the index arrays. */
static void move_single(const Gather *selection, char *data, char *others, npy_intp step,
                        const npy_intp *offsets, npy_intp count, int write)
{
    const npy_intp itemsize = selection->region.itemsize;
#define MOVE(SIZE)                                                                     \
    if (write) {                                                                       \
        for (npy_intp i = 0; i < count; i++) {                                         \
            memcpy(data + offsets[i], others + i * step, SIZE);                        \
        }                                                                              \
    } else {                                                                           \
        for (npy_intp i = 0; i < count; i++) {                                         \
            memcpy(others + i * step, data + offsets[i], SIZE);                        \
        }                                                                              \
    }                                                                                  \
    return;
    BY_SIZE(itemsize, MOVE)
#undef MOVE
}

/* Rows of elements that lie one after the other, on both sides. */
static void move_rows(char *data, char *others, npy_intp step, const npy_intp *offsets, npy_intp count,
                      npy_intp bytes, int write)
{
    enum { WORD = 16, LONG = 512 }; /* the C library copies long rows faster */
    for (npy_intp i = 0; i < count; i++) {
        char *const mine = data + offsets[i], *const other = others + i * step;
        char *const to = write ? mine : other, *const from = write ? other : mine;
        if (bytes < WORD || bytes > LONG) {
            memcpy(to, from, (size_t)bytes);
            continue;
        }
        for (npy_intp done = 0; done < bytes - WORD; done += WORD) {
            memcpy(to + done, from + done, WORD);
        }
        memcpy(to + bytes - WORD, from + bytes - WORD, WORD);
    }
}

/* Rows of fewer elements that lie apart are moved one column after the other. */
enum { FEW_APART = 4 };

/* Rows of elements that lie apart, on one of the sides at least. */
static void move_rows_apart(char *data, npy_intp gap, char *others, npy_intp other_gap, npy_intp step, const npy_intp *offsets,
                            npy_intp count, npy_intp length, npy_intp itemsize, int write)
{
#define MOVE(SIZE)                                                                                            \
    for (npy_intp i = 0; i < count; i++) {                                                                    \
        char *const mine = data + offsets[i], *const other = others + i * step;                               \
        char *const to = write ? mine : other, *const from = write ? other : mine;                            \
        const npy_intp to_gap = write ? gap : other_gap, from_gap = write ? other_gap : gap;                  \
        for (npy_intp k = 0; k < length; k++) {                                                               \
            memcpy(to + k * to_gap, from + k * from_gap, SIZE);                                               \
        }                                                                                                     \
    }                                                                                                         \
    return;
    BY_SIZE(itemsize, MOVE)
#undef MOVE
}

void move_selected(const Gather *selection, char *data, char *others,
                   const npy_intp *index_strides, const npy_intp *region_strides, int write)
{
    const npy_intp itemsize = selection->region.itemsize;
    const int last = selection->ndim - 1;
    npy_intp index[ARRAY_DIMS], shape[ARRAY_DIMS], mine_strides[ARRAY_DIMS], other_strides[ARRAY_DIMS];
    npy_intp place = 0;
    int dim;
    const npy_intp *offsets = selection->offsets;
    const npy_intp *const given[2] = {selection->region.strides, region_strides};
    npy_intp *const merged[2] = {mine_strides, other_strides};
    if (selection->count == 0 || selection->region.size == 0) {
        return;
    }
    const int ndim = merge_axes(selection->region.ndim, selection->region.shape, 2, given, shape, merged);
    const npy_intp bytes = ndim == 1 ? shape[0] * itemsize : 0;
    char row[REPEATED_BYTES];
    if (ndim == 1 && write && other_strides[0] == 0 && bytes <= REPEATED_BYTES) {
        int is_one = 1;
        for (dim = 0; dim <= last; dim++) {
            is_one = is_one && index_strides[dim] == 0;
        }
        if (is_one) { /* a row of the element is written as other rows are */
            memcpy(row, others, (size_t)itemsize);
            repeat_bytes(row, itemsize, bytes);
            others = row;
            other_strides[0] = itemsize;
        }
    }
    set_to_zero(index, selection->ndim);
    const npy_intp columns = last < 0 ? 1 : selection->shape[last];
    const npy_intp step = last < 0 ? 0 : index_strides[last];
    do {
        if (ndim == 0) {
            move_single(selection, data, others + place, step, offsets, columns, write);
        } else if (ndim == 1 && mine_strides[0] == itemsize && other_strides[0] == itemsize) {
            move_rows(data, others + place, step, offsets, columns, bytes, write);
        } else if (ndim == 1 && shape[0] >= FEW_APART && (write || step >= other_strides[0])) {
            move_rows_apart(data, mine_strides[0], others + place, other_strides[0], step, offsets, columns, shape[0],
                            itemsize, write);
        } else if (ndim == 1 && (shape[0] < columns || step < other_strides[0]) && mine_strides[0] != itemsize) {
            for (npy_intp i = 0; i < shape[0]; i++) {
                move_single(selection, data + i * mine_strides[0], others + place + i * other_strides[0], step,
                            offsets, columns, write);
            }
        } else {
            for (npy_intp column = 0; column < columns; column++) {
                char *mine = data + offsets[column], *other = others + place + column * step;
                copy_elements(ndim, shape, write ? mine : other, write ? mine_strides : other_strides,
                              write ? other : mine, write ? other_strides : mine_strides, itemsize);
            }
        }
        offsets += columns;
        dim = next_index(last, selection->shape, index);
        place += distance(dim, last, selection->shape, index_strides);
    } while (dim >= 0);
}

/* ------------------------------------------------------------------ copies */

void add_index_array(IndexedCopy *copy, const Tensor *indices, const char *data, npy_intp size, npy_intp stride)
{
    const int number = copy->count++;
    copy->arrays[number].data = data;
    copy->arrays[number].code = (DTypeCode)indices->code;
    copy->arrays[number].size = size;
    copy->arrays[number].stride = stride;
    broadcast_steps(copy->selection, indices, copy->arrays[number].steps);
}

/* Elements that a thread copies at a time, if each position has fewer. */
enum { COPIED_AT_ONCE = 1 << 15 };

/* Find the offsets of `count` positions in a row. 0 if an index is out of range. */
static int find_offsets(const IndexedCopy *copy, const char *const *data, npy_intp base, npy_intp *offsets, npy_intp count)
{
    const int last = copy->selection->ndim - 1; /* there is an axis, since index arrays have some */
    memset(offsets, 0, (size_t)count * sizeof(*offsets));
    for (int i = 0; i < copy->count; i++) {
        if (!add_row(offsets, count, data[i], copy->arrays[i].steps[last], copy->arrays[i].code, copy->arrays[i].size,
                     copy->arrays[i].stride, i == 0 ? base : 0, i == 0 ? copy->along[last] : 0)) {
            return 0;
        }
    }
    return 1;
}

static void copy_part(const void *parts, npy_intp number, char *scratch)
{
    IndexedCopy *const copy = (IndexedCopy *)parts;
    const Gather *selection = copy->selection;
    const int last = selection->ndim - 1;
    const npy_intp columns = selection->shape[last];
    npy_intp position = number * copy->part, offsets[FOUND_TOGETHER], index[ARRAY_DIMS];
    const npy_intp end = least(position + copy->part, selection->count);
    npy_intp base = selection->region.offset, left = position;
    const char *data[INDEX_ARRAYS];
    Gather found;
    select_offsets(&found, offsets, &selection->region);
    for (int i = 0; i < copy->count; i++) {
        data[i] = copy->arrays[i].data;
    }
    set_to_zero(index, selection->ndim);
    for (int dim = last; dim >= 0 && left > 0; dim--) {
        index[dim] = left % selection->shape[dim];
        left /= selection->shape[dim];
        base += index[dim] * copy->along[dim];
        for (int i = 0; i < copy->count; i++) {
            data[i] += index[dim] * copy->arrays[i].steps[dim];
        }
    }
    while (position < end && !copy->is_outside) {
        const npy_intp most = least(FOUND_TOGETHER, end - position);
        npy_intp count = 0;
        while (count < most) {
            const npy_intp column = index[last], run = least(columns - column, most - count);
            if (!find_offsets(copy, data, base, offsets + count, run)) {
                copy->is_outside = 1;
                return;
            }
            count += run;
            if (count == most && column + run < columns) { /* the rest of the row is for the next time */
                index[last] += run;
                base += run * copy->along[last];
                for (int i = 0; i < copy->count; i++) {
                    data[i] += run * copy->arrays[i].steps[last];
                }
            } else {
                index[last] = 0;
                const int dim = next_index(last, selection->shape, index);
                base += distance(dim, last, selection->shape, copy->along) - column * copy->along[last];
                for (int i = 0; i < copy->count; i++) {
                    const npy_intp *steps = copy->arrays[i].steps;
                    data[i] += distance(dim, last, selection->shape, steps) - column * steps[last];
                }
            }
        }
        found.count = found.shape[0] = count;
        move_selected(&found, copy->data, copy->copied + position * copy->step, &copy->step, copy->region_strides, 0);
        position += count;
    }
}

int copy_indexed(IndexedCopy *copy)
{
    const npy_intp count = copy->selection->count, size = copy->selection->region.size;
    atomic_init(&copy->is_outside, 0);
    copy->part = size == 1 ? COPIED_AT_ONCE : greatest(COPIED_AT_ONCE / size, 1);
    const npy_intp parts = count <= copy->part ? 1 : (count - 1) / copy->part + 1;
    return run_in_parts(copy_part, copy, parts) ? !copy->is_outside : -1;
}
