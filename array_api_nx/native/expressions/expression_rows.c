#include "expression_pass.h"
#include "copies.h"

/* Rows of fewer bytes, which have no such gap, are computed in tiles, for which operands that repeat are copied
   (docs/tuning.md, 135). */
enum { NARROW_ROW = 256 };

/* Rows of fewer bytes are computed along with the gaps between them, if these are short and alike in all
   operands. The buffer holds a run of so many bytes, and one row more. */
enum { SHORT_ROW = 2048, RUN_BYTES = 4096, BUFFER_BYTES = RUN_BYTES + 2 * SHORT_ROW };

/* Rows of fewer bytes are not written past the caches: where a line of the caches has elements of two rows, or is written
   twice, the processor waits for memory (docs/tuning.md, 139). */
enum { STREAMED_ROW = 4096 };

#ifdef HAS_ORDERS

/* Bytes of a row of the numbers that orders compute with. */
static npy_intp row_bytes(const Pass *pass)
{
    return pass->shape[pass->ndim - 1] * dtypes[pass->plan->steps[0].element].itemsize;
}

/* The order that reads the rows of a leaf into registers where its elements are not adjacent; READ_VECTOR if they are, or are
   one and the same; END if no order can. */
static OrderCode reads_by(const Pass *pass, int leaf)
{
    const Area *area = &pass->areas[leaf];
    const npy_intp step = area->strides[pass->ndim - 1];
    if (step == 0 || step == area->itemsize) {
        return READ_VECTOR;
    }
    const DTypeCode element = pass->plan->steps[0].element;
    if (area->itemsize != dtypes[element].itemsize || is_complex(element) || pass->overlaps) {
        return END;
    }
    return step == 2 * area->itemsize ? READ_OTHERS : step == -area->itemsize ? READ_BACK : END;
}

/* Whether all areas have elements of one size, not booleans beside numbers. */
static int are_alike(const Pass *pass)
{
    int alike = 1;
    for (int i = 1; i < pass->area_count; i++) {
        alike &= pass->areas[i].itemsize == pass->areas[0].itemsize;
    }
    return alike;
}

/* The bytes from a row to the next, which all leaves share, if the gaps between rows may be computed, too; else
   0. */
static npy_intp find_gap(const Pass *pass)
{
    const int last = pass->ndim - 1;
    const npy_intp bytes = row_bytes(pass);
    npy_intp gap = 0;
    if (last == 0 || bytes > SHORT_ROW || pass->area_count != pass->leaf_count + 1 || !are_alike(pass) ||
        pass->reads > 0) {
        return 0;
    }
    for (int i = 0; i < pass->leaf_count; i++) {
        const npy_intp *strides = pass->areas[i].strides;
        if (strides[last] == 0 && strides[last - 1] == 0) {
            continue;
        }
        if (strides[last] == 0 || strides[last - 1] < bytes || (gap != 0 && strides[last - 1] != gap)) {
            return 0;
        }
        gap = strides[last - 1];
    }
    return gap <= 2 * bytes && gap % dtypes[pass->plan->steps[0].element].itemsize == 0 ? gap : 0;
}

int has_rows(Pass *pass)
{
    int reads = 0, others = 0;
    if (pass->plan->step_count != 1 || pass->plan->steps[0].order_count == 0 || pass->fold != NULL ||
        (pass->is_buffered && !are_alike(pass))) {
        return 0;
    }
    for (int i = 0; i < pass->area_count; i++) {
        const Area *area = &pass->areas[i];
        if (area->strides[pass->ndim - 1] == area->itemsize) {
            continue;
        }
        const OrderCode code = i < pass->leaf_count ? reads_by(pass, i) : END;
        if (code == END) {
            return 0;
        }
        reads += code != READ_VECTOR;
        others += code == READ_OTHERS;
    }
    const PlanStep *step = pass->plan->steps;
    if (others > step->last_node - step->first_node + 1) {
        return 0; /* a loop that reads two such leaves takes less time than to bring them into rows: 0.6 to 0.8 of it */
    }
    pass->reads = reads;
    const int last = pass->ndim - 1;
    return last == 0 || row_bytes(pass) >= NARROW_ROW || find_gap(pass) != 0;
}

/* The constants of a pass, for all of its rows. */
typedef struct {
    const Pass *pass;
    char *slots, *buffer, *scratch; /* the last one for tiles */
    Order *orders;
    npy_intp gap; /* see find_gap */
    int is_stepped; /* whether the orders say how far it is to the next row */
} RowTask;

/* Compute so many bytes of each row into the buffer, where each row begins `apart` bytes after the one before. Where the task
   has a gap, the rows and the gaps between them are computed as one row. */
static void fill_buffer(const RowTask *task, char *const *data, npy_intp rows, npy_intp apart, npy_intp bytes)
{
    const Pass *pass = task->pass;
    const PlanStep *step = pass->plan->steps;
    char *moved[MOST_AREAS];
    memcpy(moved, data, (size_t)pass->area_count * sizeof(*data));
    moved[pass->leaf_count] = task->buffer;
    address_orders(pass, pass->plan, step, task->orders, moved, task->slots, REGISTERS_BYTES);
    if (task->gap != 0) {
        bytes += (rows - 1) * apart;
        rows = 1;
    }
    for (npy_intp row = 0; row < rows; row++) {
        run_orders(task->orders, step->order_count, bytes, step->element, 1);
        step_orders(task->orders, step->order_count);
    }
}

/* Compute the rows once more, without the gaps, since operations raised exceptions, and note those. 1 if the rows
   are written; 0 if the buffer has them. */
static int repeat_rows(const RowTask *task, char *const *data, npy_intp rows, npy_intp apart, npy_intp bytes)
{
    const Pass *pass = task->pass;
    const int last = pass->ndim - 1;
    RowTask row_task = *task;
    char *row_data[MOST_AREAS];
    if (pass->one_by_one != NULL) {
        Pass part;
        memcpy(&part, pass, offsetof(Pass, areas) + (size_t)pass->area_count * sizeof(Area));
        part.ndim = 2;
        part.shape[0] = rows;
        part.shape[1] = bytes / pass->areas[0].itemsize;
        for (int i = 0; i < part.area_count; i++) {
            const npy_intp *strides = pass->areas[i].strides;
            part.areas[i].data = data[i];
            part.areas[i].strides[0] = last > 0 ? strides[last - 1] : 0;
            part.areas[i].strides[1] = strides[last];
        }
        run_tiles(&part, task->scratch);
        return 1;
    }
    for (npy_intp row = 0; row < rows; row++) {
        for (int i = 0; i < pass->area_count; i++) {
            row_data[i] = data[i] + row * pass->areas[i].strides[last - 1];
        }
        row_task.buffer = task->buffer + row * apart;
        fill_buffer(&row_task, row_data, 1, 0, bytes);
    }
    note_flags(&pass->flags[0], take_vector_flags());
    return 0;
}

/* Compute the rows along the last two axes in the buffer, and copy them from there. `data` are the addresses of
   the first row. A run has several rows, or is a piece of one. */
static void run_buffered(const RowTask *task, char *const *data)
{
    const Pass *pass = task->pass;
    const int last = pass->ndim - 1, target = pass->leaf_count;
    const npy_intp all_bytes = row_bytes(pass), between = task->gap != 0 ? task->gap : all_bytes;
    const npy_intp all_rows = task->is_stepped ? pass->shape[last - 1] : 1, most = greatest(1, RUN_BYTES / between);
    const npy_intp apart = last > 0 ? pass->areas[target].strides[last - 1] : 0;
    char *moved[MOST_AREAS];
    for (npy_intp row = 0; row < all_rows; row += most) {
        const npy_intp rows = least(most, all_rows - row);
        for (npy_intp from = 0; from < all_bytes; from += RUN_BYTES) {
            const npy_intp bytes = task->gap != 0 ? all_bytes : least(RUN_BYTES, all_bytes - from);
            for (int i = 0; i < pass->area_count; i++) {
                const npy_intp *strides = pass->areas[i].strides;
                moved[i] = data[i] + (strides[last] == 0 ? 0 : from) + (row == 0 ? 0 : row * strides[last - 1]);
            }
            fill_buffer(task, moved, rows, between, bytes);
            if (take_vector_flags() && repeat_rows(task, moved, rows, between, bytes)) {
                continue;
            }
            for (npy_intp i = 0; i < rows; i++) {
                memcpy(moved[target] + i * apart, task->buffer + i * between, (size_t)bytes);
            }
        }
    }
}

/* For the slots, those of leaves that are read first, the buffer, the orders, and tiles. */
npy_intp scratch_for_rows(const Pass *pass)
{
    const Plan *plan = pass->plan;
    const npy_intp reads = pass->reads;
    return (plan->slot_count + reads) * REGISTERS_BYTES + BUFFER_BYTES +
           (plan->order_count + 2 * reads) * (npy_intp)sizeof(Order) + (pass->is_buffered ? scratch_for_tiles(pass) : 0);
}

/* The orders that read leaves whose elements are not adjacent into slots, and the addresses of these. Of the orders behind
   them, those on such a leaf get it from its slot. */
static void bind_reads(const RowTask *task, Order *reads, char *slot, npy_intp *steps, char **slots)
{
    const Pass *pass = task->pass;
    const PlanStep *step = pass->plan->steps;
    const PlanOrder *given = pass->plan->orders + step->first;
    for (int i = 0; pass->reads > 0 && i < pass->leaf_count; i++) {
        const OrderCode code = reads_by(pass, i);
        if (code != READ_VECTOR) {
            reads[0] = (Order){code, NULL, -1, pass->ndim > 1 ? pass->areas[i].strides[pass->ndim - 2] : 0};
            reads[1] = (Order){.code = KEEP, .data = slot, .mask = 0};
            slots[i] = slot;
            steps[i] = pass->areas[i].itemsize;
            reads += 2;
            slot += REGISTERS_BYTES;
        }
    }
    bind_orders(pass->plan, step, task->orders, steps, 0);
    for (int k = 0; pass->reads > 0 && k < step->order_count; k++) {
        const Place place = given[k].place;
        if (kind_of(place) == IN_LEAF && slots[number_of(place)] != NULL) {
            task->orders[k].mask = 0;
        }
    }
}

/* The addresses of these orders at the present index, and `row`: those of all areas for the orders behind them. */
static void address_reads(const Pass *pass, Order *reads, char *const *data, char *const *read_slots, char **row)
{
    memcpy(row, data, (size_t)pass->area_count * sizeof(*data));
    for (int i = 0; i < pass->leaf_count; i++) {
        if (read_slots[i] != NULL) {
            reads->data = data[i];
            reads += 2;
            row[i] = read_slots[i];
        }
    }
}

void run_rows(const Pass *pass, char *slots)
{
    const PlanStep *step = pass->plan->steps;
    const int last = pass->ndim - 1, count = step->order_count;
    const npy_intp bytes = row_bytes(pass), gap = find_gap(pass);
    const int reads = pass->reads;
    char *read = slots + pass->plan->slot_count * REGISTERS_BYTES, *buffer = read + reads * REGISTERS_BYTES;
    Order *all = (Order *)(buffer + BUFFER_BYTES), *orders = all + 2 * reads;
    RowTask task = {pass, slots, buffer, (char *)(orders + count), orders, gap, 0};
    npy_intp index[NODE_DIMS] = {0}, steps[MOST_AREAS], apart[MOST_AREAS];
    char *data[MOST_AREAS], *row[MOST_AREAS], *read_slots[MOST_LEAVES];
    for (int i = 0; i < pass->area_count; i++) {
        data[i] = pass->areas[i].data;
        steps[i] = pass->areas[i].strides[last];
    }
    for (int i = 0; i < pass->leaf_count; i++) {
        read_slots[i] = NULL;
    }
    bind_reads(&task, all, read, steps, read_slots);
    for (int i = 0; last > 0 && i < pass->area_count; i++) {
        apart[i] = i < pass->leaf_count && read_slots[i] != NULL ? 0 : pass->areas[i].strides[last - 1];
    }
    const int is_copied = gap != 0 || pass->is_buffered;
    if (is_copied) {
        apart[pass->leaf_count] = bytes; /* in the buffer */
    }
    task.is_stepped = last > 0 && (gap != 0 || set_row_steps(pass, step, orders, apart));
    clear_vector_flags();
    if (is_copied) {
        do {
            run_buffered(&task, data);
        } while (step_on(pass, task.is_stepped ? 2 : 1, index, data));
        return;
    }
    const int streams = pass->streams && bytes >= STREAMED_ROW && orders[count - 1].code == LAST;
    if (streams) {
        orders[count - 1].code = STREAM;
    }
    const npy_intp rows = task.is_stepped ? pass->shape[last - 1] : 1;
    do {
        char *const *addresses = data;
        if (reads > 0) {
            address_reads(pass, all, data, read_slots, row);
            addresses = row;
        }
        address_orders(pass, pass->plan, step, orders, addresses, slots, REGISTERS_BYTES);
        for (npy_intp done = 0; done < rows; done++) {
            run_orders(all, 2 * reads + count, bytes, step->element, !pass->overlaps);
            step_orders(all, 2 * reads + count);
        }
    } while (step_on(pass, task.is_stepped ? 2 : 1, index, data));
    if (streams) {
        end_streams();
    }
    note_flags(&pass->flags[0], take_vector_flags());
}

#else

int has_rows(Pass *pass)
{
    return 0;
}

npy_intp scratch_for_rows(const Pass *pass)
{
    return 0;
}

void run_rows(const Pass *pass, char *slots)
{
}

#endif
