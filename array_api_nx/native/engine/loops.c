#include "loops.h"
#include "compiler.h"
#include "half_loops.h"

/* Both bodies are the same loop; the compiler vectorizes the contiguous one. */
#define EACH(CONTIGUOUS, I1, O1, VALUE)                            \
    do {                                                           \
        const npy_intp n = *count;                                 \
        const char *source = args[0];                              \
        char *target = args[1];                                    \
        if (CONTIGUOUS) {                                          \
            INDEPENDENT                                            \
            for (npy_intp i = 0; i < n; i++) {                     \
                const I1 x = ((const I1 *)source)[i];              \
                ((O1 *)target)[i] = VALUE;                         \
            }                                                      \
        } else {                                                   \
            const npy_intp step = steps[0], to_step = steps[1];    \
            for (npy_intp i = 0; i < n; i++) {                     \
                const I1 x = *(const I1 *)source;                  \
                *(O1 *)target = VALUE;                             \
                source += step;                                    \
                target += to_step;                                 \
            }                                                      \
        }                                                          \
    } while (0)

#define ELEMENT(CODE, TYPE, ...) typedef TYPE CODE##_element;
EACH_DTYPE(ELEMENT)

/* Vectors of 64-bit integers become floating-point numbers by several instructions each, which take twice as long as
   one conversion after the other; but for AVX-512, which has one instruction for it. */
#define IS_SLOW_IN_VECTORS(FROM, TO) (is_integer(FROM) && sizeof(FROM##_element) == 8 && is_inexact(TO))

/* Casts that are compiled for better processors than the least: from and to which dtype, the first level of processors that has
   the instructions, their names for the compiler, and what is made of an element x (docs/tuning.md, 150). */
#define EACH_WIDE(X)                                                                                          \
    X(NX_INT64, FLOAT32, AVX512, "avx512f,avx512dq", x) X(NX_INT64, FLOAT64, AVX512, "avx512f,avx512dq", x)   \
    X(NX_UINT64, FLOAT32, AVX512, "avx512f,avx512dq", x) X(NX_UINT64, FLOAT64, AVX512, "avx512f,avx512dq", x) \
    X(FLOAT64, FLOAT32, AVX2, "avx2", x) X(FLOAT32, FLOAT64, AVX2, "avx2", x)                                 \
    X(FLOAT64, NX_INT32, AVX2, "avx2", x) X(FLOAT32, NX_INT32, AVX2, "avx2", x)                               \
    X(FLOAT64, NX_UINT8, AVX2, "avx2", (npy_int32)x) X(FLOAT32, NX_UINT8, AVX2, "avx2", (npy_int32)x)         \
    X(NX_INT32, FLOAT64, AVX2, "avx2", x) X(NX_INT32, FLOAT32, AVX2, "avx2", x)                               \
    X(NX_INT32, NX_INT64, AVX2, "avx2", x) X(NX_INT64, NX_INT32, AVX2, "avx2", x)                             \
    X(NX_INT32, NX_UINT8, AVX2, "avx2", x) X(NX_INT64, NX_UINT8, AVX2, "avx2", x)                             \
    X(NX_UINT8, FLOAT64, AVX2, "avx2", x) X(NX_UINT8, FLOAT32, AVX2, "avx2", x)                               \
    X(NX_UINT8, NX_INT32, AVX2, "avx2", x) X(NX_UINT8, NX_INT64, AVX2, "avx2", x)                             \
    X(BOOL, FLOAT64, AVX2, "avx2", truth_of(x)) X(BOOL, FLOAT32, AVX2, "avx2", truth_of(x))                   \
    X(BOOL, NX_INT32, AVX2, "avx2", truth_of(x)) X(BOOL, NX_INT64, AVX2, "avx2", truth_of(x))                 \
    X(FLOAT64, BOOL, AVX2, "avx2", x != 0) X(FLOAT32, BOOL, AVX2, "avx2", x != 0)                             \
    X(NX_INT64, BOOL, AVX2, "avx2", x != 0) X(NX_INT32, BOOL, AVX2, "avx2", x != 0)                           \
    X(COMPLEX128, BOOL, AVX2, "avx2", IS_TRUE(x)) X(COMPLEX64, BOOL, AVX2, "avx2", IS_TRUE(x))

#ifdef HAS_TARGETS
#define WIDE(FROM, TO, LEVEL, TARGETS, VALUE)                                           \
    __attribute__((target(TARGETS))) static void FROM##_to_##TO##_wide(                 \
        const FROM##_element *source, TO##_element *target, npy_intp count)             \
    {                                                                                   \
        INDEPENDENT                                                                     \
        for (npy_intp i = 0; i < count; i++) {                                          \
            const FROM##_element x = source[i];                                         \
            target[i] = (TO##_element)(VALUE);                                          \
        }                                                                               \
    }
EACH_WIDE(WIDE)
#endif

/* Cast what lies one after the other by these; 0 if it is none of them. */
static INLINE int cast_wide(int from, int to, char **args, npy_intp const *steps, npy_intp count)
{
#ifdef HAS_TARGETS
#define CALL(FROM, TO, LEVEL, ...)                                                      \
    if (from == FROM && to == TO && processor >= LEVEL &&                               \
        steps[0] == sizeof(FROM##_element) && steps[1] == sizeof(TO##_element)) {       \
        FROM##_to_##TO##_wide((const void *)args[0], (void *)args[1], count);           \
        return 1;                                                                       \
    }
    EACH_WIDE(CALL)
#undef CALL
#endif
    return 0;
}

/* A bool is read as a number; any number but 0 is true. */
#define CAST(FROM, TO, ...)                                                            \
    LOOP(FROM##_to_##TO)                                                               \
    {                                                                                  \
        const npy_intp size = sizeof(FROM##_element);                                  \
        if (FROM == TO && FROM != BOOL && steps[0] == size && steps[1] == size) {      \
            memmove(args[1], args[0], (size_t)(*count * size));                        \
            return;                                                                    \
        }                                                                              \
        if (cast_wide(FROM, TO, args, steps, *count)) {                                \
            return;                                                                    \
        }                                                                              \
        EACH(!IS_SLOW_IN_VECTORS(FROM, TO) && steps[0] == sizeof(FROM##_element) &&    \
                 steps[1] == sizeof(TO##_element),                                     \
             FROM##_element, TO##_element,                                             \
             (TO##_element)(TO == BOOL     ? IS_TRUE(x)                                \
                            : FROM == BOOL ? (FROM##_element)truth_of((npy_bool)x)     \
                                           : x));                                      \
    }
/* NumPy's loops keep the lowest bits of an integer of 32 bits, too. */
#define CAST_TO_SMALL(FROM, TO, ...)                                                    \
    LOOP(FROM##_to_##TO)                                                                \
    {                                                                                   \
        if (cast_wide(FROM, TO, args, steps, *count)) {                                 \
            return;                                                                     \
        }                                                                               \
        EACH(steps[0] == sizeof(FROM##_element) && steps[1] == sizeof(TO##_element),    \
             FROM##_element, TO##_element, (TO##_element)(npy_int32)x);                 \
    }
#define ENTRY(FROM, TO, ...) [TO] = FROM##_to_##TO,

/* DO(FROM, TO, ...) for the targets of the casts of a dtype. Missing are real numbers to unsigned integers of 32 and
   64 bits, since results that do not fit are each loop's own; the processor has instructions for signed ones, which
   NumPy's loops use, too. Also missing are complex numbers to real ones. A macro does not expand
   within itself: TWICE expands these lists after those that they stand in. */
#define NOTHING
#define INTEGERS() EACH_INTEGER_WITH
#define FLOATS() EACH_FLOAT_WITH
#define COMPLEX_NUMBERS() EACH_COMPLEX_WITH
#define TARGETS_OF_COMPLEX(DO, FROM) DO(FROM, BOOL) COMPLEX_NUMBERS NOTHING()(DO, FROM)
#define TARGETS_OF_FLOAT(DO, FROM) FLOATS NOTHING()(DO, FROM) TARGETS_OF_COMPLEX(DO, FROM)
#define TARGETS_OF_BROAD_FLOAT(DO, FROM) DO(FROM, NX_INT32) DO(FROM, NX_INT64) TARGETS_OF_FLOAT(DO, FROM)
#define SMALL_TARGETS(DO, FROM) DO(FROM, NX_INT8) DO(FROM, NX_INT16) DO(FROM, NX_UINT8) DO(FROM, NX_UINT16)
#define TARGETS_OF_INTEGER(DO, FROM) INTEGERS NOTHING()(DO, FROM) TARGETS_OF_FLOAT(DO, FROM)
#define TWICE(...) __VA_ARGS__

#define CASTS_OF_INTEGER(FROM, ...) TARGETS_OF_INTEGER(CAST, FROM)
#define CASTS_OF_FLOAT(FROM, ...) TARGETS_OF_FLOAT(CAST, FROM)
#define CASTS_OF_BROAD_FLOAT(FROM, ...) TARGETS_OF_BROAD_FLOAT(CAST, FROM) SMALL_TARGETS(CAST_TO_SMALL, FROM)
#define CASTS_OF_COMPLEX(FROM, ...) TARGETS_OF_COMPLEX(CAST, FROM)
TWICE(EACH_BOOL(CASTS_OF_INTEGER) EACH_INTEGER(CASTS_OF_INTEGER))
TWICE(EACH_HALF(CASTS_OF_FLOAT) EACH_BROAD_FLOAT(CASTS_OF_BROAD_FLOAT) EACH_COMPLEX(CASTS_OF_COMPLEX))

#define ROW_OF_INTEGER(FROM, ...) [FROM] = {TARGETS_OF_INTEGER(ENTRY, FROM)},
#define ROW_OF_FLOAT(FROM, ...) [FROM] = {TARGETS_OF_FLOAT(ENTRY, FROM)},
#define ROW_OF_BROAD_FLOAT(FROM, ...) [FROM] = {TARGETS_OF_BROAD_FLOAT(ENTRY, FROM) SMALL_TARGETS(ENTRY, FROM)},
#define ROW_OF_COMPLEX(FROM, ...) [FROM] = {TARGETS_OF_COMPLEX(ENTRY, FROM)},
static const PyUFuncGenericFunction casts[DTYPE_COUNT][DTYPE_COUNT] = {
    TWICE(EACH_BOOL(ROW_OF_INTEGER) EACH_INTEGER(ROW_OF_INTEGER)
          EACH_HALF(ROW_OF_FLOAT) EACH_BROAD_FLOAT(ROW_OF_BROAD_FLOAT) EACH_COMPLEX(ROW_OF_COMPLEX))
};

PyUFuncGenericFunction cast_function(DTypeCode from, DTypeCode to)
{
    const PyUFuncGenericFunction faster = half_cast(from, to);
    return faster == NULL ? casts[from][to] : faster;
}

/* Whole values are selected, by their bits: no processor can guess a condition that is as good as
   random. */
#define SELECT_EACH(TYPE, FIRST, SECOND)                                    \
    INDEPENDENT                                                             \
    for (npy_intp i = 0; i < n; i++) {                                      \
        const TYPE one = FIRST;                                             \
        const TYPE other = SECOND;                                          \
        target[i] = other ^ ((one ^ other) & (TYPE) - (condition[i] != 0)); \
    }

/* target = condition ? first : second; either may be a scalar. */
#define SELECT(NAME, TYPE)                                                                     \
    CLONED_LOOP(NAME)                                                                          \
    {                                                                                          \
        const npy_intp n = *count;                                                             \
        const npy_intp size = sizeof(TYPE);                                                    \
        const char *condition = args[0];                                                       \
        const TYPE *first = (const TYPE *)args[1], *second = (const TYPE *)args[2];            \
        TYPE *target = (TYPE *)args[3];                                                        \
        if (steps[0] == 1 && steps[1] == size && steps[2] == size && steps[3] == size) {       \
            SELECT_EACH(TYPE, first[i], second[i])                                             \
        } else if (steps[0] == 1 && steps[1] == size && steps[2] == 0 && steps[3] == size) {   \
            const TYPE scalar = *second;                                                       \
            SELECT_EACH(TYPE, first[i], scalar)                                                \
        } else if (steps[0] == 1 && steps[1] == 0 && steps[2] == size && steps[3] == size) {   \
            const TYPE scalar = *first;                                                        \
            SELECT_EACH(TYPE, scalar, second[i])                                               \
        } else {                                                                               \
            for (npy_intp i = 0; i < n; i++) {                                                 \
                const char *chosen =                                                           \
                    condition[i * steps[0]] ? args[1] + i * steps[1] : args[2] + i * steps[2]; \
                *(TYPE *)(args[3] + i * steps[3]) = *(const TYPE *)chosen;                     \
            }                                                                                  \
        }                                                                                      \
    }

SELECT(select_1, npy_uint8)
SELECT(select_2, npy_uint16)
SELECT(select_4, npy_uint32)
SELECT(select_8, npy_uint64)

LOOP(select_16)
{
    for (npy_intp i = 0; i < *count; i++) {
        const char *chosen =
            args[0][i * steps[0]] ? args[1] + i * steps[1] : args[2] + i * steps[2];
        *(Pair *)(args[3] + i * steps[3]) = *(const Pair *)chosen;
    }
}

PyUFuncGenericFunction select_function(npy_intp itemsize)
{
    switch (itemsize) {
    case 1:
        return select_1;
    case 2:
        return select_2;
    case 4:
        return select_4;
    case 8:
        return select_8;
    default:
        return select_16;
    }
}
