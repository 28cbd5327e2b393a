/* Computations that a signal can end, such as that of Ctrl-C.

   Python runs the handlers of signals in its main thread, when that one has the GIL. So a thread that
   computes without the GIL takes it now and then, and lets Python look. If a handler raises an
   exception, all threads of the computation stop before their next part. */

#ifndef ARRAY_API_NX_INTERRUPT_H
#define ARRAY_API_NX_INTERRUPT_H

#include "common.h"

#include <time.h>

typedef struct {
    atomic_int stopped;   /* whether all threads are to stop computing */
    PyThreadState *state; /* of the thread that waits for the computation; NULL if it has the GIL */
    int countdown;
    clock_t last; /* when Python last handled signals, at first when the clock was first read */
} Interrupt;

/* Begin a computation, which may or may not release the GIL. */
void start_interrupt(Interrupt *interrupt);

/* Release the GIL. The thread that does so is the one that waits for the computation. */
void release_gil(Interrupt *interrupt);

/* Take the GIL back, if it was released. 0 with an exception set if the computation was stopped, or
   a loop of another library raised the exception. */
int take_gil(Interrupt *interrupt);

/* Let Python handle signals, if it is time. Only the thread that waits for
   the computation, and has released the GIL, may call this. */
void look_for_signals(Interrupt *interrupt);

/* Whether to stop computing. The caller also looks for signals here, now and then. */
static inline int is_interrupted(Interrupt *interrupt, int is_caller)
{
    if (is_caller && interrupt->state != NULL && --interrupt->countdown <= 0) {
        look_for_signals(interrupt);
    }
    return atomic_load(&interrupt->stopped) != 0;
}

#endif
