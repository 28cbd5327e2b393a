/* Inner loops, which have the signature of those of NumPy's ufuncs, and tiles of the memory that they read and write. */

#ifndef ARRAY_API_NX_INNER_LOOPS_H
#define ARRAY_API_NX_INNER_LOOPS_H

#include "common.h"

/* Operations that orders can compute (orders.h) on numbers of some dtypes, or on booleans that come from these. */
typedef enum { NO_LINK, ADD_LINK, SUBTRACT_LINK, MULTIPLY_LINK, DIVIDE_LINK, MAXIMUM_LINK, MINIMUM_LINK, LESS_LINK,
               LESS_EQUAL_LINK, GREATER_LINK, GREATER_EQUAL_LINK, EQUAL_LINK, NOT_EQUAL_LINK, AND_LINK, OR_LINK, XOR_LINK,
               SQUARE_LINK, NEGATIVE_LINK, SQRT_LINK, ABSOLUTE_LINK, IS_NAN_LINK, CONJUGATE_LINK, WIDEN_LINK,
               INVERT_LINK, WHERE_LINK } LinkOperation;

typedef struct {
    npy_uint64 low, high;
} Pair;

/* The head of a function that is an inner loop. */
#define LOOP(NAME) \
    static void NAME(char **args, npy_intp const *count, npy_intp const *steps, void *data)
#define CLONED_LOOP(NAME)                                                                                  \
    CLONED(static, void, NAME, (char **args, npy_intp const *count, npy_intp const *steps, void *data),    \
           (args, count, steps, data))

/* Where a tile of an array lies. */
typedef struct {
    char *data;
    npy_intp row, column; /* bytes to step */
} Tile;

/* Sizes of a tile where an operand is transposed: where its elements lie together along the columns of the tile, those of
   the others along its rows. There are at most TRANSPOSED_ROWS rows, and fewer if a column of the operand would be longer
   than COLUMN_BYTES. There are TRANSPOSED_COLUMNS columns, and more if a row of the largest elements would be shorter than
   ROW_BYTES. So the operand is copied from columns of a few cache lines, and loops run on the long rows of the others
   (docs/tuning.md, 6). */
enum { TRANSPOSED_ROWS = 32, COLUMN_BYTES = 128, TRANSPOSED_COLUMNS = 128, ROW_BYTES = 1024 };

/* Up to so many columns it pays to copy tiles rather than to call the loops row by row (docs/tuning.md, 14). */
enum { PACKED_COLUMNS = 32 };

/* Bytes of an output from which on it is written past the caches, where it would not stay until it is read again
   (docs/tuning.md, 8). */
enum { STREAMED_BYTES = 1 << 22, STREAMED_BYTES_ON_AMD = 1 << 24 };
extern npy_intp streamed_bytes; /* one of these: see processor.c */

#endif
