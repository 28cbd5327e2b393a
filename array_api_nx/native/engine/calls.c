/* Calls of a Python function, shared by the threads of a team.

   Every thread holds the GIL while it calls: the function's work without the GIL runs in parallel, such
   as NumPy's on a slice of an array. A worker makes its calls in a copy of the caller's
   context: they see the context variables that the caller's calls see, NumPy's errstate among them. */

#include "parts.h"
#include "arguments.h"
#include "sizes.h"
#include "threads.h"

/* Call the function with the number of a task; 0 if there was an exception, or if a signal's handler
   raised one. */
static int call_task(PyObject *function, npy_intp task)
{
    PyObject *number = PyLong_FromSsize_t(task);
    if (number == NULL) {
        return 0;
    }
    PyObject *result = PyObject_CallOneArg(function, number);
    Py_DECREF(number);
    Py_XDECREF(result);
    return result != NULL && PyErr_CheckSignals() == 0;
}

/* Take tasks until there are none; 0 if one failed, whose exception stays set. */
static int make_calls(Job *job, int is_caller)
{
    /* When the interpreter ends, workers take no more tasks; the caller does, if it gets that far. */
    while (!atomic_load(&job->interrupt->stopped) && (is_caller || !is_closed(&pool->python))) {
        const npy_intp task = atomic_fetch_add(&job->taken, 1);
        if (task >= job->tasks) {
            break;
        }
        if (!call_task(job->function, task)) {
            atomic_store(&job->interrupt->stopped, 1);
            return 0;
        }
    }
    return 1;
}

/* The work of a worker: make calls, and hand the caller the exception, if it is the first one. */
static void help_with_calls(Job *job, char *scratch, int is_caller)
{
    PyObject *exception = NULL;
    PyObject *context = PyContext_Copy(job->context);
    if (context == NULL || PyContext_Enter(context) < 0) {
        PyErr_Clear(); /* there is no memory: others make the calls */
    } else {
        if (!make_calls(job, 0)) {
            exception = take_exception();
        }
        PyContext_Exit(context);
    }
    Py_XDECREF(context);
    PyObject *none = NULL;
    if (exception != NULL && !atomic_compare_exchange_strong(&job->exception, &none, exception)) {
        Py_DECREF(exception);
    }
}

/* Whether all calls returned; if not, an exception is set. */
static int call_together(Team *team, PyObject *function, npy_intp count)
{
    Job *job = team->job;
    job->context = PyContext_CopyCurrent();
    if (job->context == NULL) {
        return 0;
    }
    job->work = help_with_calls;
    job->function = function;
    job->exception = NULL;
    job->tasks = count;
    begin_job(team, CALLED_WITH_GIL, 1);
    make_calls(job, 1);
    if (!close_gate(&job->gate)) {
        release_gil(&team->interrupt);
        await_empty(&job->gate);
        take_gil(&team->interrupt);
    }
    Py_CLEAR(job->context);
    PyObject *exception = job->exception;
    if (exception != NULL && PyErr_Occurred()) {
        /* That of the caller is raised, which may be a KeyboardInterrupt. */
        Py_DECREF(exception);
    } else if (exception != NULL) {
        put_exception(exception);
    }
    return PyErr_Occurred() == NULL;
}

static int call_alone(PyObject *function, npy_intp count)
{
    for (npy_intp task = 0; task < count; task++) {
        if (!call_task(function, task)) {
            return 0;
        }
    }
    return 1;
}

static PyObject *parallel_for(PyObject *module, PyObject *const *args, Py_ssize_t arg_count)
{
    npy_intp count, threads;
    Team team = {.helpers = 0};
    if (arg_count != 3) {
        PyErr_SetString(PyExc_TypeError,
                        "parallel_for takes a function, a count and a number of threads");
        return NULL;
    }
    if (!read_int(args[1], 0, MAX_BYTES, "count", &count) ||
        !read_int(args[2], 1, NPY_MAX_INTP, "threads", &threads)) {
        return NULL;
    }
    int done;
    if (count < 2 || threads < 2 || is_closed(&pool->python)) {
        done = call_alone(args[0], count);
    } else {
        acquire_team(&team, 0, count, threads); /* without scratch memory it cannot fail */
        done = team.helpers > 0 ? call_together(&team, args[0], count) : call_alone(args[0], count);
        release_team(&team);
    }
    return done ? Py_NewRef(Py_None) : NULL;
}

/* Let no worker have the GIL any more, and wait for those that have it.

   A thread that asks for the GIL while the interpreter ends never comes back, or finds no interpreter
   at all. */
static PyObject *retire_workers(PyObject *module, PyObject *ignored)
{
    if (!is_closed(&pool->python) && !close_gate(&pool->python)) {
        Py_BEGIN_ALLOW_THREADS
        await_empty(&pool->python);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

PyMethodDef calls_methods[] = {
    {"parallel_for", (PyCFunction)(void (*)(void))parallel_for, METH_FASTCALL,
     "parallel_for(task, count, threads)\n--\n\n"
     "Call task(i) for each i in range(count), on at most so many threads, this one among them. See "
     "parallel.py."},
    {"retire_workers", retire_workers, METH_NOARGS,
     "retire_workers()\n--\n\n"
     "Have no thread but the calling one call tasks of parallel_for from now on, and wait for those "
     "that do, as the interpreter has to before it ends."},
    {NULL, NULL, 0, NULL},
};
