/* What index arrays and masks select. */

#ifndef ARRAY_API_NX_ARRAY_SELECTION_H
#define ARRAY_API_NX_ARRAY_SELECTION_H

#include "elements.h"

enum { SMALL_COUNT = 64 };

/* Distances in bytes, which lie in the struct itself if they are few. */
typedef struct {
    npy_intp *values;
    npy_intp inside[SMALL_COUNT];
} Offsets;

/* A selection goes over all positions of the index arrays, broadcast together. At each it takes a
   region of the same shape: the axes of the array that no index names. */
typedef struct {
    int ndim;                   /* of the index arrays */
    int place;                  /* the axis of the result at which theirs begin */
    npy_intp count;             /* of positions */
    npy_intp shape[ARRAY_DIMS]; /* of the index arrays */
    Offsets offsets;            /* per position, of the region in the array */
    Region region;
} Selection;

/* 0 with an exception set if there is no memory. */
int reserve_offsets(Offsets *offsets, npy_intp count);

void release_offsets(Offsets *offsets);

/* Go over the elements of `indices`, which broadcast to the selection's shape, and add to its
   offsets what they choose along an axis of a size and a stride; to that the distances `along` the
   selection's axes are added, if it is not NULL. 0 if an index is out of range. */
int add_indices(Selection *selection, const Tensor *indices, const char *data, npy_intp size,
                npy_intp stride, const npy_intp *along);

/* Between the elements of one axis, which begin at `data`, and others, by indices that lie one
   after the other in memory: write to the axis, or else read from it. 0 if an index is out of
   range; then nothing is written to the axis. */
int move_by_indices(const npy_int64 *indices, npy_intp count, char *data, npy_intp size,
                    npy_intp stride, npy_intp itemsize, char *others, npy_intp step, int write);

/* The distances of the elements that a mask with elements at `data` chooses, for an array with
   strides along the axes of the mask. Returns how many they are; -1 with an exception set if there
   is no memory. */
npy_intp find_chosen(const Tensor *mask, const char *data, const npy_intp *array_strides,
                     Offsets *offsets);

/* Between the selected elements of the array at `data`, and others whose strides are given for the
   axes of the index arrays and those of the region: write to the array, or else read from it. */
void move_selected(const Selection *selection, char *data, char *others,
                   const npy_intp *index_strides, const npy_intp *region_strides, int write);

#endif
