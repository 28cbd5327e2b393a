#include "parse.h"
#include "arguments.h"
#include "chains.h"
#include "sizes.h"

/* All functions here that fail return 0, with an exception set. */

void free_kernel(Kernel *kernel)
{
    if (kernel != NULL) {
        PyMem_Free(kernel->operands);
        PyMem_Free(kernel->registers);
        PyMem_Free(kernel->steps);
        PyMem_Free(kernel);
    }
}

/* ------------------------------------------------------------------ the iteration space */

static int read_space(Kernel *kernel, PyObject *description)
{
    PyObject *dims = PyTuple_GET_ITEM(description, 0);
    PyObject *tile = PyTuple_GET_ITEM(description, 1);
    npy_intp split;
    if (!check_tuple(dims, 2, MAX_DIMS, "dims") || !check_tuple(tile, 2, 2, "tile")) {
        return 0;
    }
    kernel->ndim = (int)PyTuple_GET_SIZE(dims);
    for (int i = 0; i < kernel->ndim; i++) {
        if (!read_int(PyTuple_GET_ITEM(dims, i), 0, MAX_BYTES, "a dim", &kernel->dims[i])) {
            return 0;
        }
    }
    if (!read_int(PyTuple_GET_ITEM(tile, 0), 1, MAX_BYTES, "a tile's rows", &kernel->tile_rows) ||
        !read_int(PyTuple_GET_ITEM(tile, 1), 1, MAX_BYTES, "a tile's columns",
                  &kernel->tile_columns) ||
        !read_int(PyTuple_GET_ITEM(description, 2), 0, kernel->ndim - 1, "split", &split) ||
        !read_int(PyTuple_GET_ITEM(description, 3), 1, MAX_BYTES, "step", &kernel->step) ||
        !read_int(PyTuple_GET_ITEM(description, 4), 0, MAX_BYTES, "tasks", &kernel->tasks)) {
        return 0;
    }
    kernel->split = (int)split;
    const npy_intp extent = kernel->dims[split];
    if (extent > 0 && kernel->tasks != (extent - 1) / kernel->step + 1) {
        return refuse("%zd tasks of step %zd do not fit dim %zd, which has %zd", kernel->tasks,
                      kernel->step, split, extent);
    }
    const npy_intp whole = split == kernel->ndim - 1   ? kernel->tile_columns
                           : split == kernel->ndim - 2 ? kernel->tile_rows
                                                       : 1;
    if (kernel->tasks > 1 && kernel->step % whole != 0) {
        return refuse("step %zd must be a multiple of the tile's %zd along dim %zd", kernel->step,
                      whole, split);
    }
    return 1;
}

/* Elements of the largest tile, which is all that buffers hold; 0 if they are too many. */
static npy_intp largest_tile(const Kernel *kernel)
{
    npy_intp rows = kernel->dims[kernel->ndim - 2];
    npy_intp columns = kernel->dims[kernel->ndim - 1];
    rows = rows < kernel->tile_rows ? rows : kernel->tile_rows;
    columns = columns < kernel->tile_columns ? columns : kernel->tile_columns;
    if (rows > 0 && columns > MAX_BYTES / MAX_ITEMSIZE / 256 / rows) {
        return refuse("tiles of %zd by %zd are too large for scratch memory", rows, columns);
    }
    return rows * columns > 0 ? rows * columns : 1;
}

/* ------------------------------------------------------------------ slots */

static int read_itemsize(PyObject *value, npy_intp *itemsize)
{
    if (!read_int(value, 1, MAX_ITEMSIZE, "an itemsize", itemsize)) {
        return 0;
    }
    if (*itemsize != sizeof(Moments) && (*itemsize & (*itemsize - 1)) != 0) {
        return refuse("an itemsize must be a power of 2, not %zd", *itemsize);
    }
    return 1;
}

/* Widen the operand's extent by the indices from `start` to below `end`, with `stride` bytes from
   one to the next. */
static int widen(Operand *operand, npy_intp start, npy_intp end, npy_intp stride, int number)
{
    const npy_intp steps = end > start ? end - 1 : start;
    if (steps > 0 && (stride > MAX_BYTES / steps || stride < -MAX_BYTES / steps)) {
        return refuse("operand %d steps by %zd bytes, too far for %zd elements", number, stride,
                      steps + 1);
    }
    if (stride % alignment(operand->itemsize) != 0) {
        return refuse("operand %d steps by %zd bytes, which breaks the alignment of %zd bytes",
                      number, stride, alignment(operand->itemsize));
    }
    operand->low += (stride < 0 ? steps : start) * stride;
    operand->high += (stride < 0 ? start : steps) * stride;
    return 1;
}

static int read_access(PyObject *value, Access *access)
{
    static const char *const names[] = {"direct", "packed", "invariant", "streamed"};
    for (int i = 0; PyUnicode_Check(value) && i < 4; i++) {
        if (PyUnicode_CompareWithASCIIString(value, names[i]) == 0) {
            *access = (Access)i;
            return 1;
        }
    }
    return refuse("access must be 'direct', 'packed', 'invariant' or 'streamed', not %R", value);
}

/* Where the operand has memory: everywhere, or in a box with another operand around it. */
static int read_box(const Kernel *kernel, Operand *operand, PyObject *box, PyObject *fill)
{
    for (int i = 0; i < kernel->ndim; i++) {
        operand->start[i] = 0;
        operand->end[i] = kernel->dims[i];
    }
    operand->fill = -1;
    if (box == Py_None && fill == Py_None) {
        return 1;
    }
    npy_intp slot;
    if (!check_tuple(box, kernel->ndim, kernel->ndim, "a box") ||
        !read_int(fill, 0, kernel->operand_count - 1, "fill", &slot)) {
        return 0;
    }
    operand->fill = (int)slot;
    for (int i = 0; i < kernel->ndim; i++) {
        PyObject *range = PyTuple_GET_ITEM(box, i);
        if (!check_tuple(range, 2, 2, "a range of a box") ||
            !read_int(PyTuple_GET_ITEM(range, 0), 0, kernel->dims[i], "start",
                      &operand->start[i]) ||
            !read_int(PyTuple_GET_ITEM(range, 1), operand->start[i] + 1, kernel->dims[i], "end",
                      &operand->end[i])) {
            return 0;
        }
    }
    return 1;
}

/* How the operand steps through the numbers of a draw, if it has such elements. */
static int read_numbers(const Kernel *kernel, Operand *operand, PyObject *numbers)
{
    operand->drawn = numbers != Py_None;
    if (!operand->drawn) {
        return 1;
    }
    if (!check_tuple(numbers, kernel->ndim, kernel->ndim, "an operand's numbers")) {
        return 0;
    }
    for (int i = 0; i < kernel->ndim; i++) {
        if (!read_int(PyTuple_GET_ITEM(numbers, i), -MAX_BYTES, MAX_BYTES, "a number",
                      &operand->numbers[i])) {
            return 0;
        }
    }
    return operand->access == PACKED && operand->fill < 0
               ? 1
               : refuse("an operand of random numbers must be packed, and have no box");
}

static int read_operand(const Kernel *kernel, Operand *operand, PyObject *value, int number)
{
    if (!check_tuple(value, 7, 7, "an operand")) {
        return 0;
    }
    PyObject *strides = PyTuple_GET_ITEM(value, 1);
    if (!read_itemsize(PyTuple_GET_ITEM(value, 0), &operand->itemsize) ||
        !check_tuple(strides, kernel->ndim, kernel->ndim, "an operand's strides") ||
        !read_int(PyTuple_GET_ITEM(value, 2), 0, MAX_BYTES, "task_stride", &operand->task_stride) ||
        !read_access(PyTuple_GET_ITEM(value, 3), &operand->access) ||
        !read_box(kernel, operand, PyTuple_GET_ITEM(value, 4), PyTuple_GET_ITEM(value, 5)) ||
        !read_numbers(kernel, operand, PyTuple_GET_ITEM(value, 6))) {
        return 0;
    }
    operand->high = operand->itemsize;
    for (int i = 0; i < kernel->ndim; i++) {
        if (!read_int(PyTuple_GET_ITEM(strides, i), -MAX_BYTES, MAX_BYTES, "a stride",
                      &operand->strides[i]) ||
            !widen(operand, operand->start[i], operand->end[i], operand->strides[i], number)) {
            return 0;
        }
    }
    return widen(operand, 0, kernel->tasks, operand->task_stride, number);
}

/* ------------------------------------------------------------------ steps */

static int read_slot(const Kernel *kernel, PyObject *value, npy_intp itemsize, int *slot)
{
    npy_intp number;
    const int last = kernel->operand_count + kernel->register_count - 1;
    if (!read_int(value, 0, last, "a slot", &number)) {
        return 0;
    }
    *slot = (int)number;
    const npy_intp size = number < kernel->operand_count
                              ? kernel->operands[number].itemsize
                              : kernel->registers[number - kernel->operand_count].itemsize;
    if (size != itemsize) {
        return refuse("slot %zd has elements of %zd bytes, its loop wants %zd", number, size,
                      itemsize);
    }
    return 1;
}

static int read_loop(PyObject *value, Loop *loop)
{
    PyObject *pointer = PyObject_GetAttrString(value, "pointer");
    if (pointer == NULL) {
        return 0;
    }
    const Loop *found = PyCapsule_GetPointer(pointer, LOOP_NAME);
    if (found != NULL) {
        *loop = *found;
    }
    Py_DECREF(pointer); /* the loop keeps it */
    return found != NULL;
}

static int read_instruction(const Kernel *kernel, Step *step, PyObject *value)
{
    PyObject *sources = PyTuple_GET_ITEM(value, 1);
    const Loop *loop = &step->loop;
    if (loop->function == NULL) {
        return refuse("the loop of moments reduces, it makes no instruction");
    }
    if (!check_tuple(sources, loop->sources, loop->sources, "an instruction's sources")) {
        return 0;
    }
    for (int i = 0; i < loop->sources; i++) {
        if (!read_slot(kernel, PyTuple_GET_ITEM(sources, i), loop->itemsizes[i],
                       &step->sources[i])) {
            return 0;
        }
    }
    return read_slot(kernel, PyTuple_GET_ITEM(value, 2), loop->itemsizes[loop->sources],
                     &step->target);
}

/* A product of matrices: loop, left, right, target, inner size, steps along it. */
static int read_product(Kernel *kernel, Step *step, PyObject *value)
{
    const Loop *loop = &step->loop;
    if (loop->sources != 2) {
        return refuse("a product's loop must take two matrices");
    }
    if (!read_slot(kernel, PyTuple_GET_ITEM(value, 3), loop->itemsizes[2], &step->target) ||
        !read_int(PyTuple_GET_ITEM(value, 4), 1, MAX_BYTES, "an inner size", &step->inner)) {
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        if (!read_slot(kernel, PyTuple_GET_ITEM(value, 1 + i), loop->itemsizes[i],
                       &step->sources[i]) ||
            !read_int(PyTuple_GET_ITEM(value, 5 + i), -MAX_BYTES, MAX_BYTES, "a step",
                      &step->inner_steps[i])) {
            return 0;
        }
        const int slot = step->sources[i];
        if (slot >= kernel->operand_count || kernel->operands[slot].access != DIRECT ||
            kernel->operands[slot].is_factor) {
            return refuse("a factor of a product must be an operand of its own, and direct");
        }
        Operand *operand = &kernel->operands[slot];
        const npy_intp across = operand->strides[kernel->ndim - (i == 0 ? 1 : 2)];
        if (across != 0) {
            return refuse("factor %d of a product goes along the %s", i, i == 0 ? "columns" : "rows");
        }
        operand->is_factor = 1;
        if (!widen(operand, 0, step->inner, step->inner_steps[i], slot)) {
            return 0;
        }
    }
    return 1;
}

/* What rows of at most so many elements were reduced to is spread over them: for so few of them,
   calls row by row would cost too much. */
enum { SPREAD_COLUMNS = 32 };

/* A reduction into a register, of rows or columns of which a tile has all elements. */
static int check_whole(Kernel *kernel, const Step *step)
{
    const int dim = kernel->ndim - (step->rows ? 2 : 1);
    const npy_intp tile = step->rows ? kernel->tile_rows : kernel->tile_columns;
    if (step->rows == step->columns || step->loop.function == NULL || tile < kernel->dims[dim]) {
        return refuse("register %d cannot be the target of a reduction of parts of rows or columns",
                      step->target);
    }
    Register *target = &kernel->registers[step->target - kernel->operand_count];
    if (step->sources[1] == step->target || target->spread != PER_ELEMENT) {
        return refuse("a reduction needs a register of its own for its result, not %d",
                      step->target);
    }
    if (step->rows || kernel->dims[dim] > SPREAD_COLUMNS) {
        target->spread = step->rows ? PER_COLUMN : PER_ROW;
    }
    return 1;
}

static int read_reduction(Kernel *kernel, Step *step, PyObject *value)
{
    const Loop *loop = &step->loop;
    PyObject *identity = PyTuple_GET_ITEM(value, 5);
    step->reduces = 1;
    step->rows = PyObject_IsTrue(PyTuple_GET_ITEM(value, 3));
    step->columns = PyObject_IsTrue(PyTuple_GET_ITEM(value, 4));
    if (step->rows < 0 || step->columns < 0) {
        return 0;
    }
    if (loop->sources != 2 || loop->itemsizes[0] != loop->itemsizes[2]) {
        return refuse("a reduction's loop must take (accumulator, element) to an accumulator");
    }
    if (!PyArray_Check(identity) || PyArray_NDIM((PyArrayObject *)identity) != 0 ||
        PyArray_ITEMSIZE((PyArrayObject *)identity) != loop->itemsizes[0]) {
        return refuse("a reduction's identity must be a 0-d ndarray of %zd bytes",
                      loop->itemsizes[0]);
    }
    memcpy(step->identity, PyArray_DATA((PyArrayObject *)identity), (size_t)loop->itemsizes[0]);
    if (!read_slot(kernel, PyTuple_GET_ITEM(value, 1), loop->itemsizes[1], &step->sources[1]) ||
        !read_slot(kernel, PyTuple_GET_ITEM(value, 2), loop->itemsizes[0], &step->target)) {
        return 0;
    }
    step->sources[0] = step->target;
    kernel->folds_tiles = kernel->folds_tiles || (step->rows && step->columns);
    return step->target < kernel->operand_count || check_whole(kernel, step);
}

static int read_step(Kernel *kernel, Step *step, PyObject *value)
{
    if (!check_tuple(value, 3, 7, "a step of the program") ||
        !read_loop(PyTuple_GET_ITEM(value, 0), &step->loop)) {
        return 0;
    }
    if (PyTuple_GET_SIZE(value) == 3) {
        return read_instruction(kernel, step, value);
    }
    if (PyTuple_GET_SIZE(value) == 7) {
        return read_product(kernel, step, value);
    }
    return check_tuple(value, 6, 6, "a reduction") && read_reduction(kernel, step, value);
}

/* ------------------------------------------------------------------ the whole */

/* Which steps pack and write out operands: before the first reading, after the last writing. */
static int place_copies(Kernel *kernel)
{
    char touched[MAX_OPERANDS + MAX_REGISTERS] = {0};
    Step *last_write[MAX_OPERANDS] = {NULL};
    for (int i = 0; i < kernel->step_count; i++) {
        Step *step = &kernel->steps[i];
        for (int j = step->reduces; j < step->loop.sources; j++) {
            const int slot = step->sources[j];
            if (slot >= kernel->operand_count) {
                if (!touched[slot]) {
                    return refuse("step %d reads register %d, which no step before has written", i,
                                  slot);
                }
                continue;
            }
            if (kernel->operands[slot].is_factor && step->inner == 0) {
                return refuse("step %d reads operand %d, which is a factor of a product", i, slot);
            }
            if (kernel->operands[slot].accumulates) {
                return refuse("step %d reads operand %d, which holds accumulators", i, slot);
            }
            const Access access = kernel->operands[slot].access;
            if (!touched[slot] && (access == PACKED || access == STREAMED)) {
                step->loads[step->load_count++] = slot;
            }
            touched[slot] = 1;
        }
        if (step->target >= kernel->operand_count && !step->reduces &&
            kernel->registers[step->target - kernel->operand_count].spread != PER_ELEMENT) {
            return refuse("register %d holds what rows or columns were reduced to", step->target);
        }
        touched[step->target] = 1;
        if (step->target < kernel->operand_count) {
            Operand *operand = &kernel->operands[step->target];
            if (operand->written && operand->accumulates != step->reduces) {
                return refuse("operand %d is both an output and accumulators", step->target);
            }
            operand->written = 1;
            operand->accumulates = step->reduces;
            last_write[step->target] = step;
        }
    }
    for (int i = 0; i < kernel->operand_count; i++) {
        const Access access = kernel->operands[i].access;
        if (last_write[i] != NULL && (access == PACKED || access == STREAMED)) {
            last_write[i]->stores = !last_write[i]->reduces;
        }
    }
    return 1;
}

/* Whether all that reads an operand are loops element by element. */
static int is_read_by_loops(const Kernel *kernel, int number)
{
    for (int i = 0; i < kernel->step_count; i++) {
        const Step *step = &kernel->steps[i];
        for (int j = 0; j < step->loop.sources; j++) {
            if (step->sources[j] == number && (step->reduces || step->inner > 0)) {
                return 0;
            }
        }
    }
    return 1;
}

/* How the operand's access fits its strides and its use. */
static int check_access(const Kernel *kernel, const Operand *operand, int number)
{
    const int columns = kernel->ndim - 1;
    const npy_intp column = kernel->dims[columns] > 1 ? operand->strides[columns] : 0;
    if (operand->fill >= 0) {
        const Operand *fill = &kernel->operands[operand->fill];
        if (operand->access != PACKED || operand->written || operand->task_stride != 0) {
            return refuse("operand %d has a box; it must be an input, and packed", number);
        }
        if (fill->low != 0 || fill->high != operand->itemsize || fill->written ||
            fill->fill >= 0) {
            return refuse("operand %d must be filled with one element of its own size", number);
        }
    }
    if (operand->drawn && (operand->written || operand->low != 0 ||
                           operand->high != operand->itemsize)) {
        return refuse("operand %d has random numbers; it must be an input without strides", number);
    }
    if (operand->accumulates) {
        return 1;
    }
    if (operand->is_factor) {
        return operand->written ? refuse("operand %d is a factor and written", number) : 1;
    }
    if (operand->access == DIRECT && is_stepped(kernel, operand) &&
        (operand->written || !is_read_by_loops(kernel, number))) {
        return refuse("operand %d steps by %zd bytes along the columns; pack it", number, column);
    }
    if (operand->access == INVARIANT) {
        int invariant = !operand->written && operand->task_stride == 0;
        for (int i = 0; i < columns; i++) {
            invariant = invariant && (operand->strides[i] == 0 || kernel->dims[i] <= 1);
        }
        if (!invariant || (column != 0 && kernel->tile_columns < kernel->dims[columns])) {
            return refuse("operand %d is not the same for all tiles of a task; pack it", number);
        }
    }
    for (int i = 0; i < kernel->ndim; i++) {
        if (operand->written && operand->strides[i] == 0 && kernel->dims[i] > 1) {
            return refuse("operand %d is an output and cannot be broadcast", number);
        }
    }
    return 1;
}

/* The fewest bytes between tiles of one operand that the processor sees no connection between. */
enum { FAR = 1 << 12 };

/* Find the operands whose tiles repeat along the outer dims. If there are some, each tile is computed
   at all indices of these dims before the next one is begun; unless an accumulator would then get what
   it accumulates in another order, or other operands would be read or written far apart. */
static void find_repetitions(Kernel *kernel)
{
    const int outer = kernel->ndim - 2;
    int has_outer = 0, is_local = 1;
    for (int dim = 0; dim < outer; dim++) {
        has_outer = has_outer || kernel->dims[dim] > 1;
    }
    for (int i = 0; i < kernel->operand_count; i++) {
        Operand *operand = &kernel->operands[i];
        int moves = 0, stays = 0;
        for (int dim = 0; dim < outer; dim++) {
            moves = moves || (kernel->dims[dim] > 1 && operand->strides[dim] != 0);
            stays = stays || (kernel->dims[dim] > 1 && operand->strides[dim] == 0);
            is_local = is_local && (kernel->dims[dim] <= 1 || magnitude(operand->strides[dim]) < FAR);
        }
        is_local = is_local && !(operand->accumulates && stays);
        operand->repeats = has_outer && !moves && operand->access == PACKED && !operand->written &&
                           operand->fill < 0 && !operand->drawn;
        kernel->repeats = kernel->repeats || operand->repeats;
    }
    kernel->repeats = kernel->repeats && is_local;
}

/* The fewest bytes of all operands for which it pays to fetch tiles ahead. What a core's own caches
   hold arrives in time without being asked for, and most of what the cache of all cores holds:
   `flip(a)*b + c` of 300,000 and 500,000 float64 (10 and 16 MB) takes 0.73 and 0.85 times as long
   without, `a + b.T` of these 0.94 and 0.75; 19 expressions of 700,000 and of a million, by the
   geometric mean, 1.07 times (AMD EPYC, two threads, 1 MB for each core, 32 MB for both). */
enum { FETCHED_BYTES = 1 << 24 };

/* Whether it pays to fetch tiles ahead; see tiles.c. Where all steps are one chain, which reads its
   operands where they lie, memory and arithmetic are both busy all the time without it: ten
   operations on 8 million float32 take 2.3 ms with fetching and 1.85 without (AMD EPYC, two threads). */
static int alternates(const Kernel *kernel)
{
    npy_intp bytes = 0;
    int is_packed = 0, is_transposed = 0;
    for (int i = 0; i < kernel->operand_count; i++) {
        const Operand *operand = &kernel->operands[i];
        const npy_intp row = magnitude(operand->strides[kernel->ndim - 2]);
        const npy_intp column = magnitude(operand->strides[kernel->ndim - 1]);
        bytes += least(operand->high - operand->low, FETCHED_BYTES);
        is_packed = is_packed || operand->access == PACKED;
        is_transposed = is_transposed || (operand->access == PACKED && row > 0 && row < column);
    }
    const int is_chain = kernel->step_count > 1 && kernel->rounds == 1 && !is_packed;
    const int computes = kernel->step_count > 1 || kernel->steps[0].streams;
    return bytes >= FETCHED_BYTES && !is_chain && (computes || is_transposed);
}

/* Lay out the scratch memory. Buffers lie apart: NumPy's loops take adjacent ones for overlapping,
   and addresses that agree in their last twelve bits hold up the processor. */
static void lay_out(Kernel *kernel, npy_intp cells)
{
    const npy_intp gap = 3 * 64;
    npy_intp position = 0;
    for (int i = 0; i < kernel->register_count; i++) {
        kernel->registers[i].buffer = position;
        position += (kernel->registers[i].itemsize * cells + 63) / 64 * 64 + gap;
    }
    for (int i = 0; i < kernel->operand_count; i++) {
        if (kernel->operands[i].access != DIRECT) {
            kernel->operands[i].buffer = position;
            position += (kernel->operands[i].itemsize * cells + 63) / 64 * 64 + gap;
        }
    }
    for (int i = 0; i < 2; i++) {
        kernel->spares[i] = position;
        if (kernel->rounds < kernel->step_count) {
            const npy_intp size = i == 0 ? sizeof(npy_float) : sizeof(npy_double);
            position += (size * cells + 63) / 64 * 64 + gap;
        }
    }
    kernel->results = position;
    npy_intp itemsize = 0;
    for (int i = 0; i < kernel->step_count; i++) {
        const Step *step = &kernel->steps[i];
        if (step->reduces && step->loop.function != NULL && step->loop.itemsizes[0] > itemsize) {
            itemsize = step->loop.itemsizes[0];
        }
    }
    kernel->scratch = kernel->results + itemsize * cells;
}

static int read_parts(Kernel *kernel, PyObject *description)
{
    PyObject *operands = PyTuple_GET_ITEM(description, 5);
    PyObject *registers = PyTuple_GET_ITEM(description, 6);
    PyObject *program = PyTuple_GET_ITEM(description, 7);
    if (!read_space(kernel, description) ||
        !check_tuple(operands, 1, MAX_OPERANDS, "operands") ||
        !check_tuple(registers, 0, MAX_REGISTERS, "registers") ||
        !check_tuple(program, 1, MAX_STEPS, "the program")) {
        return 0;
    }
    kernel->operand_count = (int)PyTuple_GET_SIZE(operands);
    kernel->register_count = (int)PyTuple_GET_SIZE(registers);
    kernel->step_count = (int)PyTuple_GET_SIZE(program);
    kernel->operands = PyMem_Calloc((size_t)kernel->operand_count, sizeof(Operand));
    kernel->registers = PyMem_Calloc((size_t)kernel->register_count + 1, sizeof(Register));
    kernel->steps = PyMem_Calloc((size_t)kernel->step_count, sizeof(Step));
    if (kernel->operands == NULL || kernel->registers == NULL || kernel->steps == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (int i = 0; i < kernel->operand_count; i++) {
        if (!read_operand(kernel, &kernel->operands[i], PyTuple_GET_ITEM(operands, i), i)) {
            return 0;
        }
    }
    for (int i = 0; i < kernel->register_count; i++) {
        if (!read_itemsize(PyTuple_GET_ITEM(registers, i), &kernel->registers[i].itemsize)) {
            return 0;
        }
    }
    for (int i = 0; i < kernel->step_count; i++) {
        if (!read_step(kernel, &kernel->steps[i], PyTuple_GET_ITEM(program, i))) {
            return 0;
        }
    }
    if (!place_copies(kernel)) {
        return 0;
    }
    for (int i = 0; i < kernel->operand_count; i++) {
        if (!check_access(kernel, &kernel->operands[i], i)) {
            return 0;
        }
    }
    const npy_intp cells = largest_tile(kernel);
    if (cells == 0) {
        return 0;
    }
    find_chains(kernel);
    find_repetitions(kernel);
    kernel->alternates = alternates(kernel);
    lay_out(kernel, cells);
    return 1;
}

Kernel *parse_kernel(PyObject *description)
{
    if (!check_tuple(description, 8, 8, "a kernel")) {
        return NULL;
    }
    Kernel *kernel = PyMem_Calloc(1, sizeof(Kernel));
    if (kernel == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (!read_parts(kernel, description)) {
        free_kernel(kernel);
        return NULL;
    }
    return kernel;
}
