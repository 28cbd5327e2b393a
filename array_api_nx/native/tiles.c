#include "tiles.h"
#include "chains.h"
#include "copies.h"
#include "draws.h"
#include "fetching.h"
#include "flags.h"
#include "nest.h"
#include "sizes.h"
#include "sums.h"

/* Fewer columns than this are reduced over the rows one by one: calls on few elements cost most. */
enum { FEW_COLUMNS = 16 };

/* ------------------------------------------------------------------ one step on one tile */

static void call(const Loop *loop, const Tile *views, npy_intp rows, npy_intp columns)
{
    char *args[MAX_SOURCES + 1];
    npy_intp steps[MAX_SOURCES + 1];
    int flat = 1;
    for (int i = 0; i <= loop->sources; i++) {
        args[i] = views[i].data;
        steps[i] = views[i].column;
        flat = flat && (rows == 1 || views[i].row == columns * views[i].column);
    }
    if (flat) {
        const npy_intp count = rows * columns;
        loop->function(args, &count, steps, loop->data);
        return;
    }
    for (npy_intp row = 0; row < rows; row++) {
        for (int i = 0; i <= loop->sources; i++) {
            args[i] = views[i].data + row * views[i].row;
        }
        loop->function(args, &columns, steps, loop->data);
    }
}

/* accumulator = loop(accumulator, elements), for `count` elements that lie `step` apart. */
static void accumulate(const Loop *loop, char *accumulator, char *elements, npy_intp step,
                       npy_intp count)
{
    char *args[3] = {accumulator, elements, accumulator};
    const npy_intp steps[3] = {0, step, 0};
    loop->function(args, &count, steps, loop->data);
}

/* Reduce the tile `from` into `to`, which lies along its rows, along its columns, or is one. */
static void reduce_tile(const KernelStep *step, char *to, npy_intp to_step, Tile from, npy_intp rows,
                        npy_intp columns)
{
    const Loop *loop = &step->loop;
    if (step->rows && step->columns) {
        if (rows == 1 || from.row == columns * from.column) {
            accumulate(loop, to, from.data, from.column, rows * columns);
        } else {
            for (npy_intp row = 0; row < rows; row++) {
                accumulate(loop, to, from.data + row * from.row, from.column, columns);
            }
        }
    } else if (step->columns) {
        for (npy_intp row = 0; row < rows; row++) {
            accumulate(loop, to + row * to_step, from.data + row * from.row, from.column, columns);
        }
    } else if (columns < FEW_COLUMNS) {
        for (npy_intp column = 0; column < columns; column++) {
            accumulate(loop, to + column * to_step, from.data + column * from.column, from.row,
                       rows);
        }
    } else {
        const npy_intp steps[3] = {to_step, from.column, to_step};
        for (npy_intp row = 0; row < rows; row++) {
            char *args[3] = {to, from.data + row * from.row, to};
            loop->function(args, &columns, steps, loop->data);
        }
    }
}

/* Fold the tile `from` into the moments `to`. */
static void fold_moments(const KernelStep *step, Tile to, Tile from, npy_intp rows, npy_intp columns)
{
    const npy_intp itemsize = step->loop.itemsizes[1];
    if (step->rows && step->columns && from.row == columns * from.column) {
        columns *= rows;
        rows = 1;
    }
    if (step->columns) {
        for (npy_intp row = 0; row < rows; row++) {
            fold_run((Moments *)(to.data + (step->rows ? 0 : row * to.row)),
                     from.data + row * from.row, from.column, columns, itemsize);
        }
        return;
    }
    const npy_intp bands = step->rows ? 1 : rows;
    const npy_intp height = step->rows ? rows : 1;
    for (npy_intp band = 0; band < bands; band++) {
        char *moments = to.data + band * to.row;
        const char *first = from.data + band * from.row;
        if (columns >= FEW_COLUMNS && from.column == itemsize) {
            fold_columns(moments, to.column, first, from.row, height, columns, itemsize);
            continue;
        }
        for (npy_intp column = 0; column < columns; column++) {
            fold_run((Moments *)(moments + column * to.column), first + column * from.column,
                     from.row, height, itemsize);
        }
    }
}

/* Reduce each row or column of the tile `from`, which has all of their elements, into a register. */
static void reduce_whole(Frame *frame, const KernelStep *step, Tile from, npy_intp rows,
                         npy_intp columns)
{
    const npy_intp itemsize = step->loop.itemsizes[0];
    const Tile to = frame->views[step->target];
    const int spread = step->columns && to.column != 0;
    char *results = spread ? frame->scratch + frame->kernel->results : to.data;
    fill(results, step->identity, itemsize, step->rows ? columns : rows);
    reduce_tile(step, results, itemsize, from, rows, columns);
    if (spread) {
        copy_tile(to, (Tile){results, itemsize, 0}, itemsize, rows, columns);
    }
}

static void reduce(Frame *frame, const KernelStep *step, npy_intp rows, npy_intp columns)
{
    const Loop *loop = &step->loop;
    const Tile from = frame->views[step->sources[1]];
    if (step->target >= frame->kernel->operand_count) {
        reduce_whole(frame, step, from, rows, columns);
        return;
    }
    const Tile to = frame->memory[step->target];
    if (loop->function == NULL) {
        fold_moments(step, to, from, rows, columns);
        return;
    }
    if (!step->rows && !step->columns) {
        const Tile views[3] = {to, from, to};
        call(loop, views, rows, columns);
        return;
    }
    const npy_intp to_step = step->rows ? (step->columns ? 0 : to.column) : to.row;
    if (loop->itemsizes[0] != loop->itemsizes[1]) {
        /* Counts add up exactly, in any order. */
        reduce_tile(step, to.data, to_step, from, rows, columns);
        return;
    }
    char *results = frame->scratch + frame->kernel->results;
    const npy_intp itemsize = loop->itemsizes[0];
    npy_intp count = step->rows ? (step->columns ? 1 : columns) : rows;
    fill(results, step->identity, itemsize, count);
    reduce_tile(step, results, itemsize, from, rows, columns);
    char *args[3] = {to.data, results, to.data};
    const npy_intp steps[3] = {to_step, itemsize, to_step};
    loop->function(args, &count, steps, loop->data);
}

/* Of `size` indices from `first` on, how many are below `limit`. */
static npy_intp below(npy_intp limit, npy_intp first, npy_intp size)
{
    return limit <= first ? 0 : least(limit - first, size);
}

/* Whether a tile that lies in the operand's box can be read there as if it were packed: in the
   same order, which reductions to one element depend on. */
static int reads_in_box(const Frame *frame, int slot, npy_intp rows, npy_intp columns)
{
    const Kernel *kernel = frame->kernel;
    const KernelOperand *operand = &kernel->operands[slot];
    const Tile *memory = &frame->memory[slot];
    const int outer = kernel->ndim - 2;
    if (memory->column != operand->itemsize ||
        (kernel->folds_tiles && rows > 1 && memory->row != columns * memory->column)) {
        return 0;
    }
    for (int dim = 0; dim < kernel->ndim; dim++) {
        const npy_intp size = dim < outer ? 1 : dim == outer ? rows : columns;
        if (frame->first[dim] < operand->start[dim] ||
            frame->first[dim] + size > operand->end[dim]) {
            return 0;
        }
    }
    return 1;
}

/* Pack the tile of an operand that has memory only in a box. */
static void pack_boxed(const Frame *frame, int slot, npy_intp rows, npy_intp columns)
{
    const Kernel *kernel = frame->kernel;
    const KernelOperand *operand = &kernel->operands[slot];
    const npy_intp *first = frame->first;
    const int outer = kernel->ndim - 2;
    const npy_intp above = below(operand->start[outer], first[outer], rows);
    const npy_intp left = below(operand->start[outer + 1], first[outer + 1], columns);
    npy_intp height = below(operand->end[outer], first[outer], rows) - above;
    const npy_intp width = below(operand->end[outer + 1], first[outer + 1], columns) - left;
    for (int dim = 0; dim < outer; dim++) {
        if (first[dim] < operand->start[dim] || first[dim] >= operand->end[dim]) {
            height = 0;
        }
    }
    Tile to = frame->views[slot];
    if (height < rows || width < columns) {
        const Tile fill = {frame->corners[operand->fill], 0, 0};
        copy_tile(to, fill, operand->itemsize, rows, columns);
    }
    if (height > 0 && width > 0) {
        Tile from = frame->memory[slot];
        to.data += above * to.row + left * to.column;
        from.data += above * from.row + left * from.column;
        copy_tile(to, from, operand->itemsize, height, width);
    }
}

/* Pack the tile of an operand whose elements are random numbers. */
static void draw_tile(const Frame *frame, int slot, npy_intp rows, npy_intp columns)
{
    const Kernel *kernel = frame->kernel;
    const KernelOperand *operand = &kernel->operands[slot];
    const Drawing *drawing = (const Drawing *)frame->memories[slot];
    npy_intp row = operand->numbers[kernel->ndim - 2], column = operand->numbers[kernel->ndim - 1];
    npy_intp first = 0;
    for (int dim = 0; dim < kernel->ndim; dim++) {
        first += frame->first[dim] * operand->numbers[dim];
    }
    if (columns == 1) {
        column = row;
        row = 0;
        columns = rows;
        rows = 1;
    } else if (row == columns * column) {
        columns *= rows;
        rows = 1;
    }
    for (npy_intp i = 0; i < rows; i++) {
        draw_run(drawing, (npy_uint64)(first + i * row), (npy_uint64)column, (npy_uint64)columns,
                 frame->views[slot].data + i * columns * operand->itemsize);
    }
}

/* The most multiplications in one call of BLAS, which asks its own threads to join in larger ones:
   when several of ours do so they wait for each other. 32 products of 1024 x 20 and 20 x 64 take
   two threads 13 times as long in single calls as in these parts (OpenBLAS on 2 cores). */
#define MAX_MULTIPLICATIONS ((npy_intp)1 << 18)

/* The tile of a product of matrices. `left` goes along the rows of the tile, `right` along its
   columns, and each also along the axis that is summed over. */
static void multiply_tile(const KernelStep *step, const Tile *left, const Tile *right, const Tile *to,
                          npy_intp rows, npy_intp columns)
{
    /* As NumPy's loops of generalised ufuncs take them: how many products, then the sizes; from one
       product to the next, then along the axes of each operand. */
    npy_intp sizes[4] = {1, rows, step->inner, columns};
    const npy_intp steps[9] = {0, 0, 0, left->row, step->inner_steps[0], step->inner_steps[1],
                               right->column, to->row, to->column};
    /* It is divided along its longer side. */
    const int by_row = rows >= columns;
    const npy_intp length = by_row ? rows : columns;
    const npy_intp each = step->inner * (by_row ? columns : rows);
    const npy_intp part = each < MAX_MULTIPLICATIONS ? MAX_MULTIPLICATIONS / (each + !each) : 1;
    for (npy_intp start = 0; start < length; start += part) {
        char *args[3] = {left->data + (by_row ? start * left->row : 0),
                         right->data + (by_row ? 0 : start * right->column),
                         to->data + start * (by_row ? to->row : to->column)};
        sizes[by_row ? 1 : 3] = part < length - start ? part : length - start;
        step->loop.function(args, sizes, steps, step->loop.data);
    }
}

/* Pack the operands that the step is the first to read. */
static void load(Frame *frame, const KernelStep *step, npy_intp rows, npy_intp columns)
{
    for (int i = 0; i < step->load_count; i++) {
        const int slot = step->loads[i];
        const KernelOperand *operand = &frame->kernel->operands[slot];
        if (operand->repeats && frame->repeated) {
            continue;
        }
        if (operand->drawn) {
            draw_tile(frame, slot, rows, columns);
        } else if (operand->fill < 0) {
            copy_tile(frame->views[slot], frame->memory[slot], operand->itemsize, rows, columns);
        } else if (frame->views[slot].data != frame->memory[slot].data) {
            pack_boxed(frame, slot, rows, columns);
        }
    }
}

/* Write the step's result out of its packed tile, if it is the last one that writes there. */
static void store(Frame *frame, const KernelStep *step, npy_intp rows, npy_intp columns)
{
    if (step->stores) {
        const int slot = step->target;
        const KernelOperand *operand = &frame->kernel->operands[slot];
        (operand->access == STREAMED ? stream_tile : copy_tile)(
            frame->memory[slot], frame->views[slot], operand->itemsize, rows, columns);
    }
}

static void run_step(Frame *frame, const KernelStep *step, npy_intp rows, npy_intp columns)
{
    load(frame, step, rows, columns);
    if (step->reduces) {
        reduce(frame, step, rows, columns);
    } else if (step->inner > 0) {
        multiply_tile(step, &frame->views[step->sources[0]], &frame->views[step->sources[1]],
                      &frame->views[step->target], rows, columns);
    } else {
        Tile views[MAX_SOURCES + 1];
        for (int i = 0; i < step->loop.sources; i++) {
            views[i] = frame->views[step->sources[i]];
        }
        views[step->loop.sources] = frame->views[step->target];
        call(&step->loop, views, rows, columns);
    }
    frame->flags[step - frame->kernel->steps] |=
        step->loop.is_arithmetic ? take_vector_flags() : take_flags();
    store(frame, step, rows, columns);
}

/* Run the step, or the chain that begins with it. */
static void run_round(Frame *frame, const KernelStep *step, npy_intp rows, npy_intp columns)
{
    if (step->chained == 0) {
        run_step(frame, step, rows, columns);
        return;
    }
    if (!is_worth_chaining(frame, step, rows, columns)) {
        for (int i = 0; i < PARTS; i++) {
            fetch_ahead(frame);
        }
        run_step(frame, step, rows, columns); /* its only one */
        return;
    }
    for (int i = 0; i < step->chained; i++) {
        load(frame, &step[i], rows, columns);
    }
    const ChainEnd end = run_chain(frame, step, rows, columns);
    if (end == IN_TILE) {
        store(frame, &step[step->chained - 1], rows, columns);
    }
    for (int i = 0; end == IN_STEPS && i < step->chained; i++) {
        run_step(frame, &step[i], rows, columns);
    }
}

/* ------------------------------------------------------------------ tasks */

void start_frame(Frame *frame, const Kernel *kernel, char *const *memories, char *scratch,
                        Interrupt *interrupt, int is_caller)
{
    frame->kernel = kernel;
    frame->interrupt = interrupt;
    frame->is_caller = is_caller;
    frame->memories = memories;
    frame->scratch = scratch;
    memset(frame->flags, 0, (size_t)kernel->step_count);
    const int rows = kernel->ndim - 2;
    for (int i = 0; i < kernel->operand_count; i++) {
        const KernelOperand *operand = &kernel->operands[i];
        frame->memory[i].row = operand->strides[rows];
        frame->memory[i].column = operand->strides[rows + 1];
        frame->views[i] = (Tile){scratch + operand->buffer, 0, operand->itemsize};
    }
    for (int i = 0; i < kernel->register_count; i++) {
        const KernelRegister *each = &kernel->registers[i];
        Tile *view = &frame->views[kernel->operand_count + i];
        *view = (Tile){scratch + each->buffer, 0, each->itemsize};
        if (each->spread == PER_ROW) {
            view->row = each->itemsize;
            view->column = 0;
        }
    }
    for (int i = 0; i < 2; i++) {
        frame->spares[i] = scratch + kernel->spares[i];
    }
    take_flags();
}

/* Buffers hold tiles of this many columns from now on. */
static void set_columns(Frame *frame, npy_intp columns)
{
    const Kernel *kernel = frame->kernel;
    const int slots = kernel->operand_count + kernel->register_count;
    for (int i = 0; i < slots; i++) {
        if (i < kernel->operand_count ? kernel->operands[i].access != DIRECT
                                      : kernel->registers[i - kernel->operand_count].spread ==
                                            PER_ELEMENT) {
            frame->views[i].row = columns * frame->views[i].column;
        }
    }
}

/* Run all steps on the tile at (row, column) of the dims inside, whose first tile's first element has
   the indices `begin`. */
static void run_tile(Frame *frame, const npy_intp *begin, npy_intp row, npy_intp column,
                     npy_intp rows, npy_intp columns)
{
    const Kernel *kernel = frame->kernel;
    npy_intp *first = frame->first + kernel->ndim - 2;
    for (int i = 0; i < kernel->operand_count; i++) {
        Tile *memory = &frame->memory[i];
        memory->data = frame->corners[i] + row * memory->row + column * memory->column;
        if (kernel->operands[i].access == DIRECT) {
            frame->views[i] = *memory;
        }
    }
    first[0] = begin[0] + row;
    first[1] = begin[1] + column;
    for (int i = 0; i < kernel->operand_count; i++) {
        const KernelOperand *operand = &kernel->operands[i];
        if (operand->fill >= 0) {
            frame->views[i] = reads_in_box(frame, i, rows, columns)
                                  ? frame->memory[i]
                                  : (Tile){frame->scratch + operand->buffer,
                                           columns * operand->itemsize, operand->itemsize};
        }
    }
    for (int i = 0; i < kernel->step_count; i++) {
        const KernelStep *step = &kernel->steps[i];
        if (step->chained == 0) {
            fetch_ahead(frame);
        }
        run_round(frame, step, rows, columns);
        i += step->chained > 0 ? step->chained - 1 : 0;
    }
}

static void pack_invariant(Frame *frame, npy_intp rows, npy_intp columns)
{
    const Kernel *kernel = frame->kernel;
    rows = least(rows, kernel->tile_rows);
    columns = least(columns, kernel->tile_columns);
    set_columns(frame, columns);
    for (int i = 0; i < kernel->operand_count; i++) {
        if (kernel->operands[i].access == INVARIANT) {
            frame->memory[i].data = frame->corners[i];
            copy_tile(frame->views[i], frame->memory[i], kernel->operands[i].itemsize, rows,
                      columns);
        }
    }
}

/* Go on to the next index of the outer dims; 0 after the last one, when it is the first one again. */
static int next_outer(Frame *frame, npy_intp *index, const npy_intp *extents)
{
    const Kernel *kernel = frame->kernel;
    const int outer = kernel->ndim - 2, dim = next_index(outer, extents, index);
    for (int i = 0; i < kernel->operand_count; i++) {
        frame->corners[i] += distance(dim, outer, extents, kernel->operands[i].strides);
    }
    for (int later = dim + 1; later < outer; later++) {
        frame->first[later] -= extents[later] - 1;
    }
    if (dim >= 0) {
        frame->first[dim]++;
    }
    return dim >= 0;
}

/* Run all tiles at one index of the outer dims; or, if operands repeat, each of them at all indices. */
static void run_tiles(Frame *frame, npy_intp *index, const npy_intp *extents)
{
    const Kernel *kernel = frame->kernel;
    const int outer = kernel->ndim - 2;
    const npy_intp all_rows = extents[outer], all_columns = extents[outer + 1];
    const npy_intp begin[2] = {frame->first[outer], frame->first[outer + 1]};
    npy_intp columns_before = 0;
    for (npy_intp row = 0; row < all_rows; row += kernel->tile_rows) {
        const npy_intp rows = least(kernel->tile_rows, all_rows - row);
        for (npy_intp column = 0; column < all_columns; column += kernel->tile_columns) {
            const npy_intp columns = least(kernel->tile_columns, all_columns - column);
            if (columns != columns_before) {
                set_columns(frame, columns);
                columns_before = columns;
            }
            look_ahead(frame, row, column, all_rows, all_columns);
            frame->repeated = 0;
            do {
                if (is_interrupted(frame->interrupt, frame->is_caller)) {
                    return;
                }
                run_tile(frame, begin, row, column, rows, columns);
                frame->repeated = 1;
            } while (kernel->repeats && next_outer(frame, index, extents));
        }
    }
    frame->first[outer] = begin[0];
    frame->first[outer + 1] = begin[1];
}

void run_task(Frame *frame, npy_intp task)
{
    const Kernel *kernel = frame->kernel;
    const int outer = kernel->ndim - 2;
    const npy_intp begin = task * kernel->step;
    npy_intp extents[MAX_DIMS];
    npy_intp index[MAX_DIMS] = {0};
    for (int dim = 0; dim < kernel->ndim; dim++) {
        extents[dim] = kernel->dims[dim];
        frame->first[dim] = 0;
    }
    frame->first[kernel->split] = begin;
    extents[kernel->split] -= begin;
    if (extents[kernel->split] > kernel->step) {
        extents[kernel->split] = kernel->step;
    }
    for (int i = 0; i < kernel->operand_count; i++) {
        const KernelOperand *operand = &kernel->operands[i];
        frame->corners[i] = frame->memories[i] + task * operand->task_stride +
                            begin * operand->strides[kernel->split];
    }
    pack_invariant(frame, extents[outer], extents[outer + 1]);
    do {
        run_tiles(frame, index, extents);
    } while (!kernel->repeats && next_outer(frame, index, extents));
    end_streams(); /* before another thread sees that the task is done */
}
