#include "expression_pass.h"

/* Rows of fewer bytes are computed along with the gaps between them, if these are short and alike in all
   operands, in runs of so many bytes. */
enum { SHORT_ROW = 2048, RUN_BYTES = 8192 };

#ifdef HAS_ORDERS

int has_rows(const Pass *pass)
{
    if (pass->plan->step_count != 1 || pass->plan->steps[0].order_count == 0 || pass->is_buffered) {
        return 0;
    }
    for (int i = 0; i < pass->area_count; i++) {
        const Area *area = &pass->areas[i];
        const npy_intp step = area->strides[pass->ndim - 1];
        if (step != area->itemsize && (step != 0 || i >= pass->leaf_count)) {
            return 0;
        }
    }
    return 1;
}

/* The bytes from a row to the next, which all leaves share, if the gaps between rows may be computed, too; else
   0. */
static npy_intp find_gap(const Pass *pass)
{
    const int last = pass->ndim - 1;
    const npy_intp itemsize = pass->areas[0].itemsize, bytes = pass->shape[last] * itemsize;
    npy_intp gap = 0;
    if (last == 0 || bytes > SHORT_ROW || pass->area_count != pass->leaf_count + 1) {
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
    return gap <= 2 * bytes ? gap : 0;
}

/* Compute rows with the gaps between them into a buffer, and copy the rows alone out of it. `data` are the
   addresses of the first row. */
static void run_with_gaps(const Pass *pass, Order *orders, int count, char *const *data, char *slots,
                          npy_intp gap)
{
    const PlanStep *step = pass->plan->steps;
    const int last = pass->ndim - 1, target = pass->leaf_count;
    const npy_intp itemsize = step->itemsize, bytes = pass->shape[last] * itemsize;
    const npy_intp rows = pass->shape[last - 1], each = greatest(1, RUN_BYTES / gap);
    const npy_intp row_of_target = pass->areas[target].strides[last - 1];
    char *buffer = slots + pass->plan->slot_count * REGISTERS_BYTES;
    char *moved[MOST_LEAVES + 1];
    memcpy(moved, data, (size_t)pass->area_count * sizeof(*data));
    for (npy_intp row = 0; row < rows; row += each) {
        const npy_intp height = least(each, rows - row);
        char *to = moved[target];
        moved[target] = buffer;
        address_orders(pass, pass->plan, step, orders, moved, slots, REGISTERS_BYTES);
        run_orders(orders, count, (height - 1) * gap + bytes, itemsize, 1);
        moved[target] = to;
        if (take_vector_flags()) {
            /* It may be the gaps that raised them. */
            for (npy_intp i = 0; i < height; i++) {
                char *row_data[MOST_LEAVES + 1];
                for (int k = 0; k < pass->area_count; k++) {
                    row_data[k] = moved[k] + i * pass->areas[k].strides[last - 1];
                }
                row_data[target] = buffer + i * gap;
                address_orders(pass, pass->plan, step, orders, row_data, slots, REGISTERS_BYTES);
                run_orders(orders, count, bytes, itemsize, 1);
            }
            note_flags(&pass->flags[0], take_vector_flags());
        }
        for (npy_intp i = 0; i < height; i++) {
            memcpy(to + i * row_of_target, buffer + i * gap, (size_t)bytes);
        }
        for (int k = 0; k < pass->area_count; k++) {
            moved[k] += height * pass->areas[k].strides[last - 1];
        }
    }
}

/* For the slots, for a run of rows with gaps, and for the orders. */
npy_intp scratch_for_rows(const Plan *plan)
{
    return plan->slot_count * REGISTERS_BYTES + RUN_BYTES + 2 * SHORT_ROW +
           plan->order_count * (npy_intp)sizeof(Order);
}

void run_rows(const Pass *pass, char *slots)
{
    const PlanStep *step = pass->plan->steps;
    const int last = pass->ndim - 1, count = step->order_count;
    const npy_intp itemsize = step->itemsize, bytes = pass->shape[last] * itemsize, gap = find_gap(pass);
    Order *orders = (Order *)(slots + pass->plan->slot_count * REGISTERS_BYTES + RUN_BYTES + 2 * SHORT_ROW);
    npy_intp index[NODE_DIMS] = {0}, steps[MOST_LEAVES + MOST_STORED];
    char *data[MOST_LEAVES + MOST_STORED];
    for (int i = 0; i < pass->area_count; i++) {
        data[i] = pass->areas[i].data;
        steps[i] = pass->areas[i].strides[last];
    }
    bind_orders(pass->plan, step, orders, steps, 0);
    clear_vector_flags();
    if (gap != 0) {
        do {
            run_with_gaps(pass, orders, count, data, slots, gap);
        } while (step_on(pass, 2, index, data));
        return;
    }
    do {
        address_orders(pass, pass->plan, step, orders, data, slots, REGISTERS_BYTES);
        run_orders(orders, count, bytes, itemsize, !pass->overlaps);
    } while (step_on(pass, 1, index, data));
    note_flags(&pass->flags[0], take_vector_flags());
}

#else

int has_rows(const Pass *pass)
{
    return 0;
}

npy_intp scratch_for_rows(const Plan *plan)
{
    return 0;
}

void run_rows(const Pass *pass, char *slots)
{
}

#endif
