/* Keys with index arrays and masks in them: what they select is copied.

   Every position of the index arrays is turned into the distance of its region from the array's
   first element, before anything is read or written. So nothing is done if an index is out of
   range, and index arrays may share memory with the array. */

#include "array_keys.h"
#include "functions.h"
#include "keys.h"
#include "array_selection.h"

/* Keys with more index arrays are left to Python. */
enum { INDEX_ARRAYS = 6 };

/* ------------------------------------------------------------------ keys */

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

static int fits_mask(const Tensor *x, int axis, const Tensor *mask)
{
    if (mask->size > limits.at_once || axis + mask->ndim > x->ndim) {
        return 0;
    }
    for (int dim = 0; dim < mask->ndim; dim++) {
        if (mask->shape[dim] != x->shape[axis + dim]) {
            return 0;
        }
    }
    return 1;
}

/* How many axes an item takes. */
static int count_axes(PyObject *item, ItemKind kind)
{
    if (kind == ITEM_ARRAY) {
        const Tensor *array = (Tensor *)((Array *)item)->handle;
        return array->code == BOOL ? array->ndim : 1;
    }
    return kind == ITEM_INT || kind == ITEM_SLICE;
}

/* Whether C knows the order in which NumPy goes over an index array. Before it writes, Python has
   it made row-major. */
static int fits_indices(const Tensor *indices, int write)
{
    return is_integer(indices->code) &&
           (write || (indices->flags & ROW_MAJOR)) && indices->size <= limits.at_once;
}

/* Sort the items of a key: what its arrays are, and which region the others leave. 0 if Python has
   to look at it. */
static int parse_key(const Tensor *x, PyObject *key, int write, ArrayItems *arrays,
                     Selection *selection)
{
    Py_ssize_t count;
    PyObject *const *items = items_of(&key, &count);
    int named = 0, whole = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        const ItemKind kind = kind_of_item(items[i]);
        if (kind == ITEM_OTHER) {
            return 0;
        }
        named += count_axes(items[i], kind);
        whole += kind == ITEM_ELLIPSIS;
    }
    if (named > x->ndim || whole > 1) {
        return 0;
    }
    Region *region = &selection->region;
    start_region(region, x);
    arrays->count = 0;
    /* The axes of ints and arrays that stand side by side come where these stand; otherwise they
       come first. */
    int axis = 0, groups = 0, grouped_at = -1;
    selection->place = 0;
    for (Py_ssize_t i = 0; i < count + (whole == 0); i++) {
        PyObject *item = i < count ? items[i] : Py_Ellipsis;
        const ItemKind kind = kind_of_item(item);
        int fits = 1;
        if (kind == ITEM_INT || kind == ITEM_ARRAY) {
            if (grouped_at != region->ndim) {
                selection->place = groups++ == 0 ? region->ndim : 0;
                grouped_at = region->ndim;
            }
        }
        if (kind == ITEM_ELLIPSIS) {
            for (int kept = x->ndim - named; fits && kept > 0; kept--, axis++) {
                fits = add_axis(region, x->shape[axis], x->strides[axis]);
            }
        } else if (kind == ITEM_NONE) {
            fits = add_axis(region, 1, 0);
        } else if (kind == ITEM_SLICE) {
            fits = take_slice(region, item, x->shape[axis], x->strides[axis]);
        } else if (kind == ITEM_INT) {
            fits = take_int(region, item, x->shape[axis], x->strides[axis]);
        } else {
            Tensor *array = layout_of(item);
            fits = arrays->count < INDEX_ARRAYS &&
                   (array->code == BOOL ? fits_mask(x, axis, array) : fits_indices(array, write));
            if (fits) {
                arrays->items[arrays->count++] = (ArrayItem){array, axis};
            }
        }
        axis += kind == ITEM_ELLIPSIS ? 0 : count_axes(item, kind);
        if (!fits) {
            return 0;
        }
    }
    return 1;
}

/* `parse_key` for the most frequent key, a single array. */
static int parse_array(const Tensor *x, PyObject *key, int write, ArrayItems *arrays,
                       Selection *selection)
{
    Tensor *array = layout_of(key);
    Region *region = &selection->region;
    if (array == NULL || x->ndim == 0 ||
        !(array->code == BOOL ? fits_mask(x, 0, array) : fits_indices(array, write))) {
        return 0;
    }
    arrays->count = 1;
    arrays->items[0] = (ArrayItem){array, 0};
    start_region(region, x);
    selection->place = 0;
    for (int axis = array->code == BOOL ? array->ndim : 1; axis < x->ndim; axis++) {
        add_axis(region, x->shape[axis], x->strides[axis]);
    }
    return 1;
}

/* Broadcast the shape of the selection's indices with another. 0 if that does not work, or if there
   are too many positions. */
static int join_indices(Selection *selection, int ndim, const npy_intp *shape)
{
    const int surplus = ndim - selection->ndim;
    if (surplus > 0) {
        memmove(selection->shape + surplus, selection->shape,
                (size_t)selection->ndim * sizeof(npy_intp));
        for (int dim = 0; dim < surplus; dim++) {
            selection->shape[dim] = 1;
        }
        selection->ndim = ndim;
    }
    npy_intp *sizes = selection->shape + selection->ndim - ndim;
    for (int dim = 0; dim < ndim; dim++) {
        if (sizes[dim] == 1) {
            sizes[dim] = shape[dim];
        } else if (shape[dim] != 1 && shape[dim] != sizes[dim]) {
            return 0;
        }
    }
    selection->count = 1;
    for (int dim = 0; dim < selection->ndim; dim++) {
        const npy_intp size = selection->shape[dim];
        if (size > 0 && selection->count > limits.at_once / size) {
            return 0;
        }
        selection->count *= size;
    }
    return 1;
}

/* Add the distances of what a mask chose. */
static void add_chosen(Selection *selection, const Offsets *chosen, npy_intp found)
{
    npy_intp *offsets = selection->offsets.values;
    const npy_intp columns = selection->shape[selection->ndim - 1];
    for (npy_intp i = 0; i < selection->count; i += columns) {
        for (npy_intp column = 0; column < columns; column++) {
            offsets[i + column] += chosen->values[found == 1 ? 0 : column];
        }
    }
}

/* The only array of a key is a mask. */
static int select_by_mask(const Tensor *x, const ArrayItem *item, Selection *selection)
{
    const char *data = data_of(item->array);
    if (data == NULL) {
        return 0;
    }
    selection->count =
        find_chosen(item->array, data, x->strides + item->axis, &selection->offsets);
    if (selection->count < 0) {
        return -1;
    }
    selection->ndim = 1;
    selection->shape[0] = selection->count;
    for (npy_intp i = 0; i < selection->count; i++) {
        selection->offsets.values[i] += selection->region.offset;
    }
    return 1;
}

/* The only array of a key holds integers. */
static int select_by_indices(const Tensor *x, const ArrayItem *item, Selection *selection)
{
    const Tensor *array = item->array;
    const char *data = data_of(item->array);
    if (data == NULL) {
        return 0;
    }
    if (!reserve_offsets(&selection->offsets, array->size)) {
        return -1;
    }
    selection->ndim = array->ndim;
    selection->count = array->size;
    for (int dim = 0; dim < array->ndim; dim++) {
        selection->shape[dim] = array->shape[dim];
    }
    for (npy_intp i = 0; i < selection->count; i++) {
        selection->offsets.values[i] = selection->region.offset;
    }
    if (!add_indices(selection, array, data, x->shape[item->axis], x->strides[item->axis], NULL)) {
        release_offsets(&selection->offsets);
        return 0;
    }
    return 1;
}

/* Several arrays, broadcast together. */
static int select_by_several(const Tensor *x, const ArrayItems *arrays, Selection *selection)
{
    Offsets chosen[INDEX_ARRAYS];
    npy_intp found[INDEX_ARRAYS];
    int masks = 0, done = 1;
    selection->ndim = 0;
    for (int i = 0; done == 1 && i < arrays->count; i++) {
        const Tensor *array = arrays->items[i].array;
        const char *data = data_of(arrays->items[i].array);
        if (data == NULL) {
            done = 0;
        } else if (array->code == BOOL) {
            found[masks] =
                find_chosen(array, data, x->strides + arrays->items[i].axis, &chosen[masks]);
            done = found[masks] < 0 ? -1 : join_indices(selection, 1, &found[masks]);
            masks += found[masks] >= 0;
        } else {
            done = join_indices(selection, array->ndim, array->shape);
        }
    }
    if (done == 1 && !reserve_offsets(&selection->offsets, selection->count)) {
        done = -1;
    }
    if (done == 1) {
        for (npy_intp i = 0; i < selection->count; i++) {
            selection->offsets.values[i] = selection->region.offset;
        }
        for (int i = 0, mask = 0; done == 1 && i < arrays->count; i++) {
            Tensor *array = arrays->items[i].array;
            const int axis = arrays->items[i].axis;
            if (array->code == BOOL) {
                add_chosen(selection, &chosen[mask], found[mask]);
                mask++;
            } else {
                done = add_indices(selection, array, data_of(array), x->shape[axis],
                                   x->strides[axis], NULL);
            }
        }
        if (done != 1) {
            release_offsets(&selection->offsets);
        }
    }
    while (masks > 0) {
        release_offsets(&chosen[--masks]);
    }
    return done;
}

/* 1 if the selection, whose offsets are to be released, is found; 0 if Python has to look at the
   key; -1 with an exception set. */
static int select_by_arrays(const Tensor *x, PyObject *key, int write, Selection *selection)
{
    ArrayItems arrays;
    if (!(is_array(key) ? parse_array : parse_key)(x, key, write, &arrays, selection)) {
        return 0;
    }
    const ArrayItem *first = &arrays.items[0];
    const int found = arrays.count > 1           ? select_by_several(x, &arrays, selection)
                      : first->array->code == BOOL ? select_by_mask(x, first, selection)
                                                   : select_by_indices(x, first, selection);
    if (found != 1) {
        return found;
    }
    /* Not too many elements, and not too many axes. */
    if (selection->count > limits.at_once || selection->region.size > limits.at_once ||
        selection->count * selection->region.size > limits.at_once ||
        selection->ndim + selection->region.ndim > ARRAY_DIMS) {
        release_offsets(&selection->offsets);
        return 0;
    }
    return 1;
}

/* ------------------------------------------------------------------ copies */

/* The strides of NumPy's result. In its memory the axes of the index arrays come first, and then
   those of the region in the order of their strides in the array. Without a position NumPy steps
   nowhere. */
static void order_result(const Selection *selection, npy_intp *index_strides,
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
    for (int dim = selection->ndim - 1; dim >= 0; dim--) {
        index_strides[dim] = step;
        step *= selection->shape[dim];
    }
}

/* Arrange what belongs to the axes of the index arrays, and to those of the region, as in the
   result. Returns how many axes that has. */
static int arrange(const Selection *selection, const npy_intp *of_indices,
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

static PyObject *copy_selected(Tensor *x, char *data, const Selection *selection)
{
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    npy_intp index_strides[ARRAY_DIMS], region_strides[ARRAY_DIMS];
    const int ndim = arrange(selection, selection->shape, selection->region.shape, shape);
    char *copied;
    PyObject *result = new_array_like_memory(ndim, shape, (DTypeCode)x->code, 0, &copied);
    if (result == NULL) {
        return NULL;
    }
    order_result(selection, index_strides, region_strides);
    arrange(selection, index_strides, region_strides, strides);
    Tensor *tensor = (Tensor *)((Array *)result)->handle;
    int moved = 0;
    for (int dim = 0; dim < ndim; dim++) {
        moved = moved || tensor->strides[dim] != strides[dim];
        tensor->strides[dim] = strides[dim];
    }
    if (moved) {
        finish_layout(tensor, 0);
    }
    move_selected(selection, data, copied, index_strides, region_strides, 0);
    return result;
}

PyObject *take_directly(const Tensor *x, char *data, const Tensor *indices, const char *where)
{
    char *taken;
    PyObject *result =
        new_array_like_memory(indices->ndim, indices->shape, (DTypeCode)x->code, 0, &taken);
    const npy_intp itemsize = dtypes[x->code].itemsize;
    if (result != NULL &&
        !move_by_indices((const npy_int64 *)where, indices->size, data, x->shape[0],
                         x->strides[0], itemsize, taken, itemsize, 0)) {
        Py_DECREF(result);
        return DECLINED;
    }
    return result;
}

PyObject *get_by_arrays(Tensor *x, PyObject *key)
{
    Selection selection;
    char *data = data_of(x), *where;
    if (data == NULL) {
        return DECLINED;
    }
    const int repeats = PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) == 2 && x->ndim == 1 &&
                        PyTuple_GET_ITEM(key, 1) == Py_Ellipsis; /* x[i, ...] is x[i] */
    PyObject *item = repeats ? PyTuple_GET_ITEM(key, 0) : key;
    if (is_array(item)) {
        Tensor *indices = layout_of(item);
        if (indices != NULL && is_direct(x, indices) && indices->size > 0 &&
            indices->size <= limits.at_once && (where = data_of(indices)) != NULL) {
            return take_directly(x, data, indices, where);
        }
    }
    const int found = select_by_arrays(x, key, 0, &selection);
    if (found != 1) {
        return found < 0 ? NULL : DECLINED;
    }
    PyObject *result =
        selection.region.size == 0 ? DECLINED : copy_selected(x, data, &selection);
    release_offsets(&selection.offsets);
    return result;
}

/* The strides of a value along the axes of the result. 0 if it does not broadcast to these. */
static int broadcast_value(const Selection *selection, const Tensor *value, npy_intp *index_strides,
                           npy_intp *region_strides)
{
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    const int ndim = arrange(selection, selection->shape, selection->region.shape, shape);
    const int missing = ndim - value->ndim;
    if (missing < 0) {
        return 0;
    }
    for (int dim = 0; dim < ndim; dim++) {
        const npy_intp size = dim < missing ? 1 : value->shape[dim - missing];
        if (size != 1 && size != shape[dim]) {
            return 0;
        }
        strides[dim] = size == 1 ? 0 : value->strides[dim - missing];
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

static int write_selected(const Tensor *x, char *data, const Selection *selection, PyObject *value)
{
    npy_intp index_strides[ARRAY_DIMS], region_strides[ARRAY_DIMS];
    Element element;
    char *source = element.bytes;
    if (!is_array(value)) {
        set_to_zero(index_strides, selection->ndim);
        set_to_zero(region_strides, selection->region.ndim);
        if (!write_scalar(element.bytes, (DTypeCode)x->code, value)) {
            return 0;
        }
    } else {
        Tensor *given = layout_of(value);
        if (given == NULL || given->code != x->code || (source = data_of(given)) == NULL ||
            !broadcast_value(selection, given, index_strides, region_strides)) {
            return 0;
        }
        if (given->size == 1) {
            copy_element(element.bytes, source, selection->region.itemsize);
            source = element.bytes;
        } else {
            if (selection->count == 0 || selection->region.size == 0) {
                return 1;
            }
            if (may_overlap(x, data, given, source)) {
                return 0;
            }
        }
    }
    move_selected(selection, data, source, index_strides, region_strides, 1);
    return 1;
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

int set_by_arrays(Tensor *x, char *data, PyObject *key, PyObject *value)
{
    Selection selection;
    if (is_array(key)) {
        Tensor *indices = layout_of(key);
        char *where;
        if (indices != NULL && is_direct(x, indices) && indices->ndim == 1 && indices->size > 0 &&
            indices->size <= limits.at_once && (where = data_of(indices)) != NULL &&
            !may_overlap(x, data, indices, where)) {
            return write_directly(x, data, indices, where, value);
        }
    }
    const int found = select_by_arrays(x, key, 1, &selection);
    if (found != 1) {
        return found;
    }
    const int written = write_selected(x, data, &selection, value);
    release_offsets(&selection.offsets);
    return written;
}
