#include "plans.h"
#include "sizes.h"

/* ------------------------------------------------------------------ making plans */

npy_intp plans_made;

/* The state of a plan that is being made. */
typedef struct {
    const Expression *expression;
    Plan *plan;
    int one_by_one;
    int same_as[MOST_NODES]; /* the node that computes the same; mostly the node itself */
    int uses[MOST_NODES];    /* that are yet to come */
    int is_placed[MOST_NODES];
    Place places[MOST_NODES]; /* where the value is, if it is in memory */
    int elements[MOST_NODES]; /* the dtype of the numbers in the registers, if orders compute the node; else NO_DTYPE */
    int is_wide[MOST_NODES];  /* whether a slot has its truths as the registers have them, not booleans */
    int is_widened[MOST_NODES]; /* whether orders read its real numbers as complex ones */
    int in_registers;         /* the node whose value the registers have; or -1 */
    PlanStep *orders;         /* the step that orders are added to; or NULL */
    int free_slots[3][MOST_NODES], free_count[3]; /* of each `SlotKind` */
} Planner;

/* What slots have. Of booleans, and of real numbers that are read as complex ones, a block has other places than of numbers. */
typedef enum { NUMBERS_SLOT, BOOLEANS_SLOT, WIDENED_SLOT } SlotKind;

static int is_node(Place place)
{
    return kind_of(place) == IN_SLOT;
}

/* The operand of a node as a place: of another node its number. */
static Place operand_of(const Planner *planner, int i, int k)
{
    const Place place = planner->expression->operands[i][k];
    return is_node(place) ? (Place)planner->same_as[number_of(place)] : place;
}

static LinkOperation link_of_node(const Planner *planner, int i)
{
    const Operation *operation = &planner->expression->nodes[i]->operation;
    return operation->row == where_row ? WHERE_LINK : operation->link;
}

static int is_link(const Planner *planner, int i)
{
    return planner->elements[i] != NO_DTYPE;
}

/* Which numbers the registers have while orders compute a node: its operands; or, if these are booleans that come from
   comparisons, what was compared. Booleans that only lie in memory take loops less time. */
static int element_of(const Planner *planner, int i)
{
    const Operation *operation = &planner->expression->nodes[i]->operation;
    const int element = operation->link == WIDEN_LINK ? operation->result : operation->operands[operation->count - 1];
    int found = fits_registers(element) || is_complex(element) ? element : NO_DTYPE;
#ifndef HAS_ORDERS
    return NO_DTYPE;
#endif
    const LinkOperation link = link_of_node(planner, i);
    if (planner->one_by_one || link == NO_LINK || (link == WHERE_LINK && is_complex(element))) {
        return NO_DTYPE;
    }
    for (int k = 0; k < operation->count && element == BOOL && link != WHERE_LINK; k++) {
        const Place place = operand_of(planner, i, k);
        if (is_node(place) && is_link(planner, place)) {
            found = planner->elements[place];
        }
    }
    return found;
}

/* Find nodes that compute the same, and how often each value is read. */
static void find_uses(Planner *planner)
{
    const Expression *expression = planner->expression;
    for (int i = 0; i < expression->node_count; i++) {
        const Operation *operation = &expression->nodes[i]->operation;
        planner->same_as[i] = i;
        planner->uses[i] = planner->is_placed[i] = planner->is_wide[i] = planner->is_widened[i] = 0;
        for (int j = i - 1; j >= 0 && !expression->is_stored[i] && planner->same_as[i] == i; j--) {
            const Operation *other = &expression->nodes[j]->operation;
            int same = planner->same_as[j] == j && other->function == operation->function &&
                       other->data == operation->data && other->result == operation->result;
            for (int k = 0; same && k < operation->count; k++) {
                same = operand_of(planner, i, k) == operand_of(planner, j, k);
            }
            if (same) {
                planner->same_as[i] = j;
            }
        }
        planner->elements[i] = element_of(planner, i);
    }
    for (int i = 0; i < expression->node_count; i++) {
        for (int k = 0; planner->same_as[i] == i && k < expression->nodes[i]->operation.count; k++) {
            const Place place = operand_of(planner, i, k);
            if (is_node(place)) {
                planner->uses[place]++;
                planner->is_widened[place] |= link_of_node(planner, i) == WIDEN_LINK;
            }
        }
    }
}

static int is_boolean(const Planner *planner, int i)
{
    return planner->expression->nodes[i]->operation.result == BOOL;
}

static SlotKind kind_of_slot(const Planner *planner, int i)
{
    return is_boolean(planner, i) ? planner->is_wide[i] ? NUMBERS_SLOT : BOOLEANS_SLOT
           : planner->is_widened[i] ? WIDENED_SLOT
                                    : NUMBERS_SLOT;
}

/* For the result of node `i`. */
static Place take_slot(Planner *planner, int i)
{
    const SlotKind kind = kind_of_slot(planner, i);
    if (planner->free_count[kind] > 0) {
        return (Place)(IN_SLOT | planner->free_slots[kind][--planner->free_count[kind]]);
    }
    return (Place)(IN_SLOT | planner->plan->slot_count++);
}

/* Count one use of a value, whose slot is free after the last one. */
static void use(Planner *planner, Place place)
{
    if (is_node(place) && --planner->uses[place] == 0 && planner->is_placed[place] &&
        kind_of(planner->places[place]) == IN_SLOT) {
        const SlotKind kind = kind_of_slot(planner, place);
        planner->free_slots[kind][planner->free_count[kind]++] = number_of(planner->places[place]);
    }
}

/* Where an operand is in memory. */
static Place place_of(const Planner *planner, Place operand)
{
    return is_node(operand) ? planner->places[operand] : operand;
}

static void note_itemsize(Planner *planner, npy_intp itemsize)
{
    planner->plan->largest = greatest(planner->plan->largest, itemsize);
}

/* The place that the result of node `i` is stored at because it is needed outside. */
static Place stored_place(const Planner *planner, int i)
{
    const Expression *expression = planner->expression;
    int k = 0;
    while (expression->stored[k] != i) {
        k++;
    }
    return (Place)(IN_STORED | k);
}

static PlanStep *add_step(Planner *planner, int i)
{
    PlanStep *step = &planner->plan->steps[planner->plan->step_count++];
    memset(step, 0, sizeof(*step));
    step->first_node = step->last_node = i;
    return step;
}

static void add_order(Planner *planner, int code, Place place)
{
    planner->plan->orders[planner->plan->order_count++] = (PlanOrder){(npy_uint8)code, place};
    planner->orders->order_count++;
}

static void add_with(Planner *planner, int code, Place operand)
{
    static const npy_uint8 on_wide[] = {[AND_TRUTHS] = AND_BITS_VECTOR, [OR_TRUTHS] = OR_BITS_VECTOR,
                                        [XOR_TRUTHS] = XOR_BITS_VECTOR, [READ_TRUTHS] = READ_VECTOR};
    const int is_wide = is_node(operand) && planner->is_wide[operand];
    add_order(planner, is_wide ? on_wide[code] : code, place_of(planner, operand));
}

/* Have the registers hold an operand. */
static void read_operand(Planner *planner, Place operand, int read_code)
{
    if (!is_node(operand) || planner->in_registers != operand) {
        add_with(planner, read_code, operand);
    }
    planner->in_registers = is_node(operand) ? operand : -1;
}

/* The codes of an operation on two operands: on the registers and an operand; the reverse; and on two, of which the
   second one goes with the first code. */
static const npy_uint8 codes_of[][3] = {
    [ADD_LINK] = {ADD_VECTOR, ADD_VECTOR, ADD_TWO_VECTOR},
    [SUBTRACT_LINK] = {SUBTRACT_VECTOR, SUBTRACT_FROM_VECTOR, SUBTRACT_TWO_VECTOR},
    [MULTIPLY_LINK] = {MULTIPLY_VECTOR, MULTIPLY_INTO_VECTOR, MULTIPLY_TWO_VECTOR},
    [DIVIDE_LINK] = {DIVIDE_VECTOR, DIVIDE_INTO_VECTOR, DIVIDE_TWO_VECTOR},
    [MAXIMUM_LINK] = {MAXIMUM_VECTOR, MAXIMUM_WITH_VECTOR, MAXIMUM_TWO_VECTOR},
    [MINIMUM_LINK] = {MINIMUM_VECTOR, MINIMUM_WITH_VECTOR, MINIMUM_TWO_VECTOR},
    [LESS_LINK] = {LESS_VECTOR, GREATER_VECTOR, LESS_TWO_VECTOR},
    [LESS_EQUAL_LINK] = {LESS_EQUAL_VECTOR, GREATER_EQUAL_VECTOR, LESS_EQUAL_TWO_VECTOR},
    [GREATER_LINK] = {GREATER_VECTOR, LESS_VECTOR, GREATER_TWO_VECTOR},
    [GREATER_EQUAL_LINK] = {GREATER_EQUAL_VECTOR, LESS_EQUAL_VECTOR, GREATER_EQUAL_TWO_VECTOR},
    [EQUAL_LINK] = {EQUAL_VECTOR, EQUAL_VECTOR, EQUAL_TWO_VECTOR},
    [NOT_EQUAL_LINK] = {EQUAL_VECTOR, EQUAL_VECTOR, EQUAL_TWO_VECTOR},
    [AND_LINK] = {AND_TRUTHS, AND_TRUTHS, READ_TRUTHS},
    [OR_LINK] = {OR_TRUTHS, OR_TRUTHS, READ_TRUTHS},
    [XOR_LINK] = {XOR_TRUTHS, XOR_TRUTHS, READ_TRUTHS},
};

/* Whether the registers have the value of an operand. */
static int is_here(const Planner *planner, Place operand)
{
    return is_node(operand) && planner->in_registers == operand;
}

static void compute_two(Planner *planner, LinkOperation link, Place x, Place y)
{
    if (x == y && (link == ADD_LINK || link == MULTIPLY_LINK)) {
        read_operand(planner, x, READ_VECTOR);
        add_order(planner, link == ADD_LINK ? DOUBLE_IT : SQUARE, 0);
    } else if (is_here(planner, y) && !is_here(planner, x)) {
        add_with(planner, codes_of[link][1], x);
    } else {
        if (!is_here(planner, x)) {
            add_with(planner, codes_of[link][2], x);
        }
        add_with(planner, codes_of[link][0], y);
    }
    if (link == NOT_EQUAL_LINK) {
        add_order(planner, INVERT, 0);
    }
}

/* Either the registers have the truths, or these come from memory, and one of the numbers from the registers. */
static void choose(Planner *planner, Place truths, Place x, Place y)
{
    const int has_y = is_here(planner, y);
    if (is_here(planner, truths)) {
        add_with(planner, SELECT_VECTOR, x);
    } else {
        if (!has_y) {
            read_operand(planner, x, READ_VECTOR);
        }
        add_with(planner, has_y ? CHOOSE_REST_VECTOR : CHOOSE_VECTOR, truths);
    }
    add_with(planner, READ_VECTOR, has_y ? x : y);
}

static void compute_link(Planner *planner, int i)
{
    static const npy_uint8 alone[] = {[SQUARE_LINK] = SQUARE, [NEGATIVE_LINK] = NEGATE, [SQRT_LINK] = SQUARE_ROOT,
                                      [ABSOLUTE_LINK] = ABSOLUTE, [IS_NAN_LINK] = NOT_A_NUMBER,
                                      [CONJUGATE_LINK] = CONJUGATE, [INVERT_LINK] = INVERT};
    const Operation *operation = &planner->expression->nodes[i]->operation;
    const LinkOperation link = link_of_node(planner, i);
    const Place x = operand_of(planner, i, 0);
    if (link == WHERE_LINK) {
        choose(planner, x, operand_of(planner, i, 1), operand_of(planner, i, 2));
    } else if (link == WIDEN_LINK) {
        add_order(planner, READ_REALS_VECTOR, place_of(planner, x));
    } else if (operation->count == 2) {
        compute_two(planner, link, x, operand_of(planner, i, 1));
    } else {
        read_operand(planner, x, link == INVERT_LINK ? READ_TRUTHS : READ_VECTOR);
        add_order(planner, alone[link], 0);
    }
    planner->in_registers = i;
}

/* The next node that is computed, if orders of the same kind can compute it; else -1. */
static int next_link(const Planner *planner, int i)
{
    const Expression *expression = planner->expression;
    int next = i + 1;
    while (next < expression->node_count && planner->same_as[next] != next) {
        next++;
    }
    return next < expression->node_count && is_link(planner, next) &&
                   planner->elements[next] == planner->elements[i]
               ? next
               : -1;
}

/* How often a node reads the value of another one. */
static int count_reads(const Planner *planner, int reader, int i)
{
    int reads = 0;
    for (int k = 0; k < planner->expression->nodes[reader]->operation.count; k++) {
        reads += operand_of(planner, reader, k) == (Place)i;
    }
    return reads;
}

/* Whether the next node takes the value out of the registers, and no other node needs it. */
static int is_passed_on(const Planner *planner, int i, int next)
{
    if (next < 0) {
        return 0;
    }
    const LinkOperation link = link_of_node(planner, next);
    const int reads = count_reads(planner, next, i);
    return reads == planner->uses[i] &&
           (reads == 1 || (reads == 2 && (link == ADD_LINK || link == MULTIPLY_LINK)));
}

/* Whether all that read the truths of node `i` are orders of the same step that combine them. */
static int is_combined(const Planner *planner, int i)
{
    int reads = 0;
    for (int next = next_link(planner, i); next >= 0; next = next_link(planner, next)) {
        const LinkOperation link = link_of_node(planner, next);
        if (link == AND_LINK || link == OR_LINK || link == XOR_LINK || link == INVERT_LINK) {
            reads += count_reads(planner, next, i);
        }
    }
    return reads == planner->uses[i];
}

/* Write the registers, which have the value of node `i`, to where it is needed; end the step if the next node
   does not go on with it. */
static void place_link(Planner *planner, int i)
{
    const int next = next_link(planner, i);
    const int passed = is_passed_on(planner, i, next);
    const int is_stored = planner->expression->is_stored[i];
    if (is_stored || !passed) {
        planner->is_wide[i] = !is_stored && is_boolean(planner, i) && is_combined(planner, i);
        planner->places[i] = is_stored ? stored_place(planner, i) : take_slot(planner, i);
        planner->is_placed[i] = 1;
        const int as_booleans = is_boolean(planner, i) && !planner->is_wide[i];
        add_order(planner, as_booleans ? KEEP_TRUTHS : next < 0 ? LAST : KEEP, planner->places[i]);
        if (as_booleans && next < 0) {
            add_order(planner, END, 0);
        }
    }
    planner->orders->last_node = i;
    if (next < 0) {
        planner->orders = NULL;
        planner->in_registers = -1;
    }
}

/* Whether no orders come before or after a comparison: then NumPy's loop takes less time (docs/tuning.md, 141). */
static int is_lone_comparison(const Planner *planner, int i)
{
    const Operation *operation = &planner->expression->nodes[i]->operation;
    return operation->result == BOOL && operation->operands[0] != BOOL && planner->orders == NULL && next_link(planner, i) < 0;
}

static void plan_link(Planner *planner, int i)
{
    const Operation *operation = &planner->expression->nodes[i]->operation;
    if (planner->orders == NULL) {
        planner->orders = add_step(planner, i);
        planner->orders->first = planner->plan->order_count;
        planner->orders->element = (DTypeCode)planner->elements[i];
        planner->in_registers = -1;
    }
    note_itemsize(planner, dtypes[planner->elements[i]].itemsize);
    compute_link(planner, i);
    for (int k = 0; k < operation->count; k++) {
        use(planner, operand_of(planner, i, k));
    }
    place_link(planner, i);
}

static void plan_call(Planner *planner, int i)
{
    const Operation *operation = &planner->expression->nodes[i]->operation;
    PlanStep *step = add_step(planner, i);
    step->operation = *operation;
    for (int k = 0; k < operation->count; k++) {
        step->places[k] = place_of(planner, operand_of(planner, i, k));
        note_itemsize(planner, dtypes[operation->operands[k]].itemsize);
    }
    note_itemsize(planner, dtypes[operation->result].itemsize);
    planner->places[i] =
        planner->expression->is_stored[i] ? stored_place(planner, i) : take_slot(planner, i);
    planner->is_placed[i] = 1;
    step->places[operation->count] = planner->places[i];
    for (int k = 0; k < operation->count; k++) {
        use(planner, operand_of(planner, i, k));
    }
}

Plan *keep_plan(const Plan *plan)
{
    Plan *kept = (Plan *)plan;
    kept->references++;
    return kept;
}

void release_plan(Plan *plan)
{
    if (plan != NULL && --plan->references == 0) {
        release_plan(plan->singly);
        PyMem_Free(plan->steps);
        PyMem_Free(plan->orders);
        PyMem_Free(plan->words);
        PyMem_Free(plan);
    }
}

/* The most orders for a node: three to compute it, two to write it. */
enum { ORDERS_EACH = 5 };

static Plan *make_plan(const Expression *expression, int one_by_one)
{
    const size_t count = (size_t)expression->node_count;
    Planner *planner = PyMem_Malloc(sizeof(Planner));
    Plan *plan = PyMem_Calloc(1, sizeof(Plan));
    if (plan != NULL) {
        plan->references = 1;
        plan->steps = PyMem_New(PlanStep, count);
        plan->orders = PyMem_New(PlanOrder, ORDERS_EACH * count);
        plan->words = PyMem_New(npy_uint64, (size_t)expression->word_count);
    }
    if (planner == NULL || plan == NULL || plan->steps == NULL || plan->orders == NULL ||
        plan->words == NULL) {
        PyMem_Free(planner);
        release_plan(plan);
        return NULL;
    }
    memcpy(plan->words, expression->words, (size_t)expression->word_count * sizeof(npy_uint64));
    plan->word_count = expression->word_count;
    plan->largest = 1;
    planner->expression = expression;
    planner->plan = plan;
    planner->one_by_one = one_by_one;
    planner->in_registers = -1;
    planner->orders = NULL;
    memset(planner->free_count, 0, sizeof(planner->free_count));
    find_uses(planner);
    for (int i = 0; i < expression->node_count; i++) {
        if (planner->same_as[i] == i) {
            (is_link(planner, i) && !is_lone_comparison(planner, i) ? plan_link : plan_call)(planner, i);
        }
    }
    PyMem_Free(planner);
    plans_made++;
    return plan;
}

const Plan *plan_singly(const Plan *plan, const Expression *expression)
{
    Plan *kept = (Plan *)plan;
    if (kept->singly == NULL) {
        kept->singly = make_plan(expression, 1);
    }
    return kept->singly;
}

/* ------------------------------------------------------------------ keeping plans */

/* So many plans are kept at most; then all are forgotten. */
enum { MOST_PLANS = 1024 };

static Plan *plans[MOST_PLANS];
static int plan_count;

static void forget_plans(void)
{
    for (int i = 0; i < MOST_PLANS; i++) {
        while (plans[i] != NULL) {
            Plan *plan = plans[i];
            plans[i] = plan->next;
            release_plan(plan);
        }
    }
    plan_count = 0;
}

const Plan *find_plan(const Expression *expression)
{
    npy_uint64 hash = (npy_uint64)expression->word_count;
    for (int i = 0; i < expression->word_count; i++) {
        hash = (hash ^ expression->words[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    Plan **place = &plans[hash % MOST_PLANS];
    for (Plan *plan = *place; plan != NULL; plan = plan->next) {
        if (plan->hash == hash && plan->word_count == expression->word_count &&
            memcmp(plan->words, expression->words,
                   (size_t)plan->word_count * sizeof(npy_uint64)) == 0) {
            return plan;
        }
    }
    if (plan_count == MOST_PLANS) {
        forget_plans();
    }
    Plan *plan = make_plan(expression, 0);
    if (plan != NULL) {
        plan->hash = hash;
        plan->next = *place;
        *place = plan;
        plan_count++;
    }
    return plan;
}
