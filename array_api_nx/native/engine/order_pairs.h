/* Orders on complex numbers, which are pairs of a real and of an imaginary part. order_runs.h includes this for each of their
   dtypes, and says which:

   KIND, ELEMENT   as for order_lengths.h
   PART, PARTS     the type of a part, and how many a vector has, as a digit
   BITS_OF_PART, SIGNLESS   the type of an integer of the same length, and the one of which the sign's bit alone is clear
   ADD_PRODUCT(x, y, z), DIVIDE(x, y, to, count)   see COMPLEX_ARITHMETIC
   COMPARE         as for order_blocks.h
   SPREAD(from), REALS(from)   as for order_blocks.h
   SUBTRACT_AND_ADD(x, y, z), ADD_AND_SUBTRACT(x, y, z)   if FUSES_PRODUCTS: x * y - z and x * y + z by turns, or the reverse,
                   each rounded once

   Other orders are not given for such numbers: they are not compared, have no roots, and come from no booleans. */

typedef PART JOIN(RUN, KIND) __attribute__((vector_size(VECTOR_BYTES(ELEMENT)), aligned(sizeof(PART)), may_alias));
typedef BITS_OF_PART JOIN_THREE(RUN, KIND, bits) __attribute__((vector_size(VECTOR_BYTES(ELEMENT))));

#define VECTOR JOIN(RUN, KIND)
#define TRUTHS JOIN_THREE(RUN, KIND, bits)
#define LANES_HERE PARTS
#define PRODUCT JOIN_THREE(RUN, KIND, product)
#define QUOTIENT JOIN_THREE(RUN, KIND, quotient)
#define MAGNITUDE(x) (VECTOR)((TRUTHS)(x) & SIGNLESS)
#define CONJUGATES(x) SHUFFLED(x, -(x), JOIN(BY_TURNS, PARTS))
#define SPREAD_REAL(from) \
    SHUFFLED((VECTOR)(*(const PART *)(from) - (VECTOR){0}), (VECTOR){0}, JOIN(BY_TURNS, PARTS))
#define ROOT(x) x
#define LIMIT(x, y, HOW) x
#define WIDEN(from) (TRUTHS){0}
#define NARROW(t, to) (void)(to)

#ifdef FUSES_PRODUCTS
#define INLINE_IF_FUSED INLINE
#else
#define INLINE_IF_FUSED NO_INLINE
#endif

/* The product as NumPy's loops compute it, and rounded as often. */
TARGET static INLINE_IF_FUSED VECTOR PRODUCT(VECTOR p, VECTOR q)
{
    const VECTOR real = SHUFFLED(p, p, JOIN(REAL, PARTS));
    const VECTOR others = SHUFFLED(p, p, JOIN(IMAGINARY, PARTS)) * SHUFFLED(q, q, JOIN(SWAPPED, PARTS));
#ifdef FUSES_PRODUCTS
    return (VECTOR)SUBTRACT_AND_ADD(real, q, others);
#else
    VECTOR product = real;
    for (int i = 0; i < PARTS; i += 2) {
        product[i] = ADD_PRODUCT(real[i], q[i], -others[i]);
        product[i + 1] = ADD_PRODUCT(real[i + 1], q[i + 1], others[i + 1]);
    }
    return product;
#endif
}

/* The quotient as NumPy's loops compute it: by the larger part of the divisor. Vectors with zeros or NaN among the divisors
   are divided pair by pair, as computing with both parts would raise flags. */
TARGET static NO_INLINE VECTOR QUOTIENT(VECTOR p, VECTOR q)
{
    VECTOR quotient = p;
#ifdef FUSES_PRODUCTS
    const VECTOR real = SHUFFLED(q, q, JOIN(REAL, PARTS)), imaginary = SHUFFLED(q, q, JOIN(IMAGINARY, PARTS)), zeros = {0};
    const TRUTHS by_real = COMPARE(MAGNITUDE(imaginary), MAGNITUDE(real), LE);
    const VECTOR large = CHOSEN(by_real, real, imaginary), small = CHOSEN(by_real, imaginary, real);
    if (ARE_ALL_TRUE(COMPARE(zeros, MAGNITUDE(large), LT) & COMPARE(zeros, MAGNITUDE(small), LE))) {
        const VECTOR ratio = small / large, scale = (PART)1 / (large + small * ratio), ones = (PART)1 - zeros;
        const VECTOR first = p * CHOSEN(by_real, ones, ratio);
        const VECTOR second = SHUFFLED(p, p, JOIN(SWAPPED, PARTS)) * CHOSEN(by_real, ratio, ones);
        return (VECTOR)ADD_AND_SUBTRACT(first, ones, second) * scale;
    }
#endif
    DIVIDE((const PART *)&p, (const PART *)&q, (PART *)&quotient, PARTS / 2);
    return quotient;
}

#include "order_lengths.h"

#undef INLINE_IF_FUSED
#undef PART
#undef PARTS
#undef BITS_OF_PART
#undef SIGNLESS
#undef ADD_PRODUCT
#undef DIVIDE
#undef SUBTRACT_AND_ADD
#undef ADD_AND_SUBTRACT
