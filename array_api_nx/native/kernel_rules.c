#include "kernel_rules.h"
#include "arguments.h"
#include "chains.h"
#include "sizes.h"

/* All functions here that fail return 0, with an exception set. */

/* ------------------------------------------------------------------ rules of space and operands */

static int check_space(const Kernel *kernel)
{
    const int split = kernel->split;
    const npy_intp extent = kernel->dims[split];
    if (extent > 0 && kernel->tasks != (extent - 1) / kernel->step + 1) {
        return refuse("%zd tasks of step %zd do not fit dim %zd, which has %zd", kernel->tasks,
                      kernel->step, (npy_intp)split, extent);
    }
    const npy_intp whole = split == kernel->ndim - 1   ? kernel->tile_columns
                           : split == kernel->ndim - 2 ? kernel->tile_rows
                                                       : 1;
    if (kernel->tasks > 1 && kernel->step % whole != 0) {
        return refuse("step %zd must be a multiple of the tile's %zd along dim %zd", kernel->step,
                      whole, (npy_intp)split);
    }
    return 1;
}

/* Elements of the largest tile, which is all that buffers hold; 0 if they are too many. */
static npy_intp largest_tile(const Kernel *kernel)
{
    const npy_intp rows = least(kernel->dims[kernel->ndim - 2], kernel->tile_rows);
    const npy_intp columns = least(kernel->dims[kernel->ndim - 1], kernel->tile_columns);
    if (rows > 0 && columns > MAX_BYTES / MAX_ITEMSIZE / 256 / rows) {
        return refuse("tiles of %zd by %zd are too large for scratch memory", rows, columns);
    }
    return rows * columns > 0 ? rows * columns : 1;
}

/* Widen the operand's extent by the indices from `start` to below `end`, with `stride` bytes from
   one to the next. */
static int widen(KernelOperand *operand, npy_intp start, npy_intp end, npy_intp stride, int number)
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

/* Find the bytes that the operand covers. */
static int check_operand(const Kernel *kernel, KernelOperand *operand, int number)
{
    operand->high = operand->itemsize;
    for (int i = 0; i < kernel->ndim; i++) {
        const npy_intp start = operand->start[i], end = operand->end[i];
        if (operand->fill < 0 && (start > 0 || end < kernel->dims[i])) {
            return refuse("operand %d has a box, and nothing to fill what is around it", number);
        }
        if (!widen(operand, start, end, operand->strides[i], number)) {
            return 0;
        }
    }
    if (operand->drawn && (operand->access != PACKED || operand->fill >= 0)) {
        return refuse("an operand of random numbers must be packed, and have no box");
    }
    return widen(operand, 0, kernel->tasks, operand->task_stride, number);
}

/* ------------------------------------------------------------------ rules of steps */

static int check_slot(const Kernel *kernel, int slot, npy_intp itemsize)
{
    const npy_intp size = slot < kernel->operand_count
                              ? kernel->operands[slot].itemsize
                              : kernel->registers[slot - kernel->operand_count].itemsize;
    if (size != itemsize) {
        return refuse("slot %d has elements of %zd bytes, its loop wants %zd", slot, size,
                      itemsize);
    }
    return 1;
}

/* That the slots from source `first` on, and the target, have the itemsizes of the step's loop. */
static int check_slots(const Kernel *kernel, const KernelStep *step, int first)
{
    const Loop *loop = &step->loop;
    for (int i = first; i < loop->sources; i++) {
        if (!check_slot(kernel, step->sources[i], loop->itemsizes[i])) {
            return 0;
        }
    }
    return check_slot(kernel, step->target, loop->itemsizes[loop->sources]);
}

static int check_product(Kernel *kernel, const KernelStep *step)
{
    if (step->loop.sources != 2) {
        return refuse("a product's loop must take two matrices");
    }
    if (!check_slots(kernel, step, 0)) {
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        const int slot = step->sources[i];
        if (slot >= kernel->operand_count || kernel->operands[slot].access != DIRECT ||
            kernel->operands[slot].is_factor) {
            return refuse("a factor of a product must be an operand of its own, and direct");
        }
        KernelOperand *operand = &kernel->operands[slot];
        if (operand->strides[kernel->ndim - (i == 0 ? 1 : 2)] != 0) {
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

/* A reduction into a register, of rows or columns whose elements are all in one tile. */
static int check_whole(Kernel *kernel, const KernelStep *step)
{
    const int dim = kernel->ndim - (step->rows ? 2 : 1);
    const npy_intp tile = step->rows ? kernel->tile_rows : kernel->tile_columns;
    if (step->rows == step->columns || step->loop.function == NULL || tile < kernel->dims[dim]) {
        return refuse("register %d cannot be the target of a reduction of parts of rows or columns",
                      step->target);
    }
    KernelRegister *target = &kernel->registers[step->target - kernel->operand_count];
    if (step->sources[1] == step->target || target->spread != PER_ELEMENT) {
        return refuse("a reduction needs a register of its own for its result, not %d",
                      step->target);
    }
    if (step->rows || kernel->dims[dim] > SPREAD_COLUMNS) {
        target->spread = step->rows ? PER_COLUMN : PER_ROW;
    }
    return 1;
}

static int check_reduction(Kernel *kernel, KernelStep *step)
{
    const Loop *loop = &step->loop;
    if (loop->sources != 2 || loop->itemsizes[0] != loop->itemsizes[2]) {
        return refuse("a reduction's loop must take (accumulator, element) to an accumulator");
    }
    if (!check_slots(kernel, step, 1)) {
        return 0;
    }
    step->sources[0] = step->target;
    kernel->folds_tiles = kernel->folds_tiles || (step->rows && step->columns);
    return step->target < kernel->operand_count || check_whole(kernel, step);
}

static int check_step(Kernel *kernel, KernelStep *step)
{
    if (step->reduces) {
        return check_reduction(kernel, step);
    }
    if (step->loop.function == NULL) {
        return refuse("the loop of moments reduces, it makes no instruction");
    }
    return step->inner > 0 ? check_product(kernel, step) : check_slots(kernel, step, 0);
}

/* ------------------------------------------------------------------ the whole */

/* Which steps pack and write out operands: before the first reading, after the last writing. */
static int place_copies(Kernel *kernel)
{
    char touched[MAX_OPERANDS + MAX_REGISTERS] = {0};
    KernelStep *last_write[MAX_OPERANDS] = {NULL};
    for (int i = 0; i < kernel->step_count; i++) {
        KernelStep *step = &kernel->steps[i];
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
            KernelOperand *operand = &kernel->operands[step->target];
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
        const KernelStep *step = &kernel->steps[i];
        for (int j = 0; j < step->loop.sources; j++) {
            if (step->sources[j] == number && (step->reduces || step->inner > 0)) {
                return 0;
            }
        }
    }
    return 1;
}

/* How the operand's access fits its strides and its use. */
static int check_access(const Kernel *kernel, const KernelOperand *operand, int number)
{
    const int columns = kernel->ndim - 1;
    const npy_intp column = kernel->dims[columns] > 1 ? operand->strides[columns] : 0;
    if (operand->fill >= 0) {
        const KernelOperand *fill = &kernel->operands[operand->fill];
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
        KernelOperand *operand = &kernel->operands[i];
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

/* Whether it pays to fetch tiles ahead; see tiles.c. Where all steps are one chain, which reads its
   operands where they lie, memory and arithmetic are both busy all the time without it
   (docs/tuning.md, 11). */
static int alternates(const Kernel *kernel)
{
    npy_intp bytes = 0;
    int is_packed = 0, is_transposed = 0;
    for (int i = 0; i < kernel->operand_count; i++) {
        const KernelOperand *operand = &kernel->operands[i];
        const npy_intp row = magnitude(operand->strides[kernel->ndim - 2]);
        const npy_intp column = magnitude(operand->strides[kernel->ndim - 1]);
        bytes += least(operand->high - operand->low, tile_sizes.fetched_bytes);
        is_packed = is_packed || operand->access == PACKED;
        is_transposed = is_transposed || (operand->access == PACKED && row > 0 && row < column);
    }
    const int is_chain = kernel->step_count > 1 && kernel->rounds == 1 && !is_packed;
    const int computes = kernel->step_count > 1 || kernel->steps[0].streams;
    return bytes >= tile_sizes.fetched_bytes && !is_chain && (computes || is_transposed);
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
        const KernelStep *step = &kernel->steps[i];
        if (step->reduces && step->loop.function != NULL && step->loop.itemsizes[0] > itemsize) {
            itemsize = step->loop.itemsizes[0];
        }
    }
    kernel->scratch = kernel->results + itemsize * cells;
}

int check_kernel(Kernel *kernel)
{
    int good = check_space(kernel);
    for (int i = 0; good && i < kernel->operand_count; i++) {
        good = check_operand(kernel, &kernel->operands[i], i);
    }
    for (int i = 0; good && i < kernel->step_count; i++) {
        good = check_step(kernel, &kernel->steps[i]);
    }
    good = good && place_copies(kernel);
    for (int i = 0; good && i < kernel->operand_count; i++) {
        good = check_access(kernel, &kernel->operands[i], i);
    }
    const npy_intp cells = good ? largest_tile(kernel) : 0;
    if (cells == 0) {
        return 0;
    }
    find_chains(kernel);
    find_repetitions(kernel);
    kernel->alternates = alternates(kernel);
    lay_out(kernel, cells);
    return 1;
}
