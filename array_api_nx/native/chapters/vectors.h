/* Loops over vectors whose elements follow each other: stable orders, and binary search. */

#ifndef ARRAY_API_NX_VECTORS_H
#define ARRAY_API_NX_VECTORS_H

#include "dtypes.h"

/* A stable sort of integers that hold the most significant bits of an element's key and, below them, its
   index. Keys are unsigned integers in the order of the elements; NaN has the last one, and zeros
   of either sign have the same. */
typedef struct {
    npy_uint64 least;   /* the least key, which is subtracted from all */
    int dropped;        /* how many of the least significant bits have no place above the index */
    int index_bits;
    int is_exact;       /* whether the dropped bits are the same in all keys */
} KeyScale;

/* The scale for `count` elements of a real dtype, at least one and fewer than 2**32. */
KeyScale scale_keys(const char *elements, DTypeCode code, npy_intp count);

/* Write for each element its scaled key and its index, which counts from `first`. */
void write_keys(const char *elements, DTypeCode code, npy_intp count, const KeyScale *scale,
                npy_intp first, npy_uint64 *keys);

/* Make of sorted keys the order of the elements, in place. -1 if there is no memory. */
int order_of_keys(const char *elements, DTypeCode code, npy_intp count, const KeyScale *scale,
                  npy_uint64 *keys);

/* Write to `places` where to insert `wanted` into `all` sorted elements; several searches take turns. */
void find_places_of(const char *sorted, DTypeCode code, npy_intp all, const char *wanted, npy_intp count, int right,
                    npy_int64 *places);

/* Whether `find_places_of` is to look up `count` values: there are so many that it is worth finding out that the elements
   are sorted. NumPy gives other places among elements that are not. */
int is_worth_turns(const char *elements, DTypeCode code, npy_intp length, npy_intp count);

/* The data of a vector that lies in one piece; NULL with an exception set for another object. A type
   number of -1 stands for any dtype of up to 16 bytes. */
char *vector_data(PyObject *object, int type, int is_written, npy_intp *size);

#endif
