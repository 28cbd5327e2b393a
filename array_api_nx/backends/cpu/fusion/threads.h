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

/* Polls of a signal before a thread goes to sleep for it: some tens of microseconds. */
enum { POLLS = 2000 };

typedef struct {
    void *block;
    char *start; /* aligned */
    size_t size;
} Scratch;

typedef struct {
    const Kernel *kernel;
    char *const *memories;
    PyThread_type_lock lock; /* guards what follows where there are no atomic operations */
    npy_intp next;           /* task */
    npy_intp working;        /* threads that still are, the caller among them */
    npy_uint8 flags[MAX_STEPS];
} Job;

typedef struct Pool Pool;

typedef struct {
    Pool *pool;
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

static void work(Job *job, char *scratch)
{
    Frame frame;
    start_frame(&frame, job->kernel, job->memories, scratch);
    for (;;) {
        const npy_intp task = add_shared(job, &job->next, 1);
        if (task >= job->kernel->tasks) {
            break;
        }
        run_task(&frame, task);
    }
    for (int i = 0; i < job->kernel->step_count; i++) {
        if (frame.flags[i] != 0) {
            set_shared(job, &job->flags[i], frame.flags[i]);
        }
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

/* `count` threads leave the job; whether they were the last. */
static int leave(Job *job, int count)
{
    return add_shared(job, &job->working, -count) == count;
}

static void serve(void *argument)
{
    Worker *worker = argument;
    Pool *own = worker->pool;
    for (;;) {
        await(worker->wake);
        work(&own->job, worker->scratch.start);
        if (leave(&own->job, 1)) {
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
    if (fresh->busy == NULL || fresh->done == NULL || fresh->job.lock == NULL) {
        return 0;
    }
    pool = fresh;
    return 1;
}

/* ------------------------------------------------------------------ running a kernel */

/* Who runs a kernel: the pool with some of its workers, or, without a pool, the caller alone. */
typedef struct {
    Pool *pool;
    int helpers;
    Scratch own;
} Crew;

/* To be called with the GIL, which starting threads wants. 0 if there is no memory. */
static int muster(Crew *crew, const Kernel *kernel, npy_intp threads)
{
    const size_t size = (size_t)kernel->scratch;
    Pool *own = pool;
    *crew = (Crew){NULL, 0, {NULL, NULL, 0}};
    if (!PyThread_acquire_lock(own->busy, NOWAIT_LOCK)) {
        return reserve_scratch(&crew->own, size);
    }
    crew->pool = own;
    if (!reserve_scratch(&own->scratch, size)) {
        return 0;
    }
    npy_intp helpers = (threads < kernel->tasks ? threads : kernel->tasks) - 1;
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

/* Run all tasks; the flags are per step. Without the GIL. */
static void run_kernel(Crew *crew, const Kernel *kernel, char *const *memories, npy_uint8 *flags)
{
    Pool *own = crew->pool;
    if (crew->helpers == 0) {
        run_alone(kernel, memories, own == NULL ? crew->own.start : own->scratch.start, flags);
        return;
    }
    Job *job = &own->job;
    job->kernel = kernel;
    job->memories = memories;
    job->next = 0;
    job->working = crew->helpers + 1;
    memset(job->flags, 0, sizeof(job->flags));
    for (int i = 0; i < crew->helpers; i++) {
        PyThread_release_lock(own->workers[i].wake);
    }
    work(job, own->scratch.start);
    /* Whoever has not woken up yet need not. */
    int leaving = 1;
    for (int i = 0; i < crew->helpers; i++) {
        leaving += PyThread_acquire_lock(own->workers[i].wake, NOWAIT_LOCK) != 0;
    }
    if (!leave(job, leaving)) {
        await(own->done);
    }
    memcpy(flags, job->flags, (size_t)kernel->step_count);
}

#endif
