/* NumPy's orders of axes, and arrays whose axes have one. */

#include "axis_orders.h"
#include "layouts.h"
#include "sizes.h"

/* NumPy inserts one axis after the other, the last first, before those that it finds to be
   slower. An axis of one element, or of elements that are all the same one, cannot be compared
   with others: it is passed by. (For copies NumPy compares these, too: see `order_copy` in
   conversion.h.) */
void order_axes_of(int ndim, int count, const npy_intp *const *strides, npy_uint8 *order)
{
    order_rows(ndim, order);
    for (int i = 1; i < ndim; i++) {
        const npy_uint8 axis = order[i];
        int place = i;
        for (int j = i - 1; j >= 0; j--) {
            int compared = 0, faster = 1; /* `faster`: in the memory of all arrays that move along both axes */
            for (int k = 0; k < count; k++) {
                const npy_intp stride = magnitude(strides[k][axis]), other = magnitude(strides[k][order[j]]);
                compared |= stride != 0 && other != 0;
                faster &= stride == 0 || other == 0 || other > stride;
            }
            if (compared && !faster) {
                break;
            }
            place = compared ? j : place;
        }
        for (int j = i; j > place; j--) {
            order[j] = order[j - 1];
        }
        order[place] = axis;
    }
}

void order_axes(int ndim, const npy_intp *shape, const npy_intp *strides, npy_uint8 *order)
{
    npy_intp moving[ARRAY_DIMS];
    const npy_intp *const given[1] = {moving};
    for (int dim = 0; dim < ndim; dim++) {
        moving[dim] = shape[dim] > 1 ? strides[dim] : 0;
    }
    order_axes_of(ndim, 1, given, order);
}

void reorder_axes(Tensor *tensor, const npy_uint8 *order)
{
    const int ndim = tensor->ndim;
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    if (is_row_order(ndim, order)) {
        return;
    }
    for (int dim = 0; dim < ndim; dim++) {
        shape[order[ndim - 1 - dim]] = tensor->shape[dim];
        strides[order[ndim - 1 - dim]] = tensor->strides[dim];
    }
    memcpy(tensor->shape, shape, (size_t)ndim * sizeof(npy_intp));
    memcpy(tensor->strides, strides, (size_t)ndim * sizeof(npy_intp));
    Py_CLEAR(tensor->shape_tuple);
    finish_layout(tensor, tensor->flags & READ_ONLY);
}

PyObject *result_in_order(PyObject *result, const npy_uint8 *order)
{
    if (is_answer(result)) {
        reorder_axes(tensor_of(result), order);
    }
    return result;
}

void sizes_in_order(const Tensor *x, const npy_uint8 *order, npy_intp *sizes)
{
    for (int i = 0; i < x->ndim; i++) {
        sizes[x->ndim - 1 - i] = x->shape[order[i]];
    }
}

PyObject *new_array_in_order(int ndim, const npy_intp *sizes, const npy_uint8 *order, DTypeCode code, char **data)
{
    return result_in_order(new_array_like_memory(ndim, sizes, code, 0, data), order);
}

Tensor *view_in_order(Tensor *x, int ndim, const npy_uint8 *order)
{
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
    if (!ensure_storage(x)) {
        return NULL;
    }
    for (int dim = 0; dim < ndim; dim++) {
        const int axis = order[ndim - 1 - dim] - (ndim - x->ndim);
        shape[dim] = axis >= 0 ? x->shape[axis] : 1;
        strides[dim] = axis >= 0 ? x->strides[axis] : 0;
    }
    return tensor_over_storage((Storage *)x->storage, (DTypeCode)x->code, x->offset, ndim, shape, strides);
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
