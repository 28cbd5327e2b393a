/* ProgramCaller: the base class of compiled functions (compile.py), whose calls run the program of
   the last call at once if the arguments are like those, and go to the method `_run` if not. */

#include "compiled.h"
#include "engine_calls.h"
#include "objects.h"
#include "sequence.h"
#include "small_programs.h"

typedef struct {
    PyObject_HEAD
    PyObject *program; /* of the last call: if that was a small program, a tuple (sequence, constants,
                          order, is_single, report), where `report` is called with the floating-point
                          flags, if there are any, and says whether the result stands; if another
                          engine has compiled it, the tuple of engine_calls.h; or NULL */
    Py_ssize_t calls;
} ProgramCaller;

enum { SEQUENCE, CONSTANTS, ORDER, IS_SINGLE, REPORT, PROGRAM_SIZE };

static PyObject *run_name; /* "_run" */

/* The result if the program of the last call gives it, else DECLINED. */
static PyObject *call_program(PyObject *described, PyObject *args)
{
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *const *arrays = count > 0 ? &PyTuple_GET_ITEM(args, 0) : NULL;
    if (PyTuple_GET_SIZE(described) != PROGRAM_SIZE) {
        return call_engine(described, arrays, count);
    }
    const SmallProgram program = {
        PyTuple_GET_ITEM(described, SEQUENCE),
        PyTuple_GET_ITEM(described, CONSTANTS),
        PyTuple_GET_ITEM(described, ORDER),
        PyTuple_GET_ITEM(described, IS_SINGLE) == Py_True,
    };
    PyObject *flags = NULL;
    PyObject *result = place_result(run_on_arrays(&program, arrays, count, &flags), arrays, count);
    if (flags != NULL) {
        PyObject *stands = PyObject_CallOneArg(PyTuple_GET_ITEM(described, REPORT), flags);
        const int truth = stands == NULL ? -1 : PyObject_IsTrue(stands);
        if (truth <= 0) {
            Py_XDECREF(result);
            result = truth < 0 ? NULL : DECLINED;
        }
        Py_XDECREF(stands);
        Py_DECREF(flags);
    }
    return result;
}

static PyObject *caller_call(PyObject *object, PyObject *args, PyObject *keywords)
{
    ProgramCaller *self = (ProgramCaller *)object;
    if (self->program != NULL && (keywords == NULL || PyDict_GET_SIZE(keywords) == 0)) {
        PyObject *program = Py_NewRef(self->program);
        PyObject *result = call_program(program, args);
        Py_DECREF(program);
        if (result != DECLINED) {
            self->calls += result != NULL;
            return result;
        }
    }
    PyObject *run = PyObject_GetAttr(object, run_name);
    PyObject *result = run == NULL ? NULL : PyObject_Call(run, args, keywords);
    Py_XDECREF(run);
    return result;
}

static PyObject *get_program(PyObject *object, void *closure)
{
    PyObject *program = ((ProgramCaller *)object)->program;
    (void)closure;
    return Py_NewRef(program == NULL ? Py_None : program);
}

static int is_program(PyObject *value)
{
    return PyTuple_Check(value) && PyTuple_GET_SIZE(value) == PROGRAM_SIZE &&
           is_sequence(PyTuple_GET_ITEM(value, SEQUENCE)) &&
           PyTuple_Check(PyTuple_GET_ITEM(value, CONSTANTS)) &&
           PyTuple_Check(PyTuple_GET_ITEM(value, ORDER)) &&
           (PyTuple_GET_ITEM(value, IS_SINGLE) != Py_True ||
            PyTuple_GET_SIZE(PyTuple_GET_ITEM(value, ORDER)) == 1);
}

static int set_program(PyObject *object, PyObject *value, void *closure)
{
    (void)closure;
    if (refuse_deletion(value)) {
        return -1;
    }
    if (value != Py_None && !is_program(value) && !is_engine_call(value)) {
        PyErr_SetString(PyExc_TypeError, "_program must be (sequence, constants, order, is_single, report), "
                                         "what engine_calls.h says, or None");
        return -1;
    }
    Py_XSETREF(((ProgramCaller *)object)->program, value == Py_None ? NULL : Py_NewRef(value));
    return 0;
}

static int caller_traverse(PyObject *object, visitproc visit, void *arg)
{
    ProgramCaller *self = (ProgramCaller *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->program);
    return 0;
}

static int caller_clear(PyObject *object)
{
    ProgramCaller *self = (ProgramCaller *)object;
    Py_CLEAR(self->program);
    return 0;
}

static void caller_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    caller_clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyGetSetDef caller_attributes[] = {
    {"_program", get_program, set_program, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
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
    run_name = PyUnicode_InternFromString("_run");
    PyObject *type = run_name == NULL ? NULL : PyType_FromSpec(&caller_spec);
    if (type == NULL || add_engine_calls() < 0) {
        Py_XDECREF(type);
        return -1;
    }
    const int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}
