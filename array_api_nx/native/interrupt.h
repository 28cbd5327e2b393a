/* Computations that a signal can end, such as that of Ctrl-C.

   Python runs the handlers of signals in its main thread, when that one has the GIL. So a thread that
   computes without the GIL takes it now and then, and lets Python look. If a handler raises an
   exception, all threads of the computation stop before their next tile. */

#ifndef ARRAY_API_NX_INTERRUPT_H
#define ARRAY_API_NX_INTERRUPT_H

#include <time.h>

/* Tiles between two looks at the clock, which takes as long as the additions of some hundred
   elements; tiles take from one to some hundred microseconds. */
enum { TILES_PER_LOOK = 16 };

/* Processor time between two looks for signals. Taking the GIL disturbs other Python threads. */
static const clock_t TIME_PER_LOOK = CLOCKS_PER_SEC / 50;

typedef struct {
    npy_intp stopped;     /* whether all threads are to stop computing; shared */
    PyThreadState *state; /* of the thread that waits for the computation; NULL if it has the GIL */
    int countdown;
    clock_t last; /* when Python last handled signals, at first when the clock was first read */
} Interrupt;

static void start_interrupt(Interrupt *interrupt)
{
    interrupt->stopped = 0;
    interrupt->state = NULL;
    interrupt->countdown = TILES_PER_LOOK;
    interrupt->last = 0;
}

static void release_gil(Interrupt *interrupt)
{
    interrupt->state = PyEval_SaveThread();
}

/* Take the GIL back. 0 with an exception set if the computation was stopped. */
static int take_gil(Interrupt *interrupt)
{
    if (interrupt->state != NULL) {
        PyEval_RestoreThread(interrupt->state);
        interrupt->state = NULL;
    }
    return !load_shared(&interrupt->stopped);
}

/* Let Python handle signals if it is time. Only the thread that waits for the computation, and has
   released the GIL, may call this. */
static void look_for_signals(Interrupt *interrupt)
{
    interrupt->countdown = TILES_PER_LOOK;
    const clock_t now = clock();
    if (interrupt->last == 0) {
        interrupt->last = now;
    }
    if (now - interrupt->last < TIME_PER_LOOK) {
        return;
    }
    PyEval_RestoreThread(interrupt->state);
    if (PyErr_CheckSignals() < 0) {
        exchange_shared(&interrupt->stopped, 1);
    }
    interrupt->state = PyEval_SaveThread();
    interrupt->last = now;
    feclearexcept(FE_ALL_EXCEPT); /* a handler's floating-point exceptions are none of ours */
}

/* Whether to stop computing. The caller also looks for signals here, now and then. */
static int is_interrupted(Interrupt *interrupt, int is_caller)
{
    if (is_caller && interrupt->state != NULL && --interrupt->countdown <= 0) {
        look_for_signals(interrupt);
    }
    return load_shared(&interrupt->stopped) != 0;
}

#endif
