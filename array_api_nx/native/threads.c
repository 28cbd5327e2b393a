#include "threads.h"
#include "parts.h"
#include "flags.h"
#include "memory.h"
#include "sizes.h"
#include "tiles.h"

/* What threadpoolctl looks for in the dynamic symbol table, to know this library. */
Py_EXPORTED_SYMBOL const int array_api_nx_native = 1;

/* How often a thread reads a number before it goes to sleep. With the pauses in between that takes
   about a hundred microseconds: within that time a caller that runs Python code between two jobs, or
   an operation that needs no team, mostly comes back, and finds the workers awake. */
enum { SPIN_COUNT = 5000 };

Pool *pool;

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

/* Copy the flags of the first `count` steps. */
static void collect_flags(const Job *job, npy_uint8 *flags, int count)
{
    for (int i = 0; i < count; i++) {
        flags[i] = job->flags[i];
    }
}

/* Run the loop over the elements of one task. */
static void run_part(const Run *run, npy_intp task)
{
    char *args[MAX_SOURCES + 1];
    const npy_intp begin = task * run->each;
    const npy_intp count = least(run->count - begin, run->each);
    for (int i = 0; i <= run->loop->sources; i++) {
        args[i] = run->args[i] + (run->steps[i] == 0 ? task * run->accumulator_stride : begin * run->steps[i]);
    }
    run->loop->function(args, &count, run->steps, run->loop->data);
}

static void work_on_run(Job *job, char *scratch, int is_caller)
{
    const Run run = job->run;
    take_flags();
    for (npy_intp task; (task = atomic_fetch_add(&job->next, 1)) < job->tasks;) {
        if (is_interrupted(job->interrupt, is_caller)) {
            break;
        }
        run_part(&run, task);
    }
    note_flags(&job->flags[0], take_flags());
}

static void work_on_kernel(Job *job, char *scratch, int is_caller)
{
    Frame frame;
    start_frame(&frame, job->kernel, job->memories, scratch, job->interrupt, is_caller);
    for (npy_intp task; (task = atomic_fetch_add(&job->next, 1)) < job->tasks;) {
        run_task(&frame, task);
    }
    for (int i = 0; i < job->kernel->step_count; i++) {
        note_flags(&job->flags[i], frame.flags[i]);
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
    for (int i = 0; i < SPIN_COUNT; i++) {
        if (atomic_load(&gate->inside) == CLOSED) {
            return;
        }
        pause_shortly();
    }
    if (atomic_fetch_add(&gate->inside, ASLEEP) != CLOSED) {
        PyThread_acquire_lock(gate->empty, WAIT_LOCK);
    }
}

/* ------------------------------------------------------------------ workers */

static void call_worker(Worker *worker, int call)
{
    if (atomic_exchange(&worker->state, call) == ASLEEP) {
        keep_apart(&worker->placement);
        PyThread_release_lock(worker->wake);
    }
}

/* Wait until the worker is called. Returns CALLED or CALLED_WITH_GIL. */
static int await_call(Worker *worker)
{
    for (int i = 0; i < SPIN_COUNT && atomic_load(&worker->state) == AWAKE; i++) {
        pause_shortly();
    }
    int state = AWAKE;
    if (atomic_compare_exchange_strong(&worker->state, &state, ASLEEP)) {
        PyThread_acquire_lock(worker->wake, WAIT_LOCK);
        move_freely(&worker->placement);
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
    note_thread(&worker->placement);
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
    *team = (Team){.pool = NULL};
    start_interrupt(&team->interrupt);
    if (atomic_exchange(&own->busy, 1)) {
        return reserve_scratch(&team->own, size);
    }
    team->pool = own;
    if (!reserve_scratch(&own->scratch, size)) {
        return 0;
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
    release_scratch(&team->own);
}

static void run_alone(const Kernel *kernel, char *const *memories, char *scratch,
                      Interrupt *interrupt, npy_uint8 *flags)
{
    Frame frame;
    start_frame(&frame, kernel, memories, scratch, interrupt, 1);
    _Atomic npy_intp next = 0;
    interrupt->begun = &next;
    interrupt->tasks = kernel->tasks;
    while (next < kernel->tasks) {
        run_task(&frame, next++);
    }
    interrupt->begun = NULL;
    memcpy(flags, frame.flags, (size_t)kernel->step_count);
}

void begin_job(Team *team, int call)
{
    Pool *own = team->pool;
    Job *job = &own->job;
    job->next = 0;
    job->interrupt = &team->interrupt;
    job->helpers = team->helpers;
    job->call = call;
    open_gate(&job->gate);
    for (int i = 0; i < team->helpers; i++) {
        call_worker(&own->workers[i], call);
    }
}

/* Have the team do the pool's job. Call it without the GIL. */
static void do_job(Team *team)
{
    Job *job = &team->pool->job;
    team->interrupt.begun = &job->next;
    team->interrupt.tasks = job->tasks;
    begin_job(team, CALLED);
    job->work(job, team->pool->scratch.start, 1);
    if (!close_gate(&job->gate)) {
        await_empty(&job->gate);
    }
}

/* Elements of a part of a kernel that is one loop, at most. They take a millisecond; after some of them
   interrupts are looked for. */
enum { RUN_MAX = 1 << 17 };

/* Whether the kernel is one loop over one row, which is faster without tiles (docs/tuning.md, 58). */
static int is_run(const Kernel *kernel)
{
    const KernelStep *step = &kernel->steps[0];
    return kernel->step_count == 1 && kernel->ndim == 2 && kernel->dims[0] == 1 &&
           kernel->split == 1 && kernel->scratch == 0 && !step->reduces && step->inner == 0;
}

/* Compute such a kernel in as many parts as there are threads, or more. */
static npy_uint8 run_row(Team *team, const Kernel *kernel, char *const *memories)
{
    const KernelStep *step = &kernel->steps[0];
    const npy_intp count = kernel->dims[1], share = (count - 1) / (team->helpers + 1) + 1;
    const npy_intp each = least((share + GRAIN - 1) / GRAIN * GRAIN, RUN_MAX);
    Run run = {&step->loop, {NULL}, {0}, count, each, 0};
    for (int i = 0; i <= step->loop.sources; i++) {
        const int slot = i < step->loop.sources ? step->sources[i] : step->target;
        run.args[i] = memories[slot];
        run.steps[i] = kernel->operands[slot].strides[1];
    }
    return run_loop(team, &run, (count - 1) / each + 1);
}

void run_kernel(Team *team, const Kernel *kernel, char *const *memories, npy_uint8 *flags)
{
    Pool *own = team->pool;
    if (is_run(kernel)) {
        flags[0] = run_row(team, kernel, memories);
        return;
    }
    if (team->helpers == 0) {
        char *scratch = own == NULL ? team->own.start : own->scratch.start;
        run_alone(kernel, memories, scratch, &team->interrupt, flags);
        return;
    }
    own->job.work = work_on_kernel;
    own->job.kernel = kernel;
    own->job.memories = memories;
    own->job.tasks = kernel->tasks;
    memset(own->job.flags, 0, (size_t)kernel->step_count * sizeof(*own->job.flags));
    do_job(team);
    collect_flags(&own->job, flags, kernel->step_count);
}

npy_uint8 run_loop(Team *team, const Run *run, npy_intp tasks)
{
    if (team->helpers == 0) {
        _Atomic npy_intp next = 0;
        team->interrupt.begun = &next;
        team->interrupt.tasks = tasks;
        take_flags();
        while (next < tasks && !is_interrupted(&team->interrupt, 1)) {
            run_part(run, next++);
        }
        team->interrupt.begun = NULL;
        return take_flags();
    }
    Job *job = &team->pool->job;
    job->work = work_on_run;
    job->run = *run;
    job->tasks = tasks;
    job->flags[0] = 0;
    do_job(team);
    return job->flags[0];
}

/* ------------------------------------------------------------------ the module's part */

static PyObject *forget_threads(PyObject *module, PyObject *ignored)
{
    if (!make_pool()) {
        return PyErr_NoMemory();
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"forget_threads", forget_threads, METH_NOARGS,
     "forget_threads()\n--\n\nStart afresh without threads, as a forked child has to."},
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
