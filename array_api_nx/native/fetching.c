/* The steps on one tile alternate between waiting for memory and computing from the cache. So that
   the memory is busy all the time, each of them first asks for a part of the next tile, and chains do
   so at each of their parts. (In equal parts, since too many requests at once hold
   up the processor. A single step alternates between nothing, and there it only disturbs, as it does
   where all operands lie in the caches; except where an operand is transposed, which the processor
   does not see through, and where the result goes past the caches from registers
   (docs/tuning.md, 12).) */

#include "fetching.h"
#include "compiler.h"
#include "sizes.h"

/* Note what to fetch of a tile of the operand `slot`, which begins at `corner`. */
static void plan_fetch(Frame *frame, int slot, const char *corner, npy_intp rows, npy_intp columns)
{
    const KernelOperand *operand = &frame->kernel->operands[slot];
    npy_intp run = columns, stride = frame->memory[slot].column;
    npy_intp runs = rows, run_stride = frame->memory[slot].row;
    if (operand->access == INVARIANT || operand->access == STREAMED || operand->accumulates ||
        operand->is_factor) {
        return;
    }
    if (columns == 1 || (rows > 1 && magnitude(run_stride) < magnitude(stride))) {
        run = rows, stride = frame->memory[slot].row;
        runs = columns, run_stride = frame->memory[slot].column;
    }
    if (stride == 0 || magnitude(stride) > LINE) {
        return;
    }
    if (run_stride == 0) {
        runs = 1;
    }
    const npy_intp bytes = (run - 1) * magnitude(stride) + operand->itemsize;
    Ahead *ahead = &frame->ahead[frame->ahead_count++];
    ahead->start = stride < 0 ? corner + operand->itemsize - bytes : corner;
    ahead->run = bytes / LINE + 1;
    ahead->stride = run_stride;
    ahead->left = ahead->run * runs;
    if (run_stride == bytes) {
        ahead->run = ahead->left = bytes * runs / LINE + 1;
    }
    ahead->done = 0;
    ahead->share = (ahead->left + frame->kernel->fetches - 1) / frame->kernel->fetches;
}

/* Nothing is divided here: a division of 64 bits takes as long as ten
   elements of an addition, and this is done for every operand, step and tile. */
void fetch_ahead(Frame *frame)
{
    for (int i = 0; i < frame->ahead_count; i++) {
        Ahead *ahead = &frame->ahead[i];
        npy_intp count = least(ahead->share, ahead->left);
        ahead->left -= count;
        while (count > 0) {
            const npy_intp lines = least(ahead->run - ahead->done, count);
            const char *address = ahead->start + ahead->done * LINE;
            for (npy_intp line = 0; line < lines; line++, address += LINE) {
                FETCH(address);
            }
            count -= lines;
            ahead->done += lines;
            if (ahead->done == ahead->run) {
                ahead->done = 0;
                ahead->start += ahead->stride;
            }
        }
    }
}

void look_ahead(Frame *frame, npy_intp row, npy_intp column, npy_intp all_rows,
                       npy_intp all_columns)
{
    const Kernel *kernel = frame->kernel;
    frame->ahead_count = 0;
    column += kernel->tile_columns;
    if (column >= all_columns) {
        column = 0;
        row += kernel->tile_rows;
    }
    if (row >= all_rows || !kernel->alternates) {
        return;
    }
    const npy_intp rows = least(kernel->tile_rows, all_rows - row);
    const npy_intp columns = least(kernel->tile_columns, all_columns - column);
    for (int i = 0; i < kernel->operand_count; i++) {
        const Tile *memory = &frame->memory[i];
        plan_fetch(frame, i, frame->corners[i] + row * memory->row + column * memory->column, rows,
                   columns);
    }
}
