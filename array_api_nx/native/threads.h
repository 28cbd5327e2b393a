/* The threads that work on kernels: made when first asked for, kept, and asleep between jobs.

   Threads tell each other by atomic numbers what is to be done and what is done. A thread that waits
   looks at them for a while, and then goes to sleep on a PyThread lock, which another one releases.
   The threads never touch Python, so they need no thread state, and the interpreter may end while
   they sleep. One caller at a time has them; any other works alone meanwhile. */

#ifndef ARRAY_API_NX_THREADS_H
#define ARRAY_API_NX_THREADS_H

#include <stdint.h>

enum { MAX_WORKERS = 255, ALIGNMENT = 64 };

/* Passes of one sequence, and arrays of either kind: all that so many passes can name. */
enum { MAX_SEQUENCE = 64, MAX_ARRAYS = MAX_SEQUENCE * MAX_OPERANDS };

/* Looks at a number before a thread goes to sleep: with pauses about a hundred microseconds, in which
   a caller that is in Python code between two jobs, or in an operation of one thread, is back. */
enum { SPIN_COUNT = 5000 };

typedef struct {
    void *block;
    char *start; /* aligned */
    size_t size;
} Scratch;

/* One loop over elements that lie evenly apart, in tasks of so many. Arguments of step 0 may be
   accumulators, which lie so far apart from task to task. */
typedef struct {
    const Loop *loop;
    char *args[MAX_SOURCES + 1];
    npy_intp steps[MAX_SOURCES + 1];
    npy_intp count, each, accumulator_stride;
} Run;

typedef struct {
    npy_intp next;    /* task */
    npy_intp tasks;
    npy_intp working; /* workers that have entered; and CLOSED if no more may, ASLEEP if the caller
                         is to be woken by the last one to leave */
    int helpers;      /* the first so many workers may */
    const Kernel *kernel; /* or NULL: the job is the run */
    char *const *memories;
    Interrupt *interrupt;
    Run run;
    npy_intp flags[MAX_STEPS];
} Job;

enum { CLOSED = 1 << 20, ASLEEP = 1 << 21 };

typedef struct Pool Pool;

/* What a worker may be; ASLEEP as well. */
enum { AWAKE, CALLED };

typedef struct {
    Pool *pool;
    int number;
    npy_intp state;
    PyThread_type_lock wake; /* signal to one asleep */
    Scratch scratch;
} Worker;

struct Pool {
    npy_intp busy;           /* whether a caller has a job */
    PyThread_type_lock done; /* signal to a caller asleep: the last worker has left the job */
    Job job;
    Scratch scratch; /* the caller's */
    int count;
    Worker workers[MAX_WORKERS];
};

static Pool *pool;

/* ------------------------------------------------------------------ scratch memory */

static void release_scratch(Scratch *scratch)
{
    PyMem_RawFree(scratch->block);
    *scratch = (Scratch){NULL, NULL, 0};
}

/* Make room for `size` bytes; whether there was memory. */
static int reserve_scratch(Scratch *scratch, size_t size)
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

/* Set flags of a job. */
static void raise_flags(npy_intp *flags, npy_uint8 more)
{
    for (npy_intp now = load_shared(flags), seen; (now & more) != more; now = seen) {
        seen = replace_shared(flags, now, now | more);
        if (seen == now) {
            return;
        }
    }
}

/* Those of the first so many steps. */
static void collect_flags(const Job *job, npy_uint8 *flags, int count)
{
    for (int i = 0; i < count; i++) {
        flags[i] = (npy_uint8)job->flags[i];
    }
}

/* Run the elements of a task. */
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

static void work_on_run(Job *job, int is_caller)
{
    const Run run = job->run;
    take_flags();
    for (npy_intp task; (task = add_shared(&job->next, 1)) < job->tasks;) {
        if (is_interrupted(job->interrupt, is_caller)) {
            break;
        }
        run_part(&run, task);
    }
    raise_flags(&job->flags[0], take_flags());
}

static void work_on_kernel(Job *job, char *scratch, int is_caller)
{
    Frame frame;
    start_frame(&frame, job->kernel, job->memories, scratch, job->interrupt, is_caller);
    for (npy_intp task; (task = add_shared(&job->next, 1)) < job->tasks;) {
        run_task(&frame, task);
    }
    for (int i = 0; i < job->kernel->step_count; i++) {
        raise_flags(&job->flags[i], frame.flags[i]);
    }
}

static void work(Job *job, char *scratch, int is_caller)
{
    if (job->kernel == NULL) {
        work_on_run(job, is_caller);
    } else {
        work_on_kernel(job, scratch, is_caller);
    }
}

/* Whether a worker is still in time for the job. Then it has entered, and the caller waits for it. */
static int enter(Job *job)
{
    npy_intp working = load_shared(&job->working);
    while (working < CLOSED) {
        const npy_intp seen = replace_shared(&job->working, working, working + 1);
        if (seen == working) {
            return 1;
        }
        working = seen;
    }
    return 0;
}

static void leave(Pool *own)
{
    if (add_shared(&own->job.working, -1) == (CLOSED | ASLEEP) + 1) {
        PyThread_release_lock(own->done);
    }
}

/* Let no more workers in, and wait for those inside. */
static void finish(Pool *own)
{
    npy_intp *working = &own->job.working;
    if (add_shared(working, CLOSED) == 0) {
        return;
    }
    for (int i = 0; i < SPIN_COUNT; i++) {
        if (load_shared(working) == CLOSED) {
            return;
        }
        pause_shortly();
    }
    if (add_shared(working, ASLEEP) != CLOSED) {
        PyThread_acquire_lock(own->done, WAIT_LOCK);
    }
}

/* Have a worker look at the job. */
static void call_worker(Worker *worker)
{
    if (exchange_shared(&worker->state, CALLED) == ASLEEP) {
        PyThread_release_lock(worker->wake);
    }
}

/* Until the worker is called. */
static void await_call(Worker *worker)
{
    for (int i = 0; i < SPIN_COUNT && load_shared(&worker->state) != CALLED; i++) {
        pause_shortly();
    }
    if (replace_shared(&worker->state, AWAKE, ASLEEP) == AWAKE) {
        PyThread_acquire_lock(worker->wake, WAIT_LOCK);
    }
    exchange_shared(&worker->state, AWAKE);
}

static void serve(void *argument)
{
    Worker *worker = argument;
    Pool *own = worker->pool;
    for (;;) {
        await_call(worker);
        /* Who comes too late stays awake for a while, for the next job. */
        if (enter(&own->job)) {
            if (worker->number < own->job.helpers) {
                work(&own->job, worker->scratch.start, 0);
            }
            leave(own);
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

/* A pool without workers; 0 if there is no memory. What a former one, or one whose threads stayed
   behind in the parent of a fork, had is left as it is: its locks may be held for ever. */
static int make_pool(void)
{
    Pool *fresh = PyMem_RawCalloc(1, sizeof(Pool));
    if (fresh == NULL) {
        return 0;
    }
    fresh->done = make_signal();
    fresh->job.working = CLOSED;
    if (fresh->done == NULL || !make_atomics()) {
        if (fresh->done != NULL) {
            PyThread_free_lock(fresh->done);
        }
        PyMem_RawFree(fresh);
        return 0;
    }
    pool = fresh;
    return 1;
}

/* ------------------------------------------------------------------ running a kernel */

/* Who does a job: the pool with some of its workers, or, without a pool, the caller alone. */
typedef struct {
    Pool *pool;
    int helpers;
    Scratch own;
    Interrupt interrupt;
} Team;

/* To be called with the GIL, which starting threads wants. 0 if there is no memory. */
static int acquire_team(Team *team, npy_intp scratch, npy_intp tasks, npy_intp threads)
{
    const size_t size = (size_t)scratch;
    Pool *own = pool;
    *team = (Team){.pool = NULL};
    start_interrupt(&team->interrupt);
    if (exchange_shared(&own->busy, 1)) {
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

static void release_team(Team *team)
{
    if (team->pool != NULL) {
        exchange_shared(&team->pool->busy, 0);
    }
    release_scratch(&team->own);
}

static void run_alone(const Kernel *kernel, char *const *memories, char *scratch,
                      Interrupt *interrupt, npy_uint8 *flags)
{
    Frame frame;
    start_frame(&frame, kernel, memories, scratch, interrupt, 1);
    for (npy_intp task = 0; task < kernel->tasks; task++) {
        run_task(&frame, task);
    }
    memcpy(flags, frame.flags, (size_t)kernel->step_count);
}

/* Have the team do the job of the pool. Without the GIL. */
static void do_job(Team *team)
{
    Pool *own = team->pool;
    Job *job = &own->job;
    job->next = 0;
    job->interrupt = &team->interrupt;
    job->helpers = team->helpers;
    exchange_shared(&job->working, 0);
    for (int i = 0; i < team->helpers; i++) {
        call_worker(&own->workers[i]);
    }
    work(job, own->scratch.start, 1);
    finish(own);
}

/* Run all tasks; the flags are per step. Without the GIL. */
static void run_kernel(Team *team, const Kernel *kernel, char *const *memories, npy_uint8 *flags)
{
    Pool *own = team->pool;
    if (team->helpers == 0) {
        char *scratch = own == NULL ? team->own.start : own->scratch.start;
        run_alone(kernel, memories, scratch, &team->interrupt, flags);
        return;
    }
    own->job.kernel = kernel;
    own->job.memories = memories;
    own->job.tasks = kernel->tasks;
    memset(own->job.flags, 0, (size_t)kernel->step_count * sizeof(npy_intp));
    do_job(team);
    collect_flags(&own->job, flags, kernel->step_count);
}

/* The same of a run of so many tasks; the flags that it raised. */
static npy_uint8 run_loop(Team *team, const Run *run, npy_intp tasks)
{
    if (team->helpers == 0) {
        take_flags();
        for (npy_intp task = 0; task < tasks && !is_interrupted(&team->interrupt, 1); task++) {
            run_part(run, task);
        }
        return take_flags();
    }
    Job *job = &team->pool->job;
    job->kernel = NULL;
    job->run = *run;
    job->tasks = tasks;
    job->flags[0] = 0;
    do_job(team);
    return (npy_uint8)job->flags[0];
}

#endif
