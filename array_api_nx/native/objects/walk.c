/* How NumPy goes over arrays of any layout: which axes it merges, and in what order. */

#include "walk.h"
#include "compiler.h"
#include "copies.h"
#include "elements.h"
#include "nest.h"
#include "sizes.h"

void join_strides_of(Walk *walk, int i, int ndim, const npy_intp *shape, const npy_intp *strides)
{
    broadcast_strides(walk->ndim, walk->shape, ndim, shape, strides, walk->strides[i]);
}

int start_walk(Walk *walk, Tensor *const *operands, int count, npy_intp most, npy_intp *shape)
{
    walk->ndim = 0;
    walk->operands = count;
    for (int i = 0; i < count; i++) {
        if (operands[i] != NULL && !broadcast_shape(&walk->ndim, walk->shape, operands[i]->ndim,
                                                    operands[i]->shape)) {
            return 0;
        }
    }
    walk->count = 1;
    for (int dim = 0; dim < walk->ndim; dim++) {
        const npy_intp size = walk->shape[dim];
        if (size == 0 || walk->count > most / size) {
            return 0;
        }
        shape[dim] = size;
        walk->count *= size;
    }
    for (int i = 0; i < count; i++) {
        if (operands[i] != NULL) {
            join_strides(walk, i, operands[i]);
        } else {
            join_strides_of(walk, i, 0, NULL, NULL);
        }
    }
    return 1;
}

/* NumPy turns an axis round if every operand that moves along it moves backwards, and lays out its result as if it had
   not. Here no axis is turned: where operands move backwards, the last bits of a loop that is not reversible may be
   others than NumPy's. So may those of loops of one operand: NumPy's log1p of single precision has vectors forwards
   alone. */
static int is_forward(const Walk *walk)
{
    for (int dim = 0; dim < walk->ndim; dim++) {
        for (int i = 0; i < walk->operands; i++) {
            if (walk->strides[i][dim] < 0) {
                return 0;
            }
        }
    }
    return 1;
}

/* Put values along the axes into an order, the slowest axis first. */
static void put_in_order(int ndim, const npy_uint8 *order, npy_intp *values)
{
    npy_intp before[ARRAY_DIMS];
    for (int dim = 0; dim < ndim; dim++) {
        before[dim] = values[dim];
    }
    for (int dim = 0; dim < ndim; dim++) {
        values[dim] = before[order[ndim - 1 - dim]];
    }
}

int order_walk(Walk *walk, int reversible)
{
    const npy_intp *strides[WALK_OPERANDS];
    if (!(reversible && walk->operands > 1) && !is_forward(walk)) {
        return 0;
    }
    for (int i = 0; i < walk->operands; i++) {
        strides[i] = walk->strides[i];
    }
    order_axes_of(walk->ndim, walk->operands, strides, walk->order);
    if (!is_row_order(walk->ndim, walk->order)) {
        put_in_order(walk->ndim, walk->order, walk->shape);
        for (int i = 0; i < walk->operands; i++) {
            put_in_order(walk->ndim, walk->order, walk->strides[i]);
        }
    }
    return 1;
}

void lay_out(Walk *walk, int i, npy_intp itemsize)
{
    step_by_rows(walk->ndim, walk->shape, itemsize, walk->strides[i]);
}

int merge_walk(const Walk *walk, Walk *merged)
{
    const npy_intp *strides[WALK_OPERANDS];
    npy_intp *merged_strides[WALK_OPERANDS];
    for (int i = 0; i < walk->operands; i++) {
        strides[i] = walk->strides[i];
        merged_strides[i] = merged->strides[i];
    }
    merged->operands = walk->operands;
    merged->count = walk->count;
    /* The compiler knows the number of operands (docs/tuning.md, 17). */
#define MERGE(COUNT)                                                                               \
    case COUNT:                                                                                    \
        merged->ndim = merge_axes(walk->ndim, walk->shape, COUNT, strides, merged->shape,          \
                                  merged_strides);                                                 \
        break;
    switch (walk->operands) {
        MERGE(1)
        MERGE(2)
        MERGE(3)
        MERGE(4)
    default:
        merged->ndim = merge_axes(walk->ndim, walk->shape, walk->operands, strides, merged->shape,
                                  merged_strides);
    }
#undef MERGE
    return merged->ndim;
}

/* Step to the next index of the first `ndim` axes, and there with the addresses of all operands. 0
   behind the last index. */
static INLINE int advance(const Walk *merged, int ndim, npy_intp *index, char **data)
{
    const int dim = next_index(ndim, merged->shape, index);
    for (int i = 0; dim >= 0 && i < merged->operands; i++) {
        data[i] += distance(dim, ndim, merged->shape, merged->strides[i]);
    }
    return dim >= 0;
}

void run_walk(const Walk *walk, PyUFuncGenericFunction function, void *data)
{
    Walk merged;
    npy_intp index[ARRAY_DIMS], steps[WALK_OPERANDS];
    char *row[WALK_OPERANDS], *args[WALK_OPERANDS];
    const int last = merge_walk(walk, &merged) - 1, operands = walk->operands;
    for (int dim = 0; dim < last; dim++) {
        index[dim] = 0;
    }
    for (int i = 0; i < operands; i++) {
        row[i] = walk->data[i];
        steps[i] = last >= 0 ? merged.strides[i][last] : 0;
    }
    const npy_intp columns = last >= 0 ? merged.shape[last] : 1;
    do {
        /* Loops may change their arguments. */
        npy_intp n = columns, moves[WALK_OPERANDS];
        memcpy(args, row, (size_t)operands * sizeof(*args));
        memcpy(moves, steps, (size_t)operands * sizeof(*moves));
        function(args, &n, moves, data);
    } while (advance(&merged, last, index, row));
}

/* ------------------------------------------------------------------ blocks */

/* Bytes of the copy of an operand's block: those of all sources fit into the first level of cache. */
enum { BLOCK_BYTES_EACH = 4096 };

/* The last two axes of a walk, and how a block of them is read. */
typedef struct {
    npy_intp rows, columns;             /* of the axes */
    npy_intp block_rows, block_columns; /* a block has whole rows, or is part of one */
    int operands;
    npy_intp row[WALK_OPERANDS], column[WALK_OPERANDS]; /* bytes to step */
    const npy_intp *itemsizes;
    int copied[WALK_OPERANDS];
    const char *held[WALK_OPERANDS]; /* the corner of the block that was copied last */
    npy_intp held_cells[WALK_OPERANDS]; /* and its elements */
    char copies[WALK_OPERANDS - 1][BLOCK_BYTES_EACH];
} Plane;

/* Decide which operands are copied. 0 if computing row by row is faster. Loops that are not exact compute long on each element,
   and fastest where these are adjacent: NumPy copies elements of several rows to its buffers for them, too. */
static int plan_blocks(Plane *plane, int is_exact)
{
    const int target = plane->operands - 1;
    npy_intp widest = 1;
    int pays = 0;
    for (int i = 0; i < plane->operands; i++) {
        widest = greatest(widest, plane->itemsizes[i]);
    }
    const npy_intp cells = BLOCK_BYTES_EACH / widest;
    plane->block_rows = greatest(1, least(plane->rows, cells / plane->columns));
    plane->block_columns = least(plane->columns, cells);
    for (int i = 0; i < plane->operands; i++) {
        const npy_intp row = plane->row[i], column = plane->column[i];
        const int is_flat = plane->rows == 1 || row == plane->columns * column;
        const int is_across = row != 0 && magnitude(row) < magnitude(column);
        const int is_apart = column != plane->itemsizes[i] && column != 0;
        const int is_slow = is_exact ? is_slow_step(column, plane->itemsizes[i]) : !is_flat && is_apart;
        plane->copied[i] = (plane->block_rows > 1 && !is_flat) || is_slow;
        plane->held[i] = NULL;
        pays |= is_slow || (plane->block_rows > 1 && !is_flat &&
                            (plane->columns <= PACKED_COLUMNS || is_across));
    }
    return pays && !plane->copied[target];
}

/* Call the loop for every block of the axes, at this place of the others. */
static void run_plane(Plane *plane, char *const *data, PyUFuncGenericFunction function,
                      void *loop_data)
{
    const int operands = plane->operands;
    for (npy_intp first = 0; first < plane->rows; first += plane->block_rows) {
        const npy_intp rows = least(plane->block_rows, plane->rows - first);
        for (npy_intp start = 0; start < plane->columns; start += plane->block_columns) {
            const npy_intp columns = least(plane->block_columns, plane->columns - start);
            npy_intp n = rows * columns, steps[WALK_OPERANDS];
            char *args[WALK_OPERANDS];
            for (int i = 0; i < operands; i++) {
                const npy_intp row = plane->row[i], column = plane->column[i];
                char *const corner = data[i] + first * row + start * column;
                args[i] = corner;
                steps[i] = column;
                if (!plane->copied[i]) {
                    continue;
                }
                args[i] = plane->copies[i];
                steps[i] = plane->itemsizes[i];
                /* What repeats is copied once: the copy begins with the elements of smaller blocks that
                   have the same corner, since all copies of several rows have rows of one length.
                   Where windows overlap, a larger block can begin where a smaller one did. */
                if (corner != plane->held[i] || n > plane->held_cells[i]) {
                    const Tile from = {corner, row, column};
                    const Tile to = {args[i], columns * steps[i], steps[i]};
                    copy_tile(to, from, steps[i], rows, columns);
                    plane->held[i] = corner;
                    plane->held_cells[i] = n;
                }
            }
            function(args, &n, steps, loop_data);
        }
    }
}

/* ------------------------------------------------------------------ short rows */

/* Rows of at most so many columns are computed here, without calls (docs/tuning.md, 134). */
enum { FEW_COLUMNS = 64 };

/* WIDTH columns of all rows, in vector registers. X and Y are 0 for an operand that has one element for all
   columns of a row, else 1. */
#define COMPUTE_COLUMNS(TYPE, OP, X, Y, WIDTH)                                                     \
    for (; plane->columns - done >= (WIDTH); done += (WIDTH)) {                                    \
        for (npy_intp row = 0; row < plane->rows; row++) {                                         \
            const TYPE *x = (const TYPE *)(data[0] + row * plane->row[0]) + (X) * done;            \
            const TYPE *y = (const TYPE *)(data[1] + row * plane->row[1]) + (Y) * done;            \
            TYPE results[WIDTH];                                                                   \
            for (int i = 0; i < (WIDTH); i++) {                                                    \
                results[i] = x[(X) * i] OP y[(Y) * i];                                             \
            }                                                                                      \
            memcpy(data[2] + row * plane->row[2] + done * (npy_intp)sizeof(TYPE), results,         \
                   sizeof(results));                                                               \
        }                                                                                          \
    }

#define COMPUTE_KIND(TYPE, OP, X, Y)        \
    {                                       \
        COMPUTE_COLUMNS(TYPE, OP, X, Y, 16) \
        COMPUTE_COLUMNS(TYPE, OP, X, Y, 8)  \
        COMPUTE_COLUMNS(TYPE, OP, X, Y, 4)  \
        COMPUTE_COLUMNS(TYPE, OP, X, Y, 1)  \
    }

#define COMPUTE_ROWS(LINK, TYPE, OP)                            \
    case LINK:                                                  \
        if (plane->column[0] == 0) COMPUTE_KIND(TYPE, OP, 0, 1) \
        if (plane->column[1] == 0) COMPUTE_KIND(TYPE, OP, 1, 0) \
        COMPUTE_KIND(TYPE, OP, 1, 1)                            \
        break;

#define COMPUTE_PLANE(NAME, TYPE)                                                                  \
    CLONED(static, void, NAME, (LinkOperation link, const Plane *plane, char *const *data),        \
           (link, plane, data))                                                                    \
    {                                                                                              \
        npy_intp done = 0;                                                                         \
        switch (link) {                                                                            \
            COMPUTE_ROWS(ADD_LINK, TYPE, +)                                                        \
            COMPUTE_ROWS(SUBTRACT_LINK, TYPE, -)                                                   \
            COMPUTE_ROWS(MULTIPLY_LINK, TYPE, *)                                                   \
            COMPUTE_ROWS(DIVIDE_LINK, TYPE, /)                                                     \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }

COMPUTE_PLANE(compute_floats, npy_float)
COMPUTE_PLANE(compute_doubles, npy_double)

/* Whether the two functions above compute the rows. The target may be a source. */
static int has_short_rows(const Plane *plane, LinkOperation link)
{
    if (link < ADD_LINK || link > DIVIDE_LINK) {
        return 0; /* there may be fewer operands */
    }
    const npy_intp *column = plane->column, itemsize = plane->itemsizes[2];
    return plane->rows > 1 && plane->columns <= FEW_COLUMNS && column[2] == itemsize &&
           (column[0] == itemsize || column[1] == itemsize) &&
           (column[0] == itemsize || column[0] == 0) && (column[1] == itemsize || column[1] == 0);
}

void run_walk_in_blocks(const Walk *walk, const npy_intp *itemsizes, LinkOperation link, int is_exact,
                        PyUFuncGenericFunction function, void *data)
{
    Walk merged;
    Plane plane;
    npy_intp index[ARRAY_DIMS];
    char *corners[WALK_OPERANDS];
    const int operands = walk->operands, kept = merge_walk(walk, &merged);
    set_to_zero(index, kept - 2);
    plane.operands = operands;
    plane.itemsizes = itemsizes;
    plane.rows = kept > 1 ? merged.shape[kept - 2] : 1;
    plane.columns = kept > 0 ? merged.shape[kept - 1] : 1;
    for (int i = 0; i < operands; i++) {
        plane.row[i] = kept > 1 ? merged.strides[i][kept - 2] : 0;
        plane.column[i] = kept > 0 ? merged.strides[i][kept - 1] : 0;
        corners[i] = walk->data[i];
    }
    if (has_short_rows(&plane, link)) {
        do {
            (itemsizes[0] == sizeof(npy_float) ? compute_floats : compute_doubles)(link, &plane, corners);
        } while (advance(&merged, kept - 2, index, corners));
        return;
    }
    if (!plan_blocks(&plane, is_exact)) {
        run_walk(walk, function, data);
        return;
    }
    do {
        run_plane(&plane, corners, function, data);
    } while (advance(&merged, kept - 2, index, corners));
}
