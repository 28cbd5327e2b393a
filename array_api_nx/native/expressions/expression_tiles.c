#include "expression_pass.h"
#include "copies.h"

/* Bytes of a tile of the largest elements: what a few operations read and write fits into the first levels of cache, and to
   call their loops takes little of their time (docs/tuning.md, 176). */
enum { TILE_BYTES = 16384 };

/* Those of a tile of one step to which operands are copied, so that they are still in the first level of cache when they are
   read (docs/tuning.md, 176). */
enum { COPIED_BYTES = 4096 };

/* Those of a row of accumulators to which rows of memory are reduced. */
enum { READ_BYTES = 4096 };

/* Those of a tile that goes straight from memory to memory, or to an accumulator, through no buffer (docs/tuning.md,
   140). */
enum { STRAIGHT_BYTES = 131072 };

/* Bytes of a row up to which rows are copied to be reduced by one call (docs/tuning.md, 170). */
enum { SHORT_RUN = 256 };

/* Whether the elements of each row are adjacent, or one and the same, so that tiles of one row need no copies. */
static int are_rows(const Pass *pass)
{
    for (int i = 0; i < count_operands(pass); i++) {
        const npy_intp step = pass->areas[i].strides[pass->ndim - 1];
        if (step != pass->areas[i].itemsize && (step != 0 || i >= pass->leaf_count || pass->fold != NULL)) {
            return 0;
        }
    }
    return 1;
}

static npy_intp tile_bytes(const Pass *pass)
{
    if (pass->plan->step_count != 1) {
        return TILE_BYTES;
    }
    if (!are_rows(pass)) {
        if (pass->is_stepped && pass->fold == NULL && !pass->is_buffered) {
            return STRAIGHT_BYTES;
        }
        return pass->fold != NULL || pass->is_copy ? TILE_BYTES : COPIED_BYTES;
    }
    const int is_straight = pass->is_copy || (pass->fold == NULL ? !pass->is_buffered : pass->fold->is_read);
    return is_straight && (pass->fold != NULL || pass->ndim == 1) ? STRAIGHT_BYTES : TILE_BYTES;
}

/* The constants of a pass, for all of its tiles. */
typedef struct {
    npy_intp slot_bytes;
    FoldedRun *folded; /* of each fold */
    char *slots; /* of the plan, then those of packed areas */
    Order *orders;
} Tiling;

/* A tile: its elements lie one after the other in every area, or in a copy, or are one and the same. */
typedef struct {
    npy_intp count;
    char *data[MOST_AREAS];
    npy_intp steps[MOST_AREAS];
} TileOfPass;

/* Whether a loop can go over a tile of an area in one run; `*step` is then the bytes from one element to the
   next. */
static int is_run(const Pass *pass, const Area *area, npy_intp rows, npy_intp columns, npy_intp *step)
{
    const npy_intp column = area->strides[pass->ndim - 1];
    const npy_intp row = pass->ndim > 1 ? area->strides[pass->ndim - 2] : 0;
    *step = columns > 1 || rows == 1 ? column : row;
    return (*step == 0 || *step == area->itemsize) && (rows == 1 || columns == 1 || row == columns * column);
}

/* The bytes from one element at a place to the next. */
static npy_intp step_at(const Pass *pass, Place place, const npy_intp *steps, npy_intp itemsize)
{
    switch (kind_of(place)) {
    case IN_SLOT:
        return itemsize;
    case IN_NUMBER:
        return 0;
    case IN_LEAF:
        return steps[number_of(place)];
    default:
        return steps[pass->leaf_count + number_of(place)];
    }
}

static void run_steps(const Pass *pass, const Plan *plan, const TileOfPass *tile, const Tiling *tiling,
                      atomic_uchar *flags)
{
    for (int s = 0; s < plan->step_count; s++) {
        const PlanStep *step = &plan->steps[s];
#ifdef HAS_ORDERS
        if (step->order_count > 0) {
            bind_orders(plan, step, tiling->orders, tile->steps, plan->step_count == 1 ? 0 : -1);
            address_orders(pass, plan, step, tiling->orders, tile->data, tiling->slots,
                           tiling->slot_bytes);
            run_orders(tiling->orders, step->order_count, tile->count * dtypes[step->element].itemsize, step->element, 0);
            note_flags(&flags[s], take_vector_flags());
            continue;
        }
#endif
        const Operation *operation = &step->operation;
        char *args[NODE_OPERANDS + 1];
        npy_intp steps[NODE_OPERANDS + 1], count = tile->count;
        for (int k = 0; k <= operation->count; k++) {
            const Place place = step->places[k];
            args[k] = address_of(pass, place, tile->data, tiling->slots, tiling->slot_bytes);
            steps[k] = step_at(pass, place, tile->steps,
                               dtypes[k < operation->count ? operation->operands[k] : operation->result].itemsize);
        }
        operation->function(args, &count, steps, operation->data);
        if (operation->raises != RAISES_NONE) {
            note_flags(&flags[s], operation->raises == RAISES_ANY ? take_flags() : take_vector_flags());
        }
    }
}

int is_unclear(const Plan *plan, const atomic_uchar *flags)
{
    for (int s = 0; s < plan->step_count; s++) {
        if (flags[s] != 0 && plan->steps[s].first_node != plan->steps[s].last_node) {
            return 1;
        }
    }
    return 0;
}

/* How many slots the plan of a pass needs, or the one that computes its operations one by one. The slots of packed
   areas lie behind them. */
static npy_intp count_plan_slots(const Pass *pass)
{
    const int singly = pass->one_by_one == NULL ? 0 : pass->one_by_one->slot_count;
    return greatest(pass->plan->slot_count, singly);
}

static char *packing_memory(const Pass *pass, const Tiling *tiling)
{
    return tiling->slots + count_plan_slots(pass) * tiling->slot_bytes;
}

/* Go on to the next row of a tile, whose rows lie `apart` bytes from each other. */
static void step_row(const Pass *pass, TileOfPass *tile, const npy_intp *apart)
{
    for (int i = 0; i < pass->area_count; i++) {
        tile->data[i] += apart[i];
    }
}

/* Compute a tile row by row; as one run, if each row begins where the one before ends. */
static void run_rows_of_tile(const Pass *pass, const Tiling *tiling, TileOfPass *tile, npy_intp *apart, npy_intp rows)
{
    int is_run = 1;
    for (int i = 0; i < pass->area_count; i++) {
        is_run &= apart[i] == tile->count * tile->steps[i];
    }
    if (is_run) {
        tile->count *= rows;
        rows = 1;
    }
#ifdef HAS_ORDERS
    const PlanStep *step = pass->plan->steps;
    if (pass->plan->step_count == 1 && step->order_count > 0) {
        bind_orders(pass->plan, step, tiling->orders, tile->steps, 0);
        const int steps_on = set_row_steps(pass, step, tiling->orders, apart);
        for (npy_intp row = 0; row < rows; row++) {
            if (row == 0 || !steps_on) {
                address_orders(pass, pass->plan, step, tiling->orders, tile->data, tiling->slots, tiling->slot_bytes);
            }
            run_orders(tiling->orders, step->order_count, tile->count * dtypes[step->element].itemsize, step->element, 1);
            step_orders(tiling->orders, step->order_count);
            step_row(pass, tile, apart);
        }
        note_flags(&pass->flags[0], take_vector_flags());
        return;
    }
#endif
    for (npy_intp row = 0; row < rows; row++) {
        run_steps(pass, pass->plan, tile, tiling, pass->flags);
        step_row(pass, tile, apart);
    }
}

/* Compute the tile at `corners` row by row, so that areas whose rows are contiguous are not packed. */
static void run_turned_tile(const Pass *pass, const Tiling *tiling, char *const *corners, npy_intp rows,
                            npy_intp columns)
{
    const int last = pass->ndim - 1;
    npy_intp apart[MOST_AREAS];
    int copied[MOST_AREAS], copies = 0;
    TileOfPass tile;
    char *buffer = packing_memory(pass, tiling);
    tile.count = columns;
    for (int i = 0; i < pass->area_count; i++) {
        const Area *area = &pass->areas[i];
        const npy_intp row = area->strides[last - 1], column = area->strides[last], length = columns * area->itemsize;
        const int is_stored = i >= pass->leaf_count;
        tile.data[i] = corners[i];
        tile.steps[i] = column;
        apart[i] = row;
        if (column == area->itemsize || (column == 0 && !is_stored)) {
            continue;
        }
        tile.data[i] = buffer;
        tile.steps[i] = area->itemsize;
        apart[i] = length;
        if (is_stored) {
            copied[copies++] = i;
        } else {
            copy_tile((Tile){buffer, length, area->itemsize}, (Tile){corners[i], row, column}, area->itemsize, rows,
                      columns);
        }
        buffer += tiling->slot_bytes;
    }
    run_rows_of_tile(pass, tiling, &tile, apart, rows);
    buffer -= copies * tiling->slot_bytes;
    for (int k = 0; k < copies; k++, buffer += tiling->slot_bytes) {
        const Area *area = &pass->areas[copied[k]];
        copy_tile((Tile){corners[copied[k]], area->strides[last - 1], area->strides[last]},
                  (Tile){buffer, columns * area->itemsize, area->itemsize}, area->itemsize, rows, columns);
    }
}

/* Whether rows of memory are reduced to one row: then tiles need not be copied. */
static int reads_columns(const Pass *pass)
{
    return pass->fold != NULL && pass->fold->is_read && folds_columns(pass) &&
           pass->areas[0].strides[pass->ndim - 1] == pass->areas[0].itemsize;
}

/* Whether rows that are reduced to one accumulator are so short that loops reduce a copy of several of them faster. Sums of
   rows have no calls. */
static int are_short_runs(const Pass *pass, npy_intp columns)
{
    const int dim = pass->ndim - 1;
    const Area *area = &pass->areas[0], *accumulators = fold_areas(pass);
    return dim > 0 && pass->fold->next == NULL && pass->fold->reduction->kind > ADD_MOMENTS &&
           columns * area->itemsize < SHORT_RUN && area->strides[dim - 1] != columns * area->itemsize &&
           accumulators->strides[dim] == 0 && accumulators->strides[dim - 1] == 0;
}

/* Whether a pass reduces rows of an expression to one row, and orders compute each row from the leaves where they lie. */
static int computes_folded_rows(const Pass *pass)
{
    const int last = pass->ndim - 1;
    int computed = pass->fold != NULL && !pass->fold->is_read && folds_columns(pass) && pass->discards && !pass->is_stepped &&
                   pass->one_by_one == NULL && count_operands(pass) == pass->leaf_count + 1 && pass->plan->step_count == 1 &&
                   pass->plan->steps[0].order_count > 0;
    for (int i = 0; computed && i < pass->leaf_count; i++) {
        const npy_intp step = pass->areas[i].strides[last];
        computed = step == 0 || step == pass->areas[i].itemsize;
    }
    return computed;
}

/* Compute the rows of such a pass at `corners` into memory where they follow each other, and reduce them. */
static void run_folded_rows(const Pass *pass, const Tiling *tiling, char *const *corners, npy_intp rows, npy_intp columns)
{
    const int last = pass->ndim - 1, root = pass->leaf_count;
    const npy_intp row = columns * pass->areas[root].itemsize;
    char *const buffer = packing_memory(pass, tiling);
    npy_intp apart[MOST_AREAS];
    TileOfPass tile;
    tile.count = columns;
    for (int i = 0; i < pass->area_count; i++) {
        const Area *area = &pass->areas[i];
        tile.data[i] = i == root ? buffer : corners[i];
        tile.steps[i] = i < root ? area->strides[last] : i == root ? area->itemsize : 0; /* accumulators stay where they are */
        apart[i] = i < root ? area->strides[last - 1] : i == root ? row : 0;
    }
    run_rows_of_tile(pass, tiling, &tile, apart, rows);
    fold_tile(pass, tiling->folded, buffer, row, corners + count_operands(pass), rows, columns);
}

/* Compute the tile at `corners`. */
static void run_tile(const Pass *pass, const Tiling *tiling, char *const *corners, npy_intp rows,
                     npy_intp columns)
{
    TileOfPass tile;
    tile.count = rows * columns;
    char *buffer = packing_memory(pass, tiling);
    const int dim = pass->ndim - 1;
    const int is_read = pass->fold != NULL && pass->fold->is_read;
    if (is_read && pass->areas[0].strides[dim] == pass->areas[0].itemsize && !are_short_runs(pass, columns)) {
        fold_tile(pass, tiling->folded, corners[0], dim > 0 ? pass->areas[0].strides[dim - 1] : 0,
                  corners + count_operands(pass), rows, columns);
        return;
    }
    if (pass->is_copy) {
        const Area *source = &pass->areas[0], *target = &pass->areas[1];
        const Tile from = {corners[0], dim > 0 ? source->strides[dim - 1] : 0, source->strides[dim]};
        const Tile to = {corners[1], dim > 0 ? target->strides[dim - 1] : 0, target->strides[dim]};
        copy_tile(to, from, source->itemsize, rows, columns);
        return;
    }
    Tile copied[MOST_STORED], memory[MOST_STORED];
    int copies[MOST_STORED];
    for (int i = 0; i < count_operands(pass); i++) {
        const Area *area = &pass->areas[i];
        const int stored = i - pass->leaf_count;
        const Tile whole = {corners[i], dim > 0 ? area->strides[dim - 1] : 0, area->strides[dim]};
        const int buffered = stored == 0 && (pass->is_buffered || pass->discards);
        tile.data[i] = corners[i];
        if (stored >= 0) {
            copies[stored] = 0;
        }
        if ((is_run(pass, area, rows, columns, &tile.steps[i]) || pass->is_stepped) && !buffered &&
            (tile.steps[i] != 0 || tile.count == 1 || (stored < 0 && !is_read))) {
            continue;
        }
        const Tile packed = {buffer, columns * area->itemsize, area->itemsize};
        if (stored < 0) {
            copy_tile(packed, whole, area->itemsize, rows, columns);
        } else {
            copies[stored] = stored > 0 || !pass->discards;
            copied[stored] = packed;
            memory[stored] = whole;
        }
        tile.data[i] = buffer;
        tile.steps[i] = area->itemsize;
        buffer += tiling->slot_bytes;
    }
    if (is_read) {
        fold_tile(pass, tiling->folded, tile.data[0], columns * pass->areas[0].itemsize, corners + count_operands(pass), rows,
                  columns);
        return;
    }
    atomic_uchar raised[MOST_NODES], *flags = pass->flags;
    if (pass->one_by_one != NULL) {
        clear_all(raised, pass->plan->step_count);
        flags = raised;
    }
    run_steps(pass, pass->plan, &tile, tiling, flags);
    if (pass->one_by_one != NULL) {
        if (is_unclear(pass->plan, raised)) {
            run_steps(pass, pass->one_by_one, &tile, tiling, pass->single_flags);
        } else {
            for (int s = 0; s < pass->plan->step_count; s++) {
                note_flags(&pass->flags[s], raised[s]);
            }
        }
    }
    if (pass->fold != NULL) {
        fold_tile(pass, tiling->folded, tile.data[pass->leaf_count], columns * pass->areas[pass->leaf_count].itemsize,
                  corners + count_operands(pass), rows, columns);
    }
    for (int stored = 0; stored < count_operands(pass) - pass->leaf_count; stored++) {
        if (copies[stored]) {
            copy_tile(memory[stored], copied[stored], pass->areas[pass->leaf_count + stored].itemsize, rows, columns);
        }
    }
}

/* Bytes between slots beyond those of a tile: tiles that begin a multiple of 4096 bytes apart would take each
   other's place in the cache. */
enum { APART = 2 * LINE };

/* Whether an operand's elements lie closer together along the rows of tiles than along their columns, and tiles may
   be computed in any order. */
static int is_turned(const Pass *pass)
{
    const int last = pass->ndim - 1;
    if (last == 0 || pass->fold != NULL || pass->overlaps) {
        return 0;
    }
    for (int i = 0; i < pass->area_count; i++) {
        const npy_intp row = pass->areas[i].strides[last - 1], column = pass->areas[i].strides[last];
        if (row != 0 && magnitude(row) < magnitude(column)) {
            return 1;
        }
    }
    return 0;
}

void arrange_tiles(Pass *pass)
{
    const int rows = pass->ndim - 2;
    int longest = rows;
    for (int dim = 0; dim < rows; dim++) {
        longest = pass->shape[dim] > pass->shape[longest] ? dim : longest;
    }
    if (rows < 1 || longest == rows || pass->overlaps ||
        pass->shape[rows] * pass->shape[rows + 1] * pass->plan->largest > COPIED_BYTES / 2) {
        return;
    }
    if (pass->fold != NULL) {
        const npy_intp *strides = fold_areas(pass)->strides;
        for (int dim = longest; dim <= rows; dim++) {
            if (strides[dim] == 0) {
                return; /* elements would be reduced in another order */
            }
        }
    }
    const npy_intp size = pass->shape[longest];
    pass->shape[longest] = pass->shape[rows];
    pass->shape[rows] = size;
    for (int i = 0; i < pass->area_count; i++) {
        npy_intp *strides = pass->areas[i].strides, stride = strides[longest];
        strides[longest] = strides[rows];
        strides[rows] = stride;
    }
}

static npy_intp count_slots(const Pass *pass)
{
    return count_plan_slots(pass) + pass->area_count;
}

typedef struct {
    int turned;
    npy_intp rows, columns, slot_bytes;
} TileShape;

/* Bytes of a tile of whole rows of a transposed operand, which are computed as one run (docs/tuning.md, 147). */
enum { WHOLE_ROWS_BYTES = 1 << 18 };

/* Columns that vectors compute, whatever the dtype. */
enum { VECTOR_COLUMNS = 16 };

/* Bytes of rows that are tiles by themselves if an operand has one element for each row: to copy it into a tile of several
   rows takes longer than to call loops for each row (docs/tuning.md, 155). */
enum { LONG_ROW = 1024 };

/* Whether rows are tiles by themselves. */
static int are_long(const Pass *pass)
{
    const int last = pass->ndim - 1;
    int repeated = 0;
    for (int i = 0; i < pass->leaf_count && last > 0; i++) {
        repeated |= pass->areas[i].strides[last] == 0 && pass->areas[i].strides[last - 1] != 0;
    }
    return repeated && pass->shape[last] * pass->plan->largest >= LONG_ROW;
}

/* Rows of a tile that are reduced to one: what they are reduced to is read and written once for all (docs/tuning.md, 175). */
enum { FOLDED_ROWS = 8 };

/* Tiles of a transposed operand are copied from columns of a few cache lines, and computed on rows that are long. */
static TileShape shape_tiles(const Pass *pass)
{
    const int last = pass->ndim - 1, turned = is_turned(pass);
    const npy_intp largest = pass->plan->largest;
    const npy_intp all_columns = pass->shape[last], all_rows = last > 0 ? pass->shape[last - 1] : 1;
    if (turned) {
        const npy_intp rows = greatest(1, least(TRANSPOSED_ROWS, COLUMN_BYTES / largest));
        if (pass->is_copy) {
            return (TileShape){1, least(rows, all_rows), all_columns, APART}; /* needs no slots (docs/tuning.md, 10) */
        }
        if (pass->plan->step_count == 1 && all_columns * rows * largest <= WHOLE_ROWS_BYTES) {
            return (TileShape){1, least(rows, all_rows), all_columns, rows * all_columns * largest + APART};
        }
        const npy_intp wanted = greatest(TRANSPOSED_COLUMNS, ROW_BYTES / largest);
        /* All alike but for the last one, so that none has but few columns. */
        const npy_intp each = (all_columns - 1) / greatest(1, (all_columns + wanted / 2) / wanted) + 1;
        const npy_intp columns = least((each + VECTOR_COLUMNS - 1) / VECTOR_COLUMNS * VECTOR_COLUMNS, all_columns);
        return (TileShape){1, least(rows, all_rows), columns, rows * columns * largest + APART};
    }
    if (reads_columns(pass)) {
        return (TileShape){0, all_rows, least(all_columns, READ_BYTES / largest), tile_bytes(pass) + APART};
    }
    const npy_intp most = greatest(1, tile_bytes(pass) / largest);
    if (computes_folded_rows(pass)) {
        const npy_intp columns = least(all_columns, greatest(1, most / FOLDED_ROWS));
        return (TileShape){0, least(all_rows, most / columns), columns, tile_bytes(pass) + APART};
    }
    const npy_intp columns = least(all_columns, most);
    const int is_row = columns < all_columns || pass->is_stepped || are_long(pass);
    return (TileShape){0, is_row ? 1 : least(all_rows, greatest(1, most / columns)), columns, tile_bytes(pass) + APART};
}

npy_intp scratch_for_tiles(const Pass *pass)
{
    return count_slots(pass) * shape_tiles(pass).slot_bytes + pass->plan->order_count * (npy_intp)sizeof(Order);
}

void run_tiles(const Pass *pass, char *slots)
{
    const int last = pass->ndim - 1;
    const TileShape shape = shape_tiles(pass);
    const npy_intp rows = shape.rows, columns = shape.columns;
    const npy_intp all_columns = pass->shape[last], all_rows = last > 0 ? pass->shape[last - 1] : 1;
    FoldedRun folded[MOST_FOLDS];
    const Tiling tiling = {shape.slot_bytes, folded, slots, (Order *)(slots + count_slots(pass) * shape.slot_bytes)};
    npy_intp index[NODE_DIMS] = {0};
    char *data[MOST_AREAS], *corners[MOST_AREAS];
    const int are_folded = computes_folded_rows(pass);
    int keeps = 0; /* whether there are several accumulators */
    for (int k = 0; k < pass->fold_count; k++) {
        folded[k].accumulator = NULL;
    }
    for (int i = 0; i < pass->area_count; i++) {
        data[i] = pass->areas[i].data;
    }
    for (int dim = 0; dim < pass->ndim && pass->fold != NULL; dim++) {
        keeps |= fold_areas(pass)->strides[dim] != 0;
    }
    clear_flags();
    do {
        for (npy_intp row = 0; row < all_rows; row += rows) {
            for (npy_intp column = 0; column < all_columns; column += columns) {
                for (int i = 0; i < pass->area_count; i++) {
                    const npy_intp *strides = pass->areas[i].strides;
                    corners[i] = data[i] + column * strides[last] + (last > 0 ? row * strides[last - 1] : 0);
                }
                (are_folded                      ? run_folded_rows
                 : shape.turned && !pass->is_copy ? run_turned_tile
                                                  : run_tile)(
                    pass, &tiling, corners, least(rows, all_rows - row), least(columns, all_columns - column));
            }
        }
        if (keeps) {
            end_folds(pass, folded); /* here, so that the order does not depend on the parts that a pass is divided into */
        }
    } while (step_on(pass, last > 0 ? 2 : 1, index, data));
    end_folds(pass, folded);
}
