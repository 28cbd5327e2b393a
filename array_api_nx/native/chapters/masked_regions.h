/* The regions of an array where a mask of some of its axes is true, which several threads read or write. */

#ifndef ARRAY_API_NX_MASKED_REGIONS_H
#define ARRAY_API_NX_MASKED_REGIONS_H

#include "array_selection.h"

/* Regions that are found before they are copied. */
typedef struct {
    npy_intp wanted, done; /* how many are to be copied, and how many were */
    npy_intp found;        /* how many there are whose offsets are known */
    char *others;
    Gather selection;
    npy_intp offsets[FOUND_TOGETHER];
} FoundRegions;

typedef struct {
    const Region *region; /* the axes of the array that the mask does not take */
    int ndim;             /* of the mask, whose axes are merged where both sides step through them as through one */
    npy_intp count;       /* of its elements */
    npy_intp shape[ARRAY_DIMS], truth_steps[ARRAY_DIMS], steps[ARRAY_DIMS];
    const char *truths;
    npy_intp part, parts; /* elements of the mask that a thread goes over at a time, and how often there are so many */
    npy_intp *starts;     /* how many are true before each part, and in all; NULL if they are not counted */
    npy_intp few[2];      /* `starts` of one part */
    char *data, *others;  /* the first element of the array, and those that are copied there, or get copies */
    npy_intp step;        /* of these, from one true element to the next; 0 if all regions get the same */
    const npy_intp *region_strides; /* of these */
    int write;
    int is_found;         /* whether they are so few that to count them finds them */
    FoundRegions found;
} MaskedRegions;

/* Describe the regions of `x` for a mask, with elements at `truths`, of its axes from `axis` on. */
void start_masked(MaskedRegions *all, const Tensor *x, const Tensor *mask, const char *truths, int axis, const Region *region);

/* Count the true elements; -1 with an exception set. `end_masked` is to follow. */
npy_intp count_masked(MaskedRegions *all);

/* Copy the regions, once the fields are set that say where from and where to. If they are counted, no more than so many are
   copied, and if another thread has written to the mask since then, the first region takes the place of those that are
   missing. -1 with an exception set. */
int move_masked(MaskedRegions *all);

void end_masked(MaskedRegions *all);

#endif
