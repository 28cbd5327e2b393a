#include "element_walks.h"
#include "flags.h"
#include "operations.h"
#include "settings.h"

/* `start_walk` with the axes ordered; 0 if C does not compute. */
static int begin_walk(Walk *walk, Tensor *const *operands, int count, int reversible,
                      npy_intp *shape)
{
    return start_walk(walk, operands, count, limits.large, shape) &&
           is_computed_now(walk->count) && order_walk(walk, reversible) && can_divide(walk);
}

int compute_walk(const Walk *walk, const Loop *loop, npy_intp serial_limit, int materialise_scalar,
                 int is_exact, int *flags)
{
    if (walk->count <= serial_limit && walk->count < TILED_FROM) {
        clear_flags();
        if (is_exact) {
            run_exact_walk(walk, loop->itemsizes, loop->link, loop->function, loop->data);
        } else {
            run_walk(walk, loop->function, loop->data);
        }
        *flags = take_flags();
        return 1;
    }
    const Py_ssize_t threads = walk->count > serial_limit ? most_threads() : 1;
    if (threads < 1) {
        return 0;
    }
    npy_uint8 raised = 0;
    const int complete = run_divided(walk, loop, serial_limit, materialise_scalar, is_exact,
                                     threads, &raised);
    *flags = raised;
    return complete;
}

/* `compute_walk` by the loop of an operation. */
static int finish_walk(const Walk *walk, const ElementLoop *loop, int *flags)
{
    Loop described = {loop->function, loop->data, walk->operands - 1, {0}, loop->is_arithmetic,
                      loop->link};
    for (int i = 0; i < walk->operands - 1; i++) {
        described.itemsizes[i] = dtypes[loop->operand].itemsize;
    }
    described.itemsizes[walk->operands - 1] = dtypes[loop->result].itemsize;
    return compute_walk(walk, &described, loop->serial_limit, loop->materialise_scalar,
                        loop->reversible, flags);
}

PyObject *compute_by_walk(const ElementLoop *loop, Tensor *const *operands, int count,
                              char *const *data)
{
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    int flags = 0;
    if (!begin_walk(&walk, operands, count, loop->reversible, shape) ||
        (loop->is_alone && walk.count > loop->serial_limit)) {
        return DECLINED;
    }
    memcpy(walk.data, data, (size_t)count * sizeof(*data));
    PyObject *result = new_array_like_memory(walk.ndim, shape, (DTypeCode)loop->result,
                                             walk.turned, &walk.data[count]);
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

PyObject *update_walk(const ElementLoop *loop, PyObject *object, Tensor *x, Tensor *y,
                             char *const *data)
{
    Tensor *const operands[3] = {x, y, x};
    Walk walk;
    npy_intp shape[ARRAY_DIMS];
    int flags = 0;
    if (!begin_walk(&walk, operands, 3, loop->reversible, shape) || walk.ndim != x->ndim ||
        memcmp(shape, x->shape, (size_t)x->ndim * sizeof(npy_intp)) != 0) {
        return DECLINED;
    }
    walk.data[0] = walk.data[2] = data[0];
    walk.data[1] = data[1];
    if (!finish_walk(&walk, loop, &flags)) {
        return NULL;
    }
    return settle(Py_NewRef(object), loop->name, flags);
}
