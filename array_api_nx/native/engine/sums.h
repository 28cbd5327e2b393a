/* Sums of floating-point numbers, in an order that is part of the result (see sums.c). */

#ifndef ARRAY_API_NX_SUMS_H
#define ARRAY_API_NX_SUMS_H

#include "common.h"

enum { SUM_LEVELS = 8 * sizeof(npy_intp), SUM_BLOCK_BYTES = 2048 };

/* Sums of blocks, added up in pairs as the blocks come. */
#define DEFINE_PAIRS(TYPE)        \
    typedef struct {              \
        TYPE parts[SUM_LEVELS];   \
        int depth;                \
        npy_intp count;           \
    } Pairs_##TYPE;

DEFINE_PAIRS(npy_float)
DEFINE_PAIRS(npy_double)

/* The elements of a run that do not fill a block yet. */
typedef struct {
    int count;
    _Alignas(64) char bytes[SUM_BLOCK_BYTES];
} LastElements;

/* A run of floats or doubles, at least one, that comes in pieces: its sum has the same bits as in one piece. */
typedef struct {
    Pairs_npy_float of_floats;
    Pairs_npy_double of_doubles;
    LastElements last;
} RunOfElements;

void begin_run(RunOfElements *run);
void extend_run(RunOfElements *run, const char *elements, npy_intp count, npy_intp itemsize);

/* Add the run's elements to a sum. */
void end_run(RunOfElements *run, char *sum, npy_intp itemsize);

/* Add runs of `count` adjacent elements, at least one, which begin `row` bytes after each other, to sums that lie `step`
   bytes apart. */
void add_runs(char *sums, npy_intp step, const char *elements, npy_intp row, npy_intp runs, npy_intp count,
              npy_intp itemsize);

/* From the sums of parts of a run, `step` bytes apart, to the sum of the run, in place of the first one. All
   parts but the last have as many blocks (SUM_BLOCK_BYTES), a power of two: then it has the same bits as the run
   in one piece. */
void merge_sums(char *sums, npy_intp step, npy_intp count, npy_intp itemsize);

#endif
