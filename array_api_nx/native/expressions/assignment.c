/* Expressions that are computed straight into the memory that they are written to.

   A pass goes over all elements in the order of their indices. It may write its root where operands lie, too:

   - where each element of an operand lies at the place that is written when it is read (`x[...] = x + y`): nothing
     else reads it there, and each element is computed once;
   - where target and operand have the same strides, so that an index later in the order lies at a higher address,
     and the operand lies above the target (`x[:-1] = x[1:] + y`): writes lie below the elements that are read
     later. Loops, which may read ahead of what they write, or behind, write to a tile of memory of their own;
   - where elements of both lie in turn (`x[::2] = x[1::2] + y`): none is read that is written;
   - nowhere else, and not if it takes long, since such a pass cannot be interrupted: the value is computed first, and
     copied. */

#include "nodes.h"
#include "evaluation.h"
#include "layouts.h"
#include "sizes.h"
#include "storage.h"

typedef struct {
    npy_uintp low, high; /* of the bytes that elements lie in */
} Bytes;

static Bytes bytes_of(const char *data, int ndim, const npy_intp *shape, const npy_intp *strides,
                      npy_intp itemsize)
{
    npy_intp low, high;
    find_reach(ndim, shape, strides, &low, &high);
    return (Bytes){(npy_uintp)(data + low), (npy_uintp)(data + high + itemsize)};
}

/* Whether an index later in the order of the axes lies at a higher address. */
static int ascends(int ndim, const npy_intp *shape, const npy_intp *strides, npy_intp itemsize)
{
    npy_intp reach = itemsize;
    for (int dim = ndim - 1; dim >= 0; dim--) {
        if (shape[dim] != 1) {
            if (strides[dim] < reach) {
                return 0;
            }
            reach += (shape[dim] - 1) * strides[dim];
        }
    }
    return 1;
}

static int have_same_strides(int ndim, const npy_intp *shape, const npy_intp *x, const npy_intp *y)
{
    for (int dim = 0; dim < ndim; dim++) {
        if (shape[dim] != 1 && x[dim] != y[dim]) {
            return 0;
        }
    }
    return 1;
}

static npy_intp divisor_of(npy_intp a, npy_intp b)
{
    while (b != 0) {
        const npy_intp rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether elements of a target and an operand lie in turn: addresses of each are the same but for a multiple of the
   greatest common divisor of all strides, and the bytes of an element in it are apart from those of the other's. */
static int are_interleaved(const Node *root, const Target *target, npy_intp itemsize, const Leaf *leaf)
{
    npy_intp period = 0;
    for (int dim = 0; dim < root->ndim; dim++) {
        if (root->shape[dim] != 1) {
            period = divisor_of(divisor_of(period, magnitude(target->strides[dim])), magnitude(leaf->strides[dim]));
        }
    }
    if (period == 0) {
        return 0;
    }
    const npy_intp rest = (leaf->data - target->data) % period, apart = rest < 0 ? rest + period : rest;
    return apart >= itemsize && apart + leaf->itemsize <= period;
}

/* Whether the expression can be computed into the target; then the overlap is set. */
static int find_overlap(const Expression *expression, const Node *root, Target *target)
{
    const npy_intp itemsize = dtypes[root->operation.result].itemsize;
    const Bytes written = bytes_of(target->data, root->ndim, root->shape, target->strides, itemsize);
    target->overlaps = APART_FROM_OPERANDS;
    for (int i = 0; i < expression->leaf_count; i++) {
        const Leaf *leaf = &expression->leaves[i];
        const Bytes read = bytes_of(leaf->data, root->ndim, root->shape, leaf->strides, leaf->itemsize);
        if (read.low >= written.high || written.low >= read.high || are_interleaved(root, target, itemsize, leaf)) {
            continue;
        }
        if (leaf->itemsize != itemsize ||
            !have_same_strides(root->ndim, root->shape, leaf->strides, target->strides) ||
            leaf->data < target->data ||
            (leaf->data > target->data &&
             !ascends(root->ndim, root->shape, target->strides, itemsize))) {
            return 0;
        }
        target->overlaps =
            leaf->data == target->data && target->overlaps != BELOW_OPERANDS ? OVER_OPERANDS : BELOW_OPERANDS;
    }
    return target->overlaps == APART_FROM_OPERANDS || time_of(expression) < LONG_PASS;
}

/* The axis of a value along which elements lie as along an axis of the root, whose axes it shows in any order: -1 for one of a
   single element. 0 if there is none. */
static int find_axis(const Tensor *value, npy_intp length, npy_intp step, int *axis)
{
    *axis = -1;
    for (int dim = 0; length != 1 && dim < value->ndim; dim++) {
        if (value->shape[dim] == length && value->strides[dim] == step) {
            *axis = dim;
        }
    }
    return length == 1 || *axis >= 0;
}

/* Set the target's strides along the axes of the root; 0 if the value is repeated, or shows something else. */
static int fit_target(const Region *region, const Tensor *value, const Node *root, Target *target)
{
    const int surplus = region->ndim - value->ndim;
    npy_intp step = dtypes[value->code].itemsize;
    if (surplus < 0 || value->offset != 0 || value->size != root->size || value->code != root->operation.result) {
        return 0;
    }
    for (int dim = 0; dim < region->ndim; dim++) {
        if (region->shape[dim] != (dim < surplus ? 1 : value->shape[dim - surplus])) {
            return 0;
        }
    }
    for (int dim = root->ndim - 1; dim >= 0; dim--) {
        int axis;
        if (!find_axis(value, root->shape[dim], step, &axis)) {
            return 0;
        }
        target->strides[dim] = axis < 0 ? 0 : region->strides[surplus + axis];
        step *= root->shape[dim];
    }
    target->data = region->data;
    return 1;
}

int assign_expression(Tensor *x, const Region *region, Tensor *value, int is_temporary)
{
    Expression expression;
    Errors errors;
    Target target;
    Storage *storage = (Storage *)x->storage, *of_value = (Storage *)value->storage;
    Node *root = of_value->pending;
    if (storage == NULL || storage == of_value || root == NULL || root->reduction != NULL || x->code != value->code ||
        (!is_temporary && storage->shared && !is_private(storage)) || !fit_target(region, value, root, &target)) {
        return 0;
    }
    if (!find_threads(root, &expression)) {
        return -1;
    }
    const Plan *plan = of_value->pending != root ? NULL : prepare_expression(of_value, NULL, &expression, &errors);
    if (plan == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (storage->readers > count_reads(&expression, storage) || !find_overlap(&expression, root, &target)) {
        return 0;
    }
    const int computed = compute_expression(&expression, plan, &target, NULL, &errors);
    if (computed != 1) {
        return computed == 0 ? -1 : 0;
    }
    /* The value becomes a copy of the target, which may be written again. Most values are not needed any more. */
    if (is_temporary) {
        drop_node(root);
    } else {
        become_copy(root, storage, region->data - storage->address, target.strides);
    }
    return report_errors(&errors) ? 1 : -1;
}
