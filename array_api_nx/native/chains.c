#include "chains.h"
#include "copies.h"
#include "fetching.h"
#include "flags.h"
#include "orders.h"
#include "sizes.h"

#ifdef HAS_ORDERS

/* The most steps of a chain. */
enum { MAX_LINKS = 32 };

/* ------------------------------------------------------------------ finding them */

static int reads(const KernelStep *step, int slot)
{
    for (int i = 0; i < step->loop.sources; i++) {
        if (step->sources[i] == slot) {
            return 1;
        }
    }
    return 0;
}

/* Whether a link reads the slot's memory: the result of the link before is in registers. */
static int loads(const KernelStep *step, int slot, int is_first)
{
    for (int i = 0; i < step->loop.sources; i++) {
        if (step->sources[i] == slot && (is_first || !step->follows[i])) {
            return 1;
        }
    }
    return 0;
}

/* Whether a step from number `from` on reads the present contents of the register. */
static int is_read_later(const Kernel *kernel, int from, int slot)
{
    for (int i = from; i < kernel->step_count; i++) {
        const KernelStep *step = &kernel->steps[i];
        if (reads(step, slot)) {
            return 1;
        }
        if (step->target == slot) {
            return 0;
        }
    }
    return 0;
}

/* Whether the step reads elements that are not adjacent where they lie. */
static int reads_in_steps(const Kernel *kernel, const KernelStep *step)
{
    for (int i = 0; i < step->loop.sources; i++) {
        const int slot = step->sources[i];
        if (slot < kernel->operand_count && kernel->operands[slot].access == DIRECT &&
            is_stepped(kernel, &kernel->operands[slot])) {
            return 1;
        }
    }
    return 0;
}

/* Whether the step can be a link. With one number as both operands it can be one if there is an operation
   for that. */
static int can_chain(const Kernel *kernel, const KernelStep *step, int takes_twice)
{
    const LinkOperation operation = step->loop.link;
    return !step->reduces && step->inner == 0 && operation != NO_LINK &&
           !reads_in_steps(kernel, step) &&
           !(takes_twice && (operation == SUBTRACT_LINK || operation == DIVIDE_LINK));
}

/* How many steps from number `begin` on are a chain; their fields are filled in. */
static int follow_chain(Kernel *kernel, int begin)
{
    int length = 0;
    for (int i = begin; i < kernel->step_count && length < MAX_LINKS; i++) {
        KernelStep *step = &kernel->steps[i];
        const int binary = step->loop.sources == 2;
        const int before = i == begin ? step->sources[0] : step[-1].target;
        const int follows[2] = {step->sources[0] == before, binary && step->sources[1] == before};
        if (!can_chain(kernel, step, follows[0] && follows[1]) || !(follows[0] || follows[1])) {
            break;
        }
        if (i > begin) {
            /* The step before is not the last one: its target must be a register, and if later steps
               read that, it must not be one that the chain has read before. */
            if (before < kernel->operand_count ||
                step->loop.itemsizes[0] != step[-1].loop.itemsizes[0]) {
                break;
            }
            const int keeps = step->target != before && is_read_later(kernel, i + 1, before);
            int read_before = 0;
            for (int j = begin; j < i; j++) {
                read_before = read_before || loads(&kernel->steps[j], before, j == begin);
            }
            if (keeps && read_before) {
                break;
            }
            step[-1].keeps = keeps;
        }
        step->follows[0] = follows[0];
        step->follows[1] = follows[1];
        length++;
    }
    if (length > 0) {
        KernelStep *last = &kernel->steps[begin + length - 1];
        last->streams = last->stores && kernel->operands[last->target].access == STREAMED &&
                        !is_read_later(kernel, begin + length, last->target);
    }
    /* Of one step it is a chain only if its result can go past the caches from registers. */
    return length > 1 || (length == 1 && kernel->steps[begin].streams) ? length : 0;
}

void find_chains(Kernel *kernel)
{
    kernel->rounds = kernel->fetches = 0;
    for (int i = 0; i < kernel->step_count; kernel->rounds++) {
        const int length = follow_chain(kernel, i);
        kernel->steps[i].chained = length;
        kernel->fetches += length > 0 ? PARTS : 1;
        i += length > 0 ? length : 1;
    }
}

/* ------------------------------------------------------------------ running them */

/* Whether tiles of so many rows and columns share memory. */
static int overlap(Tile a, Tile b, npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    const Tile *views[2] = {&a, &b};
    char *low[2], *high[2];
    for (int i = 0; i < 2; i++) {
        const npy_intp down = (rows - 1) * views[i]->row, along = (columns - 1) * views[i]->column;
        low[i] = views[i]->data + (down < 0 ? down : 0) + (along < 0 ? along : 0);
        high[i] = views[i]->data + (down > 0 ? down : 0) + (along > 0 ? along : 0) + itemsize;
    }
    return low[0] < high[1] && low[1] < high[0];
}

/* Whether rows follow each other as elements do, which are adjacent, or the same one. A tile of one
   column may have any step from it to the next. */
static int is_flat(Tile view, npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    return rows == 1 || (view.row == columns * view.column &&
                         (view.column == 0 || view.column == itemsize));
}

static Tile moved(Tile view, npy_intp row, npy_intp column)
{
    view.data += row * view.row + column * view.column;
    return view;
}

/* A step of a chain. It takes the result of the step before; the first step takes the chain's first
   operand instead. */
typedef struct {
    LinkOperation operation;
    int is_first, is_second; /* whether that is the first operand, and whether it is the second */
    Tile other;              /* the operand that is not */
    char *kept; /* a packed tile that the result is written to, too; or NULL */
} Link;

/* At most: to read the first operand, for each link to compute and to keep, and to end. */
enum { MAX_ORDERS = 2 + 2 * MAX_LINKS };

/* The order for an operation whose other operand is `is_scalar`. */
static OrderCode order_of(const Link *link, int is_scalar)
{
    OrderCode code;
    switch (link->operation) {
    case ADD_LINK:
        if (link->is_first && link->is_second) {
            return DOUBLE_IT;
        }
        code = ADD_VECTOR;
        break;
    case MULTIPLY_LINK:
        if (link->is_first && link->is_second) {
            return SQUARE;
        }
        code = MULTIPLY_VECTOR;
        break;
    case SUBTRACT_LINK:
        code = link->is_first ? SUBTRACT_VECTOR : SUBTRACT_FROM_VECTOR;
        break;
    case DIVIDE_LINK:
        code = link->is_first ? DIVIDE_VECTOR : DIVIDE_INTO_VECTOR;
        break;
    case SQUARE_LINK:
        return SQUARE;
    case SQRT_LINK:
        return SQUARE_ROOT;
    case ABSOLUTE_LINK:
        return ABSOLUTE;
    default:
        return NEGATE;
    }
    return (OrderCode)(code + is_scalar);
}

/* Run a chain on a tile. No operand lies in the memory of the target, and the elements of a row of it
   are adjacent. If it `streams`, the result goes past the caches, as that of stream_tile does. */
static void run_links(const Link *links, int count, Tile first, Tile target, int streams,
                      npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    Order orders[MAX_ORDERS];
    int length = 0;
    orders[length++] = (Order){first.column ? READ_VECTOR : READ_SCALAR, first.data,
                               first.column ? -1 : 0, first.row};
    for (int i = 0; i < count; i++) {
        const Link *link = &links[i];
        const Tile *other = &link->other;
        orders[length++] = (Order){order_of(link, other->column == 0), other->data,
                                   other->column ? -1 : 0, other->row};
        if (link->kept != NULL) {
            orders[length++] = (Order){KEEP, link->kept, -1, columns * itemsize};
        }
    }
    orders[length++] = (Order){streams ? STREAM : LAST, target.data, -1, target.row};
    for (npy_intp row = 0; row < rows; row++) {
        run_orders(orders, length, columns * itemsize, itemsize, 1);
        for (int i = 0; i < length; i++) {
            orders[i].data += orders[i].row;
        }
    }
}

/* Run the links on a tile, part by part: some of its rows, or of the columns of its only row. */
static void run_parts(Frame *frame, Link *links, int count, Tile begin, Tile target, int streams,
                      npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    /* Parts of a row end where eight vectors of 64 bytes do. */
    const npy_intp unit = rows > 1 ? 1 : 512 / itemsize;
    const npy_intp size = rows > 1 ? rows : columns;
    const npy_intp parts = frame->kernel->alternates ? PARTS : 1;
    const npy_intp each = ((size + unit - 1) / unit + parts - 1) / parts * unit;
    for (npy_intp first = 0; first < size; first += each) {
        const npy_intp row = rows > 1 ? first : 0, column = rows > 1 ? 0 : first;
        const npy_intp height = rows > 1 ? least(each, rows - row) : 1;
        const npy_intp width = rows > 1 ? columns : least(each, columns - column);
        fetch_ahead(frame);
        run_links(links, count, moved(begin, row, column), moved(target, row, column), streams,
                  itemsize, height, width);
        for (int i = 0; i < count; i++) {
            links[i].other = moved(links[i].other, rows > 1 ? height : 0, rows > 1 ? 0 : width);
            if (links[i].kept != NULL) {
                links[i].kept += height * width * itemsize;
            }
        }
    }
}

/* Whether the chain's result can go past the caches from registers: each row begins where a line of
   the caches does, and nothing is read in the target's memory, so that the steps can be run again. (A
   tile that is written first, and streamed then, keeps memory busy for a part of the time only:
   docs/tuning.md, 59.) */
static int can_stream(const Frame *frame, const KernelStep *first, npy_intp itemsize, npy_intp rows,
                      npy_intp columns)
{
    const KernelStep *last = &first[first->chained - 1];
    const Tile *target = &frame->memory[last->target];
    if (!last->streams || target->column != itemsize || (npy_uintp)target->data % LINE != 0 ||
        (rows > 1 && target->row % LINE != 0)) {
        return 0;
    }
    for (const KernelStep *step = first; step <= last; step++) {
        for (int i = 0; i < step->loop.sources; i++) {
            const int slot = step->sources[i];
            if (slot < frame->kernel->operand_count &&
                overlap(frame->memory[slot], *target, itemsize, rows, columns)) {
                return 0;
            }
        }
    }
    return 1;
}

int is_worth_chaining(const Frame *frame, const KernelStep *first, npy_intp rows, npy_intp columns)
{
    return first->chained > 1 ||
           can_stream(frame, first, first->loop.itemsizes[0], rows, columns);
}

ChainEnd run_chain(Frame *frame, const KernelStep *first, npy_intp rows, npy_intp columns)
{
    Link links[MAX_LINKS];
    const int count = first->chained;
    const KernelStep *last = &first[count - 1];
    const npy_intp itemsize = first->loop.itemsizes[0];
    const int streams = can_stream(frame, first, itemsize, rows, columns);
    Tile *target = streams ? &frame->memory[last->target] : &frame->views[last->target];
    const Tile begin = frame->views[first->sources[0]];
    int shared = overlap(begin, *target, itemsize, rows, columns);
    int flat =
        is_flat(begin, itemsize, rows, columns) && is_flat(*target, itemsize, rows, columns);
    for (int i = 0; i < count; i++) {
        const KernelStep *step = &first[i];
        Link *link = &links[i];
        link->operation = step->loop.link;
        link->is_first = step->follows[0];
        link->is_second = step->follows[1];
        link->kept = step->keeps ? frame->views[step->target].data : NULL;
        if (step->loop.sources == 2 && !(link->is_first && link->is_second)) {
            link->other = frame->views[step->sources[link->is_first]];
            shared = shared || overlap(link->other, *target, itemsize, rows, columns);
            flat = flat && is_flat(link->other, itemsize, rows, columns);
        } else {
            link->other = begin;
        }
    }
    /* A spare tile holds the result until nothing of the tile is read any more. Registers exchange
       theirs only for one of the same size: one of float32 has no room for float64. */
    char **kept = &frame->spares[itemsize == sizeof(npy_double)];
    const Tile spare = {*kept, columns * itemsize, itemsize};
    const Tile result = shared ? spare : *target;
    if (flat) {
        run_parts(frame, links, count, begin, result, streams, itemsize, 1, rows * columns);
    } else {
        run_parts(frame, links, count, begin, result, streams, itemsize, rows, columns);
    }
    if (take_vector_flags()) {
        return IN_STEPS;
    }
    if (shared && last->target >= frame->kernel->operand_count) {
        *kept = target->data;
        target->data = spare.data;
    } else if (shared) {
        copy_tile(*target, spare, itemsize, rows, columns);
    }
    return streams ? IN_MEMORY : IN_TILE;
}

#else

void find_chains(Kernel *kernel)
{
    kernel->rounds = kernel->fetches = kernel->step_count;
}

int is_worth_chaining(const Frame *frame, const KernelStep *first, npy_intp rows, npy_intp columns)
{
    return 0;
}

ChainEnd run_chain(Frame *frame, const KernelStep *first, npy_intp rows, npy_intp columns)
{
    return IN_STEPS;
}

#endif
