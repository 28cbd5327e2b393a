/* Rows of a few elements are sorted by comparing neighbours as bubble sort does, without branches: the calls and the checks
   that longer rows are worth take longer than that. */

#include "short_rows.h"

/* Whether `y` goes before `x`, which is in front of it. A NaN goes before nothing. */
#define IS_LESS(X, Y) ((Y) < (X))
#define IS_LESS_OR_NUMBER(X, Y) (((Y) < (X)) | (((X) != (X)) & ((Y) == (Y))))

#define SORT_ROWS(CODE, TYPE, GOES_BEFORE)                                                               \
    static INLINE void sort_each_##CODE(const TYPE *from, TYPE *to, npy_intp rows, const int length)     \
    {                                                                                                    \
        for (npy_intp row = 0; row < rows; row++, from += length, to += length) {                        \
            TYPE kept[MOST_IN_REGISTERS];                                                                \
            for (int i = 0; i < length; i++) {                                                           \
                kept[i] = from[i];                                                                       \
            }                                                                                            \
            UNROLLED                                                                                     \
            for (int end = length - 1; end > 0; end--) {                                                 \
                UNROLLED                                                                                 \
                for (int i = 0; i < end; i++) {                                                          \
                    const TYPE x = kept[i], y = kept[i + 1];                                             \
                    const int turns = GOES_BEFORE(x, y);                                                 \
                    kept[i] = turns ? y : x;                                                             \
                    kept[i + 1] = turns ? x : y;                                                         \
                }                                                                                        \
            }                                                                                            \
            for (int i = 0; i < length; i++) {                                                           \
                to[i] = kept[i];                                                                         \
            }                                                                                            \
        }                                                                                                \
    }                                                                                                    \
                                                                                                         \
    CLONED(static, void, sort_##CODE, (const char *from, char *to, npy_intp rows, npy_intp length),      \
           (from, to, rows, length))                                                                     \
    {                                                                                                    \
        const TYPE *given = (const TYPE *)from;                                                          \
        TYPE *out = (TYPE *)to;                                                                          \
        switch (length) {                                                                                \
        case 2: sort_each_##CODE(given, out, rows, 2); return;                                           \
        case 3: sort_each_##CODE(given, out, rows, 3); return;                                           \
        case 4: sort_each_##CODE(given, out, rows, 4); return;                                           \
        case 5: sort_each_##CODE(given, out, rows, 5); return;                                           \
        case 6: sort_each_##CODE(given, out, rows, 6); return;                                           \
        case 7: sort_each_##CODE(given, out, rows, 7); return;                                           \
        default: sort_each_##CODE(given, out, rows, MOST_IN_REGISTERS);                                  \
        }                                                                                                \
    }

#define SORT_INTEGERS(CODE, TYPE, ...) SORT_ROWS(CODE, TYPE, IS_LESS)
#define SORT_NUMBERS(CODE, TYPE, ...) SORT_ROWS(CODE, TYPE, IS_LESS_OR_NUMBER)
EACH_INTEGER(SORT_INTEGERS)
EACH_BROAD_FLOAT(SORT_NUMBERS)

int is_sorted_in_registers(DTypeCode code, npy_intp length)
{
    return length > 1 && length <= MOST_IN_REGISTERS && (is_integer(code) || code == FLOAT32 || code == FLOAT64);
}

void sort_short_rows(DTypeCode code, const char *from, char *to, npy_intp rows, npy_intp length)
{
#define CALL(CODE, ...)                      \
    case CODE:                               \
        sort_##CODE(from, to, rows, length); \
        break;
    switch (code) {
        EACH_INTEGER(CALL)
        EACH_BROAD_FLOAT(CALL)
    default:
        break;
    }
#undef CALL
}
