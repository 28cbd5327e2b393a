#include "copies.h"
#include "compiler.h"
#include "sizes.h"

#ifdef HAS_SSE2
#include <emmintrin.h>
#endif

/* A transposed tile is copied by bands of so many rows, which take at least one cache line of the
   source: all elements of a line are used while it is in the cache. */
enum { BAND = 16 };

/* The columns of the source may lie far apart, and then processors do not fetch the next ones by themselves. So many columns
   before a column is copied it is asked for (docs/tuning.md, 146). */
enum { COLUMNS_AHEAD = 32 };

static int is_transposed(Tile view)
{
    return magnitude(view.row) < magnitude(view.column);
}

/* Whether the neighbours in long rows share cache lines on both sides, so that each row may be copied by itself. */
static int has_near_columns(Tile to, Tile from, npy_intp rows, npy_intp columns)
{
    enum { NEAR = 32 };
    return columns > rows && magnitude(to.column) <= NEAR && magnitude(from.column) <= NEAR;
}

/* A loop whose step is a constant is faster, because the compiler knows it. The constants are for a row that runs backwards,
   every other element, and one of three colours. */
#define COPY_ROW(TYPE, STEP)                                                                    \
    for (npy_intp column = 0; column < columns; column++) {                                     \
        ((TYPE *)target)[column] = ((const TYPE *)source)[column * (STEP)];                     \
    }

/* Rows of at most so many columns that repeat an element are written WIDTH columns at a time, and so many elements together
   that they stay in the first level of the cache. */
enum { FEW_REPEATED = 64, REPEATED_TOGETHER = 1024 };

#define REPEAT_COLUMNS(TYPE, WIDTH)                                                             \
    for (; columns - done >= (WIDTH); done += (WIDTH)) {                                        \
        for (npy_intp row = first; row < stop; row++) {                                         \
            const TYPE element = *(const TYPE *)(from.data + row * from.row);                   \
            TYPE elements[WIDTH];                                                               \
            for (int i = 0; i < (WIDTH); i++) {                                                 \
                elements[i] = element;                                                          \
            }                                                                                   \
            memcpy(to.data + row * to.row + done * size, elements, sizeof(elements));           \
        }                                                                                       \
    }

#define COPY(NAME, TYPE)                                                                        \
    CLONED(static, void, NAME, (Tile to, Tile from, npy_intp rows, npy_intp columns),           \
           (to, from, rows, columns))                                                           \
    {                                                                                           \
        const npy_intp size = sizeof(TYPE);                                                     \
        if (to.column == size && from.column == 0 && columns <= FEW_REPEATED) {                 \
            for (npy_intp first = 0, stop; first < rows; first = stop) {                        \
                npy_intp done = 0;                                                              \
                stop = least(first + 1 + REPEATED_TOGETHER / greatest(columns, 1), rows);       \
                REPEAT_COLUMNS(TYPE, 16)                                                        \
                REPEAT_COLUMNS(TYPE, 4)                                                         \
                REPEAT_COLUMNS(TYPE, 1)                                                         \
            }                                                                                   \
            return;                                                                             \
        }                                                                                       \
        if (rows == 1 || has_near_columns(to, from, rows, columns) ||                           \
            (!is_transposed(to) && !is_transposed(from))) {                                     \
            for (npy_intp row = 0; row < rows; row++) {                                         \
                const char *source = from.data + row * from.row;                                \
                char *target = to.data + row * to.row;                                          \
                if (to.column == size && from.column == 0) {                                    \
                    const TYPE element = *(const TYPE *)source; /* the compiler takes what is written for it */ \
                    for (npy_intp column = 0; column < columns; column++) {                     \
                        ((TYPE *)target)[column] = element;                                     \
                    }                                                                           \
                } else if (to.column == size && from.column == -size) {                         \
                    COPY_ROW(TYPE, -1)                                                          \
                } else if (to.column == size && from.column == 2 * size) {                      \
                    COPY_ROW(TYPE, 2)                                                           \
                } else if (to.column == size && from.column == 3 * size) {                      \
                    COPY_ROW(TYPE, 3)                                                           \
                } else {                                                                        \
                    for (npy_intp column = 0; column < columns; column++) {                     \
                        *(TYPE *)(target + column * to.column) =                                \
                            *(const TYPE *)(source + column * from.column);                     \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
            return;                                                                             \
        }                                                                                       \
        for (npy_intp first = 0; first < rows; first += BAND) {                                 \
            const npy_intp stop = first + BAND < rows ? first + BAND : rows;                    \
            for (npy_intp column = 0; column < columns; column++) {                             \
                const char *source = from.data + column * from.column;                          \
                char *target = to.data + column * to.column;                                    \
                for (npy_intp row = first; row < stop; row++) {                                 \
                    *(TYPE *)(target + row * to.row) = *(const TYPE *)(source + row * from.row); \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }

/* Elements of any type, which may lie anywhere. */
#ifdef HAS_GNU_C
#define ANYWHERE __attribute__((aligned(1), may_alias))
#else
#define ANYWHERE
#endif
typedef npy_uint16 TwoBytes ANYWHERE;
typedef npy_uint32 FourBytes ANYWHERE;
typedef npy_uint64 EightBytes ANYWHERE;
typedef struct {
    EightBytes low, high;
} SixteenBytes;

COPY(copy_1, npy_uint8)
COPY(copy_2, TwoBytes)
COPY(copy_4, FourBytes)
COPY(copy_8, EightBytes)
COPY(copy_16, SixteenBytes)

#ifdef HAS_SSE2
/* Copy a square of elements: what lies in a column of the source, which is one vector or half of one, goes into a column of the
   target, whose rows are those. */

static inline __m128i half_at(const char *data)
{
    return _mm_loadl_epi64((const __m128i *)data);
}

/* Write the halves of a vector to two rows. */
static inline void set_rows(char *to, npy_intp to_row, __m128i rows)
{
    _mm_storel_epi64((__m128i *)to, rows);
    _mm_storel_epi64((__m128i *)(to + to_row), _mm_unpackhi_epi64(rows, rows));
}

static inline void turn_square_1(char *to, npy_intp to_row, const char *from, npy_intp from_column)
{
    __m128i pairs[4];
    for (int i = 0; i < 4; i++, from += 2 * from_column) {
        pairs[i] = _mm_unpacklo_epi8(half_at(from), half_at(from + from_column));
    }
    const __m128i low = _mm_unpacklo_epi16(pairs[0], pairs[1]), high = _mm_unpackhi_epi16(pairs[0], pairs[1]);
    const __m128i other_low = _mm_unpacklo_epi16(pairs[2], pairs[3]), other_high = _mm_unpackhi_epi16(pairs[2], pairs[3]);
    set_rows(to, to_row, _mm_unpacklo_epi32(low, other_low));
    set_rows(to + 2 * to_row, to_row, _mm_unpackhi_epi32(low, other_low));
    set_rows(to + 4 * to_row, to_row, _mm_unpacklo_epi32(high, other_high));
    set_rows(to + 6 * to_row, to_row, _mm_unpackhi_epi32(high, other_high));
}

static inline void turn_square_2(char *to, npy_intp to_row, const char *from, npy_intp from_column)
{
    const __m128i low = _mm_unpacklo_epi16(half_at(from), half_at(from + from_column));
    from += 2 * from_column;
    const __m128i high = _mm_unpacklo_epi16(half_at(from), half_at(from + from_column));
    set_rows(to, to_row, _mm_unpacklo_epi32(low, high));
    set_rows(to + 2 * to_row, to_row, _mm_unpackhi_epi32(low, high));
}

static inline void turn_square_4(char *to, npy_intp to_row, const char *from, npy_intp from_column)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)from);
    const __m128i b = _mm_loadu_si128((const __m128i *)(from + from_column));
    const __m128i c = _mm_loadu_si128((const __m128i *)(from + 2 * from_column));
    const __m128i d = _mm_loadu_si128((const __m128i *)(from + 3 * from_column));
    const __m128i low = _mm_unpacklo_epi32(a, b), high = _mm_unpackhi_epi32(a, b);
    const __m128i other_low = _mm_unpacklo_epi32(c, d), other_high = _mm_unpackhi_epi32(c, d);
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi64(low, other_low));
    _mm_storeu_si128((__m128i *)(to + to_row), _mm_unpackhi_epi64(low, other_low));
    _mm_storeu_si128((__m128i *)(to + 2 * to_row), _mm_unpacklo_epi64(high, other_high));
    _mm_storeu_si128((__m128i *)(to + 3 * to_row), _mm_unpackhi_epi64(high, other_high));
}

static inline void turn_square_8(char *to, npy_intp to_row, const char *from, npy_intp from_column)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)from);
    const __m128i b = _mm_loadu_si128((const __m128i *)(from + from_column));
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi64(a, b));
    _mm_storeu_si128((__m128i *)(to + to_row), _mm_unpackhi_epi64(a, b));
}

/* Ask for the bytes from `first` to `stop` of some columns, which may lie far from each other. */
static inline void fetch_columns(Tile from, int count, npy_intp first, npy_intp stop, npy_intp column)
{
    for (int i = 0; i < count; i++) {
        const char *data = from.data + (column + i) * from.column;
        for (npy_intp byte = first; byte < stop; byte += LINE) {
            FETCH(data + byte);
        }
        FETCH(data + stop - 1);
    }
}

/* Copy squares from a tile whose columns are contiguous to one whose rows are, and the rest at the edges
   element by element. */
#define TURN(SIZE, SIDE)                                                                         \
    static void turn_##SIZE(Tile to, Tile from, npy_intp rows, npy_intp columns)                 \
    {                                                                                            \
        const npy_intp whole_rows = rows - rows % SIDE, whole = columns - columns % SIDE;        \
        for (npy_intp first = 0; first < whole_rows; first += BAND) {                            \
            const npy_intp stop = first + BAND < whole_rows ? first + BAND : whole_rows;         \
            for (npy_intp column = 0; column < whole; column += SIDE) {                          \
                const npy_intp ahead = least(column + COLUMNS_AHEAD, whole - SIDE);              \
                fetch_columns(from, SIDE, first * SIZE, stop * SIZE, ahead);                     \
                for (npy_intp row = first; row < stop; row += SIDE) {                            \
                    turn_square_##SIZE(to.data + row * to.row + column * SIZE, to.row,           \
                                       from.data + row * SIZE + column * from.column,            \
                                       from.column);                                             \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
        Tile right = to, right_from = from, lower = to, lower_from = from;                       \
        right.data += whole * SIZE;                                                              \
        right_from.data += whole * from.column;                                                  \
        copy_##SIZE(right, right_from, whole_rows, columns - whole);                             \
        lower.data += whole_rows * to.row;                                                       \
        lower_from.data += whole_rows * SIZE;                                                    \
        copy_##SIZE(lower, lower_from, rows - whole_rows, columns);                              \
    }

TURN(1, 8)
TURN(2, 4)
TURN(4, 4)
TURN(8, 2)

static Tile swap_axes(Tile view)
{
    return (Tile){view.data, view.column, view.row};
}

/* Copy a tile that is to be transposed; 0 if it is none, or one of other elements. */
static int turn_tile(Tile to, Tile from, npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    if (to.row == itemsize && from.column == itemsize) {
        const npy_intp height = rows;
        to = swap_axes(to);
        from = swap_axes(from);
        rows = columns;
        columns = height;
    }
    if (to.column != itemsize || from.row != itemsize) {
        return 0;
    }
    switch (itemsize) {
        case 1: turn_1(to, from, rows, columns); return 1;
        case 2: turn_2(to, from, rows, columns); return 1;
        case 4: turn_4(to, from, rows, columns); return 1;
        case 8: turn_8(to, from, rows, columns); return 1;
        default: return 0;
    }
}
#endif

/* Rows of fewer elements are copied by columns, if there are more rows. */
enum { NARROW = 8 };

/* Tiles of so few elements are copied element by element (docs/tuning.md, 174). */
enum { FEW_IN_TILE = 32 };

#define COPY_FEW(TYPE)                                                                          \
    for (npy_intp row = 0; row < rows; row++) {                                                 \
        for (npy_intp column = 0; column < columns; column++) {                                 \
            *(TYPE *)(to.data + row * to.row + column * to.column) =                            \
                *(const TYPE *)(from.data + row * from.row + column * from.column);             \
        }                                                                                       \
    }

static void copy_few(Tile to, Tile from, npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    switch (itemsize) {
        case 1: COPY_FEW(npy_uint8) break;
        case 2: COPY_FEW(TwoBytes) break;
        case 4: COPY_FEW(FourBytes) break;
        case 8: COPY_FEW(EightBytes) break;
        default: COPY_FEW(SixteenBytes) break;
    }
}

void copy_tile(Tile to, Tile from, npy_intp itemsize, npy_intp rows, npy_intp columns)
{
    if (rows * columns <= FEW_IN_TILE) {
        copy_few(to, from, itemsize, rows, columns);
        return;
    }
    if (columns < NARROW && rows > columns && from.column != 0) {
        for (npy_intp column = 0; column < columns; column++) {
            const Tile source = {from.data + column * from.column, 0, from.row};
            copy_tile((Tile){to.data + column * to.column, 0, to.row}, source, itemsize, 1, rows);
        }
        return;
    }
    if (to.column < 0 && from.column < 0) {
        to = (Tile){to.data + (columns - 1) * to.column, to.row, -to.column};
        from = (Tile){from.data + (columns - 1) * from.column, from.row, -from.column};
    }
    if (to.column == itemsize && from.column == itemsize) {
        const npy_intp length = columns * itemsize;
        if (from.row == 0 && to.row == length) {
            memcpy(to.data, from.data, (size_t)length);
            repeat_bytes(to.data, length, rows * length);
            return;
        }
        for (npy_intp row = 0; row < rows; row++) {
            memcpy(to.data + row * to.row, from.data + row * from.row, (size_t)length);
        }
        return;
    }
#ifdef HAS_SSE2
    if (from.row != 0 && from.column != 0 && turn_tile(to, from, itemsize, rows, columns)) {
        return;
    }
#endif
    switch (itemsize) {
        case 1: copy_1(to, from, rows, columns); break;
        case 2: copy_2(to, from, rows, columns); break;
        case 4: copy_4(to, from, rows, columns); break;
        case 8: copy_8(to, from, rows, columns); break;
        default: copy_16(to, from, rows, columns); break;
    }
}
