/* Elements moved bit for bit, whatever their dtype. */

#ifndef ARRAY_API_NX_ELEMENTS_H
#define ARRAY_API_NX_ELEMENTS_H

#include "nest.h"
#include "objects.h"

/* The elements of an array that a key selects. */
typedef struct {
    npy_intp offset; /* bytes from the array's first element to that of the selection */
    char *data;      /* where that lies; not set while the elements do not matter */
    int ndim;
    npy_intp size, itemsize;
    npy_intp shape[ARRAY_DIMS], strides[ARRAY_DIMS];
} Region;

/* Memory for one element of any dtype. */
typedef union {
    npy_uint64 words[2];
    char bytes[16];
} Element;

static inline void copy_element(char *to, const char *from, npy_intp itemsize)
{
    switch (itemsize) {
    case 8:
        memcpy(to, from, 8);
        return;
    case 4:
        memcpy(to, from, 4);
        return;
    case 1:
        *to = *from;
        return;
    case 2:
        memcpy(to, from, 2);
        return;
    default:
        memcpy(to, from, 16);
    }
}

static inline void set_to_zero(npy_intp *values, int count)
{
    for (int i = 0; i < count; i++) {
        values[i] = 0;
    }
}

/* Copy so many elements from one place after the other. The steps are in bytes. */
void copy_row(char *to, npy_intp to_step, const char *from, npy_intp from_step, npy_intp count,
              npy_intp itemsize);

/* Copy elements of a shape between two layouts that do not overlap. A stride of 0 repeats. */
void copy_elements(int ndim, const npy_intp *shape, char *to, const npy_intp *to_strides,
                   const char *from, const npy_intp *from_strides, npy_intp itemsize);

/* A copy of an array whose elements lie at `data`: column-major if the array is that alone, else row-major. NULL with an
   exception set if there is no memory. */
Tensor *copy_tensor(const Tensor *x, const char *data);

/* A row-major copy in which the axes that are marked are the last ones. NULL with an exception set if there is no memory. */
Tensor *copy_with_axes_last(const Tensor *x, const char *data, const char *marked);

/* Whether the memory of two arrays that have elements may overlap. `x_data` and `y_data` are where
   their first elements lie. */
int may_overlap(const Tensor *x, const char *x_data, const Tensor *y, const char *y_data);

/* Whether an array, whose first element lies at `data`, is the region: written to it, as `x[1:] += y` does after it has
   computed, each element would stay where it lies. */
int shows_region(const Tensor *given, const char *data, const Region *region);

/* `region[...] = value`: 1 if written, 0, with nothing written, if Python has to. `code` is the
   dtype of the region, whose memory may be written. */
int write_region(const Region *region, DTypeCode code, PyObject *value);

#endif
