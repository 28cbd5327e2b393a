/* Sums of real and complex floating-point numbers, in an order that is part of the result (see sums.c). */

#ifndef ARRAY_API_NX_SUMS_H
#define ARRAY_API_NX_SUMS_H

#include "compiler.h"
#include "dtypes.h"

enum { SUM_LEVELS = 8 * sizeof(npy_intp), SUM_BLOCK_BYTES = 2048 };

/* Complex numbers as vectors of their two parts, which are added at once. */
#ifdef HAS_GNU_C
typedef npy_float ComplexFloat __attribute__((vector_size(2 * sizeof(npy_float)), aligned(sizeof(npy_float)), may_alias));
typedef npy_double ComplexDouble __attribute__((vector_size(2 * sizeof(npy_double)), aligned(sizeof(npy_double)), may_alias));
#define EACH_COMPLEX_SUMMED(X) X(COMPLEX64, ComplexFloat) X(COMPLEX128, ComplexDouble)
#else
#define EACH_COMPLEX_SUMMED(X)
#endif
#define EACH_SUMMED(X) X(FLOAT32, npy_float) X(FLOAT64, npy_double) EACH_COMPLEX_SUMMED(X)

/* Sums of blocks, added up in pairs as the blocks come. */
#define DEFINE_PAIRS(CODE, TYPE)  \
    typedef struct {              \
        TYPE parts[SUM_LEVELS];   \
        int depth;                \
        npy_intp count;           \
    } Pairs_##TYPE;

EACH_SUMMED(DEFINE_PAIRS)

/* Whether there are sums of a dtype. */
DEFINE_KIND(is_summed, EACH_SUMMED)

/* The elements of a run that do not fill a block yet. */
typedef struct {
    int count;
    _Alignas(64) char bytes[SUM_BLOCK_BYTES];
} LastElements;

/* A run of elements of a dtype, at least one, that comes in pieces: its sum has the same bits as in one piece. */
#define AS_MEMBER(CODE, TYPE) Pairs_##TYPE of_##TYPE;
typedef struct {
    union {
        EACH_SUMMED(AS_MEMBER)
    };
    LastElements last;
} RunOfElements;
#undef AS_MEMBER

void begin_run(RunOfElements *run);
void extend_run(RunOfElements *run, const char *elements, npy_intp count, DTypeCode code);

/* Add the run's elements to a sum. */
void end_run(RunOfElements *run, char *sum, DTypeCode code);

/* Add runs of `count` adjacent elements, at least one, which begin `row` bytes after each other, to sums that lie `step`
   bytes apart. */
void add_runs(char *sums, npy_intp step, const char *elements, npy_intp row, npy_intp runs, npy_intp count, DTypeCode code);

/* From the sums of parts of a run, `step` bytes apart, to the sum of the run, in place of the first one. All
   parts but the last have as many blocks (SUM_BLOCK_BYTES), a power of two: then it has the same bits as the run
   in one piece. */
void merge_sums(char *sums, npy_intp step, npy_intp count, DTypeCode code);

#endif
