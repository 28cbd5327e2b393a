/* CallGroup: calls of a compiled function that compute element by element.

   Arrays of more elements than `limits.recorded` wait in any case, so that the calls are made as they are. Of fewer
   elements the calls are made once so that all of them wait, too. The expression that they make is kept, with the places
   of its operands among the arrays given: later runs on arrays of these shapes compute it at once, in one pass, without
   a call or a node. Where an operation is to warn, the calls are made, which do so. */

#include "call_lists.h"
#include "evaluation.h"
#include "expression_pass.h"
#include "objects.h"
#include "parts.h"

typedef struct {
    npy_uint8 code, ndim;
    npy_intp shape[NODE_DIMS];
} ArrayForm;

typedef struct {
    int given;       /* the array that a leaf lies in */
    npy_intp offset; /* and where, in bytes */
} LeafPlace;

/* A pass that computes an expression for other arrays than those that it was found for. */
typedef struct {
    Plan *plan;
    int in_rows, errors, given_count, stored_count, result_count;
    npy_uint8 asked; /* the floating-point errors to warn of */
    int results[MOST_STORED]; /* for each result its number among the stored values */
    ArrayForm *given, *stored;
    LeafPlace *leaves;
    ScalarMemory *numbers;
    Pass *pass; /* with as many areas as there are */
} Prepared;

/* A group prepares expressions so often without running the last one again; then it only makes its calls. */
enum { PATIENCE = 16 };

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *calls; /* a CallList */
    Prepared *prepared; /* for the shapes of the last run; or NULL */
    int patience;
    int is_running;     /* finalisers and signals may run it once more meanwhile: then it makes its calls */
} CallGroup;

static PyTypeObject *group_type;

static void free_prepared(Prepared *prepared)
{
    if (prepared != NULL) {
        release_plan(prepared->plan);
        PyMem_Free(prepared->given);
        PyMem_Free(prepared->stored);
        PyMem_Free(prepared->leaves);
        PyMem_Free(prepared->numbers);
        PyMem_Free(prepared->pass);
        PyMem_Free(prepared);
    }
}

/* ------------------------------------------------------------------ preparing */

/* The layout of an array that an expression can be prepared for; else NULL. */
static Tensor *plain_layout(PyObject *array)
{
    Tensor *x = layout_of_any(array);
    return x != NULL && x->ndim <= NODE_DIMS && (x->flags & ROW_MAJOR) && x->size > 0 && x->storage != NULL &&
                   ((Storage *)x->storage)->address != NULL
               ? x
               : NULL;
}

/* Whether no two arrays share memory, so that memory identifies an array. */
static int are_plain(PyObject *const *arrays, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Tensor *x = plain_layout(arrays[i]);
        if (x == NULL) {
            return 0;
        }
        for (Py_ssize_t j = 0; j < i; j++) {
            Tensor *other = tensor_of(arrays[j]);
            if (may_overlap(x, data_of(x), other, data_of(other))) {
                return 0;
            }
        }
    }
    return 1;
}

/* The number of a pending value among those that are stored; -1 if it is not, or is seen in part. */
static int find_stored(const Expression *expression, PyObject *value)
{
    const Storage *storage = pending_of(value);
    if (storage == NULL || !shows_pending(tensor_of(value))) {
        return -1;
    }
    int k = expression->stored_count - 1;
    while (k >= 0 && expression->nodes[expression->stored[k]] != storage->pending) {
        k--;
    }
    return k;
}

/* Find an expression that has all values, and nothing else that is needed outside of it. */
static const Plan *find_common(PyObject *const *values, int count, Expression *expression, int *results)
{
    for (int root = 0; root < count; root++) {
        const Storage *storage = pending_of(values[root]);
        int found = 0;
        if (storage == NULL || find_expression(storage->pending, expression) != NULL) {
            return NULL;
        }
        for (int i = 0; i < count; i++) {
            results[i] = find_stored(expression, values[i]);
            found += results[i] >= 0;
        }
        if (found == count && expression->stored_count == count) {
            return storage->pending->size > recorded_limit() ? NULL : find_plan(expression);
        }
    }
    return NULL;
}

/* Find a leaf among the arrays; 0 if it lies in none. */
static int find_leaf(const Leaf *leaf, PyObject *const *arrays, int count, LeafPlace *place)
{
    int j = 0;
    while (j < count && (const Storage *)tensor_of(arrays[j])->storage != leaf->storage) {
        j++;
    }
    if (j < count) {
        *place = (LeafPlace){j, leaf->data - data_of(tensor_of(arrays[j]))};
    }
    return j < count;
}

static void set_form(ArrayForm *form, int code, int ndim, const npy_intp *shape)
{
    form->code = (npy_uint8)code;
    form->ndim = (npy_uint8)ndim;
    memcpy(form->shape, shape, (size_t)ndim * sizeof(npy_intp));
}

/* Copy the forms of arrays, the places of leaves and the numbers: nodes are freed later. 0 if that cannot be. */
static int keep_parts(PyObject *const *arrays, const Expression *expression, Prepared *prepared)
{
    prepared->stored_count = expression->stored_count;
    prepared->asked = asked_flags(expression);
    prepared->given = PyMem_New(ArrayForm, (size_t)prepared->given_count + 1);
    prepared->stored = PyMem_New(ArrayForm, (size_t)expression->stored_count);
    prepared->leaves = PyMem_New(LeafPlace, (size_t)expression->leaf_count + 1);
    prepared->numbers = PyMem_New(ScalarMemory, (size_t)expression->number_count + 1);
    int good = prepared->given != NULL && prepared->stored != NULL && prepared->leaves != NULL &&
               prepared->numbers != NULL;
    for (int i = 0; good && i < prepared->given_count; i++) {
        const Tensor *x = tensor_of(arrays[i]);
        set_form(&prepared->given[i], x->code, x->ndim, x->shape);
    }
    for (int k = 0; good && k < expression->stored_count; k++) {
        const Node *node = expression->nodes[expression->stored[k]];
        set_form(&prepared->stored[k], node->operation.result, node->ndim, node->shape);
    }
    if (good) {
        memcpy(prepared->numbers, expression->numbers, (size_t)expression->number_count * sizeof(ScalarMemory));
    }
    for (int i = 0; good && i < expression->leaf_count; i++) {
        good = find_leaf(&expression->leaves[i], arrays, prepared->given_count, &prepared->leaves[i]);
    }
    return good;
}

/* Keep the pass of the expression; 0 if there is no memory. */
static int keep_pass(Expression *expression, const Plan *plan, Prepared *prepared)
{
    Pass pass;
    memset(&pass, 0, offsetof(Pass, areas));
    expression->threads = 1;
    begin_pass(&pass, plan, expression, NULL, NULL);
    pass.numbers = prepared->numbers;
    prepared->plan = keep_plan(plan);
    prepared->in_rows = has_rows(&pass);
    if (!prepared->in_rows) {
        arrange_tiles(&pass);
    }
    const size_t bytes = offsetof(Pass, areas) + (size_t)pass.area_count * sizeof(Area);
    prepared->pass = PyMem_Malloc(bytes);
    if (prepared->pass != NULL) {
        memcpy(prepared->pass, &pass, bytes);
    }
    return prepared->pass != NULL;
}

/* Prepare the expression that the pending results of a run are computed by; NULL if that cannot be. */
static Prepared *prepare(PyObject *const *arrays, Py_ssize_t count, PyObject *const *values,
                         Py_ssize_t result_count)
{
    Expression expression;
    Prepared *prepared = result_count > MOST_STORED ? NULL : PyMem_Calloc(1, sizeof(*prepared));
    if (prepared == NULL) {
        return NULL;
    }
    prepared->given_count = (int)count;
    prepared->result_count = (int)result_count;
    prepared->errors = find_errors();
    const Plan *plan = prepared->errors < 0
                           ? NULL
                           : find_common(values, (int)result_count, &expression, prepared->results);
    if (plan == NULL || !keep_parts(arrays, &expression, prepared) || !keep_pass(&expression, plan, prepared)) {
        free_prepared(prepared);
        return NULL;
    }
    return prepared;
}

/* Make the calls so that all wait, and prepare the expression that they make. */
static PyObject *run_and_prepare(CallGroup *self, PyObject *const *arrays, Py_ssize_t count)
{
    Recording recording;
    record_all(&recording);
    PyObject *result = run_unbound_list(self->calls, arrays, count);
    record_as_before(&recording);
    if (result == NULL) {
        return NULL;
    }
    self->patience--;
    free_prepared(self->prepared);
    self->prepared = NULL;
    PyObject *const *values = PyTuple_Check(result) ? PySequence_Fast_ITEMS(result) : &result;
    const Py_ssize_t result_count = PyTuple_Check(result) ? PyTuple_GET_SIZE(result) : 1;
    self->prepared = prepare(arrays, count, values, result_count);
    int good = self->prepared != NULL || !PyErr_Occurred();
    /* The arrays may be written after this. */
    for (Py_ssize_t i = result_count - 1; good && i >= 0; i--) {
        Storage *storage = pending_of(values[i]);
        good = storage == NULL || evaluate_storage(storage);
    }
    if (!good) {
        Py_CLEAR(result);
    }
    return result;
}

/* ------------------------------------------------------------------ running */

/* Whether the expression is prepared for such arrays, whose addresses are found. */
static int find_addresses(const Prepared *prepared, PyObject *const *arrays, Py_ssize_t count, char **data)
{
    if (count != prepared->given_count || count > MOST_LEAVES) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const ArrayForm *given = &prepared->given[i];
        Tensor *x = layout_of_any(arrays[i]);
        if (x == NULL || x->code != given->code || !(x->flags & ROW_MAJOR) ||
            !has_shape(x, given->ndim, given->shape) || (data[i] = data_of(x)) == NULL) {
            return 0;
        }
    }
    return 1;
}

/* New arrays for the stored values, in their order, and their addresses; 0 with an exception set. */
static int make_results(const Prepared *prepared, PyObject **results, char **data)
{
    for (int k = 0; k < prepared->stored_count; k++) {
        const ArrayForm *form = &prepared->stored[k];
        results[k] = new_array_like_memory(form->ndim, form->shape, (DTypeCode)form->code, 0, &data[k]);
        if (results[k] == NULL) {
            while (k-- > 0) {
                Py_DECREF(results[k]);
            }
            return 0;
        }
    }
    return 1;
}

/* Compute the expression; DECLINED if an operation is to warn, or the arrays are others. */
static PyObject *run_prepared(Prepared *prepared, PyObject *const *arrays, Py_ssize_t count)
{
    PyObject *results[MOST_STORED];
    char *given[MOST_LEAVES], *stored[MOST_STORED];
    atomic_uchar flags[MOST_NODES];
    Pass *pass = prepared->pass;
    if (find_errors() != prepared->errors || !find_addresses(prepared, arrays, count, given)) {
        return decline_unless_raised();
    }
    if (!make_results(prepared, results, stored)) {
        return NULL;
    }
    for (int i = 0; i < pass->leaf_count; i++) {
        pass->areas[i].data = given[prepared->leaves[i].given] + prepared->leaves[i].offset;
    }
    for (int k = 0; k < prepared->stored_count; k++) {
        pass->areas[pass->leaf_count + k].data = stored[k];
    }
    clear_all(flags, prepared->plan->step_count);
    pass->flags = flags;
    const int complete = run_pass(pass, prepared->in_rows);
    PyObject *result = NULL;
    if (complete != 1) {
        PyErr_NoMemory();
    } else if (raised_flags(prepared->plan, flags) & prepared->asked) {
        result = DECLINED;
    } else if (prepared->result_count == 1) {
        return results[0];
    } else {
        result = PyTuple_New(prepared->result_count);
        for (int i = 0; result != NULL && i < prepared->result_count; i++) {
            PyTuple_SET_ITEM(result, i, Py_NewRef(results[prepared->results[i]]));
        }
    }
    for (int k = 0; k < prepared->stored_count; k++) {
        Py_DECREF(results[k]);
    }
    return result;
}

/* Make the group's calls on arrays: their result, an Array or a tuple of Arrays. */
static PyObject *call_group(PyObject *group, PyObject *const *arrays, size_t flags, PyObject *names)
{
    CallGroup *self = (CallGroup *)group;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (names != NULL) {
        return PyErr_Format(PyExc_TypeError, "a CallGroup takes no names");
    }
    if (self->is_running) {
        return run_unbound_list(self->calls, arrays, count);
    }
    if (self->prepared != NULL) {
        self->is_running = 1;
        PyObject *result = run_prepared(self->prepared, arrays, count);
        self->is_running = 0;
        if (result != DECLINED) {
            self->patience += self->patience < PATIENCE;
            return result;
        }
    }
    npy_intp largest = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tensor *x = layout_of_any(arrays[i]);
        largest = x == NULL ? NPY_MAX_INTP : greatest(largest, x->size);
    }
    if (self->patience == 0 || !is_computed_now(largest) || largest > recorded_limit() || !are_plain(arrays, count)) {
        return run_unbound_list(self->calls, arrays, count);
    }
    self->is_running = 1;
    PyObject *result = run_and_prepare(self, arrays, count);
    self->is_running = 0;
    return result;
}

/* ------------------------------------------------------------------ the type */

/* CallGroup(calls) */
static PyObject *group_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *calls;
    if (!PyArg_ParseTuple(args, "O:CallGroup", &calls)) {
        return NULL;
    }
    if (!is_call_list(calls)) {
        return PyErr_Format(PyExc_TypeError, "a CallGroup has a CallList");
    }
    CallGroup *self = (CallGroup *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->call = call_group;
        self->calls = Py_NewRef(calls);
        self->patience = PATIENCE;
    }
    return (PyObject *)self;
}

static int group_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((CallGroup *)object)->calls);
    return 0;
}

static void group_dealloc(PyObject *object)
{
    CallGroup *self = (CallGroup *)object;
    PyObject_GC_UnTrack(object);
    free_prepared(self->prepared);
    Py_XDECREF(self->calls);
    free_instance(object);
}

static PyMemberDef group_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallGroup, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot group_slots[] = {
    {Py_tp_doc, "CallGroup(calls)\n--\n\nA callable that makes calls that compute element by element, in one pass "
                "where that can be."},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, group_members},
    {Py_tp_new, group_new},
    {Py_tp_dealloc, group_dealloc},
    {Py_tp_traverse, group_traverse},
    {0, NULL},
};

static PyType_Spec group_spec = {
    .name = "array_api_nx._native.CallGroup",
    .basicsize = sizeof(CallGroup),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = group_slots,
};

int add_call_groups(PyObject *module)
{
    return add_type(module, &group_spec, &group_type);
}
