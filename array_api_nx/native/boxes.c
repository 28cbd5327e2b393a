#include "boxes.h"
#include "copies.h"
#include "elements.h"
#include "nest.h"

void start_box(Walk *box)
{
    box->ndim = 0;
    box->operands = 2;
}

void add_axis(Walk *box, npy_intp size, npy_intp from, npy_intp to)
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

void copy_box(Walk *box, const char *source, char *target, npy_intp itemsize)
{
    npy_intp index[ARRAY_DIMS] = {0};
    int dim;
    simplify(box);
    const int column = box->ndim - 1, row = box->ndim - 2;
    const npy_intp *const strides[2] = {box->strides[SOURCE], box->strides[TARGET]};
    const npy_intp rows = row < 0 ? 1 : box->shape[row];
    const npy_intp columns = column < 0 ? 1 : box->shape[column];
    Tile from = {(char *)source, row < 0 ? 0 : strides[SOURCE][row],
                 column < 0 ? itemsize : strides[SOURCE][column]};
    Tile to = {target, row < 0 ? 0 : strides[TARGET][row],
               column < 0 ? itemsize : strides[TARGET][column]};
    do {
        copy_tile(to, from, itemsize, rows, columns);
        dim = next_index(row, box->shape, index);
        from.data += distance(dim, row, box->shape, strides[SOURCE]);
        to.data += distance(dim, row, box->shape, strides[TARGET]);
    } while (dim >= 0);
}
