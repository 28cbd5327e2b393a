#include "masked_regions.h"
#include "mask_bits.h"
#include "masks.h"
#include "settings.h"

/* Elements of a mask, or of the array, that a thread goes over at a time: some ten microseconds of its time. */
enum { PART = 1 << 15 };

void start_masked(MaskedRegions *all, const Tensor *x, const Tensor *mask, const char *truths, int axis, const Region *region)
{
    const npy_intp *const given[2] = {mask->strides, x->strides + axis};
    npy_intp *const merged[2] = {all->truth_steps, all->steps};
    all->region = region;
    all->truths = truths;
    all->count = mask->size;
    all->ndim = merge_axes(mask->ndim, mask->shape, 2, given, all->shape, merged);
    if (all->ndim == 0) { /* one element */
        all->ndim = all->shape[0] = all->truth_steps[0] = 1;
        all->steps[0] = 0;
    }
    all->part = region->size == 1 ? PART : greatest(PART / greatest(region->size, 1), GROUP);
    all->parts = mask->size <= all->part ? mask->size > 0 : (mask->size - 1) / all->part + 1;
    all->starts = NULL;
    all->is_found = all->parts == 1 && mask->size <= FOUND_TOGETHER - GROUP;
}

void end_masked(MaskedRegions *all)
{
    if (all->starts != all->few) {
        PyMem_Free(all->starts);
    }
}

static void move_found(const MaskedRegions *all, FoundRegions *part)
{
    part->selection.count = part->selection.shape[0] = least(part->found, part->wanted - part->done);
    move_selected(&part->selection, all->data, part->others + part->done * all->step, &all->step, all->region_strides,
                  all->write);
    part->done += part->selection.count;
    part->found = 0;
}

/* How many elements of a row of a mask are looked at as whole groups of bits: those that follow each other. */
static INLINE npy_intp count_grouped(npy_intp truth_step, npy_intp count)
{
    return truth_step == 1 ? count - count % GROUP : 0;
}

/* Move the regions for which elements along the mask's last axis are true. The first element's region is at `offset`. */
static void move_run(const MaskedRegions *all, FoundRegions *part, const char *truths, npy_intp truth_step, npy_intp offset,
                     npy_intp step, npy_intp count)
{
    const npy_intp grouped = count_grouped(truth_step, count);
    npy_intp found = part->found;
    for (npy_intp i = 0; i < count; i += GROUP) {
        if (i < grouped) {
            const npy_uint64 bits = bits_of(truths + i, GROUP);
            FOR_EACH_TRUE(1, part->offsets[found++] = offset + (i + k) * step;)
        } else {
            const npy_intp end = least(i + GROUP, count);
            for (npy_intp j = i; j < end; j++) { /* written in any case, which is faster than to ask first */
                part->offsets[found] = offset + j * step;
                found += truths[j * truth_step] != 0;
            }
        }
        if (found > FOUND_TOGETHER - GROUP) {
            part->found = found;
            move_found(all, part);
            found = 0;
        }
    }
    part->found = found;
}

/* As `move_run`, where the regions are single elements that follow each other: by instructions for vectors. */
static void move_vector(const MaskedRegions *all, FoundRegions *part, const char *truths, char *elements, npy_intp count)
{
    const npy_intp itemsize = all->region->itemsize;
    char *others = part->others + part->done * all->step;
    if (all->write && all->step == 0) {
        assign_run(elements, itemsize, truths, count, others);
    } else {
        part->done += (all->write ? expand_run(elements, itemsize, truths, count, others, part->wanted - part->done)
                                  : compress_run(elements, itemsize, truths, count, others, part->wanted - part->done));
    }
}

static npy_intp count_run(const char *truths, npy_intp truth_step, npy_intp count)
{
    const npy_intp grouped = count_grouped(truth_step, count);
    npy_intp found = 0;
    for (npy_intp i = 0; i < grouped; i += GROUP) {
        found += COUNT_BITS(bits_of(truths + i, GROUP));
    }
    for (npy_intp i = grouped; i < count; i++) {
        found += truths[i * truth_step] != 0;
    }
    return found;
}

/* Rows of fewer elements take no less time by instructions for vectors (docs/tuning.md, 172). */
enum { SHORT_ROW = 32 };

/* Go over a part of the mask, row by row: count its true elements, or move their regions with `part`. Returns how many were
   counted. */
static npy_intp go_over(const MaskedRegions *all, npy_intp number, FoundRegions *part)
{
    npy_intp position = number * all->part, left = position, offset = all->region->offset, counted = 0;
    const npy_intp end = least(position + all->part, all->count);
    npy_intp index[ARRAY_DIMS];
    const int last = all->ndim - 1;
    const npy_intp columns = all->shape[last], truth_step = all->truth_steps[last], step = all->steps[last];
    const npy_intp itemsize = all->region->itemsize;
    const int is_vector = !all->is_found && all->region->size == 1 && truth_step == 1 && step == itemsize &&
                          part != NULL && (all->step == itemsize || all->step == 0) && columns >= SHORT_ROW;
    const char *truths = all->truths;
    set_to_zero(index, all->ndim);
    for (int dim = last; dim >= 0 && left > 0; dim--) {
        index[dim] = left % all->shape[dim];
        left /= all->shape[dim];
        truths += index[dim] * all->truth_steps[dim];
        offset += index[dim] * all->steps[dim];
    }
    while (position < end) {
        const npy_intp column = index[last], run = least(columns - column, end - position);
        if (is_vector) {
            move_vector(all, part, truths, all->data + offset, run);
        } else if (part != NULL) {
            move_run(all, part, truths, truth_step, offset, step, run);
        } else {
            counted += count_run(truths, truth_step, run);
        }
        position += run;
        index[last] = 0;
        const int dim = next_index(last, all->shape, index);
        truths += distance(dim, last, all->shape, all->truth_steps) - column * truth_step;
        offset += distance(dim, last, all->shape, all->steps) - column * step;
    }
    return counted;
}

static void count_part(const void *parts, npy_intp number, char *scratch)
{
    const MaskedRegions *all = parts;
    all->starts[number + 1] = go_over(all, number, NULL);
}

npy_intp count_masked(MaskedRegions *all)
{
    all->starts = all->few;
    if (all->is_found) {
        all->found.done = all->found.found = 0;
        select_offsets(&all->found.selection, all->found.offsets, all->region);
        go_over(all, 0, &all->found);
        return all->found.wanted = all->found.found;
    }
    if (all->parts > 1) {
        all->starts = PyMem_Malloc((size_t)(all->parts + 1) * sizeof(*all->starts));
        if (all->starts == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    all->starts[0] = all->starts[all->parts] = 0;
    if (!run_in_parts(count_part, all, all->parts)) {
        return -1;
    }
    for (npy_intp number = 0; number < all->parts; number++) {
        all->starts[number + 1] += all->starts[number];
    }
    return all->starts[all->parts];
}

static void move_part(const void *parts, npy_intp number, char *scratch)
{
    const MaskedRegions *all = parts;
    FoundRegions part;
    part.done = part.found = 0;
    part.wanted = all->starts == NULL ? MOST_ELEMENTS : all->starts[number + 1] - all->starts[number];
    part.others = all->others + (all->starts == NULL ? 0 : all->starts[number] * all->step);
    select_offsets(&part.selection, part.offsets, all->region);
    go_over(all, number, &part);
    move_found(all, &part);
    while (!all->write && part.done < part.wanted) {
        part.found = least(FOUND_TOGETHER, part.wanted - part.done);
        for (npy_intp i = 0; i < part.found; i++) {
            part.offsets[i] = all->region->offset;
        }
        move_found(all, &part);
    }
}

int move_masked(MaskedRegions *all)
{
    if (all->is_found && all->starts != NULL) {
        all->found.others = all->others;
        move_found(all, &all->found);
        return 0;
    }
    return run_in_parts(move_part, all, all->parts) - 1;
}
