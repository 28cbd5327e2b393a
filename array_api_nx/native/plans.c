#include "plans.h"
#include "sizes.h"

/* ------------------------------------------------------------------ walks */

static npy_uint64 walks;

npy_uint64 begin_walk(void)
{
    return ++walks;
}

/* The number of a leaf, which is entered if it is new; -1 if there are too many. */
static int enter_leaf(Expression *expression, const NodeOperand *operand, const Node *node, npy_intp itemsize)
{
    char *address = operand->storage->address;
    char *data = address == NULL ? NULL : address + operand->offset;
    const size_t bytes = (size_t)node->ndim * sizeof(npy_intp);
    for (int i = 0; i < expression->leaf_count; i++) {
        const Leaf *leaf = &expression->leaves[i];
        if (leaf->data == data && 
            (data != NULL || (leaf->storage == operand->storage && leaf->offset == operand->offset)) && leaf->itemsize == itemsize &&
            memcmp(leaf->strides, operand->strides, bytes) == 0) {
            return i;
        }
    }
    if (expression->leaf_count == MOST_LEAVES) {
        return -1;
    }
    Leaf *leaf = &expression->leaves[expression->leaf_count];
    leaf->data = data;
    leaf->itemsize = itemsize;
    leaf->offset = operand->offset;
    leaf->storage = operand->storage;
    memcpy(leaf->strides, operand->strides, bytes);
    expression->is_flat &= node->is_flat;
    return expression->leaf_count++;
}

static int enter_number(Expression *expression, const ScalarMemory *number)
{
    for (int i = 0; i < expression->number_count; i++) {
        if (memcmp(&expression->numbers[i], number, sizeof(*number)) == 0) {
            return i;
        }
    }
    if (expression->number_count == MOST_NUMBERS) {
        return -1;
    }
    expression->numbers[expression->number_count] = *number;
    return expression->number_count++;
}

/* Whether an operand is a pending value that is not computed in the pass of an expression. */
static int is_awaited(const Expression *expression, const NodeOperand *operand)
{
    const Node *node = operand->storage->pending;
    return node != NULL && (operand->is_apart || (expression->phase >= 0 && node->phase != expression->phase));
}

/* Enter a node and all below it. 0 if there are too many parts. */
static int visit(Expression *expression, Node *node)
{
    if (node->walk == walks) {
        node->references += expression->phase < 0;
        return 1;
    }
    if (expression->node_count == MOST_NODES) {
        return 0;
    }
    const Operation *operation = &node->operation;
    Place places[NODE_OPERANDS] = {0};
    node->walk = walks;
    if (expression->phase < 0) {
        node->references = 1;
    }
    for (int i = 0; i < operation->count; i++) {
        const NodeOperand *operand = &node->operands[i];
        const Storage *storage = operand->storage;
        int number;
        if (storage == NULL) {
            number = enter_number(expression, &operand->number);
            places[i] = (Place)(IN_NUMBER | number);
        } else if (is_awaited(expression, operand)) {
            if (expression->phase < 0) {
                expression->awaited = storage->pending;
                return 0;
            }
            number = enter_leaf(expression, operand, node, dtypes[operation->operands[i]].itemsize);
            places[i] = (Place)(IN_LEAF | number);
        } else if (storage->pending != NULL) {
            number = visit(expression, storage->pending) ? 0 : -1;
            places[i] = (Place)(IN_SLOT | storage->pending->number);
        } else if (storage->address == NULL) {
            PyErr_SetString(PyExc_RuntimeError, "the memory of a pending operation's operand was taken away");
            return 0;
        } else {
            number = enter_leaf(expression, operand, node, dtypes[operation->operands[i]].itemsize);
            places[i] = (Place)(IN_LEAF | number);
        }
        if (number < 0) {
            return 0;
        }
    }
    node->number = expression->node_count++;
    expression->nodes[node->number] = node;
    memcpy(expression->operands[node->number], places, sizeof(places));
    return 1;
}

static int begin_expression(Expression *expression, Node *root, int phase)
{
    walks++;
    expression->node_count = expression->leaf_count = expression->number_count = 0;
    expression->is_flat = 1;
    expression->stored_count = 1;
    expression->awaited = NULL;
    expression->phase = phase;
    return visit(expression, root);
}

/* Write the key, and find which values are stored. The one for which there is no place, or NULL. */
static Node *end_expression(Expression *expression)
{
    const int last = expression->node_count - 1;
    npy_uint64 *word = expression->words;
    expression->stored[0] = last;
    for (int i = 0; i <= last; i++) {
        Node *node = expression->nodes[i];
        const Place *places = expression->operands[i];
        /* All references but those of nodes are an array's, or another expression's. */
        const int is_stored = i == last || Py_REFCNT(node->storage) > node->references ||
                              (expression->phase >= 0 && node->shared >= 0);
        expression->is_stored[i] = (npy_uint8)is_stored;
        if (is_stored && i < last) {
            if (expression->stored_count == MOST_STORED) {
                return node;
            }
            expression->stored[expression->stored_count++] = i;
        }
        *word++ = (npy_uint64)(npy_uintp)node->operation.function;
        *word++ = (npy_uint64)(npy_uintp)node->operation.data;
        *word++ = places[0] | (npy_uint64)places[1] << 16 | (npy_uint64)places[2] << 32 |
                  (npy_uint64)node->operation.result << 48 | (npy_uint64)is_stored << 56;
    }
    expression->word_count = (int)(word - expression->words);
    return NULL;
}

int find_phase(Node *root, int phase, Expression *expression)
{
    return begin_expression(expression, root, phase) && end_expression(expression) == NULL;
}

Node *find_expression(Node *root, Expression *expression)
{
    if (!begin_expression(expression, root, -1)) {
        if (expression->awaited != NULL) {
            return expression->awaited;
        }
        if (PyErr_Occurred()) {
            return root;
        }
        /* The pending operand with the most operations is computed before. */
        Node *largest = NULL;
        for (int i = 0; i < root->operation.count; i++) {
            const Storage *storage = root->operands[i].storage;
            Node *below = storage == NULL ? NULL : storage->pending;
            if (below != NULL && (largest == NULL || below->operations > largest->operations)) {
                largest = below;
            }
        }
        return largest == NULL ? root : largest;
    }
    return end_expression(expression);
}

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
    int in_registers;         /* the node whose value the registers have; or -1 */
    PlanStep *orders;         /* the step that orders are added to; or NULL */
    int free_slots[MOST_NODES], free_count;
} Planner;

static int is_link(const Planner *planner, int i)
{
#ifndef HAS_ORDERS
    return 0;
#endif
    return !planner->one_by_one && planner->expression->nodes[i]->operation.link != NO_LINK;
}

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

/* Find nodes that compute the same, and how often each value is read. */
static void find_uses(Planner *planner)
{
    const Expression *expression = planner->expression;
    for (int i = 0; i < expression->node_count; i++) {
        const Operation *operation = &expression->nodes[i]->operation;
        planner->same_as[i] = i;
        planner->uses[i] = planner->is_placed[i] = 0;
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
    }
    for (int i = 0; i < expression->node_count; i++) {
        for (int k = 0; planner->same_as[i] == i && k < expression->nodes[i]->operation.count; k++) {
            const Place place = operand_of(planner, i, k);
            if (is_node(place)) {
                planner->uses[place]++;
            }
        }
    }
}

static Place take_slot(Planner *planner)
{
    return (Place)(IN_SLOT | (planner->free_count > 0 ? planner->free_slots[--planner->free_count]
                                                      : planner->plan->slot_count++));
}

/* Count one use of a value, whose slot is free after the last one. */
static void use(Planner *planner, Place place)
{
    if (is_node(place) && --planner->uses[place] == 0 && planner->is_placed[place] &&
        kind_of(planner->places[place]) == IN_SLOT) {
        planner->free_slots[planner->free_count++] = number_of(planner->places[place]);
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
    add_order(planner, code, place_of(planner, operand));
}

/* Have the registers hold an operand. */
static void read_operand(Planner *planner, Place operand)
{
    if (!is_node(operand) || planner->in_registers != operand) {
        add_with(planner, READ_VECTOR, operand);
    }
    planner->in_registers = is_node(operand) ? operand : -1;
}

/* The codes of an operation on two operands: on the registers and an operand, the reverse, on two. */
static void codes_of(LinkOperation link, int *forward, int *reversed, int *two)
{
    switch (link) {
    case ADD_LINK:
        *forward = *reversed = ADD_VECTOR, *two = ADD_TWO_VECTOR;
        break;
    case SUBTRACT_LINK:
        *forward = SUBTRACT_VECTOR, *reversed = SUBTRACT_FROM_VECTOR, *two = SUBTRACT_TWO_VECTOR;
        break;
    case MULTIPLY_LINK:
        *forward = *reversed = MULTIPLY_VECTOR, *two = MULTIPLY_TWO_VECTOR;
        break;
    default:
        *forward = DIVIDE_VECTOR, *reversed = DIVIDE_INTO_VECTOR, *two = DIVIDE_TWO_VECTOR;
    }
}

static void compute_two(Planner *planner, LinkOperation link, Place x, Place y)
{
    int forward, reversed, two;
    codes_of(link, &forward, &reversed, &two);
    const int x_is_here = is_node(x) && planner->in_registers == x;
    const int y_is_here = is_node(y) && planner->in_registers == y;
    if (x == y && (link == ADD_LINK || link == MULTIPLY_LINK)) {
        read_operand(planner, x);
        add_order(planner, link == ADD_LINK ? DOUBLE_IT : SQUARE, 0);
    } else if (x_is_here) {
        add_with(planner, forward, y);
    } else if (y_is_here) {
        add_with(planner, reversed, x);
    } else {
        add_with(planner, two, x);
        add_with(planner, forward, y);
    }
}

static void compute_link(Planner *planner, int i)
{
    const Operation *operation = &planner->expression->nodes[i]->operation;
    const Place x = operand_of(planner, i, 0);
    if (operation->count == 2) {
        compute_two(planner, operation->link, x, operand_of(planner, i, 1));
    } else {
        read_operand(planner, x);
        add_order(planner,
                  operation->link == SQUARE_LINK     ? SQUARE
                  : operation->link == NEGATIVE_LINK ? NEGATE
                  : operation->link == SQRT_LINK     ? SQUARE_ROOT
                                                     : ABSOLUTE,
                  0);
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
                   expression->nodes[next]->operation.result == expression->nodes[i]->operation.result
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
    const LinkOperation link = planner->expression->nodes[next]->operation.link;
    const int reads = count_reads(planner, next, i);
    return reads == planner->uses[i] &&
           (reads == 1 || (reads == 2 && (link == ADD_LINK || link == MULTIPLY_LINK)));
}

/* Write the registers, which have the value of node `i`, to where it is needed; end the step if the next node
   does not go on with it. */
static void place_link(Planner *planner, int i)
{
    const int next = next_link(planner, i);
    const int passed = is_passed_on(planner, i, next);
    if (planner->expression->is_stored[i]) {
        planner->places[i] = stored_place(planner, i);
        planner->is_placed[i] = 1;
        add_order(planner, next < 0 ? LAST : KEEP, planner->places[i]);
    } else if (!passed) {
        planner->places[i] = take_slot(planner);
        planner->is_placed[i] = 1;
        add_order(planner, next < 0 ? LAST : KEEP, planner->places[i]);
    }
    planner->orders->last_node = i;
    if (next < 0) {
        planner->orders = NULL;
        planner->in_registers = -1;
    }
}

static void plan_link(Planner *planner, int i)
{
    const Operation *operation = &planner->expression->nodes[i]->operation;
    if (planner->orders == NULL) {
        planner->orders = add_step(planner, i);
        planner->orders->first = planner->plan->order_count;
        planner->orders->itemsize = dtypes[operation->result].itemsize;
        planner->in_registers = -1;
    }
    note_itemsize(planner, dtypes[operation->result].itemsize);
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
        planner->expression->is_stored[i] ? stored_place(planner, i) : take_slot(planner);
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

/* The most orders for a node: two to compute it, one to write it. */
enum { ORDERS_EACH = 3 };

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
    planner->free_count = 0;
    find_uses(planner);
    for (int i = 0; i < expression->node_count; i++) {
        if (planner->same_as[i] == i) {
            (is_link(planner, i) ? plan_link : plan_call)(planner, i);
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
