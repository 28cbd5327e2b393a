#include "masks.h"
#include "compiler.h"

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
CLONED(extern, npy_intp, compress_vector,
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

CLONED(extern, npy_intp, expand_vector,
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

/* The compiler makes instructions of these loops that write under a mask. Only long runs are worth a look. */
enum { LONG_GROUP = 4 * GROUP };

CLONED(extern, void, assign_vector,
       (char *elements, npy_intp itemsize, const char *mask, npy_intp count, const char *value),
       (elements, itemsize, mask, count, value))
{
#define ASSIGN_TO(COUNT)                                                                       \
    INDEPENDENT                                                                                \
    for (int k = 0; k < (COUNT); k++) {                                                        \
        if (mask[i + k] != 0) { to[i + k] = number; }                                          \
    }
#define ASSIGN(TYPE)                                                                           \
    for (npy_intp i = 0; i < count; i += LONG_GROUP) {                                         \
        const TYPE number = *(const TYPE *)value;                                              \
        TYPE *to = (TYPE *)elements;                                                           \
        if (i + LONG_GROUP > count) {                                                          \
            ASSIGN_TO(count - i)                                                               \
        } else if (!are_false(mask + i) || !are_false(mask + i + GROUP) ||                     \
                   !are_false(mask + i + 2 * GROUP) || !are_false(mask + i + 3 * GROUP)) {     \
            ASSIGN_TO(LONG_GROUP)                                                              \
        }                                                                                      \
    }
    FOR_EACH_SIZE(ASSIGN)
#undef ASSIGN
#undef ASSIGN_TO
}
