#include "threads.h"
#include "parts.h"
#include "arguments.h"
#include "flags.h"
#include "memory.h"
#include "sizes.h"

#include <time.h>

/* What threadpoolctl looks for in the dynamic symbol table, to know this library. */
Py_EXPORTED_SYMBOL const int array_api_nx_native = 1;

/* Nanoseconds for which a worker that has finished stays awake from the end of the job on (docs/tuning.md, 130). */
enum { STAY_AWAKE = 10000 };

/* Nanoseconds of work from which the caller wakes a worker (docs/tuning.md, 131). 0 in tests: then every
   job has all helpers. */
static _Atomic npy_int64 worth_waking = 100000;

/* How many times `worth_waking` a series of jobs has to have taken before the caller wakes a worker for it
   (docs/tuning.md, 148). */
enum { BURST = 4 };

/* Nanoseconds for which the caller waits for the last tasks of workers before it sleeps, and a worker that has finished for
   those of the caller: about the time of one task. */
enum { WAIT_AWAKE = 50000 };

/* Helpers are called while they have saved more time than they have cost. So their credit goes from
   LEAST_CREDIT to MOST_CREDIT nanoseconds; below 0 it grows by this part of the time for which the caller
   works alone (docs/tuning.md, 132). */
enum { MOST_CREDIT = 10000000, LEAST_CREDIT = -20000000, RECOVERY = 20 };

/* A task of the caller counts as at most so many times the shortest one of the job. */
enum { LONGEST = 8 };

Pool *pool;

/* Nanoseconds since some time. */
static inline npy_int64 read_clock(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (npy_int64)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Wait for some nanoseconds, and leave the core to the other hardware thread meanwhile. */
static inline void pause_shortly(void)
{
#if defined(HAS_GNU_C) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(HAS_GNU_C) && defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* as long as x86's pause; `yield` takes no time */
#elif defined(_MSC_VER) && defined(_M_X64)
    _mm_pause();
#endif
}

/* ------------------------------------------------------------------ scratch memory */

static void release_scratch(TileMemory *scratch)
{
    PyMem_RawFree(scratch->block);
    *scratch = (TileMemory){NULL, NULL, 0};
}

/* Make room for `size` bytes; 0 if there is no memory. */
static int reserve_scratch(TileMemory *scratch, size_t size)
{
    if (scratch->size >= size) {
        return 1;
    }
    release_scratch(scratch);
    scratch->block = PyMem_RawMalloc(size + ALIGNMENT);
    if (scratch->block == NULL) {
        return 0;
    }
    const uintptr_t address = (uintptr_t)scratch->block + ALIGNMENT - 1;
    scratch->start = (char *)(address - address % ALIGNMENT);
    scratch->size = size;
    return 1;
}

/* ------------------------------------------------------------------ jobs */

/* The threads that work on parts stop when the main thread was asked to by Ctrl-C. Only that thread sees it; a
   handler would run Python code, which may compute what the parts belong to. */
static void work_on_parts(Job *job, char *scratch, int is_caller)
{
    for (npy_intp task; (task = take_task(job, is_caller)) >= 0;) {
        if (is_caller && job->stops && PyOS_InterruptOccurred()) {
            atomic_store(&job->interrupt->stopped, 1);
        }
        if (is_interrupted(job->interrupt, is_caller)) {
            break;
        }
        job->run_part(job->parts, task, scratch);
    }
}

/* ------------------------------------------------------------------ gates */

/* Enter the gate if it is open: the thread that closes it then waits for this one. 0 if it is closed. */
static int enter_gate(Gate *gate)
{
    npy_intp inside = atomic_load(&gate->inside);
    while (inside < CLOSED) {
        if (atomic_compare_exchange_weak(&gate->inside, &inside, inside + 1)) {
            return 1;
        }
    }
    return 0;
}

static void leave_gate(Gate *gate)
{
    if (atomic_fetch_add(&gate->inside, -1) == (CLOSED | ASLEEP) + 1) {
        PyThread_release_lock(gate->empty);
    }
}

static void open_gate(Gate *gate)
{
    atomic_store(&gate->inside, 0);
}

int is_closed(Gate *gate)
{
    return atomic_load(&gate->inside) >= CLOSED;
}

int close_gate(Gate *gate)
{
    return atomic_fetch_add(&gate->inside, CLOSED) == 0;
}

void await_empty(Gate *gate)
{
    const npy_int64 end = read_clock() + WAIT_AWAKE;
    while (atomic_load(&gate->inside) != CLOSED) {
        if (read_clock() > end) {
            if (atomic_fetch_add(&gate->inside, ASLEEP) != CLOSED) {
                PyThread_acquire_lock(gate->empty, WAIT_LOCK);
            }
            return;
        }
        pause_shortly();
    }
}

/* ------------------------------------------------------------------ workers */

/* Ask a worker that is awake to come. */
static void call_awake(Worker *worker, int call)
{
    int state = atomic_load(&worker->state);
    while (state != ASLEEP && !atomic_compare_exchange_weak(&worker->state, &state, call)) {
    }
}

/* Wake a worker that is asleep to come. */
static void wake(Worker *worker, int call)
{
    int state = ASLEEP;
    if (atomic_compare_exchange_strong(&worker->state, &state, call)) {
        PyThread_release_lock(worker->wake);
    }
}

/* Wait until the worker is called: awake as long as the job that it took part in goes on, since another one may follow.
   Returns CALLED or CALLED_WITH_GIL. */
static int await_call(Worker *worker)
{
    const npy_int64 start = read_clock();
    npy_int64 now = start, end = start + STAY_AWAKE;
    while (atomic_load(&worker->state) == AWAKE && now < end) {
        pause_shortly();
        now = read_clock();
        end = now - start < WAIT_AWAKE && !is_closed(&worker->pool->job.gate) ? now + STAY_AWAKE : end;
    }
    int state = AWAKE;
    if (atomic_compare_exchange_strong(&worker->state, &state, ASLEEP)) {
        PyThread_acquire_lock(worker->wake, WAIT_LOCK);
    }
    return atomic_exchange(&worker->state, AWAKE);
}

/* Take the GIL. */
static void enter_python(Worker *worker)
{
    if (worker->python != NULL) {
        PyEval_RestoreThread(worker->python);
    } else {
        PyGILState_Ensure();
        worker->python = PyThreadState_Get();
    }
}

/* The main function of a worker's thread, which never returns.

   The job that a worker was called for may be over when it comes, and another one may have begun.
   The worker takes part in that one only if it holds the GIL, or does not, as that job wants it; if
   not, it has been called again. The GIL is taken before the job's gate is entered, so that no caller
   waits for a worker that waits for the GIL, which other threads may hold for milliseconds, or for ever
   once the interpreter ends. */
static void serve(void *argument)
{
    Worker *worker = argument;
    Pool *own = worker->pool;
    Job *job = &own->job;
    for (;;) {
        const int call = await_call(worker);
        if (call == CALLED_WITH_GIL) {
            if (!enter_gate(&own->python)) {
                continue;
            }
            enter_python(worker);
        }
        const int entered = enter_gate(&job->gate);
        if (entered && worker->number < job->helpers && call == job->call) {
            job->work(job, worker->scratch.start, 0);
        }
        if (call == CALLED_WITH_GIL) {
            PyEval_SaveThread();
            leave_gate(&own->python);
        }
        if (entered) {
            leave_gate(&job->gate); /* after releasing the GIL, which the waiting caller needs next */
        }
    }
}

/* A lock that is held already; NULL if there is no memory. */
static PyThread_type_lock make_signal(void)
{
    const PyThread_type_lock signal = PyThread_allocate_lock();
    if (signal != NULL) {
        PyThread_acquire_lock(signal, WAIT_LOCK);
    }
    return signal;
}

/* Start workers until there are `count`, or as many as can be had. */
static void grow(Pool *own, int count)
{
    while (own->count < count) {
        Worker *worker = &own->workers[own->count];
        worker->pool = own;
        worker->number = own->count;
        if (worker->wake == NULL && (worker->wake = make_signal()) == NULL) {
            return;
        }
        if (PyThread_start_new_thread(serve, worker) == PYTHREAD_INVALID_THREAD_ID) {
            return;
        }
        own->count++;
    }
}

/* Make a pool without workers; 0 if there is no memory. A former pool is never freed: after a fork
   its threads exist in the parent alone, and its locks may be held for ever. */
static int make_pool(void)
{
    Pool *fresh = PyMem_RawCalloc(1, sizeof(Pool));
    if (fresh == NULL) {
        return 0;
    }
    fresh->job.gate = (Gate){CLOSED, make_signal()};
    fresh->python.empty = make_signal();
    if (fresh->job.gate.empty == NULL || fresh->python.empty == NULL) {
        if (fresh->job.gate.empty != NULL) {
            PyThread_free_lock(fresh->job.gate.empty);
        }
        if (fresh->python.empty != NULL) {
            PyThread_free_lock(fresh->python.empty);
        }
        PyMem_RawFree(fresh);
        return 0;
    }
    pool = fresh;
    return 1;
}

/* ------------------------------------------------------------------ jobs of a caller */

int acquire_team(Team *team, npy_intp scratch, npy_intp tasks, npy_intp threads)
{
    const size_t size = (size_t)scratch;
    Pool *own = pool;
    const int is_free = !atomic_exchange(&own->busy, 1);
    team->pool = is_free ? own : NULL;
    team->job = is_free ? &own->job : &team->own_job;
    team->scratch = is_free ? &own->scratch : &team->own_scratch;
    team->helpers = 0;
    team->own_scratch = (TileMemory){NULL, NULL, 0};
    start_interrupt(&team->interrupt);
    if (!reserve_scratch(team->scratch, size)) {
        return 0;
    }
    if (!is_free) {
        return 1;
    }
    npy_intp helpers = least(threads, tasks) - 1;
    if (helpers > MAX_WORKERS) {
        helpers = MAX_WORKERS;
    }
    grow(own, (int)helpers);
    while (team->helpers < helpers && team->helpers < own->count &&
           reserve_scratch(&own->workers[team->helpers].scratch, size)) {
        team->helpers++;
    }
    return 1;
}

void release_team(Team *team)
{
    if (team->pool != NULL) {
        atomic_store(&team->pool->busy, 0);
    }
    release_scratch(&team->own_scratch);
}

/* Note the time of the caller's last task. A task that took far longer than the shortest one was
   interrupted: the processor did other work meanwhile, perhaps the helper's. */
static void note_task(Job *job)
{
    const npy_int64 now = read_clock(), took = now - job->noted;
    if (job->ahead == 1 || took < job->shortest) {
        job->shortest = took;
    }
    job->worked += least(took, LONGEST * job->shortest);
    job->noted = now;
}

/* Whether helpers may be called, if the caller has worked alone for so many nanoseconds. */
static int have_credit(const Pool *own, npy_int64 worked)
{
    return own->credit + worked / RECOVERY >= 0 || worth_waking == 0;
}

/* Wake workers if the job takes long enough, or if it belongs to a long series: of jobs each of which began so soon after the
   one before that a worker would have stayed awake in between. Such a series is expected to go on as long again. */
static void call_for_help(Job *job)
{
    const npy_intp left = job->tasks - least(job->taken, job->tasks);
    const double work = (double)job->worked * (1 + (double)left / job->ahead);
    const int is_long = work >= worth_waking || job->pool->burst >= BURST * worth_waking;
    if (left < 2 || !is_long || !have_credit(job->pool, job->worked)) {
        return;
    }
    /* One, and another one for each further part of the work that is worth it. */
    for (; job->woken < job->helpers && work >= (double)job->woken * worth_waking; job->woken++) {
        wake(&job->pool->workers[job->woken], job->call);
    }
    job->noted = read_clock();
}

npy_intp take_task(Job *job, int is_caller)
{
    if (is_caller && job->ahead > 0 && job->helpers > 0) {
        note_task(job);
        if (job->woken < job->helpers) {
            call_for_help(job);
        }
    }
    if (atomic_fetch_add(&job->taken, 1) >= job->tasks) {
        return -1;
    }
    return is_caller ? job->ahead++ : job->tasks - 1 - atomic_fetch_add(&job->behind, 1);
}

void begin_job(Team *team, int call, int is_long)
{
    Job *job = team->job;
    job->taken = job->behind = job->ahead = 0;
    job->interrupt = &team->interrupt;
    job->helpers = team->helpers;
    job->woken = 0;
    job->call = call;
    if (job->helpers == 0) {
        return;
    }
    open_gate(&job->gate);
    if (call == CALLED && !have_credit(team->pool, 0)) {
        return;
    }
    for (int i = 0; i < job->helpers; i++) {
        call_awake(&team->pool->workers[i], call);
    }
    for (; is_long && job->woken < job->helpers; job->woken++) {
        wake(&team->pool->workers[job->woken], call);
    }
}

/* Note the time that a job took, and what its helpers have saved. */
static void settle(Pool *own, const Job *job)
{
    own->ended = read_clock();
    const npy_int64 time = own->ended - job->start;
    own->burst += time;
    if (job->woken == 0 && job->behind == 0) {
        own->credit += own->credit < 0 ? time / RECOVERY : 0;
    } else if (job->ahead > 0) {
        const double saved = (double)job->worked * job->tasks / job->ahead - (double)time;
        own->credit += (npy_int64)(saved < LEAST_CREDIT ? LEAST_CREDIT : saved);
    }
    own->credit = greatest(LEAST_CREDIT, least(own->credit, MOST_CREDIT));
}

/* Have the team do its job. Call it without the GIL. */
static void do_job(Team *team, int is_long)
{
    Job *job = team->job;
    Pool *own = team->helpers > 0 ? team->pool : NULL;
    if (own == NULL) {
        begin_job(team, CALLED, 0);
        job->work(job, team->scratch->start, 1);
        return;
    }
    job->pool = own;
    job->start = job->noted = read_clock();
    job->worked = 0;
    if (job->start - own->ended > STAY_AWAKE) {
        own->burst = 0;
    }
    begin_job(team, CALLED, is_long);
    job->work(job, team->scratch->start, 1);
    if (!close_gate(&job->gate)) {
        await_empty(&job->gate);
    }
    settle(own, job);
}

static void begin_parts(Team *team, RunPart run, const void *parts, npy_intp count, int stops)
{
    Job *job = team->job;
    job->work = work_on_parts;
    job->run_part = run;
    job->parts = parts;
    job->tasks = count;
    job->stops = stops;
}

int run_parts(RunPart run, const void *parts, npy_intp count, npy_intp scratch, npy_intp threads, int stops)
{
    Team team;
    int complete = acquire_team(&team, scratch, count, threads);
    if (complete) {
        begin_parts(&team, run, parts, count, stops);
        do_job(&team, 0);
        complete = atomic_load(&team.interrupt.stopped) ? -1 : 1;
    }
    release_team(&team);
    return complete;
}

int run_parts_freely(RunPart run, const void *parts, npy_intp count, npy_intp threads, int is_long)
{
    Team team;
    int complete = acquire_team(&team, 0, count, threads);
    if (complete) {
        begin_parts(&team, run, parts, count, 0);
        release_gil(&team.interrupt);
        do_job(&team, is_long);
        complete = take_gil(&team.interrupt);
    } else {
        PyErr_NoMemory();
    }
    release_team(&team);
    return complete;
}

/* ------------------------------------------------------------------ the module's part */

static PyObject *forget_threads(PyObject *module, PyObject *ignored)
{
    if (!make_pool()) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

static PyObject *set_worth_waking(PyObject *module, PyObject *nanoseconds)
{
    npy_intp number;
    if (!read_int(nanoseconds, 0, NPY_MAX_INTP, "nanoseconds", &number)) {
        return NULL;
    }
    worth_waking = number;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"forget_threads", forget_threads, METH_NOARGS,
     "forget_threads()\n--\n\nStart afresh without threads, as a forked child has to."},
    {"set_worth_waking", set_worth_waking, METH_O,
     "set_worth_waking(nanoseconds)\n--\n\n"
     "Wake threads for so much work; 0, for tests, has them help with any."},
    {NULL, NULL, 0, NULL},
};

int add_threads(PyObject *module)
{
    if (pool == NULL && !make_pool()) {
        PyErr_NoMemory();
        return -1;
    }
    return PyModule_AddFunctions(module, functions);
}
