/* What index arrays and masks select. */

#ifndef ARRAY_API_NX_ARRAY_SELECTION_H
#define ARRAY_API_NX_ARRAY_SELECTION_H

#include "elements.h"
#include "pack.h"

/* A selection goes over all positions of the index arrays, broadcast together. At each it takes a
   region of the same shape: the axes of the array that no index names. */
typedef struct {
    int ndim;                   /* of the index arrays */
    int place;                  /* the axis of the result at which theirs begin */
    npy_intp count;             /* of positions */
    npy_intp shape[ARRAY_DIMS]; /* of the index arrays */
    Scratch memory;             /* of the offsets */
    npy_intp *offsets;          /* per position, of the region in the array, in bytes */
    Region region;
} Gather;

/* Room for so many offsets; -1 with an exception set if there is no memory. */
static inline int take_offsets(Gather *selection, npy_intp count)
{
    const int failed = take_scratch(&selection->memory, count * (npy_intp)sizeof(npy_intp));
    selection->offsets = (npy_intp *)selection->memory.data;
    return failed;
}

/* Offsets that are found so many at a time, before the elements there are copied, stay in the first cache. */
enum { FOUND_TOGETHER = 512 };

/* Begin a selection of regions at offsets in a vector. No more of `selection`, which is large, is written than is read. */
static inline void select_offsets(Gather *selection, npy_intp *offsets, const Region *region)
{
    selection->ndim = 1;
    selection->offsets = offsets;
    selection->region.ndim = region->ndim;
    selection->region.size = region->size;
    selection->region.itemsize = region->itemsize;
    for (int dim = 0; dim < region->ndim; dim++) {
        selection->region.shape[dim] = region->shape[dim];
        selection->region.strides[dim] = region->strides[dim];
    }
}

/* Go over the elements of `indices`, which broadcast to the selection's shape, and add to its
   offsets what they choose along an axis of a size and a stride. 0 if an index is out of range. */
int add_indices(Gather *selection, const Tensor *indices, const char *data, npy_intp size, npy_intp stride);

/* Keys with more index arrays are left to Python. */
enum { INDEX_ARRAYS = 6 };

/* Elements that index arrays choose, one array for each of some axes, copied by several threads. */
typedef struct {
    const Gather *selection;     /* whose offsets are not used */
    int count;                   /* of index arrays */
    struct {
        const char *data;        /* where its elements begin */
        DTypeCode code;
        npy_intp size, stride;   /* of the axis that they choose from */
        npy_intp steps[ARRAY_DIMS]; /* along the axes of the selection, in bytes */
    } arrays[INDEX_ARRAYS];
    npy_intp along[ARRAY_DIMS];  /* how far one position is from the next in the array itself, in bytes */
    char *data, *copied;         /* where the array's elements begin, and those of the result */
    npy_intp step;               /* from one position to the next in the result, in bytes */
    npy_intp region_strides[ARRAY_DIMS]; /* of the result */
    npy_intp part;               /* the positions of a part */
    _Atomic(int) is_outside;     /* whether an index was out of range */
} IndexedCopy;

/* Add an index array with elements at `data`, which broadcasts to the selection's shape. */
void add_index_array(IndexedCopy *copy, const Tensor *indices, const char *data, npy_intp size, npy_intp stride);

/* Copy all elements, of which there are some. 0 if an index is out of range; -1 with an exception set if there is no memory. */
int copy_indexed(IndexedCopy *copy);

/* Between the elements of one axis, which begin at `data`, and others, by indices that lie one
   after the other in memory: write to the axis, or else read from it. 0 if an index is out of
   range; then nothing is written to the axis. */
int move_by_indices(const npy_int64 *indices, npy_intp count, char *data, npy_intp size,
                    npy_intp stride, npy_intp itemsize, char *others, npy_intp step, int write);

/* The distances of the elements that a mask with elements at `data` chooses, for an array with
   strides along the axes of the mask. Returns how many they are; -1 with an exception set if there
   is no memory. */
npy_intp find_chosen(const Tensor *mask, const char *data, const npy_intp *array_strides,
                     Scratch *offsets);

/* Between the selected elements of the array at `data`, and others whose strides are given for the
   axes of the index arrays and those of the region: write to the array, or else read from it. */
void move_selected(const Gather *selection, char *data, char *others,
                   const npy_intp *index_strides, const npy_intp *region_strides, int write);

#endif
