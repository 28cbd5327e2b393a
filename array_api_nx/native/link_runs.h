/* The function RUN: a chain on one row of elements. links.c includes this for each kind of processors,
   and says which:

   VECTOR_BYTES   the length of their vectors
   TARGET         the attribute of functions that are compiled for them alone
   FLOAT_ROOTS(x), DOUBLE_ROOTS(x)   the square roots of a vector
   STREAM_VECTOR(to, x)   write a vector past the caches, to where the address is a multiple of its
                  length

   Eight vectors at a time stay in registers: all of these processors have at least sixteen;
   so that each order is read, and its code looked at, once for all of them. */

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
#define STREAM STREAM_VECTOR
#define EACH EIGHT
#define BLOCK JOIN(RUN, floats_wide)
#include "link_block.h"
#define EACH FOUR
#define BLOCK JOIN(RUN, floats_middle)
#include "link_block.h"
#define EACH ALONE
#define BLOCK JOIN(RUN, floats_narrow)
#include "link_block.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef STREAM
#define VECTOR npy_float
#define ROOT sqrtf
#define MAGNITUDE fabsf
#define STREAM WRITE_ONE
#define EACH ALONE
#define BLOCK JOIN(RUN, float_alone)
#include "link_block.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef STREAM
#undef ELEMENT

#define ELEMENT npy_double
#define VECTOR JOIN(RUN, Doubles)
#define ROOT(x) (VECTOR) DOUBLE_ROOTS(x)
#define MAGNITUDE(x) (VECTOR)((JOIN(RUN, DoubleBits))(x) & 0x7fffffffffffffffu)
#define STREAM STREAM_VECTOR
#define EACH EIGHT
#define BLOCK JOIN(RUN, doubles_wide)
#include "link_block.h"
#define EACH FOUR
#define BLOCK JOIN(RUN, doubles_middle)
#include "link_block.h"
#define EACH ALONE
#define BLOCK JOIN(RUN, doubles_narrow)
#include "link_block.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef STREAM
#define VECTOR npy_double
#define ROOT sqrt
#define MAGNITUDE fabs
#define STREAM WRITE_ONE
#define EACH ALONE
#define BLOCK JOIN(RUN, double_alone)
#include "link_block.h"
#undef VECTOR
#undef ROOT
#undef MAGNITUDE
#undef STREAM
#undef ELEMENT

/* A chain on `bytes` bytes of elements, in blocks of `step` bytes. The last block may compute some
   elements of the one before once more, whose operands are all as they were. */
#define IN_BLOCKS(FUNCTION, step)                                                                  \
    for (npy_intp offset = 0; offset < bytes; offset += (step)) {                                  \
        FUNCTION(orders, least(offset, bytes - (step)));                                           \
    }

TARGET static void RUN(const Order *orders, npy_intp bytes, npy_intp itemsize)
{
    const int is_float = itemsize == sizeof(npy_float);
    if (bytes >= 8 * VECTOR_BYTES) {
        if (is_float) {
            IN_BLOCKS(JOIN(RUN, floats_wide), 8 * VECTOR_BYTES)
        } else {
            IN_BLOCKS(JOIN(RUN, doubles_wide), 8 * VECTOR_BYTES)
        }
    } else if (bytes >= 4 * VECTOR_BYTES) {
        if (is_float) {
            IN_BLOCKS(JOIN(RUN, floats_middle), 4 * VECTOR_BYTES)
        } else {
            IN_BLOCKS(JOIN(RUN, doubles_middle), 4 * VECTOR_BYTES)
        }
    } else if (bytes >= VECTOR_BYTES) {
        if (is_float) {
            IN_BLOCKS(JOIN(RUN, floats_narrow), VECTOR_BYTES)
        } else {
            IN_BLOCKS(JOIN(RUN, doubles_narrow), VECTOR_BYTES)
        }
    } else if (is_float) {
        IN_BLOCKS(JOIN(RUN, float_alone), itemsize)
    } else {
        IN_BLOCKS(JOIN(RUN, double_alone), itemsize)
    }
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
#undef IN_BLOCKS
