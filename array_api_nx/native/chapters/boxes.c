#include "boxes.h"
#include "copies.h"
#include "elements.h"
#include "loops.h"
#include "nest.h"
#include "nodes.h"

void start_box(Walk *box)
{
    box->ndim = 0;
    box->operands = 2;
}

void add_box_axis(Walk *box, npy_intp size, npy_intp from, npy_intp to)
{
    box->shape[box->ndim] = size;
    box->strides[SOURCE][box->ndim] = from;
    box->strides[TARGET][box->ndim++] = to;
}

/* Put the axis with the shortest step in the target last, drop axes of one element, and merge
   neighbours that both sides step through as through one. */
static void simplify(Walk *box)
{
    const int ndim = box->ndim;
    box->ndim = 0;
    for (int axis = 0; axis < ndim; axis++) {
        const npy_intp size = box->shape[axis];
        const npy_intp from = box->strides[SOURCE][axis], to = box->strides[TARGET][axis];
        int place = box->ndim;
        if (size == 1) {
            continue;
        }
        for (; place > 0 && box->strides[TARGET][place - 1] < to; place--) {
            box->shape[place] = box->shape[place - 1];
            box->strides[SOURCE][place] = box->strides[SOURCE][place - 1];
            box->strides[TARGET][place] = box->strides[TARGET][place - 1];
        }
        box->shape[place] = size;
        box->strides[SOURCE][place] = from;
        box->strides[TARGET][place] = to;
        box->ndim++;
    }
    const npy_intp *const given[2] = {box->strides[SOURCE], box->strides[TARGET]};
    npy_intp *const merged[2] = {box->strides[SOURCE], box->strides[TARGET]};
    box->ndim = merge_axes(box->ndim, box->shape, 2, given, box->shape, merged);
}

/* Copy by a pass. 1 if it is done; 0 if it is not; -1 with an exception set. */
static int copy_by_pass(const Walk *box, Tensor *x, const char *source, Tensor *result, char *target)
{
    Region region = {.data = target, .ndim = box->ndim, .itemsize = dtypes[result->code].itemsize};
    if (!ensure_storage(x) || !ensure_storage(result)) {
        return -1;
    }
    Storage *storage = (Storage *)x->storage;
    /* Finalisers could move the elements before there is an operation that waits for them. */
    const int collects = PyGC_Disable();
    Tensor *view = tensor_over_storage(storage, (DTypeCode)x->code, source - storage->address, box->ndim, box->shape,
                                       box->strides[SOURCE]);
    PyObject *waiting = view == NULL ? NULL : record_copy(view, (DTypeCode)result->code);
    if (collects) {
        PyGC_Enable();
    }
    Py_XDECREF(view);
    if (waiting == NULL || waiting == DECLINED) {
        return waiting == NULL ? -1 : 0;
    }
    region.size = tensor_of(waiting)->size;
    memcpy(region.shape, box->shape, (size_t)box->ndim * sizeof(npy_intp));
    memcpy(region.strides, box->strides[TARGET], (size_t)box->ndim * sizeof(npy_intp));
    const int done = assign_expression(result, &region, tensor_of(waiting), 1);
    Py_DECREF(waiting);
    return done;
}

int copy_box(Walk *box, Tensor *x, const char *source, Tensor *result, char *target)
{
    const DTypeCode code = (DTypeCode)x->code;
    const PyUFuncGenericFunction cast = result->code == code ? NULL : cast_function(code, (DTypeCode)result->code);
    npy_intp index[ARRAY_DIMS] = {0}, size = 1;
    int dim;
    simplify(box);
    for (dim = 0; dim < box->ndim; dim++) {
        size *= box->shape[dim];
    }
    const int done = size > limits.at_once ? copy_by_pass(box, x, source, result, target) : 0;
    if (done != 0) {
        return done > 0;
    }
    const int column = box->ndim - 1, row = box->ndim - 2;
    const npy_intp *const strides[2] = {box->strides[SOURCE], box->strides[TARGET]};
    const npy_intp rows = row < 0 ? 1 : box->shape[row];
    const npy_intp columns = column < 0 ? 1 : box->shape[column];
    Tile from = {(char *)source, row < 0 ? 0 : strides[SOURCE][row],
                 column < 0 ? 0 : strides[SOURCE][column]};
    Tile to = {target, row < 0 ? 0 : strides[TARGET][row],
               column < 0 ? 0 : strides[TARGET][column]};
    do {
        if (cast == NULL) {
            copy_tile(to, from, dtypes[code].itemsize, rows, columns);
        }
        for (npy_intp i = 0; cast != NULL && i < rows; i++) {
            const npy_intp steps[2] = {from.column, to.column};
            cast((char *[2]){from.data + i * from.row, to.data + i * to.row}, &columns, steps, NULL);
        }
        dim = next_index(row, box->shape, index);
        from.data += distance(dim, row, box->shape, strides[SOURCE]);
        to.data += distance(dim, row, box->shape, strides[TARGET]);
    } while (dim >= 0);
    return 1;
}
