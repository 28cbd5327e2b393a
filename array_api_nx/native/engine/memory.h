/* Memory for results, kept when nothing reads it any more and handed out again.

   New memory costs a page fault per page when it is first written, which for a large result takes
   longer than to compute it. The memory of a result is a block that NumPy allocated. The result's
   base is a PoolBuffer, which owns the block. Whatever is derived from the result (a view, a DLPack
   capsule, a buffer) keeps the PoolBuffer alive. When the PoolBuffer dies, its block becomes a
   spare, which a later result may use. Spares have a limit; the one that has waited longest is
   freed first.

   Blocks of some kilobytes do the same for smaller results: the system would take such memory back from
   the end of the heap, and each page would cost a fault again. */

#ifndef ARRAY_API_NX_MEMORY_H
#define ARRAY_API_NX_MEMORY_H

#include "common.h"

/* An uninitialised row-major array of `size` bytes. Steals the reference to the dtype. NULL with an
   exception set if there is no memory. */
PyObject *new_array(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp size);

/* Whether an object is a PoolBuffer. */
int is_pool_buffer(PyObject *object);

/* The most bytes of a block. */
enum { BLOCK_BYTES = 1 << 16 };

/* At least so many bytes, BLOCK_BYTES at most, aligned to a cache line and not initialised; NULL,
   without an exception, if there is no memory. */
char *take_block(npy_intp bytes);

/* Give back what `take_block` gave for so many bytes. */
void give_block(char *block, npy_intp bytes);

#endif
