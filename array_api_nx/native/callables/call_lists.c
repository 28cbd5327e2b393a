/* CallList: a compiled function as the calls that it makes, in their order.

   A call names a compiled callable or an operator, the slots of its arguments, and the slots of its
   results. The first slots are the arguments of the function; then come constants, and values that
   depend on the sizes. So each step does what the eager call does, and costs that or less. A list
   serves all sizes: `at` binds it to some. */

#include "call_lists.h"
#include "arguments.h"
#include "names.h"
#include "nodes.h"
#include "objects.h"
#include "operators.h"
#include "parts.h"
#include "settings.h"

enum { FEW_SLOTS = 48, CALL_ARGUMENTS = 12 };

/* ------------------------------------------------------------------ the list */

typedef struct {
    PyObject *callable;  /* NULL if there is an operator */
    PyObject *attribute; /* of the only argument, instead of a call; or NULL */
    Operator operator;
    PyObject *names;     /* of the last arguments, a tuple; or NULL */
    PyObject *templates; /* a slot or a template for each argument */
    PyObject *results;   /* the slots of several results, a tuple; or NULL */
    int result;          /* that of the only one; -1 where it is not kept */
    int count, ended_count;
    int slots[CALL_ARGUMENTS]; /* of arguments; -1 where there is a template */
    int ends[CALL_ARGUMENTS];  /* whether the slot of an argument ends with the call */
    int ended[CALL_ARGUMENTS]; /* the slots that are emptied after it */
} Call;

typedef struct {
    PyObject_HEAD
    Py_ssize_t slot_count, given, first_result, call_count;
    PyObject *constants; /* a tuple: the values of the slots after the arguments' */
    PyObject *calls;     /* their description, a tuple */
    PyObject *result;    /* its template */
    Call *steps;         /* of `calls`; those of `base`, if there is one */
    PyObject *base;
    /* Of a list that is bound to sizes: */
    PyObject *expected;  /* a tuple of (shape, dtype) per argument; or NULL */
    PyObject *sized;     /* a tuple: the values of the slots after the constants' */
    PyObject *written;   /* the numbers of the arguments that must be writable, a tuple */
    int saves;           /* whether these are copied first, to be restored after an error */
} CallList;

#define EACH_REFERENCE(R) R(constants) R(calls) R(result) R(base) R(expected) R(sized) R(written)

static PyTypeObject *call_list_type;

int is_call_list(PyObject *object)
{
    return Py_IS_TYPE(object, call_list_type);
}

/* A slot, or (callable or None, templates): the callable gets their values in a tuple. */
static int is_template(PyObject *value, Py_ssize_t slots)
{
    if (PyLong_CheckExact(value)) {
        npy_intp number;
        return read_int(value, 0, slots - 1, "a slot", &number);
    }
    if (!check_tuple(value, 2, 2, "a template") ||
        !check_tuple(PyTuple_GET_ITEM(value, 1), 0, NPY_MAX_INT, "the parts of a template")) {
        return 0;
    }
    PyObject *parts = PyTuple_GET_ITEM(value, 1);
    int good = 1;
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(parts); i++) {
        good = is_template(PyTuple_GET_ITEM(parts, i), slots);
    }
    return good;
}

static PyObject *refuse_empty(void)
{
    PyErr_SetString(PyExc_SystemError, "a call reads a slot that is empty");
    return NULL;
}

static PyObject *fill_template(PyObject *template, PyObject *const *values)
{
    if (PyLong_CheckExact(template)) {
        PyObject *value = values[PyLong_AsSsize_t(template)];
        return value != NULL ? Py_NewRef(value) : refuse_empty();
    }
    PyObject *make = PyTuple_GET_ITEM(template, 0), *parts = PyTuple_GET_ITEM(template, 1);
    const Py_ssize_t count = PyTuple_GET_SIZE(parts);
    PyObject *made = PyTuple_New(count);
    for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
        put_item(&made, i, fill_template(PyTuple_GET_ITEM(parts, i), values));
    }
    if (made != NULL && make != Py_None) {
        Py_SETREF(made, PyObject_CallOneArg(make, made));
    }
    return made;
}

/* Whether it is a slot of a result, or -1. */
static int is_result(const CallList *self, PyObject *value, int *slot)
{
    npy_intp number;
    if (!read_int(value, -1, self->slot_count - 1, "the slot of a result", &number)) {
        return 0;
    }
    *slot = (int)number;
    return number < 0 || number >= self->first_result ||
           refuse("slot %zd is not one of results", number);
}

static int read_results(const CallList *self, PyObject *value, Call *call)
{
    if (!PyTuple_Check(value)) {
        return is_result(self, value, &call->result);
    }
    int good = 1, number;
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(value); i++) {
        good = is_result(self, PyTuple_GET_ITEM(value, i), &number);
    }
    call->results = value;
    return good;
}

static int read_ended(const CallList *self, PyObject *value, Call *call)
{
    int good = check_tuple(value, 0, CALL_ARGUMENTS, "slots that end");
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(value); i++) {
        good = is_result(self, PyTuple_GET_ITEM(value, i), &call->ended[i]) &&
               (call->ended[i] >= 0 || refuse("a slot that ends is one"));
        call->ended_count++;
    }
    return good;
}

/* Read (callable, arguments, names, results, ended). */
static int read_step(const CallList *self, PyObject *description, Call *call)
{
    if (!check_tuple(description, 5, 5, "a call") ||
        !check_tuple(PyTuple_GET_ITEM(description, 1), 0, CALL_ARGUMENTS, "arguments")) {
        return 0;
    }
    PyObject *callable = PyTuple_GET_ITEM(description, 0);
    call->templates = PyTuple_GET_ITEM(description, 1);
    call->names = PyTuple_GET_ITEM(description, 2);
    call->count = (int)PyTuple_GET_SIZE(call->templates);
    if (!check_tuple(call->names, 0, call->count, "names") ||
        !read_results(self, PyTuple_GET_ITEM(description, 3), call) ||
        !read_ended(self, PyTuple_GET_ITEM(description, 4), call)) {
        return 0;
    }
    call->names = PyTuple_GET_SIZE(call->names) == 0 ? NULL : call->names;
    for (int i = 0; i < call->count; i++) {
        PyObject *template = PyTuple_GET_ITEM(call->templates, i);
        if (!is_template(template, self->slot_count)) {
            return 0;
        }
        call->slots[i] = PyLong_CheckExact(template) ? (int)PyLong_AsLong(template) : -1;
        for (int j = 0; j < call->ended_count; j++) {
            call->ends[i] |= call->ended[j] == call->slots[i];
        }
    }
    if (PyUnicode_Check(callable)) {
        const char *name = PyUnicode_AsUTF8(callable);
        int count = 0;
        call->operator = name == NULL ? NULL : find_operator(name, &count);
        call->attribute = call->operator == NULL ? callable : NULL;
        if (name == NULL || call->names != NULL || call->count != (call->operator == NULL ? 1 : count)) {
            return PyErr_Occurred() ? 0 : refuse("%s takes other arguments", name);
        }
    } else {
        call->callable = callable;
    }
    return 1;
}

static void list_dealloc(PyObject *object)
{
    CallList *self = (CallList *)object;
    PyObject_GC_UnTrack(object);
    if (self->base == NULL) {
        PyMem_Free(self->steps);
    }
#define DROP(NAME) Py_XDECREF(self->NAME);
    EACH_REFERENCE(DROP)
    free_instance(object);
}

static int list_traverse(PyObject *object, visitproc visit, void *arg)
{
    CallList *self = (CallList *)object;
    Py_VISIT(Py_TYPE(object));
#define VISIT(NAME) Py_VISIT(self->NAME);
    EACH_REFERENCE(VISIT)
    return 0;
}

static PyObject *list_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    Py_ssize_t slots, given, sized;
    PyObject *constants, *calls, *result;
    if (!PyArg_ParseTuple(args, "nnO!nO!O:CallList", &slots, &given, &PyTuple_Type, &constants, &sized,
                          &PyTuple_Type, &calls, &result)) {
        return NULL;
    }
    CallList *self = (CallList *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->slot_count = slots;
    self->given = given;
    self->first_result = given + PyTuple_GET_SIZE(constants) + sized;
    self->constants = Py_NewRef(constants);
    self->calls = Py_NewRef(calls);
    self->result = Py_NewRef(result);
    self->steps = PyMem_Calloc((size_t)PyTuple_GET_SIZE(calls) + 1, sizeof(Call));
    int good = self->steps != NULL;
    if (!good) {
        PyErr_NoMemory();
    } else if (given < 0 || sized < 0 || slots < self->first_result || slots > NPY_MAX_INT) {
        good = refuse("a list has a slot for each argument, constant and size");
    }
    good = good && is_template(result, slots);
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(calls); i++) {
        good = read_step(self, PyTuple_GET_ITEM(calls, i), &self->steps[i]);
    }
    self->call_count = PyTuple_GET_SIZE(calls);
    if (!good) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int are_expected(PyObject *value, Py_ssize_t count)
{
    if (!check_tuple(value, count, count, "the arguments expected")) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *each = PyTuple_GET_ITEM(value, i);
        if (!check_tuple(each, 2, 2, "an argument expected") ||
            !check_tuple(PyTuple_GET_ITEM(each, 0), 0, ARRAY_DIMS, "a shape")) {
            return 0;
        }
    }
    return 1;
}

/* at(expected, sized, written, saves) */
static PyObject *list_at(PyObject *object, PyObject *args)
{
    CallList *base = (CallList *)object;
    PyObject *expected, *sized, *written;
    int saves;
    if (!PyArg_ParseTuple(args, "O!O!O!p:at", &PyTuple_Type, &expected, &PyTuple_Type, &sized,
                          &PyTuple_Type, &written, &saves)) {
        return NULL;
    }
    if (base->base != NULL || !are_expected(expected, base->given) ||
        base->given + PyTuple_GET_SIZE(base->constants) + PyTuple_GET_SIZE(sized) !=
            base->first_result) {
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_ValueError, "a list is bound once, to a value "
                                                                 "for each argument and size");
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(written); i++) {
        npy_intp number;
        if (!read_int(PyTuple_GET_ITEM(written, i), 0, base->given - 1, "an argument", &number)) {
            return NULL;
        }
    }
    CallList *self = (CallList *)Py_TYPE(object)->tp_alloc(Py_TYPE(object), 0);
    if (self != NULL) {
        self->slot_count = base->slot_count;
        self->given = base->given;
        self->first_result = base->first_result;
        self->call_count = base->call_count;
        self->constants = Py_NewRef(base->constants);
        self->calls = Py_NewRef(base->calls);
        self->result = Py_NewRef(base->result);
        self->steps = base->steps;
        self->base = Py_NewRef(object);
        self->expected = Py_NewRef(expected);
        self->sized = Py_NewRef(sized);
        self->written = Py_NewRef(written);
        self->saves = saves;
    }
    return (PyObject *)self;
}

/* ------------------------------------------------------------------ running */

/* Whether the arguments have the dtypes and numbers of axes that the list is bound to, and the settings
   are those of the CPU. `*same` says whether they have the sizes, too. */
static int is_alike(const CallList *self, PyObject *const *arrays, Py_ssize_t count, int *same)
{
    *same = 1;
    if (self->expected == NULL || count != self->given || !is_new_on_cpu(NULL)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *expected = PyTuple_GET_ITEM(self->expected, i);
        PyObject *shape = PyTuple_GET_ITEM(expected, 0);
        Tensor *tensor = layout_of_any(arrays[i]);
        if (tensor == NULL || tensor->ndim != PyTuple_GET_SIZE(shape) ||
            ((Array *)arrays[i])->dtype != PyTuple_GET_ITEM(expected, 1)) {
            return 0;
        }
        for (int j = 0; j < tensor->ndim; j++) {
            *same &= tensor->shape[j] == PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, j));
        }
    }
    return 1;
}

/* Whether the list runs on these arguments. */
static int fits(const CallList *self, PyObject *const *arrays, Py_ssize_t count)
{
    int same;
    if (!is_alike(self, arrays, count, &same) || !same) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->written); i++) {
        if (!is_writeable(tensor_of(arrays[PyLong_AsSsize_t(PyTuple_GET_ITEM(self->written, i))]))) {
            return 0;
        }
    }
    return 1;
}

PyObject *other_sizes(PyObject *list, PyObject *const *arrays, Py_ssize_t count)
{
    int same;
    if (!is_alike((CallList *)list, arrays, count, &same) || same) {
        return NULL;
    }
    PyObject *shapes = PyTuple_New(count);
    for (Py_ssize_t i = 0; shapes != NULL && i < count; i++) {
        put_item(&shapes, i, shape_of(tensor_of(arrays[i])));
    }
    return shapes;
}

static PyObject *call(const Call *call, PyObject **values)
{
    PyObject *args[CALL_ARGUMENTS + 1], *made[CALL_ARGUMENTS];
    PyObject **given = &args[1], *result = NULL;
    int count = 0, good = 1;
    for (int i = 0; good && i < call->count; i++) {
        if (call->slots[i] >= 0) {
            given[i] = values[call->slots[i]];
            good = given[i] != NULL || refuse_empty() != NULL;
            /* Other slots may be read later: no function must take their reference for the last one (is_temporary). */
            if (good && !call->ends[i]) {
                made[count++] = Py_NewRef(given[i]);
            }
        } else {
            given[i] = fill_template(PyTuple_GET_ITEM(call->templates, i), values);
            good = given[i] != NULL;
            made[count] = given[i];
            count += good;
        }
    }
    if (good) {
        const size_t positional =
            (size_t)(call->count - (call->names == NULL ? 0 : PyTuple_GET_SIZE(call->names)));
        result = call->operator != NULL ? call->operator(given)
                 : call->attribute != NULL
                     ? PyObject_GetAttr(given[0], call->attribute)
                     : PyObject_Vectorcall(call->callable, given,
                                           positional | PY_VECTORCALL_ARGUMENTS_OFFSET, call->names);
    }
    while (count > 0) {
        Py_DECREF(made[--count]);
    }
    return result;
}

/* Put a result, whose reference is stolen, into its slot. */
static inline void keep(PyObject **values, Py_ssize_t slot, PyObject *value)
{
    if (slot < 0) {
        Py_DECREF(value);
    } else {
        Py_XSETREF(values[slot], value);
    }
}

static int keep_results(PyObject **values, const Call *call, PyObject *result)
{
    PyObject *items = PySequence_Fast(result, "a call gave no sequence of arrays");
    Py_DECREF(result);
    if (items == NULL) {
        return 0;
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    const int good = count == PyTuple_GET_SIZE(call->results);
    for (Py_ssize_t i = 0; good && i < count; i++) {
        keep(values, PyLong_AsSsize_t(PyTuple_GET_ITEM(call->results, i)),
             Py_NewRef(PySequence_Fast_GET_ITEM(items, i)));
    }
    Py_DECREF(items);
    if (!good) {
        PyErr_SetString(PyExc_SystemError, "a call gave another number of arrays");
    }
    return good;
}

/* New arrays are on the device of the arguments, as a program has one. */
static void place_results(const CallList *self, PyObject *const *values)
{
    for (Py_ssize_t i = self->first_result; i < self->slot_count; i++) {
        if (values[i] != NULL && is_array(values[i])) {
            place_result(values[i], values, self->given);
        }
    }
}

static PyObject *run_calls(const CallList *self, PyObject *const *arrays, PyObject **values)
{
    const Py_ssize_t constants = PyTuple_GET_SIZE(self->constants);
    for (Py_ssize_t i = 0; i < self->given; i++) {
        values[i] = arrays[i];
    }
    for (Py_ssize_t i = 0; i < constants; i++) {
        values[self->given + i] = PyTuple_GET_ITEM(self->constants, i);
    }
    for (Py_ssize_t i = 0; self->sized != NULL && i < PyTuple_GET_SIZE(self->sized); i++) {
        values[self->given + constants + i] = PyTuple_GET_ITEM(self->sized, i);
    }
    memset(values + self->first_result, 0,
           (size_t)(self->slot_count - self->first_result) * sizeof(*values));
    int good = 1;
    for (Py_ssize_t i = 0; good && i < self->call_count; i++) {
        const Call *each = &self->steps[i];
        PyObject *result = call(each, values);
        if (result == NULL || each->results != NULL) {
            good = result != NULL && keep_results(values, each, result);
        } else {
            keep(values, each->result, result);
        }
        for (int j = 0; j < each->ended_count; j++) {
            Py_CLEAR(values[each->ended[j]]);
        }
    }
    PyObject *result = NULL;
    if (good) {
        place_results(self, values);
        result = fill_template(self->result, values);
    }
    for (Py_ssize_t i = self->first_result; i < self->slot_count; i++) {
        Py_XDECREF(values[i]);
    }
    return result;
}

/* Copies of the arguments that the list writes, in their order, if an error may come after a write: from another call,
   or from an operator that has written before it raises a floating-point error. NULL with an exception set. */
static PyObject *save_written(const CallList *self, PyObject *const *arrays)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->written);
    if (count > 0 && !self->saves) {
        const int errors = find_errors();
        if (errors < -1) {
            return NULL;
        }
        count = errors < 0 ? count : 0;
    }
    PyObject *saved = PyTuple_New(count);
    for (Py_ssize_t i = 0; saved != NULL && i < count; i++) {
        PyObject *array = arrays[PyLong_AsSsize_t(PyTuple_GET_ITEM(self->written, i))];
        put_item(&saved, i, PyObject_CallMethodNoArgs(array, names_of.copy));
    }
    return saved;
}

/* Write the copies back after an error, which stays set unless that fails, too. */
static void restore_written(const CallList *self, PyObject *const *arrays, PyObject *saved)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    for (Py_ssize_t i = 0; !PyErr_Occurred() && i < PyTuple_GET_SIZE(saved); i++) {
        PyObject *array = arrays[PyLong_AsSsize_t(PyTuple_GET_ITEM(self->written, i))];
        PyObject_SetItem(array, Py_Ellipsis, PyTuple_GET_ITEM(saved, i));
    }
    if (PyErr_Occurred()) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, value, traceback);
    }
}

static PyObject *run_list(const CallList *self, PyObject *const *arrays)
{
    PyObject *few[FEW_SLOTS], **values = few;
    if (self->slot_count > FEW_SLOTS) {
        values = PyMem_Malloc((size_t)self->slot_count * sizeof(*values));
        if (values == NULL) {
            return PyErr_NoMemory();
        }
    }
    Py_INCREF(self);
    PyObject *result = run_calls(self, arrays, values);
    Py_DECREF(self);
    if (values != few) {
        PyMem_Free(values);
    }
    return result;
}

PyObject *run_call_list(PyObject *list, PyObject *const *arrays, Py_ssize_t count)
{
    CallList *self = (CallList *)list;
    if (!fits(self, arrays, count)) {
        return DECLINED;
    }
    ListRun before;
    PyObject *saved = save_written(self, arrays);
    if (saved == NULL || !begin_list(&before)) {
        Py_XDECREF(saved);
        return NULL;
    }
    PyObject *result = run_list(self, arrays);
    if (!end_list(&before)) {
        Py_CLEAR(result);
    }
    if (result == NULL) {
        restore_written(self, arrays, saved);
    }
    Py_DECREF(saved);
    return result;
}

PyObject *run_unbound_list(PyObject *list, PyObject *const *arrays, Py_ssize_t count)
{
    const CallList *self = (CallList *)list;
    if (count != self->given || self->first_result != count + PyTuple_GET_SIZE(self->constants)) {
        refuse("a list for %zd arrays and no sizes is called", count);
        return NULL;
    }
    return run_list(self, arrays);
}

/* ------------------------------------------------------------------ the type */

static PyMethodDef list_methods[] = {
    {"at", list_at, METH_VARARGS,
     "at($self, expected, sized, written, saves)\n--\n\n"
     "The same list for arguments of these shapes and dtypes, with the values that depend on sizes. "
     "Written arguments must be writable; `saves` says that they are restored after an error."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot list_slots[] = {
    {Py_tp_doc, "CallList(slots, given, constants, sized, calls, result)\n--\n\n"
                "The calls of a function. Of its slots the first are those of arguments, constants, and "
                "values that depend on sizes.\n\n"
                "calls: (callable, or the name of a method or attribute of Array; a slot or a template "
                "per argument; names of the last ones; the slot of the result, or a tuple of slots, -1 "
                "for what is not kept; slots that end there); result: a slot or a template. A template "
                "is (callable or None, templates): what the callable makes of the tuple of values, or "
                "that tuple."},
    {Py_tp_new, list_new},
    {Py_tp_dealloc, list_dealloc},
    {Py_tp_traverse, list_traverse},
    {Py_tp_methods, list_methods},
    {0, NULL},
};

static PyType_Spec list_spec = {
    .name = "array_api_nx._native.CallList",
    .basicsize = sizeof(CallList),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = list_slots,
};

int add_call_lists(PyObject *module)
{
    return add_type(module, &list_spec, &call_list_type);
}
