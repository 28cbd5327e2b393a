/* The threads that work on kernels: made when first asked for, kept, and asleep between jobs.

   A PyThread lock serves as a mutex, and, where one thread takes and another releases it, as a
   signal. The threads never touch Python, so they need no thread state, and the interpreter may
   end while they sleep. One caller at a time has them; any other works alone meanwhile. */

#ifndef ARRAY_API_NX_THREADS_H
#define ARRAY_API_NX_THREADS_H

#include <stdint.h>

enum { MAX_WORKERS = 255, ALIGNMENT = 64 };

/* Passes of one sequence, and arrays of either kind: all that so many passes can name. */
enum { MAX_SEQUENCE = 64, MAX_ARRAYS = MAX_SEQUENCE * MAX_OPERANDS };

/* Polls of a signal before a thread goes to sleep for it: about a hundred microseconds, in which a
   caller that is in Python code between two jobs, or in an operation of one thread, is back. */
enum { POLLS = 20000 };

typedef struct {
    void *block;
    char *start; /* aligned */
    size_t size;
} Scratch;

/* One loop over elements that lie evenly apart, in tasks of so many. */
typedef struct {
    const Loop *loop;
    char *args[MAX_SOURCES + 1];
    npy_intp steps[MAX_SOURCES + 1];
    npy_intp count, each;
} Run;

typedef struct {
    npy_intp next;    /* task */
    npy_intp tasks;
    npy_intp working; /* workers that have entered, and CLOSED if no more may */
    int helpers;      /* the first so many workers may */
    const Kernel *kernel; /* or NULL: the job is the run */
    char *const *memories;
    Run run;
    PyThread_type_lock lock; /* guards numbers and flags where there are no atomic operations */
    npy_uint8 flags[MAX_STEPS];
} Job;

enum { CLOSED = 1 << 20 };

typedef struct Pool Pool;

typedef struct {
    Pool *pool;
    int number;
    npy_intp called; /* whether `wake` is set */
    PyThread_type_lock wake;
    Scratch scratch;
} Worker;

struct Pool {
    PyThread_type_lock busy; /* held by the caller whose job it is */
    PyThread_type_lock done; /* signal: the last worker has left the job */
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

/* Add to a number of a job that its threads share; what it was before. A lock would put whoever
   finds it taken to sleep, for longer than a short job lasts. */
static npy_intp add_shared(Job *job, npy_intp *number, npy_intp change)
{
#ifdef __GNUC__
    (void)job;
    return __atomic_fetch_add(number, change, __ATOMIC_ACQ_REL);
#else
    PyThread_acquire_lock(job->lock, WAIT_LOCK);
    const npy_intp before = *number;
    *number += change;
    PyThread_release_lock(job->lock);
    return before;
#endif
}

/* Replace such a number; what it was before. */
static npy_intp exchange_shared(Job *job, npy_intp *number, npy_intp value)
{
#ifdef __GNUC__
    (void)job;
    return __atomic_exchange_n(number, value, __ATOMIC_ACQ_REL);
#else
    PyThread_acquire_lock(job->lock, WAIT_LOCK);
    const npy_intp before = *number;
    *number = value;
    PyThread_release_lock(job->lock);
    return before;
#endif
}

/* Set flags of a job. */
static void set_shared(Job *job, npy_uint8 *flags, npy_uint8 more)
{
#ifdef __GNUC__
    (void)job;
    __atomic_fetch_or(flags, more, __ATOMIC_ACQ_REL);
#else
    PyThread_acquire_lock(job->lock, WAIT_LOCK);
    *flags |= more;
    PyThread_release_lock(job->lock);
#endif
}

/* Run the elements of a task. */
static void run_part(const Run *run, npy_intp task)
{
    char *args[MAX_SOURCES + 1];
    const npy_intp begin = task * run->each;
    const npy_intp count = least(run->count - begin, run->each);
    for (int i = 0; i <= run->loop->sources; i++) {
        args[i] = run->args[i] + begin * run->steps[i];
    }
    run->loop->function(args, &count, run->steps, run->loop->data);
}

static void work_on_run(Job *job)
{
    const Run run = job->run;
    take_flags();
    for (npy_intp task; (task = add_shared(job, &job->next, 1)) < job->tasks;) {
        run_part(&run, task);
    }
    const npy_uint8 flags = take_flags();
    if (flags != 0) {
        set_shared(job, &job->flags[0], flags);
    }
}

static void work_on_kernel(Job *job, char *scratch)
{
    Frame frame;
    start_frame(&frame, job->kernel, job->memories, scratch);
    for (npy_intp task; (task = add_shared(job, &job->next, 1)) < job->tasks;) {
        run_task(&frame, task);
    }
    for (int i = 0; i < job->kernel->step_count; i++) {
        if (frame.flags[i] != 0) {
            set_shared(job, &job->flags[i], frame.flags[i]);
        }
    }
}

static void work(Job *job, char *scratch)
{
    if (job->kernel == NULL) {
        work_on_run(job);
    } else {
        work_on_kernel(job, scratch);
    }
}

static void await(PyThread_type_lock signal)
{
    for (int i = 0; i < POLLS; i++) {
        if (PyThread_acquire_lock(signal, NOWAIT_LOCK)) {
            return;
        }
    }
    PyThread_acquire_lock(signal, WAIT_LOCK);
}

/* Whether a worker is still in time for the job. Then it has entered, and the caller waits for it. */
static int enter(Job *job)
{
#ifdef __GNUC__
    npy_intp working = __atomic_load_n(&job->working, __ATOMIC_ACQUIRE);
    while (working < CLOSED) {
        if (__atomic_compare_exchange_n(&job->working, &working, working + 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return 1;
        }
    }
    return 0;
#else
    PyThread_acquire_lock(job->lock, WAIT_LOCK);
    const int open = job->working < CLOSED;
    job->working += open;
    PyThread_release_lock(job->lock);
    return open;
#endif
}

static void serve(void *argument)
{
    Worker *worker = argument;
    Pool *own = worker->pool;
    Job *job = &own->job;
    for (;;) {
        await(worker->wake);
        exchange_shared(job, &worker->called, 0);
        /* Who comes too late stays awake for a while, for the next job. */
        if (!enter(job)) {
            continue;
        }
        if (worker->number < job->helpers) {
            work(job, worker->scratch.start);
        }
        if (add_shared(job, &job->working, -1) == CLOSED + 1) {
            PyThread_release_lock(own->done);
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
    fresh->busy = PyThread_allocate_lock();
    fresh->done = make_signal();
    fresh->job.lock = PyThread_allocate_lock();
    fresh->job.working = CLOSED;
    if (fresh->busy == NULL || fresh->done == NULL || fresh->job.lock == NULL) {
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
} Crew;

/* To be called with the GIL, which starting threads wants. 0 if there is no memory. */
static int muster(Crew *crew, npy_intp scratch, npy_intp tasks, npy_intp threads)
{
    const size_t size = (size_t)scratch;
    Pool *own = pool;
    *crew = (Crew){NULL, 0, {NULL, NULL, 0}};
    if (!PyThread_acquire_lock(own->busy, NOWAIT_LOCK)) {
        return reserve_scratch(&crew->own, size);
    }
    crew->pool = own;
    if (!reserve_scratch(&own->scratch, size)) {
        return 0;
    }
    npy_intp helpers = least(threads, tasks) - 1;
    if (helpers > MAX_WORKERS) {
        helpers = MAX_WORKERS;
    }
    grow(own, (int)helpers);
    while (crew->helpers < helpers && crew->helpers < own->count &&
           reserve_scratch(&own->workers[crew->helpers].scratch, size)) {
        crew->helpers++;
    }
    return 1;
}

static void dismiss(Crew *crew)
{
    if (crew->pool != NULL) {
        PyThread_release_lock(crew->pool->busy);
    }
    release_scratch(&crew->own);
}

static void run_alone(const Kernel *kernel, char *const *memories, char *scratch, npy_uint8 *flags)
{
    Frame frame;
    start_frame(&frame, kernel, memories, scratch);
    for (npy_intp task = 0; task < kernel->tasks; task++) {
        run_task(&frame, task);
    }
    memcpy(flags, frame.flags, (size_t)kernel->step_count);
}

/* Have the crew do the job of the pool. Without the GIL. */
static void do_job(const Crew *crew)
{
    Pool *own = crew->pool;
    Job *job = &own->job;
    job->next = 0;
    job->helpers = crew->helpers;
    exchange_shared(job, &job->working, 0);
    for (int i = 0; i < crew->helpers; i++) {
        if (!exchange_shared(job, &own->workers[i].called, 1)) {
            PyThread_release_lock(own->workers[i].wake);
        }
    }
    work(job, own->scratch.start);
    if (add_shared(job, &job->working, CLOSED) > 0) {
        await(own->done);
    }
}

/* Run all tasks; the flags are per step. Without the GIL. */
static void run_kernel(Crew *crew, const Kernel *kernel, char *const *memories, npy_uint8 *flags)
{
    Pool *own = crew->pool;
    if (crew->helpers == 0) {
        run_alone(kernel, memories, own == NULL ? crew->own.start : own->scratch.start, flags);
        return;
    }
    own->job.kernel = kernel;
    own->job.memories = memories;
    own->job.tasks = kernel->tasks;
    memset(own->job.flags, 0, (size_t)kernel->step_count);
    do_job(crew);
    memcpy(flags, own->job.flags, (size_t)kernel->step_count);
}

/* The same of a run of so many tasks; the flags that it raised. */
static npy_uint8 run_loop(Crew *crew, const Run *run, npy_intp tasks)
{
    if (crew->helpers == 0) {
        take_flags();
        for (npy_intp task = 0; task < tasks; task++) {
            run_part(run, task);
        }
        return take_flags();
    }
    Job *job = &crew->pool->job;
    job->kernel = NULL;
    job->run = *run;
    job->tasks = tasks;
    job->flags[0] = 0;
    do_job(crew);
    return job->flags[0];
}

#endif
