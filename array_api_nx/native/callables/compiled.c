/* ProgramCaller: the base class of compiled functions (compile.py), whose calls run the program of
   the last call at once if the arguments are like those, and go to the method `_run` if not. */

#include "parts.h"
#include "call_lists.h"
#include "engine_calls.h"
#include "names.h"
#include "objects.h"

typedef struct {
    PyObject_HEAD
    PyObject *program; /* of the last call: a CallList; if another engine has compiled it, the tuple of
                          engine_calls.h; or NULL */
    PyObject *places;  /* for each argument of the last call, its number among the distinct ones, as
                          a tuple; or NULL, if no argument was given twice */
    Py_ssize_t calls;
} ProgramCaller;

enum { MAX_ARGUMENTS = 64 };

/* The distinct arguments, whose number is returned; -1 if other arguments are the same than `places`
   says, or if there are too many. A program has one input for an argument that is given twice. */
static Py_ssize_t find_distinct(PyObject *args, PyObject *places, PyObject **found)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    Py_ssize_t distinct = 0;
    if (count > MAX_ARGUMENTS || (places != NULL && PyTuple_GET_SIZE(places) != count)) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *each = PyTuple_GET_ITEM(args, i);
        Py_ssize_t place = 0;
        while (place < distinct && found[place] != each) {
            place++;
        }
        if (place != (places == NULL ? i : PyLong_AsSsize_t(PyTuple_GET_ITEM(places, i)))) {
            return -1;
        }
        if (place == distinct) {
            found[distinct++] = each;
        }
    }
    return distinct;
}

/* The result if the program of the last call gives it, else DECLINED. */
static PyObject *call_program(PyObject *described, PyObject *const *arrays, Py_ssize_t count)
{
    return is_call_list(described) ? run_call_list(described, arrays, count)
                                   : call_engine(described, arrays, count);
}

/* Run the calls of the last program on arguments of other sizes. DECLINED if it is not for these. */
static PyObject *call_resized(ProgramCaller *self, PyObject *program, PyObject *const *arrays,
                              Py_ssize_t count)
{
    PyObject *shapes = is_call_list(program) ? other_sizes(program, arrays, count) : NULL;
    if (shapes == NULL) {
        return decline_unless_raised();
    }
    PyObject *bound = PyObject_CallMethodOneArg((PyObject *)self, names_of._resized, shapes);
    Py_DECREF(shapes);
    PyObject *result = bound == NULL ? NULL : DECLINED;
    if (bound != NULL && is_call_list(bound)) {
        result = run_call_list(bound, arrays, count);
        if (self->program == program && result != DECLINED) {
            Py_SETREF(self->program, Py_NewRef(bound));
        }
    }
    Py_XDECREF(bound);
    return result;
}

static PyObject *caller_call(PyObject *object, PyObject *args, PyObject *keywords)
{
    ProgramCaller *self = (ProgramCaller *)object;
    if (self->program != NULL && (keywords == NULL || PyDict_GET_SIZE(keywords) == 0)) {
        PyObject *arrays[MAX_ARGUMENTS];
        const Py_ssize_t count = find_distinct(args, self->places, arrays);
        if (count >= 0) {
            PyObject *program = Py_NewRef(self->program);
            PyObject *result = call_program(program, arrays, count);
            if (result == DECLINED) {
                result = call_resized(self, program, arrays, count);
            }
            Py_DECREF(program);
            if (result != DECLINED) {
                self->calls += result != NULL;
                return result;
            }
        }
    }
    PyObject *run = PyObject_GetAttr(object, names_of._run);
    PyObject *result = run == NULL ? NULL : PyObject_Call(run, args, keywords);
    Py_XDECREF(run);
    return result;
}

static PyObject *get_program(PyObject *object, void *closure)
{
    PyObject *program = ((ProgramCaller *)object)->program;
    return Py_NewRef(program == NULL ? Py_None : program);
}

static int is_fitting(PyObject *value)
{
    return value == Py_None || is_call_list(value) || is_engine_call(value);
}

static int are_places(PyObject *value)
{
    if (!PyTuple_Check(value)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(value, i))) {
            return 0;
        }
    }
    return 1;
}

static void keep_program(ProgramCaller *self, PyObject *program, PyObject *places)
{
    PyObject *last = self->program, *last_places = self->places;
    self->program = program == Py_None ? NULL : Py_NewRef(program);
    self->places = Py_XNewRef(places);
    Py_XDECREF(last);
    Py_XDECREF(last_places);
}

static int set_program(PyObject *object, PyObject *value, void *closure)
{
    if (refuse_deletion(value)) {
        return -1;
    }
    if (!is_fitting(value)) {
        PyErr_SetString(PyExc_TypeError, "_program must be a CallList, what engine_calls.h says, or None");
        return -1;
    }
    keep_program((ProgramCaller *)object, value, NULL);
    return 0;
}

/* _keep_program(program, places) */
static PyObject *caller_keep_program(PyObject *object, PyObject *const *args, Py_ssize_t arg_count)
{
    if (arg_count != 2 || !is_fitting(args[0]) || !are_places(args[1])) {
        PyErr_SetString(PyExc_TypeError, "_keep_program takes a program, or None, and a tuple of ints");
        return NULL;
    }
    keep_program((ProgramCaller *)object, args[0], args[1]);
    Py_RETURN_NONE;
}

/* _run_program(program, arrays) */
static PyObject *caller_run_program(PyObject *object, PyObject *const *args, Py_ssize_t arg_count)
{
    PyObject *arrays = arg_count == 2 && is_fitting(args[0]) ? PySequence_Tuple(args[1]) : NULL;
    if (arrays == NULL) {
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError, "_run_program takes a program and arrays");
    }
    PyObject *result = args[0] == Py_None ? DECLINED
                                          : call_program(args[0], PySequence_Fast_ITEMS(arrays),
                                                         PyTuple_GET_SIZE(arrays));
    Py_DECREF(arrays);
    return result != DECLINED ? result : Py_NewRef(Py_NotImplemented);
}

static int caller_traverse(PyObject *object, visitproc visit, void *arg)
{
    ProgramCaller *self = (ProgramCaller *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->program);
    Py_VISIT(self->places);
    return 0;
}

static int caller_clear(PyObject *object)
{
    ProgramCaller *self = (ProgramCaller *)object;
    Py_CLEAR(self->program);
    Py_CLEAR(self->places);
    return 0;
}

static void caller_dealloc(PyObject *object)
{
    PyObject_GC_UnTrack(object);
    caller_clear(object);
    free_instance(object);
}

static PyGetSetDef caller_attributes[] = {
    {"_program", get_program, set_program, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef caller_methods[] = {
    {"_keep_program", (PyCFunction)(void (*)(void))caller_keep_program, METH_FASTCALL,
     "_keep_program($self, program, places, /)\n--\n\n"
     "Let calls run a program whose arguments are the same as `places` says."},
    {"_run_program", (PyCFunction)(void (*)(void))caller_run_program, METH_FASTCALL,
     "_run_program($self, program, arrays, /)\n--\n\n"
     "What a program returns for its distinct arguments; NotImplemented, with nothing done, if they are "
     "others than it takes."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef caller_members[] = {
    {"_calls", T_PYSSIZET, offsetof(ProgramCaller, calls), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot caller_slots[] = {
    {Py_tp_doc, "The base class of compiled functions."},
    {Py_tp_call, caller_call},
    {Py_tp_traverse, caller_traverse},
    {Py_tp_clear, caller_clear},
    {Py_tp_dealloc, caller_dealloc},
    {Py_tp_getset, caller_attributes},
    {Py_tp_members, caller_members},
    {Py_tp_methods, caller_methods},
    {0, NULL},
};

static PyType_Spec caller_spec = {
    .name = "array_api_nx._native.ProgramCaller",
    .basicsize = sizeof(ProgramCaller),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = caller_slots,
};

int add_compiled(PyObject *module)
{
    return add_type(module, &caller_spec, NULL);
}
