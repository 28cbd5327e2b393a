/* The function RUN: orders on one row of elements. orders.c includes this for each kind of processors, and
   says which:

   VECTOR_BYTES   the length of their vectors
   TARGET         the attribute of functions that are compiled for them alone
   FLOAT_ROOTS(x), DOUBLE_ROOTS(x)   the square roots of a vector
   STREAM_VECTOR(to, x)   write a vector past the caches, to where the address is a multiple of its
                  length

   Eight vectors at a time stay in registers: all of these processors have at least sixteen;
   so that each order is read once for all of them. */

#define JOIN_NAMES(a, b) a##_##b
#define JOIN(a, b) JOIN_NAMES(a, b)

/* They lie anywhere, and are written over whatever type the memory had. */
typedef npy_float JOIN(RUN, Floats) __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef npy_double JOIN(RUN, Doubles)
    __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef npy_uint32 JOIN(RUN, FloatBits) __attribute__((vector_size(VECTOR_BYTES)));
typedef npy_uint64 JOIN(RUN, DoubleBits) __attribute__((vector_size(VECTOR_BYTES)));

/* One element is no vector that could go past the caches. */
#define WRITE_ONE(to, x) (*(to) = (x))

#define ALONE(DO) DO(0)
#define FOUR(DO) DO(0) DO(1) DO(2) DO(3)
#define EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

#define ELEMENT npy_float
#define VECTOR JOIN(RUN, Floats)
#define ROOT(x) (VECTOR) FLOAT_ROOTS(x)
#define MAGNITUDE(x) (VECTOR)((JOIN(RUN, FloatBits))(x) & 0x7fffffffu)
#define PAST_CACHES STREAM_VECTOR
#define EACH EIGHT
#define BLOCKS JOIN(RUN, floats_wide)
#include "order_blocks.h"
#define EACH FOUR
#define BLOCKS JOIN(RUN, floats_half)
#include "order_blocks.h"
#define EACH ALONE
#define BLOCKS JOIN(RUN, floats_narrow)
#include "order_blocks.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef PAST_CACHES
#define VECTOR npy_float
#define ROOT sqrtf
#define MAGNITUDE fabsf
#define PAST_CACHES WRITE_ONE
#define EACH ALONE
#define BLOCKS JOIN(RUN, float_alone)
#include "order_blocks.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef PAST_CACHES
#undef ELEMENT

#define ELEMENT npy_double
#define VECTOR JOIN(RUN, Doubles)
#define ROOT(x) (VECTOR) DOUBLE_ROOTS(x)
#define MAGNITUDE(x) (VECTOR)((JOIN(RUN, DoubleBits))(x) & 0x7fffffffffffffffu)
#define PAST_CACHES STREAM_VECTOR
#define EACH EIGHT
#define BLOCKS JOIN(RUN, doubles_wide)
#include "order_blocks.h"
#define EACH FOUR
#define BLOCKS JOIN(RUN, doubles_half)
#include "order_blocks.h"
#define EACH ALONE
#define BLOCKS JOIN(RUN, doubles_narrow)
#include "order_blocks.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef PAST_CACHES
#define VECTOR npy_double
#define ROOT sqrt
#define MAGNITUDE fabs
#define PAST_CACHES WRITE_ONE
#define EACH ALONE
#define BLOCKS JOIN(RUN, double_alone)
#include "order_blocks.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef PAST_CACHES
#undef ELEMENT

enum { JOIN(RUN, WIDE) = 8 * VECTOR_BYTES, JOIN(RUN, HALF) = 4 * VECTOR_BYTES };

/* Blocks of eight vectors, then of four, then single vectors, then elements. Where elements may be computed
   again, the last block begins where it ends with the row instead. */
TARGET static void RUN(const Order *orders, npy_intp begin, npy_intp end, npy_intp itemsize, int again)
{
    const int is_float = itemsize == sizeof(npy_float);
    void (*const wide)(const Order *, npy_intp, npy_intp, npy_intp) =
        is_float ? JOIN(RUN, floats_wide) : JOIN(RUN, doubles_wide);
    void (*const half)(const Order *, npy_intp, npy_intp, npy_intp) =
        is_float ? JOIN(RUN, floats_half) : JOIN(RUN, doubles_half);
    void (*const narrow)(const Order *, npy_intp, npy_intp, npy_intp) =
        is_float ? JOIN(RUN, floats_narrow) : JOIN(RUN, doubles_narrow);
    void (*const alone)(const Order *, npy_intp, npy_intp, npy_intp) =
        is_float ? JOIN(RUN, float_alone) : JOIN(RUN, double_alone);
    const npy_intp first = begin;
    if (end - begin >= JOIN(RUN, WIDE)) {
        const npy_intp blocks = (end - begin) - (end - begin) % JOIN(RUN, WIDE);
        wide(orders, begin, begin + blocks, JOIN(RUN, WIDE));
        begin += blocks;
    }
    if (end - begin > JOIN(RUN, HALF) && again && begin > first) {
        wide(orders, end - JOIN(RUN, WIDE), end, JOIN(RUN, WIDE));
        return;
    }
    if (end - begin >= JOIN(RUN, HALF)) {
        half(orders, begin, begin + JOIN(RUN, HALF), JOIN(RUN, HALF));
        begin += JOIN(RUN, HALF);
    }
    if (begin < end && again && end - first >= JOIN(RUN, HALF)) {
        half(orders, end - JOIN(RUN, HALF), end, JOIN(RUN, HALF));
        return;
    }
    const npy_intp vectors = (end - begin) - (end - begin) % VECTOR_BYTES;
    if (vectors > 0) {
        narrow(orders, begin, begin + vectors, VECTOR_BYTES);
        begin += vectors;
    }
    if (begin == end) {
        return;
    }
    if (again && vectors > 0) {
        narrow(orders, end - VECTOR_BYTES, end, VECTOR_BYTES);
        return;
    }
    alone(orders, begin, end, itemsize);
}

#undef RUN
#undef VECTOR_BYTES
#undef TARGET
#undef FLOAT_ROOTS
#undef DOUBLE_ROOTS
#undef STREAM_VECTOR
#undef JOIN
#undef JOIN_NAMES
#undef WRITE_ONE
#undef ALONE
#undef FOUR
#undef EIGHT
