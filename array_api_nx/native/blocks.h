/* Memory for results of some kilobytes, kept when they die and handed out again.

   To the system, memory of this size at the end of the heap is worth being given back, only to be
   asked for again: then each page costs a fault when it is first written, and a result of 40 KB
   takes 3 us longer. memory.h does the same for larger results, for which it has to look about
   longer. */

#ifndef ARRAY_API_NX_BLOCKS_H
#define ARRAY_API_NX_BLOCKS_H

#include "common.h"

/* The most bytes of a block. */
enum { BLOCK_BYTES = 1 << 16 };

/* At least so many bytes, BLOCK_BYTES at most, aligned to a cache line and not initialised; NULL,
   without an exception, if there is no memory. */
char *take_block(npy_intp bytes);

/* Give back what `take_block` gave for so many bytes. */
void give_block(char *block, npy_intp bytes);

/* Free all blocks that wait. */
void release_blocks(void);

#endif
