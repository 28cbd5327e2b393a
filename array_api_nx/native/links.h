/* Chains: successive steps of a kernel, each of them arithmetic on the result of the one before. A chain
   runs on a few vectors of elements at a time, whose results stay in the processor's registers from its
   first step to its last: loops that run one after the other write each result to the cache, and read
   it from there. */

#ifndef ARRAY_API_NX_LINKS_H
#define ARRAY_API_NX_LINKS_H

#include "compiler.h"
#include "kernel_types.h"

/* The compiler has to have vectors that can be computed with. */
#ifdef HAS_GNU_C
#define HAS_CHAINS 1
#endif

/* The most steps of a chain. */
enum { MAX_LINKS = 32 };

/* A step of a chain. It takes the result of the step before; the first step takes the chain's first
   operand instead. */
typedef struct {
    LinkOperation operation;
    int is_first, is_second; /* whether that is the first operand, and whether it is the second */
    Tile other;              /* the operand that is not */
    char *kept; /* a packed tile that the result is written to, too; or NULL */
} Link;

/* Run a chain on a tile. No operand lies in the memory of the target, and the elements of a row of it
   are adjacent. If it `streams`, the result goes past the caches, as that of stream_tile does. */
void run_links(const Link *links, int count, Tile first, Tile target, int streams,
               npy_intp itemsize, npy_intp rows, npy_intp columns);

#endif
