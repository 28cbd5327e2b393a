/* Memory for arrays, kept when nothing reads it any more and handed out again.

   New memory costs a page fault per page when it is first written, which for a large result takes
   longer than to compute it. An array owns its memory, which NumPy's allocator gave, and NumPy frees it by the pool's
   handler once neither the array nor anything derived from it (a view, a DLPack capsule, a buffer) is left: then it
   becomes a spare, which a later array may use. Spares have a limit; the one that has waited longest is freed first.
   While NumPy computes for this package, what it makes comes from the pool, too.

   Blocks of some kilobytes do the same for smaller results: the system would take such memory back from
   the end of the heap, and each page would cost a fault again. */

#ifndef ARRAY_API_NX_MEMORY_H
#define ARRAY_API_NX_MEMORY_H

#include "common.h"

/* A row-major array of `size` bytes: of zeros, or not initialised. Steals the reference to the dtype. NULL with an
   exception set if there is no memory. */
PyObject *new_array(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp size, int zeros);

/* From here on the arrays that NumPy makes in this context have memory of the pool: until `leave_pool` with what is returned:
   NULL, without an exception, if nothing has changed: they had it before, the program has an allocator of its own, or there
   was no memory for this. */
PyObject *enter_pool(void);
void leave_pool(PyObject *used);

/* The most bytes of a block. */
enum { BLOCK_BYTES = 1 << 16 };

/* At least so many bytes, BLOCK_BYTES at most, aligned to a cache line and not initialised; NULL,
   without an exception, if there is no memory. */
char *take_block(npy_intp bytes);

/* Give back what `take_block` gave for so many bytes. */
void give_block(char *block, npy_intp bytes);

#endif
