/* Memory for results, kept when nothing reads it any more and handed out again.

   New memory costs a page fault per page when it is first written, which for a large result takes
   longer than to compute it. The memory of a result is a block that NumPy allocated. The result's
   base is a PoolBuffer, which owns the block. Whatever is derived from the result (a view, a DLPack
   capsule, a buffer) keeps the PoolBuffer alive. When the PoolBuffer dies, its block becomes a
   spare, which a later result may use. Spares have a limit; the one that has waited longest is
   freed first. */

#ifndef ARRAY_API_NX_MEMORY_H
#define ARRAY_API_NX_MEMORY_H

#include "common.h"

/* An uninitialised row-major array of `size` bytes. Steals the reference to the dtype. NULL with an
   exception set if there is no memory. */
PyObject *new_array(int ndim, npy_intp *shape, PyArray_Descr *dtype, npy_intp size);

/* Add the functions that make arrays and that manage the spares; -1 with an exception set. */
int add_memory(PyObject *module);

#endif
