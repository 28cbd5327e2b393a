#include "masks.h"
#include "compiler.h"
#include "elementwise.h"
#include "mask_bits.h"
#include "threads.h"
#include "truth.h"

/* An element of complex128. */
typedef struct {
    npy_uint64 low, high;
} TwoWords;

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

/* So many true elements of a group are few. */
enum { FEW_CHOSEN = 4 };

/* So many groups are found before their elements are copied, which are fetched meanwhile: a copy that waits for
   memory would keep the processor from looking at the mask. Of many elements in a group the processor fetches the next
   ones by itself. */
enum { FOUND_AHEAD = 16 };

typedef struct {
    npy_intp begin;
    npy_uint64 bits;
} Group;

/* Find the next groups, not all of whose elements are false, from `*next` on. How many there are. */
static INLINE int find_groups(const char *mask, npy_intp count, const char *elements, npy_intp itemsize,
                              npy_intp *next, Group *groups)
{
    npy_intp i = *next;
    int found = 0;
    for (; i < count && found < FOUND_AHEAD; i += GROUP) {
        const npy_uint64 bits = bits_of(mask + i, count - i);
        if (bits == 0) {
            continue;
        }
        groups[found++] = (Group){i, bits};
        int few = FEW_CHOSEN;
        FOR_EACH_TRUE(few-- > 0, FETCH(elements + (i + k) * itemsize);)
    }
    *next = i;
    return found;
}

/* How many groups, from the first on, follow each other and have true elements alone, as far as there is room for these.
   They are copied together: for a copy of one group, whose size it knows, GCC writes `rep movs`, which takes several times
   as long as memcpy. */
static INLINE int count_whole(const Group *groups, int several, npy_intp room)
{
    int whole = 1;
    while (whole < several && groups[whole].bits == ALL_BITS && groups[whole].begin == groups[0].begin + whole * GROUP &&
           (whole + 1) * GROUP <= room) {
        whole++;
    }
    return whole;
}

/* ------------------------------------------------------------------ groups with many true elements */

#ifdef HAS_TARGETS
#define HAS_MOVERS 1
/* AVX-512 moves the chosen elements of a vector together, or apart. `FULL(bits)` has a bit for each 4 or 8 bytes of a
   vector, whose elements have one each, or two if they have 16 bytes. */
#define DEFINE_MOVERS(SIZE, LANES, MASK, WORD, FULL)                                                   \
    __attribute__((target("avx512f"))) static npy_intp compress_group_##SIZE(                          \
        const void *from, npy_uint64 bits, void *to)                                                   \
    {                                                                                                  \
        char *out = to;                                                                                \
        for (int k = 0; k < GROUP; k += LANES, bits >>= LANES) {                                       \
            const MASK chosen = (MASK)FULL(bits & ((1u << LANES) - 1));                                \
            const __m512i lanes = _mm512_loadu_si512((const char *)from + k * SIZE);                   \
            _mm512_storeu_si512(out, _mm512_maskz_compress_##WORD(chosen, lanes));                     \
            out += COUNT_BITS(bits & ((1u << LANES) - 1)) * SIZE;                                      \
        }                                                                                              \
        return (out - (char *)to) / SIZE;                                                              \
    }                                                                                                  \
    __attribute__((target("avx512f"))) static npy_intp expand_group_##SIZE(                            \
        const void *from, npy_uint64 bits, void *to)                                                   \
    {                                                                                                  \
        const char *in = from;                                                                         \
        for (int k = 0; k < GROUP; k += LANES, bits >>= LANES) {                                       \
            const MASK chosen = (MASK)FULL(bits & ((1u << LANES) - 1));                                \
            const __m512i lanes = _mm512_maskz_expand_##WORD(chosen, _mm512_loadu_si512(in));          \
            _mm512_mask_storeu_##WORD((char *)to + k * SIZE, chosen, lanes);                           \
            in += COUNT_BITS(bits & ((1u << LANES) - 1)) * SIZE;                                       \
        }                                                                                              \
        return (in - (const char *)from) / SIZE;                                                       \
    }

static const npy_uint8 doubled[16] = {0,    0x03, 0x0c, 0x0f, 0x30, 0x33, 0x3c, 0x3f,
                                      0xc0, 0xc3, 0xcc, 0xcf, 0xf0, 0xf3, 0xfc, 0xff};
#define AS_IT_IS(bits) (bits)
#define DOUBLED(bits) doubled[bits]
DEFINE_MOVERS(4, 16, __mmask16, epi32, AS_IT_IS)
DEFINE_MOVERS(8, 8, __mmask8, epi64, AS_IT_IS)
DEFINE_MOVERS(16, 4, __mmask8, epi64, DOUBLED)

/* Write the indices of a group's true elements, and return how many they are: as many as GROUP are written. */
__attribute__((target("avx512f"))) static npy_intp locate_group(npy_int64 first, npy_uint64 bits, npy_int64 *out)
{
    __m512i indices = _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    npy_int64 *to = out;
    for (int k = 0; k < GROUP; k += 8, bits >>= 8) {
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi64((__mmask8)bits, indices));
        to += COUNT_BITS(bits & 0xff);
        indices = _mm512_add_epi64(indices, _mm512_set1_epi64(8));
    }
    return to - out;
}
#endif

/* Move the chosen elements of a whole group, so that they lie together (COMPRESS), or apart (EXPAND), and return how many
   they are. GROUP elements are read, whichever are chosen, and where they come to lie together as many are written. */
typedef npy_intp MoveGroup(const void *from, npy_uint64 bits, void *to);

/* NULL if the processor has no instructions for it. */
static MoveGroup *group_mover(MaskAction action, npy_intp itemsize)
{
#ifdef HAS_MOVERS
    const int expands = action == EXPAND;
    if (processor >= AVX512) {
        return itemsize == 4    ? (expands ? expand_group_4 : compress_group_4)
               : itemsize == 8  ? (expands ? expand_group_8 : compress_group_8)
               : itemsize == 16 ? (expands ? expand_group_16 : compress_group_16)
                                : NULL;
    }
#endif
    return NULL;
}

/* From SOME_CHOSEN true elements of a group on they are moved by instructions. Without such instructions each element of
   the group is written from MANY_CHOSEN on, which takes less time than to find the true ones. */
enum { SOME_CHOSEN = 8, MANY_CHOSEN = 36 };

CLONED(extern, npy_intp, compress_run,
       (const char *elements, npy_intp itemsize, const char *mask, npy_intp count, char *out,
        npy_intp wanted),
       (elements, itemsize, mask, count, out, wanted))
{
    npy_intp found = 0, next = 0;
    Group groups[FOUND_AHEAD];
    MoveGroup *const move = group_mover(COMPRESS, itemsize);
#define COMPRESS(TYPE)                                                                            \
    while (next < count) {                                                                        \
        const int several = find_groups(mask, count, elements, sizeof(TYPE), &next, groups);      \
        for (int group = 0; group < several; group++) {                                           \
            const npy_uint64 bits = groups[group].bits;                                           \
            const TYPE *from = (const TYPE *)elements + groups[group].begin;                      \
            TYPE *to = (TYPE *)out;                                                               \
            const int is_whole = groups[group].begin + GROUP <= count; /* or the last ones */     \
            if (bits == ALL_BITS && wanted - found >= GROUP) {                                    \
                const int whole = count_whole(groups + group, several - group, wanted - found);   \
                memcpy(to + found, from, (size_t)whole * GROUP * sizeof(TYPE));                   \
                found += whole * GROUP;                                                           \
                group += whole - 1;                                                               \
            } else if (move != NULL && COUNT_BITS(bits) >= SOME_CHOSEN && is_whole &&             \
                       wanted - found >= GROUP) {                                                 \
                found += move(from, bits, to + found);                                            \
            } else if (COUNT_BITS(bits) >= MANY_CHOSEN && is_whole && wanted - found >= GROUP) {  \
                for (int k = 0; k < GROUP; k++) {                                                 \
                    to[found] = from[k];                                                          \
                    found += bits >> k & 1;                                                       \
                }                                                                                 \
            } else {                                                                              \
                FOR_EACH_TRUE(found < wanted, to[found++] = from[k];)                             \
            }                                                                                     \
        }                                                                                         \
    }
    FOR_EACH_SIZE(COMPRESS)
#undef COMPRESS
    return found;
}

CLONED(extern, npy_intp, expand_run,
       (char *elements, npy_intp itemsize, const char *mask, npy_intp count, const char *values,
        npy_intp wanted),
       (elements, itemsize, mask, count, values, wanted))
{
    npy_intp found = 0;
    MoveGroup *const move = group_mover(EXPAND, itemsize);
#define EXPAND(TYPE)                                                     \
    for (npy_intp i = 0; i < count; i += GROUP) {                        \
        const npy_uint64 bits = bits_of(mask + i, count - i);            \
        const TYPE *from = (const TYPE *)values;                         \
        TYPE *to = (TYPE *)elements + i;                                 \
        if (bits == ALL_BITS && wanted - found >= GROUP) {               \
            for (int k = 0; k < GROUP; k++) { to[k] = from[found + k]; } \
            found += GROUP;                                              \
        } else if (move != NULL && COUNT_BITS(bits) >= SOME_CHOSEN && wanted - found >= GROUP) { \
            found += move(from + found, bits, to);                       \
        } else {                                                         \
            FOR_EACH_TRUE(found < wanted, to[k] = from[found++];)        \
        }                                                                \
    }
    FOR_EACH_SIZE(EXPAND)
#undef EXPAND
    return found;
}

/* The compiler makes instructions of the loops over a group that write under a mask. */
CLONED(extern, void, assign_run,
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
        npy_uint64 bits = bits_of(mask + i, GROUP);                                            \
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
        const npy_uint64 bits = bits_of(mask + i, count - i);
        const int has_room = wanted - found >= GROUP;
#ifdef HAS_MOVERS
        if (has_room && processor >= AVX512 && COUNT_BITS(bits) >= SOME_CHOSEN) {
            found += locate_group(first + i, bits, out + found);
            continue;
        }
#endif
        if (has_room && COUNT_BITS(bits) >= MANY_CHOSEN) {
            for (int k = 0; k < GROUP; k++) {
                out[found] = first + i + k;
                found += bits >> k & 1;
            }
        } else {
            FOR_EACH_TRUE(found < wanted, out[found++] = first + i + k;)
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
        assign_run(elements, itemsize, mask, count, masked->others);
        return;
    }
    const npy_intp size = masked->action == LOCATE ? (npy_intp)sizeof(npy_int64) : itemsize;
    char *others = masked->others + start * size;
    if (masked->action == EXPAND) {
        expand_run(elements, itemsize, mask, count, others, wanted);
        return;
    }
    const npy_intp found = masked->action == LOCATE
                               ? locate_vector(mask, count, begin, (npy_int64 *)others, wanted)
                               : compress_run(elements, itemsize, mask, count, others, wanted);
    /* Another thread may have written to the mask since it was counted. */
    memset(others + found * size, 0, (size_t)((wanted - found) * size));
}

npy_intp count_true(const char *mask, npy_intp count)
{
    return ask_truth(COUNT_TRUE, mask, BOOL, count);
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
    const int done = run_in_parts(run_part, &masked, parts);
    if (parts > 1) {
        PyMem_Free(starts);
    }
    return done - 1;
}
