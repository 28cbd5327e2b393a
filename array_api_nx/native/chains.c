#include "chains.h"
#include "flags.h"
#include "links.h"

#ifdef HAS_CHAINS

/* ------------------------------------------------------------------ finding them */

static int reads(const Step *step, int slot)
{
    for (int i = 0; i < step->loop.sources; i++) {
        if (step->sources[i] == slot) {
            return 1;
        }
    }
    return 0;
}

/* Whether a step from number `from` on reads what the register holds now. */
static int is_read_later(const Kernel *kernel, int from, int slot)
{
    for (int i = from; i < kernel->step_count; i++) {
        const Step *step = &kernel->steps[i];
        if (reads(step, slot)) {
            return 1;
        }
        if (step->target == slot) {
            return 0;
        }
    }
    return 0;
}

/* Whether the step can be a link. What it makes of one number twice is of use only where one
   operation says it all. */
static int can_chain(const Step *step, int takes_twice)
{
    const LinkOperation operation = step->loop.link;
    return !step->reduces && step->inner == 0 && operation != NO_LINK &&
           !(takes_twice && (operation == SUBTRACT_LINK || operation == DIVIDE_LINK));
}

/* How many steps from number `begin` on are a chain; their fields are filled in. */
static int follow_chain(Kernel *kernel, int begin)
{
    int length = 0;
    for (int i = begin; i < kernel->step_count && length < MAX_LINKS; i++) {
        Step *step = &kernel->steps[i];
        const int binary = step->loop.sources == 2;
        const int before = i == begin ? step->sources[0] : step[-1].target;
        const int follows[2] = {step->sources[0] == before, binary && step->sources[1] == before};
        if (!can_chain(step, follows[0] && follows[1]) || !(follows[0] || follows[1])) {
            break;
        }
        if (i > begin) {
            /* The step before is not the last one: what it writes must be a register, and if others
               read that, it must not be one that was read in the chain before. */
            if (before < kernel->operand_count ||
                step->loop.itemsizes[0] != step[-1].loop.itemsizes[0]) {
                break;
            }
            const int keeps = step->target != before && is_read_later(kernel, i + 1, before);
            int read_before = 0;
            for (int j = begin; j < i; j++) {
                read_before = read_before || reads(&kernel->steps[j], before);
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
    return length;
}

void find_chains(Kernel *kernel)
{
    kernel->rounds = 0;
    for (int i = 0; i < kernel->step_count; kernel->rounds++) {
        const int length = follow_chain(kernel, i);
        kernel->steps[i].chained = length > 1 ? length : 0;
        i += length > 1 ? length : 1;
    }
}

/* ------------------------------------------------------------------ running them */

/* Whether tiles of so many rows and columns share memory. */
static int overlap(View a, View b, npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    const View *views[2] = {&a, &b};
    char *low[2], *high[2];
    for (int i = 0; i < 2; i++) {
        const npy_intp down = (rows - 1) * views[i]->row;
        low[i] = views[i]->data + (down < 0 ? down : 0);
        high[i] = views[i]->data + (down > 0 ? down : 0) + (columns - 1) * views[i]->column + itemsize;
    }
    return low[0] < high[1] && low[1] < high[0];
}

int run_chain(Frame *frame, const Step *first, npy_intp rows, npy_intp columns)
{
    Link links[MAX_LINKS + 1];
    const int count = first->chained;
    const Step *last = &first[count - 1];
    const npy_intp itemsize = first->loop.itemsizes[0];
    View *target = &frame->views[last->target];
    const View begin = frame->views[first->sources[0]];
    int shared = overlap(begin, *target, itemsize, rows, columns);
    for (int i = 0; i < count; i++) {
        const Step *step = &first[i];
        Link *link = &links[i];
        link->operation = step->loop.link;
        link->is_first = step->follows[0];
        link->is_second = step->follows[1];
        link->kept = step->keeps ? frame->views[step->target].data : NULL;
        if (step->loop.sources == 2 && !(link->is_first && link->is_second)) {
            link->other = frame->views[step->sources[link->is_first]];
            shared = shared || overlap(link->other, *target, itemsize, rows, columns);
        } else {
            link->other = begin;
        }
    }
    /* A spare tile holds the result until nothing of the tile is read any more. */
    const View spare = {frame->spare, columns * itemsize, itemsize};
    run_links(links, count, begin, shared ? spare : *target, itemsize, rows, columns);
    if (take_vector_flags()) {
        return 0;
    }
    if (shared && last->target >= frame->kernel->operand_count) {
        frame->spare = target->data;
        target->data = spare.data;
    } else if (shared) {
        copy_tile(*target, spare, itemsize, rows, columns);
    }
    return 1;
}

#else

void find_chains(Kernel *kernel)
{
    kernel->rounds = kernel->step_count;
}

int run_chain(Frame *frame, const Step *first, npy_intp rows, npy_intp columns)
{
    (void)frame, (void)first, (void)rows, (void)columns;
    return 0;
}

#endif
