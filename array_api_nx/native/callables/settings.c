/* Settings from Python, set once, or whenever they change: limits, the device, the class View, and the functions for
   floating-point errors and the number of threads. */

#include "settings.h"
#include "nodes.h"
#include "parts.h"

/* fperrors.apply_errstate(name, flags). */
static PyObject *errstate_function;

int apply_errstate(PyObject *name, int flags)
{
    const int warned = find_errors();
    if (warned == -2 || (warned >= 0 && !(warned & flags))) {
        return warned == -2 ? -1 : 0; /* all of them are ignored */
    }
    if (warned > 0 && is_users_line()) {
        static const char *const texts[] = {"divide by zero", "overflow", "underflow", "invalid value"};
        for (int i = 0; i < 4; i++) {
            if ((warned & flags & 1 << i) &&
                PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%s encountered in %U", texts[i], name) < 0) {
                return -1;
            }
        }
        return 0;
    }
    PyObject *number = PyLong_FromLong(flags);
    PyObject *done =
        number == NULL ? NULL : PyObject_CallFunctionObjArgs(errstate_function, name, number, NULL);
    Py_XDECREF(number);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* threads.count(), which is asked for large arrays only, and what it said under some settings: once a computation has filled
   the caches, a call of Python code takes microseconds (docs/tuning.md, 157). */
static PyObject *count_threads, *counted_under;
static Py_ssize_t counted;
static int may_keep_count;         /* whether it says the same again under the same settings */
static unsigned times_set_counter; /* it may be set anew while it runs */

Py_ssize_t most_threads(void)
{
    PyObject *own;
    if (count_threads == NULL) {
        return 1;
    }
    if (!find_own_settings(&own)) {
        return -1;
    }
    if (own != NULL && own == counted_under) {
        Py_DECREF(own);
        return counted;
    }
    const unsigned asked = times_set_counter;
    PyObject *number = PyObject_CallNoArgs(count_threads);
    const Py_ssize_t threads = number == NULL ? -1 : PyLong_AsSsize_t(number);
    Py_XDECREF(number);
    if (threads > 0 && may_keep_count && asked == times_set_counter) {
        counted = threads;
        Py_XSETREF(counted_under, Py_XNewRef(own));
    }
    Py_XDECREF(own);
    return threads;
}

int run_in_parts(RunPart run, const void *parts, npy_intp count)
{
    if (count <= 1) {
        if (count == 1) {
            run(parts, 0, NULL);
        }
        return 1;
    }
    const Py_ssize_t threads = most_threads();
    if (threads > 0 && run_parts(run, parts, count, 0, threads, 0) != 1) {
        PyErr_NoMemory();
    }
    return !PyErr_Occurred();
}

static PyObject *set_thread_count(PyObject *module, PyObject *args)
{
    PyObject *count;
    int keeps;
    if (!PyArg_ParseTuple(args, "Op", &count, &keeps)) {
        return NULL;
    }
    times_set_counter++;
    may_keep_count = keeps;
    Py_CLEAR(counted_under);
    Py_XSETREF(count_threads, Py_NewRef(count));
    Py_RETURN_NONE;
}

/* The object `config.hints`, and where its slots `device` and `strict_operands` lie. */
static PyObject *hints;
static Py_ssize_t default_device_offset, strict_operands_offset;

int is_new_on_cpu(PyObject *device)
{
    if (device == NULL || device == Py_None) {
        device = hints == NULL ? NULL : slot_at(hints, default_device_offset);
    }
    return device != NULL && is_cpu(device);
}

int takes_numpy_operands(void)
{
    return hints != NULL && slot_at(hints, strict_operands_offset) == Py_False;
}

/* The offset of a slot of a class; -1 with an exception set if it has none. */
static Py_ssize_t offset_of(PyObject *type, const char *name)
{
    PyObject *member = PyObject_GetAttrString(type, name);
    Py_ssize_t offset = -1;
    if (member != NULL && Py_IS_TYPE(member, &PyMemberDescr_Type)) {
        offset = ((PyMemberDescrObject *)member)->d_member->offset;
    } else if (member != NULL) {
        PyErr_Format(PyExc_TypeError, "%s is no slot of %R", name, type);
    }
    Py_XDECREF(member);
    return offset;
}

static PyObject *set_limits(PyObject *module, PyObject *args)
{
    Py_ssize_t at_once, large, recorded, tracked;
    if (!PyArg_ParseTuple(args, "nnnn", &at_once, &large, &recorded, &tracked)) {
        return NULL;
    }
    limits = (Limits){at_once, large, recorded, tracked};
    Py_RETURN_NONE;
}

int is_watched;

/* Whether Python is to see all that arrays do. */
static int is_recorded;

static void answer(void)
{
    cpu.answered[0] = is_recorded ? NULL : cpu.device;
    cpu.answered[1] = is_recorded ? NULL : cpu.committed;
}

static PyObject *set_cpu(PyObject *module, PyObject *args)
{
    PyObject *device, *committed, *backend;
    if (!PyArg_ParseTuple(args, "OOO", &device, &committed, &backend)) {
        return NULL;
    }
    const Py_ssize_t offset = offset_of((PyObject *)Py_TYPE(device), "backend");
    if (offset < 0) {
        return NULL;
    }
    Py_XSETREF(cpu.device, Py_NewRef(device));
    Py_XSETREF(cpu.committed, Py_NewRef(committed));
    Py_XSETREF(cpu.backend, Py_NewRef(backend));
    cpu.backend_offset = offset;
    answer();
    Py_RETURN_NONE;
}

/* Set a flag; None, or NULL with an exception set. */
static PyObject *set_flag(int *flag, PyObject *value)
{
    const int truth = PyObject_IsTrue(value);
    if (truth < 0) {
        return NULL;
    }
    *flag = truth;
    answer();
    Py_RETURN_NONE;
}

static PyObject *set_watched(PyObject *module, PyObject *watched)
{
    return set_flag(&is_watched, watched);
}

static PyObject *set_recorded(PyObject *module, PyObject *recorded)
{
    return set_flag(&is_recorded, recorded);
}

static PyObject *set_hints(PyObject *module, PyObject *object)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    const Py_ssize_t device = offset_of(type, "device");
    const Py_ssize_t strict_operands = offset_of(type, "strict_operands");
    if (device < 0 || strict_operands < 0) {
        return NULL;
    }
    default_device_offset = device;
    strict_operands_offset = strict_operands;
    Py_XSETREF(hints, Py_NewRef(object));
    Py_RETURN_NONE;
}

KEEP_ARGUMENT(set_errors, errstate_function)

static PyObject *set_views_from(PyObject *module, PyObject *args)
{
    PyObject *type, *make;
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &type, &make)) {
        return NULL;
    }
    ViewSlots slots = {
        (PyTypeObject *)type,         offset_of(type, "shape"), offset_of(type, "strides"),
        offset_of(type, "offset"),    offset_of(type, "mask"),  offset_of(type, "is_read_only"),
        make,
    };
    if (PyErr_Occurred()) {
        return NULL;
    }
    set_views(&slots);
    Py_RETURN_NONE;
}

PyMethodDef settings_methods[] = {
    {"set_limits", set_limits, METH_VARARGS,
     "set_limits(at_once, large, recorded, tracked)\n--\n\nSee policy.py."},
    {"set_cpu", set_cpu, METH_VARARGS,
     "set_cpu(device, committed, backend)\n--\n\n"
     "The device whose arrays C computes with, as long as that is its backend: not committed, and "
     "committed."},
    {"set_watched", set_watched, METH_O,
     "set_watched(watched)\n--\n\n"
     "Whether C leaves conversions of arrays to Python scalars and NumPy, and from them, to Python."},
    {"set_recorded", set_recorded, METH_O,
     "set_recorded(recorded)\n--\n\nWhether C leaves all that arrays do to Python."},
    {"set_hints", set_hints, METH_O,
     "set_hints(hints)\n--\n\n"
     "The object whose slot `device` says where new arrays live, and whose slot `strict_operands` "
     "whether Python is to look at NumPy's arrays."},
    {"set_errors", set_errors, METH_O,
     "set_errors(apply)\n--\n\nWhat is called as apply(name, flags) after floating-point errors."},
    {"set_thread_count", set_thread_count, METH_VARARGS,
     "set_thread_count(count, keeps)\n--\n\n"
     "What tells how many threads a computation may use, and whether the number may be kept for the same settings."},
    {"set_views", set_views_from, METH_VARARGS,
     "set_views(View, make)\n--\n\n"
     "The class of views, and what makes one of shape, strides, offset, mask and is_read_only."},
    {NULL, NULL, 0, NULL},
};
