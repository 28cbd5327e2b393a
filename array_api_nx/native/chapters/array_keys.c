/* Keys with index arrays and masks in them, whose elements are copied.

   Every position of the index arrays is turned into the distance of its region from the array's
   first element, before anything is read or written. So nothing is done if an index is out of
   range, and index arrays may share memory with the array. */

#include "array_keys.h"
#include "boxes.h"
#include "functions.h"
#include "keys.h"
#include "array_selection.h"
#include "masked_regions.h"
#include "masks.h"
#include "truth.h"

/* ------------------------------------------------------------------ positions */

/* Broadcast the shape of the selection's indices with another. 0 if that does not work, or if there
   are more positions than `most`. */
static int join_indices(Gather *selection, int ndim, const npy_intp *shape, npy_intp most)
{
    if (!broadcast_shape(&selection->ndim, selection->shape, ndim, shape)) {
        return 0;
    }
    selection->count = 1;
    for (int dim = 0; dim < selection->ndim; dim++) {
        const npy_intp size = selection->shape[dim];
        if (size > 0 && selection->count > most / size) {
            return 0;
        }
        selection->count *= size;
    }
    return 1;
}

/* Add the distances of the elements that a mask chose. */
static void add_chosen(Gather *selection, const Scratch *chosen, npy_intp found)
{
    npy_intp *offsets = selection->offsets;
    const npy_intp columns = selection->shape[selection->ndim - 1];
    for (npy_intp i = 0; i < selection->count; i += columns) {
        for (npy_intp column = 0; column < columns; column++) {
            offsets[i + column] += ((const npy_intp *)chosen->data)[found == 1 ? 0 : column];
        }
    }
}

/* The only array of a key holds integers. */
static int select_by_indices(const Tensor *x, const ArrayItem *item, Gather *selection)
{
    const Tensor *array = item->array;
    const char *data = data_of(item->array);
    if (data == NULL) {
        return 0;
    }
    if (take_offsets(selection, array->size) < 0) {
        return -1;
    }
    selection->ndim = array->ndim;
    selection->count = array->size;
    for (int dim = 0; dim < array->ndim; dim++) {
        selection->shape[dim] = array->shape[dim];
    }
    for (npy_intp i = 0; i < selection->count; i++) {
        selection->offsets[i] = selection->region.offset;
    }
    if (!add_indices(selection, array, data, x->shape[item->axis], x->strides[item->axis])) {
        free_scratch(&selection->memory);
        return 0;
    }
    return 1;
}

/* Several arrays, broadcast together. */
static int select_by_several(const Tensor *x, const ArrayItems *arrays, Gather *selection)
{
    Scratch chosen[INDEX_ARRAYS];
    npy_intp found[INDEX_ARRAYS];
    int masks = 0, done = 1;
    selection->ndim = 0;
    for (int i = 0; done == 1 && i < arrays->count; i++) {
        const Tensor *array = arrays->items[i].array;
        const char *data = array->size > limits.at_once ? NULL : data_of(arrays->items[i].array);
        if (data == NULL) {
            done = 0;
        } else if (array->code == BOOL) {
            found[masks] =
                find_chosen(array, data, x->strides + arrays->items[i].axis, &chosen[masks]);
            done = found[masks] < 0 ? -1 : join_indices(selection, 1, &found[masks], limits.at_once);
            masks += found[masks] >= 0;
        } else {
            done = join_indices(selection, array->ndim, array->shape, limits.at_once);
        }
    }
    if (done == 1 && take_offsets(selection, selection->count) < 0) {
        done = -1;
    }
    if (done == 1) {
        for (npy_intp i = 0; i < selection->count; i++) {
            selection->offsets[i] = selection->region.offset;
        }
        for (int i = 0, mask = 0; done == 1 && i < arrays->count; i++) {
            Tensor *array = arrays->items[i].array;
            const int axis = arrays->items[i].axis;
            if (array->code == BOOL) {
                add_chosen(selection, &chosen[mask], found[mask]);
                mask++;
            } else {
                done = add_indices(selection, array, data_of(array), x->shape[axis], x->strides[axis]);
            }
        }
        if (done != 1) {
            free_scratch(&selection->memory);
        }
    }
    while (masks > 0) {
        free_scratch(&chosen[--masks]);
    }
    return done;
}

/* 1 if the selection is found, whose memory the caller then frees; 0 if Python has to read the key; -1
   with an exception set. */
static int select_by_arrays(const Tensor *x, const ArrayItems *arrays, Gather *selection)
{
    const ArrayItem *first = &arrays->items[0];
    const int found =
        arrays->count > 1 ? select_by_several(x, arrays, selection) : select_by_indices(x, first, selection);
    if (found != 1) {
        return found;
    }
    /* Not too many elements, and not too many axes. */
    if (selection->count > limits.at_once || selection->region.size > limits.at_once ||
        selection->count * selection->region.size > limits.at_once ||
        selection->ndim + selection->region.ndim > ARRAY_DIMS) {
        free_scratch(&selection->memory);
        return 0;
    }
    return 1;
}

/* ------------------------------------------------------------------ copies */

/* The strides of NumPy's result. In its memory the axes of the index arrays come first, and then
   those of the region in the order of their strides in the array. Without a position NumPy steps
   nowhere. */
static void order_result(const Gather *selection, npy_intp *index_strides,
                         npy_intp *region_strides)
{
    const Region *region = &selection->region;
    int order[ARRAY_DIMS];
    for (int dim = 0; dim < region->ndim; dim++) {
        const npy_intp stride = region->strides[dim];
        int i = dim;
        for (; i > 0; i--) {
            const npy_intp before = region->strides[order[i - 1]];
            if ((before < 0 ? -before : before) >= (stride < 0 ? -stride : stride)) {
                break;
            }
            order[i] = order[i - 1];
        }
        order[i] = dim;
    }
    npy_intp step = selection->count == 0 ? 0 : region->itemsize;
    for (int i = region->ndim - 1; i >= 0; i--) {
        region_strides[order[i]] = step;
        step *= region->shape[order[i]];
    }
    step_by_rows(selection->ndim, selection->shape, step, index_strides);
}

/* Arrange what belongs to the axes of the index arrays, and to those of the region, as in the
   result. Returns how many axes that has. */
static int arrange(const Gather *selection, const npy_intp *of_indices,
                   const npy_intp *of_region, npy_intp *result)
{
    int dim = 0, axis = 0;
    while (axis < selection->place) {
        result[dim++] = of_region[axis++];
    }
    for (int i = 0; i < selection->ndim; i++) {
        result[dim++] = of_indices[i];
    }
    while (axis < selection->region.ndim) {
        result[dim++] = of_region[axis++];
    }
    return dim;
}

/* A new array for the selected elements, laid out as NumPy's result; NULL with an exception set if there is no memory. */
static PyObject *new_for_selected(const Tensor *x, const Gather *selection, npy_intp *index_strides, npy_intp *region_strides,
                                  char **copied)
{
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    const int ndim = arrange(selection, selection->shape, selection->region.shape, shape);
    PyObject *result = new_array_like_memory(ndim, shape, (DTypeCode)x->code, 0, copied);
    if (result == NULL) {
        return NULL;
    }
    order_result(selection, index_strides, region_strides);
    arrange(selection, index_strides, region_strides, strides);
    Tensor *tensor = tensor_of(result);
    int moved = 0;
    for (int dim = 0; dim < ndim; dim++) {
        moved = moved || tensor->strides[dim] != strides[dim];
        tensor->strides[dim] = strides[dim];
    }
    if (moved) {
        finish_layout(tensor, 0);
    }
    return result;
}

/* The elements whose offsets are known. */
static PyObject *copy_selected(const Tensor *x, char *data, const Gather *selection)
{
    npy_intp index_strides[ARRAY_DIMS], region_strides[ARRAY_DIMS];
    char *copied;
    PyObject *result = new_for_selected(x, selection, index_strides, region_strides, &copied);
    if (result != NULL) {
        move_selected(selection, data, copied, index_strides, region_strides, 0);
    }
    return result;
}

/* The elements that index arrays choose, one array for each of some axes; `copy` has the arrays. DECLINED if an index is out
   of range. */
static PyObject *copy_by_indices(const Tensor *x, char *data, const Gather *selection, IndexedCopy *copy)
{
    npy_intp index_strides[ARRAY_DIMS];
    PyObject *result = new_for_selected(x, selection, index_strides, copy->region_strides, &copy->copied);
    if (result == NULL || selection->count == 0) {
        return result;
    }
    set_to_zero(copy->along, selection->ndim);
    copy->data = data;
    copy->step = index_strides[selection->ndim - 1];
    return answer_if(copy_indexed(copy), result);
}

/* Index arrays, without masks beside them; DECLINED if Python has to read the key. */
static PyObject *take_by_indices(const Tensor *x, char *data, const ArrayItems *arrays, Gather *selection)
{
    const npy_intp most = MOST_ELEMENTS / selection->region.size;
    IndexedCopy copy;
    selection->ndim = 0;
    selection->count = 1;
    for (int i = 0; i < arrays->count; i++) {
        const Tensor *array = arrays->items[i].array;
        if (!join_indices(selection, array->ndim, array->shape, most)) {
            return DECLINED;
        }
    }
    if (selection->ndim + selection->region.ndim > ARRAY_DIMS) {
        return DECLINED;
    }
    copy.selection = selection;
    copy.count = 0;
    for (int i = 0; i < arrays->count; i++) {
        const int axis = arrays->items[i].axis;
        const char *where = data_of(arrays->items[i].array);
        if (where == NULL) {
            return decline_unless_raised();
        }
        add_index_array(&copy, arrays->items[i].array, where, x->shape[axis], x->strides[axis]);
    }
    return copy_by_indices(x, data, selection, &copy);
}

/* Masks of more elements are copied if they do not lie row-major, since they are read by words, and two times
   (docs/tuning.md, 172). */
enum { FEW_TRUTHS = 512 };

/* The mask itself, or a row-major copy of one that lies otherwise or shares memory with what is `written`, if that is not
   NULL. A new reference; NULL, perhaps with an exception set, if it has no memory yet. */
static Tensor *readable_mask(Tensor *mask, const Tensor *written, const char *data)
{
    const char *truths = data_of(mask);
    if (truths == NULL) {
        return NULL;
    }
    if ((mask->size <= FEW_TRUTHS || mask->flags & ROW_MAJOR) &&
        (written == NULL || !may_overlap(written, data, mask, truths))) {
        return (Tensor *)Py_NewRef(mask);
    }
    PyObject *copy = copy_into_shape(mask, mask->ndim, mask->shape);
    Tensor *tensor = is_answer(copy) ? (Tensor *)Py_NewRef(tensor_of(copy)) : NULL;
    drop_answer(copy);
    return tensor;
}

/* The regions for which a mask of some axes is true. */
static PyObject *take_by_mask(const Tensor *x, char *data, const ArrayItem *item, Gather *selection)
{
    npy_intp region_strides[ARRAY_DIMS], step = 0;
    MaskedRegions all;
    PyObject *result = NULL;
    Tensor *mask = readable_mask(item->array, NULL, NULL);
    if (mask == NULL) {
        return decline_unless_raised();
    }
    start_masked(&all, x, mask, data_of(mask), item->axis, &selection->region);
    selection->ndim = 1;
    selection->count = selection->shape[0] = count_masked(&all);
    if (selection->count >= 0) {
        result = new_for_selected(x, selection, &step, region_strides, &all.others);
    }
    all.data = data;
    all.step = step;
    all.region_strides = region_strides;
    all.write = 0;
    if (result != NULL && selection->count > 0 && move_masked(&all) < 0) {
        Py_CLEAR(result);
    }
    end_masked(&all);
    Py_DECREF(mask);
    return result;
}

/* Where the indices of the only axis lie, if they lie one after the other and there are some; else NULL. */
static const char *direct_indices(const Tensor *x, const ArrayItems *arrays, const Gather *selection)
{
    Tensor *indices = arrays->items[0].array;
    return arrays->count == 1 && selection->region.ndim == 0 && is_direct(x, indices) && indices->size > 0
               ? data_of(indices)
               : NULL;
}

/* The elements of a mask that names all axes of an array, if both lie row-major and C may go over it; else NULL. */
static const char *direct_mask(const Tensor *x, const ArrayItems *arrays, const Gather *selection)
{
    Tensor *mask = arrays->items[0].array;
    return arrays->count == 1 && mask->code == BOOL && selection->region.ndim == 0 && mask->ndim == x->ndim &&
                   mask->size > 1 && (x->flags & mask->flags & ROW_MAJOR)
               ? data_of(mask)
               : NULL;
}

static int has_mask(const ArrayItems *arrays)
{
    for (int i = 0; i < arrays->count; i++) {
        if (arrays->items[i].array->code == BOOL) {
            return 1;
        }
    }
    return 0;
}

static PyObject *compress(const Tensor *x, char *data, const char *mask)
{
    char *chosen;
    const npy_intp count = count_true(mask, x->size), itemsize = dtypes[x->code].itemsize;
    PyObject *result = new_array_like_memory(1, &count, (DTypeCode)x->code, 0, &chosen);
    if (result != NULL && run_masked(COMPRESS, data, itemsize, mask, x->size, chosen, count) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* x[mask] = value; 0 if that is left to the general case; -1 with an exception set. */
static int write_by_mask(const Tensor *x, char *data, const char *mask, PyObject *value)
{
    const npy_intp itemsize = dtypes[x->code].itemsize;
    Element element;
    const char *source;
    if (!is_array(value)) {
        if (!write_scalar(element.bytes, (DTypeCode)x->code, value)) {
            return 0;
        }
        return run_masked(ASSIGN, data, itemsize, mask, x->size, element.bytes, 0) < 0 ? -1 : 1;
    }
    Tensor *given = layout_of(value);
    if (given == NULL || given->code != x->code || given->ndim != 1 || given->size < 2 ||
        !(given->flags & ROW_MAJOR) || (source = data_of(given)) == NULL || may_overlap(x, data, given, source) ||
        given->size != count_true(mask, x->size)) {
        return 0;
    }
    return run_masked(EXPAND, data, itemsize, mask, x->size, (char *)source, given->size) < 0 ? -1 : 1;
}

static PyObject *get_held(Tensor *x, const ArrayItems *arrays, Gather *selection)
{
    char *data = data_of(x);
    const char *where;
    if (data == NULL) {
        return DECLINED;
    }
    if ((where = direct_indices(x, arrays, selection)) != NULL) {
        return take_directly(x, data, arrays->items[0].array, where);
    }
    if ((where = direct_mask(x, arrays, selection)) != NULL) {
        return compress(x, data, where);
    }
    if (selection->region.size == 0 || selection->region.ndim == ARRAY_DIMS) {
        return DECLINED; /* the axes of the index arrays would be too many */
    }
    if (!has_mask(arrays)) {
        return take_by_indices(x, data, arrays, selection);
    }
    if (arrays->count == 1) {
        return take_by_mask(x, data, &arrays->items[0], selection);
    }
    const int found = select_by_arrays(x, arrays, selection);
    if (found != 1) {
        return found < 0 ? NULL : DECLINED;
    }
    PyObject *result = copy_selected(x, data, selection);
    free_scratch(&selection->memory);
    return result;
}

/* Keep the arrays of a key, and the array that it is of, while memory is found and threads are counted: both may run
   finalisers, which could take them from where they are. */
static void hold_arrays(Tensor *x, const ArrayItems *arrays)
{
    Py_INCREF(x);
    for (int i = 0; i < arrays->count; i++) {
        Py_INCREF(arrays->items[i].array);
    }
}

static void let_go_of_arrays(Tensor *x, const ArrayItems *arrays)
{
    Py_DECREF(x);
    for (int i = 0; i < arrays->count; i++) {
        Py_DECREF(arrays->items[i].array);
    }
}

PyObject *get_by_arrays(Tensor *x, const ArrayItems *arrays, Gather *selection)
{
    hold_arrays(x, arrays);
    PyObject *result = get_held(x, arrays, selection);
    let_go_of_arrays(x, arrays);
    return result;
}

/* The strides of a value along the axes of the result. 0 if it does not broadcast to these. */
static int broadcast_value(const Gather *selection, const Tensor *value, npy_intp *index_strides,
                           npy_intp *region_strides)
{
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    const int ndim = arrange(selection, selection->shape, selection->region.shape, shape);
    if (ndim < value->ndim || !broadcast_strides(ndim, shape, value->ndim, value->shape, value->strides,
                                                 strides)) {
        return 0;
    }
    const int place = selection->place;
    for (int dim = 0; dim < selection->ndim; dim++) {
        index_strides[dim] = strides[place + dim];
    }
    for (int dim = 0; dim < selection->region.ndim; dim++) {
        region_strides[dim] = strides[dim < place ? dim : dim + selection->ndim];
    }
    return 1;
}

/* What is written to the selected elements. */
typedef struct {
    Element element; /* that of a value which is one element */
    char *data;
    npy_intp index_strides[ARRAY_DIMS], region_strides[ARRAY_DIMS];
} Written;

/* Find out what a value writes, and in which steps. 0 if that is left to Python. Of a selection without elements nothing is
   to be written. */
static int read_value(const Tensor *x, const char *data, const Gather *selection, PyObject *value, Written *written)
{
    written->data = written->element.bytes;
    if (!is_array(value)) {
        set_to_zero(written->index_strides, selection->ndim);
        set_to_zero(written->region_strides, selection->region.ndim);
        return write_scalar(written->element.bytes, (DTypeCode)x->code, value);
    }
    Tensor *given = layout_of(value);
    char *source = given == NULL ? NULL : data_of(given);
    if (source == NULL || given->code != x->code ||
        !broadcast_value(selection, given, written->index_strides, written->region_strides)) {
        return 0;
    }
    if (given->size == 1) {
        copy_element(written->element.bytes, source, selection->region.itemsize);
        return 1;
    }
    written->data = source;
    return selection->count == 0 || selection->region.size == 0 || !may_overlap(x, data, given, source);
}

static int write_selected(const Tensor *x, char *data, const Gather *selection, PyObject *value)
{
    Written written;
    if (!read_value(x, data, selection, value, &written)) {
        return 0;
    }
    move_selected(selection, data, written.data, written.index_strides, written.region_strides, 1);
    return 1;
}

/* x[mask] = value for a mask of some axes. */
static int write_masked(const Tensor *x, char *data, const ArrayItem *item, Gather *selection, PyObject *value)
{
    MaskedRegions all;
    Written written;
    Tensor *mask = readable_mask(item->array, x, data);
    if (mask == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    start_masked(&all, x, mask, data_of(mask), item->axis, &selection->region);
    selection->ndim = 1;
    selection->count = selection->shape[0] = is_array(value) ? count_masked(&all) : 1;
    int done = selection->count < 0 ? -1 : read_value(x, data, selection, value, &written);
    if (done == 1 && selection->count > 0 && selection->region.size > 0) {
        all.data = data;
        all.others = written.data;
        all.step = written.index_strides[0];
        all.region_strides = written.region_strides;
        all.write = 1;
        done = move_masked(&all) < 0 ? -1 : 1;
    }
    end_masked(&all);
    Py_DECREF(mask);
    return done;
}

/* x[indices] = value for indices of the only axis. */
static int write_directly(const Tensor *x, char *data, const Tensor *indices, const char *where,
                          PyObject *value)
{
    const npy_intp itemsize = dtypes[x->code].itemsize;
    Element element;
    char *source = element.bytes;
    npy_intp step = 0;
    if (!is_array(value)) {
        if (!write_scalar(element.bytes, (DTypeCode)x->code, value)) {
            return 0;
        }
    } else {
        Tensor *given = layout_of(value);
        if (given == NULL || given->code != x->code || given->ndim > 1 ||
            (given->ndim == 1 && given->shape[0] != indices->size) ||
            (source = data_of(given)) == NULL) {
            return 0;
        }
        if (given->ndim == 0) {
            copy_element(element.bytes, source, itemsize);
            source = element.bytes;
        } else {
            step = given->strides[0];
            if (may_overlap(x, data, given, source)) {
                return 0;
            }
        }
    }
    return move_by_indices((const npy_int64 *)where, indices->size, data, x->shape[0],
                           x->strides[0], itemsize, source, step, 1);
}

static int set_held(Tensor *x, char *data, const ArrayItems *arrays, Gather *selection, PyObject *value)
{
    const Tensor *indices = arrays->items[0].array;
    const char *where = indices->ndim == 1 ? direct_indices(x, arrays, selection) : NULL;
    if (where != NULL && !may_overlap(x, data, indices, where)) {
        return write_directly(x, data, indices, where, value);
    }
    where = direct_mask(x, arrays, selection);
    if (where != NULL && !may_overlap(x, data, indices, where)) {
        const int done = write_by_mask(x, data, where, value);
        if (done != 0) {
            return done;
        }
    }
    if (selection->region.ndim == ARRAY_DIMS) {
        return 0;
    }
    if (arrays->count == 1 && indices->code == BOOL) {
        return write_masked(x, data, &arrays->items[0], selection, value);
    }
    const int found = select_by_arrays(x, arrays, selection);
    if (found != 1) {
        return found;
    }
    const int written = write_selected(x, data, selection, value);
    free_scratch(&selection->memory);
    return written;
}

int set_by_arrays(Tensor *x, char *data, const ArrayItems *arrays, Gather *selection, PyObject *value)
{
    hold_arrays(x, arrays);
    const int done = set_held(x, data, arrays, selection, value);
    let_go_of_arrays(x, arrays);
    return done;
}
