/* The team: one caller and the worker threads that help it, which are made when first asked for, are
   kept, and sleep between jobs.

   A job is a number of tasks. The thread that asks for it (the caller) begins at once; it and the workers
   that come take one task after the other until there are none left. The caller waits only for workers
   that are inside the job: a worker that comes later finds the job's gate closed. There are two kinds
   of jobs: the parts of something that C computes, and calls of a Python function (calls.h).
   For the first a worker never touches Python, and needs no thread state. For the second it holds the
   GIL from before its first task until after its last one. Workers that sleep do not hinder the
   interpreter's end.

   To wake a worker costs the caller some microseconds. It does so only once the clock says that its work
   is long enough (see `call_for_help`). A worker that has finished stays awake for a few microseconds after the job,
   during which the next job gets it at no cost.

   Threads notify each other by atomic numbers of new and finished work. A thread that waits
   for such a number to change reads it over and over for a while, and then sleeps on a PyThread lock,
   which another thread releases.

   The team serves one caller at a time. Another Python thread, or a task of the job itself, which asks
   for it meanwhile gets a team of one, and does its job alone: no thread waits for the team. */

#ifndef ARRAY_API_NX_THREADS_H
#define ARRAY_API_NX_THREADS_H

#include "common.h"
#include "interrupt.h"
#include "sizes.h"

enum { MAX_WORKERS = 255 };

/* Memory for the tiles of one thread. */
typedef struct {
    void *block;
    char *start; /* in the block, aligned */
    size_t size;
} TileMemory;

/* A part of a loop begins at a multiple of this many elements, so that no two write to the same lines. */
enum { GRAIN = 1024 };

/* The elements of a task of a loop: a quarter of `serial_limit`, which take 6 microseconds in the caches. So there are four
   tasks at least, and the first one, after which the caller may wake helpers, is a small part of the job
   (docs/tuning.md, 133). */
static inline npy_intp task_size(npy_intp serial_limit)
{
    return greatest(serial_limit / 4, 1);
}

/* Compute one of the parts that something is divided into, with scratch memory. */
typedef void (*RunPart)(const void *parts, npy_intp number, char *scratch);

/* Counts the threads that have entered something, and lets in no more once it is closed. */
typedef struct {
    _Atomic npy_intp inside;  /* how many threads; plus CLOSED, and ASLEEP while the thread that
                                 closed the gate sleeps until the last one has left */
    PyThread_type_lock empty; /* released by the last one to leave, if ASLEEP */
} Gate;

enum { CLOSED = 1 << 20, ASLEEP = 1 << 21 };

/* The state of a worker. CALLED asks it to come without the GIL, CALLED_WITH_GIL with it. ASLEEP (see
   above) means that it sleeps until it is called. */
enum { AWAKE, CALLED, CALLED_WITH_GIL };

typedef struct Pool Pool;
typedef struct Job Job;

struct Job {
    Pool *pool;              /* its workers; set if there are any */
    _Atomic npy_intp taken;  /* how many tasks the threads have asked for */
    _Atomic npy_intp behind; /* how many of the last tasks the workers have */
    npy_intp ahead;          /* how many of the first tasks the caller has */
    npy_intp tasks;          /* how many there are */
    Gate gate;      /* open while workers may join; the caller waits for those inside */
    int helpers;    /* workers 0 to helpers - 1 may join */
    int woken;      /* those below this number that slept have been woken */
    int call;       /* CALLED or CALLED_WITH_GIL */
    npy_int64 start;  /* when it began, in nanoseconds */
    npy_int64 noted;  /* when the caller began its last task, if there are helpers */
    npy_int64 worked; /* the time of the caller's tasks */
    npy_int64 shortest; /* that of the shortest one */
    void (*work)(Job *job, char *scratch, int is_caller); /* take tasks until there are no more */
    Interrupt *interrupt;
    /* for the job of parts */
    RunPart run_part;
    int stops; /* whether Ctrl-C ends it */
    const void *parts;
    /* for the job of calls */
    PyObject *function;
    PyObject *context; /* the caller's context variables */
    _Atomic(PyObject *) exception; /* the first one that a worker met, or NULL */
};

typedef struct {
    Pool *pool;
    int number;
    atomic_int state;        /* AWAKE, CALLED, CALLED_WITH_GIL or ASLEEP */
    PyThread_type_lock wake; /* released by the thread that calls a worker that is ASLEEP */
    PyThreadState *python;   /* made when the GIL is first wanted, and kept: to make one takes longer
                                than to wake the worker; or NULL */
    TileMemory scratch;
} Worker;

struct Pool {
    atomic_bool busy; /* whether a caller has the team */
    Gate python;      /* workers that hold the GIL or wait for it; closed when the interpreter ends */
    Job job;
    npy_int64 ended;  /* when the last job ended */
    npy_int64 burst;  /* how long the jobs took that ended so late, each soon after the one before */
    npy_int64 credit; /* the time that helpers have saved lately, less their cost */
    TileMemory scratch; /* the caller's */
    int count;
    Worker workers[MAX_WORKERS];
};

/* The one that new jobs go to. */
extern Pool *pool;

/* Who does a job: the caller and at most the first `helpers` workers of the pool; or, while another
   caller has the pool, the caller alone. */
typedef struct {
    Pool *pool; /* or NULL */
    int helpers;
    Job *job; /* the pool's, or `own_job` */
    TileMemory *scratch; /* the caller's: the pool's, or `own_scratch` */
    Job own_job;
    TileMemory own_scratch;
    Interrupt interrupt;
} Team;

/* Whether the gate lets in no more threads. */
int is_closed(Gate *gate);

/* Close the gate. Whether no thread is inside. */
int close_gate(Gate *gate);

/* Wait until the threads inside a closed gate have left. Only the thread that closed it may wait. */
void await_empty(Gate *gate);

/* Get a team of at most `threads` threads, each with so many bytes of scratch memory; 0 if there is
   no memory. To be called with the GIL, without which no thread can be started, and to be followed
   by release_team in either case. */
int acquire_team(Team *team, npy_intp scratch, npy_intp tasks, npy_intp threads);

/* Let other callers have the pool, and free the memory of the caller's own. */
void release_team(Team *team);

/* Begin the team's job, and call workers to it: those that are awake, and if it is known to be long, the
   others, too. The caller has set those fields of the job that are not set here. */
void begin_job(Team *team, int call, int is_long);

/* Take a task of the job: its number, or -1 if there are none left. The caller takes the first ones,
   workers the last ones: so of several jobs on the same arrays a processor gets the same elements, which
   its cache may still have. The caller wakes workers that sleep if the work is long enough. */
npy_intp take_task(Job *job, int is_caller);

/* Compute so many parts, on at most `threads` threads, each with so many bytes of scratch memory. The caller keeps
   the GIL. 0 if there is no memory; -1 if it `stops` and Ctrl-C came before all were computed, of which Python is yet to
   be told (`PyErr_SetInterrupt`). */
int run_parts(RunPart run, const void *parts, npy_intp count, npy_intp scratch, npy_intp threads, int stops);

/* Compute so many parts while other threads of Python run. Workers are woken at once if the work is known to be long
   (`is_long`), else as `take_task` says. 0 with an exception set if there is no memory, or a signal or a loop of another
   library raised it. */
int run_parts_freely(RunPart run, const void *parts, npy_intp count, npy_intp threads, int is_long);

#endif
