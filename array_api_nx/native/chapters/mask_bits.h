/* The elements of a mask as the bits of integers. */

#ifndef ARRAY_API_NX_MASK_BITS_H
#define ARRAY_API_NX_MASK_BITS_H

#include "common.h"
#include "compiler.h"

#ifdef HAS_TARGETS
#include <immintrin.h>
#elif defined(HAS_SSE2)
#include <emmintrin.h>
#endif

/* Elements of a mask that are looked at together: a bit of an integer for each (docs/tuning.md, 112). */
enum { GROUP = 64 };
#define ALL_BITS (~(npy_uint64)0)

/* A bit for each of the next elements, at most GROUP: whether it is true. */
static INLINE npy_uint64 bits_of(const char *mask, npy_intp count)
{
    npy_uint64 bits = 0;
#ifdef HAS_SSE2
    if (count >= GROUP) {
        const __m128i *sixteens = (const __m128i *)mask, zero = _mm_setzero_si128();
        __m128i bytes[4];
        for (int i = 0; i < 4; i++) {
            bytes[i] = _mm_loadu_si128(sixteens + i);
        }
        const __m128i any = _mm_or_si128(_mm_or_si128(bytes[0], bytes[1]), _mm_or_si128(bytes[2], bytes[3]));
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(any, zero)) == 0xffff) {
            return 0;
        }
        for (int i = 0; i < 4; i++) {
            bits |= (npy_uint64)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes[i], zero)) << 16 * i;
        }
        return ~bits;
    }
#elif PY_LITTLE_ENDIAN
    for (int i = 0; count >= GROUP && i < GROUP; i += 8) {
        const npy_uint64 sevens = 0x7f7f7f7f7f7f7f7fu;
        npy_uint64 word;
        memcpy(&word, mask + i, sizeof(word));
        const npy_uint64 truths = (((word & sevens) + sevens) | word) >> 7 & 0x0101010101010101u;
        bits |= (truths * 0x0102040810204080u >> 56) << i; /* bit k of the product's last byte is from byte k */
    }
    if (count >= GROUP) {
        return bits;
    }
#endif
    for (int i = 0; i < GROUP && i < count; i++) {
        bits |= (npy_uint64)(mask[i] != 0) << i;
    }
    return bits;
}

#ifdef HAS_GNU_C
#define LOWEST_BIT(bits) __builtin_ctzll(bits)
#define COUNT_BITS(bits) __builtin_popcountll(bits)
#else
static inline int lowest_bit(npy_uint64 bits)
{
    int i = 0;
    for (; (bits & 1) == 0; bits >>= 1) {
        i++;
    }
    return i;
}

static inline int count_bits(npy_uint64 bits)
{
    int count = 0;
    for (; bits != 0; bits &= bits - 1) {
        count++;
    }
    return count;
}
#define LOWEST_BIT lowest_bit
#define COUNT_BITS count_bits
#endif

/* For each of them that is true, while WANTED: DO, with its number k. */
#define FOR_EACH_TRUE(WANTED, DO)                                           \
    for (npy_uint64 left = bits; left != 0 && (WANTED); left &= left - 1) { \
        const int k = LOWEST_BIT(left);                                     \
        DO                                                                  \
    }

#endif
