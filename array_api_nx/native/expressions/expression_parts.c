/* Passes are divided into parts, which threads take one after the other. */

#include "expression_pass.h"
#include "nest.h"
#include "threads.h"

/* Nanoseconds that a part of a pass takes. A pass that takes less than twice as long is not divided. (The time of
   the first parts decides whether threads are woken for the others.) */
enum { PART_TIME = 12000 };

/* How a pass is divided: along one axis, into parts of so many indices. */
typedef struct {
    const Pass *pass;
    int axis;
    npy_intp each;
    void (*run)(const Pass *pass, char *scratch);
} Division;

/* The parts of a run that is reduced to one accumulator have so many elements times a power of two: blocks
   (SUM_BLOCK_BYTES) enough that a part is worth it, and no more than take PART_TIME, unless there were too many parts.
   The last part has fewer elements: the larger the parts are, the longer the thread that computes the last one has nothing to
   do while another thread computes a whole one (docs/tuning.md, 149). */
enum { PART_OF_RUN = 1 << 13, MOST_PARTIALS = 64 };

/* Parts that have a few columns of each row begin at a multiple of so many elements. */
enum { COLUMN_GRAIN = 128 };

/* Whether the parts of a pass, along an axis, write nothing in common. */
static int is_apart(const Pass *pass, int axis)
{
    return pass->fold == NULL || fold_areas(pass)->strides[axis] != 0;
}

/* The axis of most indices among the first two: mostly the first one. */
static void divide(const Pass *pass, Division *division)
{
    const npy_intp *shape = pass->shape;
    /* A pass that writes elements which are read at other places goes in the order of the elements. */
    if (pass->time < 2 * PART_TIME || pass->overlaps == BELOW_OPERANDS || (pass->threads == 1 && pass->time < LONG_PASS)) {
        division->axis = 0;
        division->each = shape[0];
        return;
    }
    npy_intp parts = (npy_intp)greatest(1, (npy_intp)(pass->time / PART_TIME));
    division->axis = pass->ndim > 1 && (!is_apart(pass, 0) || (shape[0] < parts && shape[1] > shape[0]));
    division->axis -= division->axis == 1 && !is_apart(pass, 1);
    const npy_intp size = shape[division->axis];
    const int is_run = !is_apart(pass, division->axis);
    for (const Fold *fold = pass->fold; is_run && fold != NULL; fold = fold->next) {
        parts = pass->ndim > 1 || !fold->reduction->is_divisible ? 1 : parts;
    }
    division->each = (size - 1) / least(parts, size) + 1;
    if (is_run && parts > 1) {
        const npy_intp each = division->each;
        division->each = PART_OF_RUN;
        while (2 * division->each <= each || division->each * MOST_PARTIALS < size) {
            division->each *= 2;
        }
    } else if (division->axis == pass->ndim - 1) {
        const npy_intp grain = pass->ndim > 1 ? COLUMN_GRAIN : GRAIN;
        division->each = (division->each + grain - 1) / grain * grain;
    }
}

/* The scratch memory of passes that are not divided. The GIL protects it. */
static char *take_scratch(npy_intp bytes)
{
    static char *start;
    static void *block;
    static npy_intp size;
    if (bytes > size) {
        void *larger = PyMem_RawMalloc((size_t)bytes + ALIGNMENT);
        if (larger == NULL) {
            return NULL;
        }
        PyMem_RawFree(block);
        const npy_uintp address = (npy_uintp)larger + ALIGNMENT - 1;
        block = larger;
        start = (char *)(address - address % ALIGNMENT);
        size = bytes;
    }
    return start;
}

/* Compute part number `number`. */
static void run_part(const void *parts, npy_intp number, char *scratch)
{
    const Division *division = parts;
    const Pass *pass = division->pass;
    const npy_intp from = number * division->each;
    Pass part;
    memcpy(&part, pass, offsetof(Pass, areas) + (size_t)pass->area_count * sizeof(Area));
    for (int i = 0; i < part.area_count; i++) {
        part.areas[i].data += from * part.areas[i].strides[division->axis];
    }
    for (int k = 0; part.partials != NULL && k < part.fold_count; k++) {
        part.areas[part.area_count - part.fold_count + k].data = (char *)&part.partials[k * MOST_PARTIALS + number];
    }
    part.shape[division->axis] = least(division->each, pass->shape[division->axis] - from);
    division->run(&part, scratch);
}

int run_pass(Pass *pass, int in_rows)
{
    Accumulator partials[MOST_FOLDS * MOST_PARTIALS];
    Division division = {.pass = pass, .run = in_rows ? run_rows : run_tiles};
    const npy_intp bytes = in_rows ? scratch_for_rows(pass) : scratch_for_tiles(pass);
    divide(pass, &division);
    const npy_intp parts = (pass->shape[division.axis] - 1) / division.each + 1;
    if (parts == 1) {
        char *scratch = take_scratch(bytes);
        if (scratch != NULL) {
            division.run(pass, scratch);
        }
        return scratch != NULL;
    }
    if (!is_apart(pass, division.axis)) {
        pass->partials = partials;
        for (const Fold *fold = pass->fold; fold != NULL; fold = fold->next) {
            Accumulator *of_fold = partials + fold->number * MOST_PARTIALS;
            for (npy_intp i = 0; i < parts; i++) {
                memcpy(&of_fold[i], fold->data, (size_t)fold->reduction->accumulator_bytes);
            }
        }
    }
    /* Operands that are overwritten could not be read once more. */
    const int complete = run_parts(run_part, &division, parts, bytes, pass->threads, !pass->overlaps);
    for (Fold *fold = pass->fold; complete == 1 && pass->partials != NULL && fold != NULL; fold = fold->next) {
        merge_partials(fold, (char *)(partials + fold->number * MOST_PARTIALS), parts);
    }
    return complete;
}
