#include "masks.h"
#include "compiler.h"
#include "elementwise.h"
#include "threads.h"
#include "truth.h"

#ifdef HAS_SSE2
#include <emmintrin.h>
#endif

/* Elements of a mask that are looked at together, and bytes that are passed over together where all of them
   are false (docs/tuning.md, 112). */
enum { WORD = sizeof(npy_uint64), WORDS = 8, GROUP = WORDS * WORD };

/* An element of complex128. */
typedef struct {
    npy_uint64 low, high;
} TwoWords;

static INLINE npy_uint64 word_at(const char *mask)
{
    npy_uint64 word;
    memcpy(&word, mask, sizeof(word));
    return word;
}

/* Whether the next WORDS words have only false elements. */
static INLINE int are_false(const char *mask)
{
    npy_uint64 any = 0;
    for (int i = 0; i < WORDS; i++) {
        any |= word_at(mask + i * WORD);
    }
    return any == 0;
}

static INLINE npy_intp end_of_group(npy_intp begin, npy_intp count)
{
    return begin + GROUP < count ? begin + GROUP : count;
}

/* A word of true elements, as NumPy writes them. */
#define ALL_TRUE (~(npy_uint64)0 / 255)

/* Whether all elements of a group are such ones. */
static INLINE int are_true(const char *mask)
{
    npy_uint64 all = ~(npy_uint64)0;
    for (int i = 0; i < WORDS; i++) {
        all &= word_at(mask + i * WORD);
    }
    return all == ALL_TRUE;
}

/* Go over a group of elements, from `i` to `end`. ALL is for a whole group whose elements are all true, WORD_OF for the
   WORD elements at `i`, some of which are, both only if there is ROOM for so many; ONE is for the element at `i`. */
#define OVER_GROUP(ROOM, ALL, WORD_OF, ONE)                                                    \
    if (end - i == GROUP && are_true(mask + i) && (ROOM(GROUP))) {                             \
        ALL                                                                                    \
        i = end;                                                                               \
    }                                                                                          \
    while (i < end) {                                                                          \
        if (i + WORD > end || !(ROOM(WORD))) {                                                 \
            for (const npy_intp stop = i + WORD < end ? i + WORD : end; i < stop; i++) {       \
                ONE                                                                            \
            }                                                                                  \
            continue;                                                                          \
        }                                                                                      \
        if (word_at(mask + i) != 0) {                                                          \
            WORD_OF                                                                            \
        }                                                                                      \
        i += WORD;                                                                             \
    }

/* For each size of elements. */
#define FOR_EACH_SIZE(DO)     \
    switch (itemsize) {       \
    case 1:                   \
        DO(npy_uint8)         \
        break;                \
    case 2:                   \
        DO(npy_uint16)        \
        break;                \
    case 4:                   \
        DO(npy_uint32)        \
        break;                \
    case 8:                   \
        DO(npy_uint64)        \
        break;                \
    default:                  \
        DO(TwoWords)          \
        break;                \
    }

/* So many groups of words are found before their elements are copied, which are fetched meanwhile: a copy that waits for
   memory would keep the processor from looking at the mask. */
enum { FOUND_AHEAD = 16 };

/* Find the next groups of words, not all of which are false, from `*next` on; fetch their elements. How many there are,
   whose first elements become `begins`. */
static INLINE int find_groups(const char *mask, npy_intp count, const char *elements, npy_intp itemsize,
                              npy_intp *next, npy_intp *begins)
{
    npy_intp i = *next;
    int found = 0;
    for (; i < count && found < FOUND_AHEAD; i += GROUP) {
        if (i + GROUP <= count && are_false(mask + i)) {
            continue;
        }
        begins[found++] = i;
        for (int k = 0; k < WORDS; k++) {
            FETCH(elements + (i + k * WORD) * itemsize);
        }
    }
    *next = i;
    return found;
}

#define IS_WANTED(more) found + (more) <= wanted

/* Of mixed words each element is written: the processor cannot predict the mask. */
CLONED(static, npy_intp, compress_vector,
       (const char *elements, npy_intp itemsize, const char *mask, npy_intp count, char *out,
        npy_intp wanted),
       (elements, itemsize, mask, count, out, wanted))
{
    npy_intp found = 0, next = 0, begins[FOUND_AHEAD];
#define COMPRESS(TYPE)                                                                         \
    while (next < count) {                                                                     \
        const int groups = find_groups(mask, count, elements, sizeof(TYPE), &next, begins);    \
        const TYPE *from = (const TYPE *)elements;                                             \
        TYPE *to = (TYPE *)out;                                                                \
        for (int group = 0; group < groups; group++) {                                         \
            npy_intp i = begins[group];                                                        \
            const npy_intp end = end_of_group(i, count);                                       \
            OVER_GROUP(                                                                        \
                IS_WANTED,                                                                     \
                for (int k = 0; k < GROUP; k++) { to[found + k] = from[i + k]; }               \
                found += GROUP;,                                                               \
                for (int k = 0; k < WORD; k++) {                                               \
                    to[found] = from[i + k];                                                   \
                    found += mask[i + k] != 0;                                                 \
                },                                                                             \
                if (mask[i] != 0 && found < wanted) { to[found++] = from[i]; })                \
        }                                                                                      \
    }
    FOR_EACH_SIZE(COMPRESS)
#undef COMPRESS
    return found;
}

CLONED(static, npy_intp, expand_vector,
       (char *elements, npy_intp itemsize, const char *mask, npy_intp count, const char *values,
        npy_intp wanted),
       (elements, itemsize, mask, count, values, wanted))
{
    npy_intp found = 0;
#define EXPAND(TYPE)                                                                           \
    for (npy_intp i = 0; i < count;) {                                                         \
        const TYPE *from = (const TYPE *)values;                                               \
        TYPE *to = (TYPE *)elements;                                                           \
        const npy_intp end = end_of_group(i, count);                                           \
        OVER_GROUP(                                                                            \
            IS_WANTED,                                                                         \
            for (int k = 0; k < GROUP; k++) { to[i + k] = from[found + k]; }                   \
            found += GROUP;,                                                                   \
            if (word_at(mask + i) == ALL_TRUE) {                                               \
                for (int k = 0; k < WORD; k++) { to[i + k] = from[found + k]; }                \
                found += WORD;                                                                 \
            } else {                                                                           \
                int chosen[WORD + 1];                                                          \
                int several = 0;                                                               \
                for (int k = 0; k < WORD; k++) {                                               \
                    chosen[several] = k;                                                       \
                    several += mask[i + k] != 0;                                               \
                }                                                                              \
                for (int k = 0; k < several; k++) { to[i + chosen[k]] = from[found++]; }       \
            },                                                                                 \
            if (mask[i] != 0 && found < wanted) { to[i] = from[found++]; })                    \
    }
    FOR_EACH_SIZE(EXPAND)
#undef EXPAND
    return found;
}

/* A bit for each of GROUP elements: whether it is true. */
static INLINE npy_uint64 bits_of(const char *mask)
{
    npy_uint64 bits = 0;
#ifdef HAS_SSE2
    for (int i = 0; i < GROUP; i += 16) {
        const __m128i sixteen = _mm_loadu_si128((const __m128i *)(mask + i));
        const int are_zero = _mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_setzero_si128()));
        bits |= (npy_uint64)(~are_zero & 0xffff) << i;
    }
#else
    for (int i = 0; i < GROUP; i++) {
        bits |= (npy_uint64)(mask[i] != 0) << i;
    }
#endif
    return bits;
}

#ifdef HAS_GNU_C
#define LOWEST_BIT(bits) __builtin_ctzll(bits)
#else
static int lowest_bit(npy_uint64 bits)
{
    int i = 0;
    for (; (bits & 1) == 0; bits >>= 1) {
        i++;
    }
    return i;
}
#define LOWEST_BIT(bits) lowest_bit(bits)
#endif

/* So many true elements of a group are written one by one. */
enum { FEW_CHOSEN = 4 };

/* The compiler makes instructions of the loops over a group that write under a mask. */
CLONED(static, void, assign_vector,
       (char *elements, npy_intp itemsize, const char *mask, npy_intp count, const char *value),
       (elements, itemsize, mask, count, value))
{
#define ASSIGN_TO(COUNT)                                                                       \
    INDEPENDENT                                                                                \
    for (int k = 0; k < (COUNT); k++) {                                                        \
        if (mask[i + k] != 0) { to[i + k] = number; }                                          \
    }
#define ASSIGN(TYPE)                                                                           \
    for (npy_intp i = 0; i < count; i += GROUP) {                                              \
        const TYPE number = *(const TYPE *)value;                                              \
        TYPE *to = (TYPE *)elements;                                                           \
        if (i + GROUP > count) {                                                               \
            ASSIGN_TO(count - i)                                                               \
            break;                                                                             \
        }                                                                                      \
        npy_uint64 bits = bits_of(mask + i);                                                   \
        for (int n = 0; bits != 0 && n < FEW_CHOSEN; n++, bits &= bits - 1) {                  \
            to[i + LOWEST_BIT(bits)] = number;                                                 \
        }                                                                                      \
        if (bits != 0) {                                                                       \
            ASSIGN_TO(GROUP)                                                                   \
        }                                                                                      \
    }
    FOR_EACH_SIZE(ASSIGN)
#undef ASSIGN
#undef ASSIGN_TO
}

/* Write the indices of true elements, the first of which is `first`, at most `wanted`. Returns how many they are. */
static npy_intp locate_vector(const char *mask, npy_intp count, npy_intp first, npy_int64 *out, npy_intp wanted)
{
    npy_intp found = 0;
    for (npy_intp i = 0; i < count; i += GROUP) {
        npy_uint64 bits = 0;
        if (i + GROUP <= count) {
            bits = bits_of(mask + i);
        } else {
            for (npy_intp k = 0; k < count - i; k++) {
                bits |= (npy_uint64)(mask[i + k] != 0) << k;
            }
        }
        for (; bits != 0 && found < wanted; bits &= bits - 1) {
            out[found++] = first + i + LOWEST_BIT(bits);
        }
    }
    return found;
}

/* ------------------------------------------------------------------ several threads */

/* Elements that a thread goes over at a time. */
enum { PART = 1 << 15 };

typedef struct {
    MaskAction action;
    char *elements, *others;
    const char *mask;
    npy_intp itemsize, count;
    const npy_intp *starts; /* how many elements are chosen before each part, and in all */
} Masked;

static void run_part(const void *parts, npy_intp number, char *scratch)
{
    const Masked *masked = parts;
    const npy_intp begin = number * PART, itemsize = masked->itemsize;
    const npy_intp count = least(PART, masked->count - begin);
    const npy_intp start = masked->starts[number], wanted = masked->starts[number + 1] - start;
    char *elements = masked->elements + begin * itemsize;
    const char *mask = masked->mask + begin;
    if (masked->action == ASSIGN) {
        assign_vector(elements, itemsize, mask, count, masked->others);
        return;
    }
    const npy_intp size = masked->action == LOCATE ? (npy_intp)sizeof(npy_int64) : itemsize;
    char *others = masked->others + start * size;
    if (masked->action == EXPAND) {
        expand_vector(elements, itemsize, mask, count, others, wanted);
        return;
    }
    const npy_intp found = masked->action == LOCATE
                               ? locate_vector(mask, count, begin, (npy_int64 *)others, wanted)
                               : compress_vector(elements, itemsize, mask, count, others, wanted);
    /* Another thread may have written to the mask since it was counted. */
    memset(others + found * size, 0, (size_t)((wanted - found) * size));
}

npy_intp count_true(const char *mask, npy_intp count)
{
    return ask_truth(COUNT_TRUE, NULL, mask, BOOL, count);
}

int run_masked(MaskAction action, char *elements, npy_intp itemsize, const char *mask, npy_intp count, char *others,
               npy_intp wanted)
{
    const npy_intp parts = count == 0 ? 0 : (count - 1) / PART + 1;
    npy_intp alone[2] = {0, wanted}, *starts = alone;
    if (parts > 1 && (starts = PyMem_Malloc((size_t)(parts + 1) * sizeof(*starts))) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (npy_intp part = 0, total = 0; parts > 1 && part < parts; part++) {
        starts[part] = total;
        if (action != ASSIGN) {
            total += count_true(mask + part * PART, least(PART, count - part * PART));
        }
        total = least(total, wanted);
        starts[part + 1] = part + 1 < parts ? total : wanted;
    }
    const Masked masked = {action, elements, others, mask, itemsize, count, starts};
    int failed = 0;
    if (parts > 1) {
        const Py_ssize_t threads = most_threads();
        failed = threads < 1 || run_parts(run_part, &masked, parts, 0, threads, 0) != 1;
        if (threads > 0 && failed) {
            PyErr_NoMemory();
        }
        PyMem_Free(starts);
    } else if (parts == 1) {
        run_part(&masked, 0, NULL);
    }
    return -failed;
}
