/* On which processor a worker wakes.

   Linux may wake a thread on the processor of the thread that wakes it, which is busy with the same
   job, though others are idle; and takes milliseconds to move it. Then small jobs take as long as on
   one thread, or several times as long, while the caller waits for a task that the worker has begun
   and cannot finish (docs/tuning.md, 54). So a worker that sleeps is forbidden the caller's processor
   before it is woken; once it runs it may go wherever the caller may. */

#ifndef ARRAY_API_NX_PROCESSORS_H
#define ARRAY_API_NX_PROCESSORS_H

#include "common.h"
#include "compiler.h"

#ifdef HAS_AFFINITY
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
    pid_t thread;
    cpu_set_t allowed; /* the processors that the caller may run on */
    int is_kept_apart;
} Placement;

/* To be called by the worker itself, before it sleeps for the first time. */
static inline void note_thread(Placement *placement)
{
    placement->thread = (pid_t)syscall(SYS_gettid);
}

/* To be called by the caller of a worker that sleeps, before it is woken. */
static inline void keep_apart(Placement *placement)
{
    const int own = sched_getcpu();
    placement->is_kept_apart = 0;
    if (own < 0 || sched_getaffinity(0, sizeof(cpu_set_t), &placement->allowed) != 0 ||
        CPU_COUNT(&placement->allowed) < 2) {
        return;
    }
    cpu_set_t others = placement->allowed;
    CPU_CLR(own, &others);
    placement->is_kept_apart =
        sched_setaffinity(placement->thread, sizeof(cpu_set_t), &others) == 0;
}

/* To be called by the worker when it has woken. */
static inline void move_freely(Placement *placement)
{
    if (placement->is_kept_apart) {
        sched_setaffinity(placement->thread, sizeof(cpu_set_t), &placement->allowed);
    }
}

#else

typedef struct {
    int unused; /* a struct has a member in C11 */
} Placement;

static inline void note_thread(Placement *placement)
{
}

static inline void keep_apart(Placement *placement)
{
}

static inline void move_freely(Placement *placement)
{
}

#endif

#endif
