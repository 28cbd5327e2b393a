/* How operations wait where they are called: what Python says of the settings there, kept for lines of the same module. */

#include "names.h"
#include "nodes.h"

/* See `set_modes`. */
static PyObject *ask_modes, *numpys_variable, *ignoring_settings, *own_variable;

/* What was answered for lines of a module under these settings. */
typedef struct {
    PyObject *numpys, *own, *module; /* the name of the module; None where lines have none */
    Modes modes;
} Answer;

enum { ANSWERS = 8 };
static Answer answers[ANSWERS];

/* What was answered for the lines that led to the list of calls that this thread runs, under NumPy's settings there; or NULL. */
static THREAD_LOCAL PyObject *list_settings;
static THREAD_LOCAL Modes list_modes;

/* Whether it is the name of a module whose lines are not those that led here: of this package, NumPy or
   contextlib (contract/callers.py). */
static int is_inside(PyObject *module)
{
    static const char *const names[] = {"array_api_nx", "numpy", "contextlib"};
    const char *name = module == Py_None ? NULL : PyUnicode_AsUTF8(module);
    for (int i = 0; name != NULL && i < 3; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && (name[length] == '\0' || name[length] == '.')) {
            return 1;
        }
    }
    PyErr_Clear();
    return 0;
}

/* The answer of Python for a module; 0 with an exception set. */
static int ask_python(PyObject *module, Modes *modes)
{
    PyObject *answer = PyObject_CallOneArg(ask_modes, module);
    const npy_int64 number = answer == NULL || answer == Py_None ? -1 : PyLong_AsLongLong(answer);
    Py_XDECREF(answer);
    *modes = (Modes){number < 0 ? -1 : (int)(number & 15), (int)(number >> 4 & 1), (npy_intp)(number >> 8)};
    return !PyErr_Occurred();
}

/* The module of a line, as its globals name it: a borrowed reference; None if it was executed in a dict of its own. */
static PyObject *module_of(PyObject *globals)
{
    PyObject *module = globals == NULL ? NULL : PyDict_GetItemWithError(globals, names_of.__name__);
    if (module == NULL) {
        PyErr_Clear();
    }
    return module != NULL && PyUnicode_CheckExact(module) ? module : Py_None;
}

/* That of the line outside of this package that led to one inside; None if there is none. */
static PyObject *find_outer_module(void)
{
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    PyObject *module = Py_None;
    do {
        PyObject *globals = frame == NULL ? NULL : PyFrame_GetGlobals(frame);
        module = module_of(globals);
        Py_XDECREF(globals);
        if (frame != NULL) {
            Py_SETREF(frame, PyFrame_GetBack(frame));
        }
    } while (module != Py_None && is_inside(module));
    Py_XDECREF(frame);
    return module;
}

/* Where the answer for a module under these settings is kept. (Settings of NumPy have memory of 16 bytes at least.) */
static Answer *place_of(PyObject *module, PyObject *numpys)
{
    return &answers[((npy_uintp)module / 64 + (npy_uintp)numpys / 16) % ANSWERS];
}

/* What was answered for a module under these settings; NULL if it has not been asked for. */
static const Modes *find_answer(PyObject *module, PyObject *numpys, PyObject *own)
{
    const Answer *answer = place_of(module, numpys);
    return answer->module == module && answer->numpys == numpys && answer->own == own ? &answer->modes : NULL;
}

int find_modes(Modes *modes)
{
    PyObject *numpys, *own;
    *modes = (Modes){-1, 0, 0};
    if (numpys_variable == NULL) {
        return 1;
    }
    if (PyContextVar_Get(numpys_variable, Py_None, &numpys) < 0) {
        return 0;
    }
    if (numpys == list_settings) {
        *modes = list_modes;
        Py_DECREF(numpys);
        return 1;
    }
    if (PyContextVar_Get(own_variable, Py_None, &own) < 0) {
        Py_DECREF(numpys);
        return 0;
    }
    PyObject *module = module_of(PyEval_GetGlobals());
    const Modes *known = find_answer(module, numpys, own);
    if (known == NULL && is_inside(module)) {
        module = find_outer_module();
        known = find_answer(module, numpys, own);
    }
    if (known != NULL) {
        *modes = *known;
        Py_DECREF(numpys);
        Py_DECREF(own);
        return 1;
    }
    Py_INCREF(module);
    if (!ask_python(module, modes)) {
        Py_DECREF(numpys);
        Py_DECREF(own);
        Py_DECREF(module);
        return 0;
    }
    Answer *answer = place_of(module, numpys);
    answer->modes = *modes;
    Py_XSETREF(answer->module, module);
    Py_XSETREF(answer->numpys, numpys);
    Py_XSETREF(answer->own, own);
    return 1;
}

int find_own_settings(PyObject **settings)
{
    *settings = NULL;
    return own_variable == NULL || PyContextVar_Get(own_variable, NULL, settings) == 0;
}

int find_errors(void)
{
    Modes modes;
    return find_modes(&modes) ? modes.errors : -2;
}

int is_users_line(void)
{
    return !is_inside(module_of(PyEval_GetGlobals()));
}

int begin_list_modes(ListRun *before)
{
    PyObject *settings = NULL;
    Modes modes;
    if (!find_modes(&modes) || (numpys_variable != NULL && PyContextVar_Get(numpys_variable, Py_None, &settings) < 0)) {
        return 0;
    }
    before->settings = list_settings;
    before->modes = list_modes;
    list_settings = settings;
    list_modes = modes;
    return 1;
}

void end_list_modes(const ListRun *before)
{
    Py_XSETREF(list_settings, before->settings);
    list_modes = before->modes;
}

/* Have NumPy's settings be these from now on; 0 with an exception set. Where there is no memory for a token, which nobody needs,
   Python sets the variable and says that it failed. */
static int set_numpys(PyObject *settings)
{
    PyObject *token = PyContextVar_Set(numpys_variable, settings), *type, *value, *traceback, *now = NULL;
    if (token != NULL) {
        Py_DECREF(token);
        return 1;
    }
    PyErr_Fetch(&type, &value, &traceback);
    const int is_set = PyContextVar_Get(numpys_variable, NULL, &now) == 0 && now == settings;
    Py_XDECREF(now);
    PyErr_Restore(type, value, traceback);
    if (is_set) {
        PyErr_Clear();
    }
    return is_set;
}

PyObject *ignore_errors(void)
{
    PyObject *before = NULL; /* what stands for no settings, if there are none */
    if (numpys_variable == NULL || PyContextVar_Get(numpys_variable, NULL, &before) < 0 || before == NULL) {
        return NULL;
    }
    if (!set_numpys(ignoring_settings)) {
        Py_CLEAR(before);
    }
    return before;
}

PyObject *restore_errors(PyObject *before, PyObject *result)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    int failed = !set_numpys(before);
    if (failed) { /* there was no memory: errors would be ignored from now on, and the second try mostly finds some */
        PyErr_Clear();
        failed = !set_numpys(before);
    }
    Py_DECREF(before);
    if (!failed || type != NULL) {
        PyErr_Restore(type, value, traceback);
    }
    if (failed) {
        drop_answer(result);
    }
    return failed ? NULL : result;
}

void set_modes(PyObject *modes, PyObject *numpys, PyObject *ignoring, PyObject *own)
{
    Py_XSETREF(ignoring_settings, Py_NewRef(ignoring));
    Py_XSETREF(ask_modes, Py_NewRef(modes));
    Py_XSETREF(numpys_variable, numpys == Py_None ? NULL : Py_NewRef(numpys));
    Py_XSETREF(own_variable, Py_NewRef(own));
    for (int i = 0; i < ANSWERS; i++) {
        Py_CLEAR(answers[i].numpys);
        Py_CLEAR(answers[i].own);
        Py_CLEAR(answers[i].module);
    }
}
