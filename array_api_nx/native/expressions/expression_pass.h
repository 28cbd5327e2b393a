/* The common part of the two loop nests: whole rows (expression_rows.c), where orders on vectors
   compute all of an expression, and tiles (expression_tiles.c). */

#ifndef ARRAY_API_NX_EXPRESSION_PASS_H
#define ARRAY_API_NX_EXPRESSION_PASS_H

#include "evaluation.h"
#include "flags.h"
#include "welford.h"
#include "sizes.h"

enum { MOST_AREAS = MOST_LEAVES + MOST_STORED + MOST_FOLDS };

/* What one part of a pass reduces to. */
typedef union {
    Element element;
    Moments moments;
} Accumulator;

/* Memory that a pass reads or writes: the leaves, then the stored values, then the accumulators of a fold. */
typedef struct {
    char *data;
    npy_intp itemsize;
    npy_intp strides[NODE_DIMS]; /* along the axes of the pass */
} Area;

typedef struct {
    const Plan *plan;
    const ScalarMemory *numbers; /* of the expression */
    npy_intp threads; /* at most so many compute it */
    double time;      /* nanoseconds that it takes one thread, if the operands lie in the caches */
    int ndim; /* 1 at least */
    npy_intp shape[NODE_DIMS];
    int leaf_count, area_count, fold_count;
    Overlap overlaps; /* which operands the root is written over */
    int is_buffered; /* whether the root's elements are computed in a buffer, and copied to the target */
    int discards;    /* whether the root is not written anywhere */
    int streams;     /* whether orders write the rows of the root past the caches */
    int reads;       /* leaves of rows whose elements are not adjacent, which orders of their own read */
    int is_copy;     /* whether elements are copied, and nothing is computed */
    int is_stepped;  /* whether loops read and write elements that are not adjacent where they lie */
    Fold *fold;      /* the first one of the root; or NULL */
    Accumulator *partials; /* of each fold, one for each part, if the parts' elements are reduced to one; or NULL */
    atomic_uchar *flags; /* of each step */
    const Plan *one_by_one; /* tells which operation of a step raised an exception; or NULL */
    atomic_uchar *single_flags; /* of the steps of that */
    Area areas[MOST_AREAS]; /* last, so that a copy has no more than there are */
} Pass;

/* How far each area steps when the index of an axis grows by one, and those of the axes behind it, but for the
   last `inner` axes, go back to 0. */
static inline npy_intp step_of(const Pass *pass, const Area *area, int dim, int inner)
{
    npy_intp bytes = area->strides[dim];
    for (int later = dim + 1; later < pass->ndim - inner; later++) {
        bytes -= area->strides[later] * (pass->shape[later] - 1);
    }
    return bytes;
}

/* How many areas there are but for accumulators. */
static inline int count_operands(const Pass *pass)
{
    return pass->area_count - pass->fold_count;
}

/* Bytes of the elements of the root. */
static inline npy_intp root_bytes(const Pass *pass)
{
    npy_intp bytes = pass->areas[pass->leaf_count].itemsize;
    for (int dim = 0; dim < pass->ndim; dim++) {
        bytes *= pass->shape[dim];
    }
    return bytes;
}

/* The accumulators of the folds. */
static inline const Area *fold_areas(const Pass *pass)
{
    return &pass->areas[pass->area_count - pass->fold_count];
}

/* Step to the next index of all axes but the last `inner` ones; 0 behind the last one. */
static inline int step_on(const Pass *pass, int inner, npy_intp *index, char **data)
{
    int dim = pass->ndim - inner - 1;
    while (dim >= 0 && ++index[dim] == pass->shape[dim]) {
        index[dim--] = 0;
    }
    if (dim < 0) {
        return 0;
    }
    for (int i = 0; i < pass->area_count; i++) {
        data[i] += step_of(pass, &pass->areas[i], dim, inner);
    }
    return 1;
}

/* The address that a place has at the present index. */
static inline char *address_of(const Pass *pass, Place place, char *const *data, char *slots,
                               npy_intp slot_bytes)
{
    const int number = number_of(place);
    switch (kind_of(place)) {
    case IN_SLOT:
        return slots + number * slot_bytes;
    case IN_LEAF:
        return data[number];
    case IN_NUMBER:
        return (char *)&pass->numbers[number];
    default:
        return data[pass->leaf_count + number];
    }
}

/* Whether a place has one element for all of a row. */
static inline int is_one(Place place, const npy_intp *steps)
{
    return kind_of(place) == IN_NUMBER || (kind_of(place) == IN_LEAF && steps[number_of(place)] == 0);
}

/* The orders of a step, without addresses. `steps` are the bytes from an element of an area to the next: 0 or
   those of an element. */
static inline void bind_orders(const Plan *plan, const PlanStep *step, Order *orders, const npy_intp *steps,
                        npy_intp slot_mask)
{
    const PlanOrder *given = plan->orders + step->first;
    for (int i = 0; i < step->order_count; i++) {
        const Place place = given[i].place;
        int code = given[i].code;
        const int has_one = has_scalar_form(code) && is_one(place, steps);
        orders[i].mask = kind_of(place) == IN_SLOT ? slot_mask : is_one(place, steps) ? 0 : -1;
        orders[i].code = code + has_one;
        orders[i].row = 0;
        if (takes_two(code)) {
            if (code == SELECT_VECTOR) {
                orders[i].code = (is_one(place, steps) ? SELECT_ONE_VECTOR : code) + is_one(given[i + 1].place, steps);
            } else if (is_one(place, steps) && !has_truths(code)) {
                orders[i].code = READ_SCALAR; /* and the next order takes the registers */
            } else {
                orders[i].code = code + is_one(given[i + 1].place, steps);
            }
        }
    }
}

/* Their addresses at the present index. */
static inline void address_orders(const Pass *pass, const Plan *plan, const PlanStep *step, Order *orders,
                           char *const *data, char *slots, npy_intp slot_bytes)
{
#define ONES 0x0101010101010101u, 0x0101010101010101u, 0x0101010101010101u, 0x0101010101010101u
    static const npy_uint64 booleans[2][16] = {{0}, {ONES, ONES, ONES, ONES}}; /* as many as registers have elements */
#undef ONES
    const PlanOrder *given = plan->orders + step->first;
    for (int i = 0; i < step->order_count; i++) {
        orders[i].data = address_of(pass, given[i].place, data, slots, slot_bytes);
        if (has_truths(given[i].code) && orders[i].mask == 0 && kind_of(given[i].place) != IN_SLOT) {
            orders[i].data = (char *)booleans[*orders[i].data != 0]; /* one for all elements */
        }
    }
}

/* Say how far the orders go from a row to the next, where those of each area are so many bytes apart. 0 if they have to be
   addressed for each row. */
static inline int set_row_steps(const Pass *pass, const PlanStep *step, Order *orders, const npy_intp *apart)
{
    const PlanOrder *given = pass->plan->orders + step->first;
    for (int i = 0; i < step->order_count; i++) {
        const Place place = given[i].place;
        const int kind = kind_of(place), number = number_of(place);
        if (has_truths(given[i].code) && orders[i].mask == 0 && kind != IN_SLOT) {
            return 0; /* one boolean is read for all of a row */
        }
        orders[i].row = kind == IN_LEAF                      ? apart[number]
                        : kind == IN_SLOT || kind == IN_NUMBER ? 0
                                                             : apart[pass->leaf_count + number];
    }
    return 1;
}

/* Go on to the next row. */
static inline void step_orders(Order *orders, int count)
{
    for (int i = 0; i < count; i++) {
        orders[i].data += orders[i].row;
    }
}

/* A part of the elements of a pass: a range along each axis of its root. */
typedef struct {
    npy_intp from[NODE_DIMS], length[NODE_DIMS];
    char *scratch; /* for those values of the block that other passes over it read, too */
    const npy_intp *places; /* of each in the scratch memory, by its number */
} Block;

/* Set up the axes and areas of a pass over all elements, or, if `block` is not NULL, over these. `target` may be NULL. */
void begin_pass(Pass *pass, const Plan *plan, const Expression *expression, const Target *target, const Block *block);

/* Compute all of a pass, on several threads if it takes long enough. The result is that of `run_parts`. */
int run_pass(Pass *pass, int in_rows);

/* The flags that the steps of a plan raised, and those that operations of an expression are to warn of. */
npy_uint8 raised_flags(const Plan *plan, const atomic_uchar *flags);
npy_uint8 asked_flags(const Expression *expression);

/* Whether orders on rows of memory compute all: elements lie one after the other along the last axis, forwards or backwards,
   or every other one, or are one and the same. Then the pass is told how many leaves are read by orders of their own. */
int has_rows(Pass *pass);

/* Compute such a pass, or one of its parts. `scratch` has so many bytes. */
npy_intp scratch_for_rows(const Pass *pass);
void run_rows(const Pass *pass, char *scratch);

/* Where the last two axes are short, let the longest one be the last but one, so that tiles have more elements; and decide
   whether a copy goes straight from memory to memory. */
void arrange_tiles(Pass *pass);

/* Compute any pass, or one of its parts, tile by tile. */
npy_intp scratch_for_tiles(const Pass *pass);
void run_tiles(const Pass *pass, char *scratch);

/* The run of elements that is being reduced to one accumulator. */
typedef struct {
    char *accumulator; /* or NULL */
    union {
        RunOfElements elements;
        RunOfMoments moments;
    } run;
} FoldedRun;

/* Whether the rows of tiles are reduced to one row. */
int folds_columns(const Pass *pass);

/* Reduce a tile, whose rows begin `row` bytes after each other: without gaps, if not to one row. `corners` has the
   accumulators of the first element, one of each fold, as `folded` has one for each. */
void fold_tile(const Pass *pass, FoldedRun *folded, const char *elements, npy_intp row, char *const *corners,
               npy_intp rows, npy_intp columns);

/* End the runs that are being reduced, if there are any. */
void end_folds(const Pass *pass, FoldedRun *folded);

/* Reduce the accumulators of so many parts to that of a fold. */
void merge_partials(Fold *fold, char *partials, npy_intp count);

/* Whether orders of several operations raised flags, so that it is not known which operation did. */
int is_unclear(const Plan *plan, const atomic_uchar *flags);

static inline void clear_all(atomic_uchar *flags, int count)
{
    for (int i = 0; i < count; i++) {
        atomic_init(&flags[i], 0);
    }
}

#endif
