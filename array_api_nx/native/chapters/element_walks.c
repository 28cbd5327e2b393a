#include "element_walks.h"
#include "flags.h"
#include "nodes.h"
#include "settings.h"
#include "threads.h"

/* `start_walk` with the axes ordered; 0 if C does not compute the result. */
static int begin_walk(Walk *walk, Tensor *const *operands, int count, int reversible,
                      npy_intp *shape)
{
    return start_walk(walk, operands, count, MOST_ELEMENTS, shape) && order_walk(walk, reversible);
}

/* A walk over large operands that threads share: it is cut along one of its axes into parts of `each` indices. */
typedef struct {
    const Walk *walk;
    const WalkLoop *loop;
    int axis;
    npy_intp each;
    atomic_uchar flags; /* the floating-point errors met */
} Parts;

static void run_all(const Walk *walk, const WalkLoop *loop)
{
    run_walk_in_blocks(walk, loop->itemsizes, loop->link, loop->is_exact, loop->function, loop->data);
}

static void run_part(const void *parts, npy_intp number, char *scratch)
{
    Parts *all = (Parts *)parts;
    const Walk *walk = all->walk;
    const int axis = all->axis;
    const npy_intp from = number * all->each;
    const size_t bytes = (size_t)walk->ndim * sizeof(npy_intp);
    Walk part; /* to copy all of it takes longer than some parts */
    part.ndim = walk->ndim;
    part.operands = walk->operands;
    memcpy(part.shape, walk->shape, bytes);
    for (int i = 0; i < walk->operands; i++) {
        memcpy(part.strides[i], walk->strides[i], bytes);
        part.data[i] = walk->data[i] + from * walk->strides[i][axis];
    }
    part.shape[axis] = least(all->each, walk->shape[axis] - from);
    clear_flags();
    run_all(&part, all->loop);
    note_flags(&all->flags, take_flags());
}

/* Cut the first axis that has enough indices, or else the longest one. The parts of a row begin at lines of their own. */
static void cut(const Walk *walk, Parts *parts)
{
    const npy_intp wanted = (walk->count - 1) / task_size(parts->loop->serial_limit) + 1;
    const int last = walk->ndim - 1;
    parts->axis = 0;
    for (int axis = 1; axis <= last && walk->shape[parts->axis] < wanted; axis++) {
        parts->axis = walk->shape[axis] > walk->shape[parts->axis] ? axis : parts->axis;
    }
    parts->each = (walk->shape[parts->axis] - 1) / least(wanted, walk->shape[parts->axis]) + 1;
    if (parts->axis == last) {
        parts->each = (parts->each + GRAIN - 1) / GRAIN * GRAIN;
    }
}

int compute_walk(const Walk *walk, const WalkLoop *loop, int *flags)
{
    Walk merged;
    if (walk->count <= loop->serial_limit) {
        clear_flags();
        run_all(walk, loop);
        *flags = take_flags();
        return 1;
    }
    const Py_ssize_t threads = most_threads();
    if (threads < 1) {
        return 0;
    }
    Parts parts = {.walk = &merged, .loop = loop};
    atomic_init(&parts.flags, 0);
    merge_walk(walk, &merged);
    memcpy(merged.data, walk->data, sizeof(merged.data));
    cut(&merged, &parts);
    const int complete = run_parts_freely(run_part, &parts, (merged.shape[parts.axis] - 1) / parts.each + 1, threads, 0);
    *flags = parts.flags;
    return complete;
}

/* Whether NumPy computes so many elements, since the loop may run on one thread only. A loop for finite operands is kept out of
   expressions by the same mark, but several threads may run it once its operands were found to be finite. */
static int is_too_long(const ElementLoop *loop, npy_intp count)
{
    return loop->is_alone && !loop->is_for_finite && count > loop->serial_limit;
}

/* `compute_walk` by the loop of an operation. */
static int finish_walk(const Walk *walk, const ElementLoop *loop, int *flags)
{
    /* The loops over short rows of walk.c are of real floating-point numbers. */
    const LinkOperation link = is_inexact(loop->operand) && !is_complex(loop->operand) ? loop->link : NO_LINK;
    WalkLoop described = {loop->function, loop->data, {0}, link, loop->is_exact, loop->serial_limit};
    for (int i = 0; i < walk->operands - 1; i++) {
        described.itemsizes[i] = dtypes[loop->operand].itemsize;
    }
    described.itemsizes[walk->operands - 1] = dtypes[loop->result].itemsize;
    return compute_walk(walk, &described, flags);
}

/* Whether operands are broadcast to no elements, with the shape of these. */
static int are_empty(Tensor *const *operands, int count, int *ndim, npy_intp *shape)
{
    int empty = 0;
    *ndim = 0;
    for (int i = 0; i < count; i++) {
        if (operands[i] != NULL && !broadcast_shape(ndim, shape, operands[i]->ndim, operands[i]->shape)) {
            return 0;
        }
    }
    for (int dim = 0; dim < *ndim; dim++) {
        empty = empty || shape[dim] == 0;
    }
    return empty;
}

static PyObject *compute_nothing(const ElementLoop *loop, Tensor *const *operands, int count)
{
    npy_intp shape[ARRAY_DIMS];
    int ndim;
    char *data;
    return are_empty(operands, count, &ndim, shape)
               ? new_array_like_memory(ndim, shape, (DTypeCode)loop->result, 0, &data)
               : DECLINED;
}

PyObject *compute_by_walk(const ElementLoop *loop, Tensor *const *operands, int count,
                              char *const *data)
{
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    int flags = 0;
    if (!begin_walk(&walk, operands, count, loop->is_exact, shape)) {
        return compute_nothing(loop, operands, count);
    }
    if (is_too_long(loop, walk.count)) {
        return DECLINED;
    }
    memcpy(walk.data, data, (size_t)count * sizeof(*data));
    PyObject *result = new_array_in_order(walk.ndim, walk.shape, walk.order, (DTypeCode)loop->result, &walk.data[count]);
    if (result == NULL) {
        return NULL;
    }
    lay_out(&walk, count, dtypes[loop->result].itemsize);
    walk.operands = count + 1;
    if (!finish_walk(&walk, loop, &flags)) {
        Py_DECREF(result);
        return NULL;
    }
    return settle(result, loop->name, flags);
}

/* Turn the axes round along which every operand that moves goes backwards, as NumPy does. */
static void go_forwards(Walk *walk)
{
    for (int dim = 0; dim < walk->ndim; dim++) {
        int forwards = 0, backwards = 0;
        for (int i = 0; i < walk->operands; i++) {
            forwards |= walk->strides[i][dim] > 0;
            backwards |= walk->strides[i][dim] < 0;
        }
        for (int i = 0; i < walk->operands && backwards && !forwards; i++) {
            walk->data[i] += (walk->shape[dim] - 1) * walk->strides[i][dim];
            walk->strides[i][dim] *= -1;
        }
    }
}

PyObject *write_by_walk(const ElementLoop *loop, PyObject *object, Tensor *const *operands, int count, char *const *data)
{
    const Tensor *target = operands[count];
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    int flags = 0;
    if (target->size == 0) {
        return are_empty(operands, count + 1, &walk.ndim, shape) && has_shape(target, walk.ndim, shape) ? Py_NewRef(object)
                                                                                                       : DECLINED;
    }
    if (!begin_walk(&walk, operands, count + 1, loop->is_exact, shape) || !has_shape(target, walk.ndim, shape) ||
        is_too_long(loop, walk.count)) {
        return DECLINED;
    }
    memcpy(walk.data, data, (size_t)(count + 1) * sizeof(*data));
    go_forwards(&walk);
    if (!finish_walk(&walk, loop, &flags)) {
        return NULL;
    }
    return settle(Py_NewRef(object), loop->name, flags);
}
