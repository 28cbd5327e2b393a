/* The table JOIN(RUN, blocks) of functions that carry out orders. orders.c includes this for each kind of
   processors, and says which:

   VECTOR_BYTES(TYPE)   the length of their vectors of such elements
   SHORT_LANES, LONG_LANES   how many elements of 4 and of 8 bytes these have, as digits
   TARGET         the attribute of functions that are compiled for them alone
   FLOAT_ROOTS(x), DOUBLE_ROOTS(x)   the square roots of a vector
   COMPARE_FLOATS(x, y, HOW), COMPARE_DOUBLES(x, y, HOW)   truths: LT or LE, which raise no flag
   LIMIT_FLOATS(x, y, HOW), LIMIT_DOUBLES(x, y, HOW)   x where it is NaN, or LT or GT y; elsewhere y
   WIDEN_SHORT(from), WIDEN_LONG(from), NARROW_SHORT(t, to), NARROW_LONG(t, to)   truths of 4 or 8 bytes of
                  booleans in memory, and back
   SHORT_PARTS, LONG_PARTS   how many parts of complex numbers they have, as digits
   SPREAD_LONG_PAIR(from)    a vector of one pair of 16 bytes for all
   REALS_OF_FLOATS(from), REALS_OF_DOUBLES(from)   a vector of as many complex numbers as there are real ones at `from`
   FUSES_PRODUCTS   if the processors have instructions for x * y - z and x * y + z by turns, rounded once,
   SUBTRACT_AND_ADD_FLOATS(x, y, z), SUBTRACT_AND_ADD_DOUBLES(x, y, z)   these,
   ADD_AND_SUBTRACT_FLOATS(x, y, z), ADD_AND_SUBTRACT_DOUBLES(x, y, z)   the reverse, and
   ARE_ALL_TRUE(t)  for truths of eight bytes each
   ONLY_ALONE     if blocks of several vectors are not asked for
   STREAM_VECTOR(to, x)   write a vector past the caches, to where the address is a multiple of its
                  length

   Eight vectors at a time stay in registers: all of these processors have at least sixteen;
   so that each order is read once for all of them. */

/* They lie anywhere, and are written over whatever type the memory had. */
#define VECTOR_OF(TYPE) __attribute__((vector_size(VECTOR_BYTES(TYPE)), aligned(sizeof(TYPE)), may_alias))
typedef npy_float JOIN(RUN, Floats) VECTOR_OF(npy_float);
typedef npy_double JOIN(RUN, Doubles) VECTOR_OF(npy_double);
typedef npy_int32 JOIN(RUN, Ints) VECTOR_OF(npy_int32);
typedef npy_int64 JOIN(RUN, Longs) VECTOR_OF(npy_int64);
typedef npy_int32 JOIN(RUN, ShortTruths) __attribute__((vector_size(VECTOR_BYTES(npy_int32))));
typedef npy_int64 JOIN(RUN, LongTruths) __attribute__((vector_size(VECTOR_BYTES(npy_int64))));

#define ALONE(DO, OP, AT) DO(0, OP, AT(0))
#ifdef ONLY_ALONE
#define FOUR ALONE
#define EIGHT ALONE
#else
#define FOUR(DO, OP, AT) DO(0, OP, AT(0)) DO(1, OP, AT(1)) DO(2, OP, AT(2)) DO(3, OP, AT(3))
#define EIGHT(DO, OP, AT) \
    FOUR(DO, OP, AT) DO(4, OP, AT(4)) DO(5, OP, AT(5)) DO(6, OP, AT(6)) DO(7, OP, AT(7))
#endif

/* Zero is subtracted from an element that stands for all: added, it would change -0.0. */
#define SPREAD_NUMBER(from) (*(const ELEMENT *)(from) - (VECTOR){0})

#define KIND floats
#define ELEMENT npy_float
#define VECTOR JOIN(RUN, Floats)
#define TRUTHS JOIN(RUN, ShortTruths)
#define LANES_HERE SHORT_LANES
#define WIDEN WIDEN_SHORT
#define NARROW NARROW_SHORT
#define PRODUCT TIMES
#define QUOTIENT RATIO
#define CONJUGATES(x) x
#define SPREAD SPREAD_NUMBER
#define REALS SPREAD_NUMBER
#define SPREAD_REAL SPREAD_NUMBER
#define ROOT(x) (VECTOR) FLOAT_ROOTS(x)
#define MAGNITUDE(x) (VECTOR)((TRUTHS)(x) & 0x7fffffff)
#define COMPARE COMPARE_FLOATS
#define LIMIT LIMIT_FLOATS
#include "order_lengths.h"

#define KIND doubles
#define ELEMENT npy_double
#define VECTOR JOIN(RUN, Doubles)
#define TRUTHS JOIN(RUN, LongTruths)
#define LANES_HERE LONG_LANES
#define WIDEN WIDEN_LONG
#define NARROW NARROW_LONG
#define PRODUCT TIMES
#define QUOTIENT RATIO
#define CONJUGATES(x) x
#define SPREAD SPREAD_NUMBER
#define REALS SPREAD_NUMBER
#define SPREAD_REAL SPREAD_NUMBER
#define ROOT(x) (VECTOR) DOUBLE_ROOTS(x)
#define MAGNITUDE(x) (VECTOR)((TRUTHS)(x) & 0x7fffffffffffffff)
#define COMPARE COMPARE_DOUBLES
#define LIMIT LIMIT_DOUBLES
#include "order_lengths.h"

/* Integers are not divided, and have no roots. */
#define INTEGER_MAGNITUDE(x) (x ^ (VECTOR)(x < 0)) - (VECTOR)(x < 0)
#define COMPARE_INTEGERS(x, y, HOW) (TRUTHS)(x HOW##_SIGN y)
#define LIMIT_INTEGERS(x, y, HOW) CHOSEN((TRUTHS)(x HOW##_SIGN y), x, y)

#define KIND ints
#define ELEMENT npy_int32
#define VECTOR JOIN(RUN, Ints)
#define TRUTHS JOIN(RUN, ShortTruths)
#define LANES_HERE SHORT_LANES
#define WIDEN WIDEN_SHORT
#define NARROW NARROW_SHORT
#define PRODUCT TIMES
#define QUOTIENT SUM
#define CONJUGATES(x) x
#define SPREAD SPREAD_NUMBER
#define REALS SPREAD_NUMBER
#define SPREAD_REAL SPREAD_NUMBER
#define ROOT(x) x
#define MAGNITUDE(x) INTEGER_MAGNITUDE(x)
#define COMPARE COMPARE_INTEGERS
#define LIMIT LIMIT_INTEGERS
#include "order_lengths.h"

#define KIND longs
#define ELEMENT npy_int64
#define VECTOR JOIN(RUN, Longs)
#define TRUTHS JOIN(RUN, LongTruths)
#define LANES_HERE LONG_LANES
#define WIDEN WIDEN_LONG
#define NARROW NARROW_LONG
#define PRODUCT TIMES
#define QUOTIENT SUM
#define CONJUGATES(x) x
#define SPREAD SPREAD_NUMBER
#define REALS SPREAD_NUMBER
#define SPREAD_REAL SPREAD_NUMBER
#define ROOT(x) x
#define MAGNITUDE(x) INTEGER_MAGNITUDE(x)
#define COMPARE COMPARE_INTEGERS
#define LIMIT LIMIT_INTEGERS
#include "order_lengths.h"

#define KIND complex_floats
#define ELEMENT npy_cfloat
#define PART npy_float
#define PARTS SHORT_PARTS
#define BITS_OF_PART npy_int32
#define SIGNLESS 0x7fffffff
#define ADD_PRODUCT add_product_floats
#define DIVIDE divide_floats
#define COMPARE COMPARE_FLOATS
#define SPREAD(from) (*(const PairBits *)(from) | (JOIN(RUN, LongTruths)){0})
#define SUBTRACT_AND_ADD SUBTRACT_AND_ADD_FLOATS
#define ADD_AND_SUBTRACT ADD_AND_SUBTRACT_FLOATS
#define REALS REALS_OF_FLOATS
#include "order_pairs.h"

#define KIND complex_doubles
#define ELEMENT npy_cdouble
#define PART npy_double
#define PARTS LONG_PARTS
#define BITS_OF_PART npy_int64
#define SIGNLESS 0x7fffffffffffffff
#define ADD_PRODUCT add_product_doubles
#define DIVIDE divide_doubles
#define COMPARE COMPARE_DOUBLES
#define SPREAD SPREAD_LONG_PAIR
#define SUBTRACT_AND_ADD SUBTRACT_AND_ADD_DOUBLES
#define ADD_AND_SUBTRACT ADD_AND_SUBTRACT_DOUBLES
#define REALS REALS_OF_DOUBLES
#include "order_pairs.h"

#define LENGTHS(KIND) \
    {JOIN_THREE(RUN, KIND, wide), JOIN_THREE(RUN, KIND, half), JOIN_THREE(RUN, KIND, narrow)}
static const BlockTable JOIN(RUN, blocks) = {LENGTHS(floats), LENGTHS(doubles),        LENGTHS(ints),
                                             LENGTHS(longs),  LENGTHS(complex_floats), LENGTHS(complex_doubles)};

#undef LENGTHS
#undef INTEGER_MAGNITUDE
#undef COMPARE_INTEGERS
#undef LIMIT_INTEGERS
#undef RUN
#undef VECTOR_BYTES
#undef SHORT_LANES
#undef LONG_LANES
#undef SHORT_PARTS
#undef LONG_PARTS
#undef SPREAD_LONG_PAIR
#undef REALS_OF_FLOATS
#undef REALS_OF_DOUBLES
#undef FUSES_PRODUCTS
#undef SUBTRACT_AND_ADD_FLOATS
#undef ADD_AND_SUBTRACT_FLOATS
#undef SUBTRACT_AND_ADD_DOUBLES
#undef ADD_AND_SUBTRACT_DOUBLES
#undef ARE_ALL_TRUE
#undef TARGET
#undef FLOAT_ROOTS
#undef DOUBLE_ROOTS
#undef COMPARE_FLOATS
#undef COMPARE_DOUBLES
#undef LIMIT_FLOATS
#undef LIMIT_DOUBLES
#undef WIDEN_SHORT
#undef WIDEN_LONG
#undef NARROW_SHORT
#undef NARROW_LONG
#undef STREAM_VECTOR
#undef VECTOR_OF
#undef ONLY_ALONE
#undef ALONE
#undef FOUR
#undef EIGHT
