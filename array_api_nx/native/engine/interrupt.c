#include "interrupt.h"

#include <fenv.h>

/* Parts between two looks at the clock, which takes as long as the additions of some hundred elements. Parts take a
   millisecond at most. */
enum { PARTS_PER_LOOK = 16 };

/* Processor time between two looks for signals. Taking the GIL disturbs other Python threads. */
static const clock_t TIME_PER_LOOK = CLOCKS_PER_SEC / 50;

void start_interrupt(Interrupt *interrupt)
{
    atomic_init(&interrupt->stopped, 0);
    interrupt->state = NULL;
    interrupt->countdown = PARTS_PER_LOOK;
    interrupt->last = 0;
}

void release_gil(Interrupt *interrupt)
{
    interrupt->state = PyEval_SaveThread();
}

int take_gil(Interrupt *interrupt)
{
    if (interrupt->state != NULL) {
        PyEval_RestoreThread(interrupt->state);
        interrupt->state = NULL;
    }
    /* Loops of other libraries may take the GIL to raise exceptions. */
    return !atomic_load(&interrupt->stopped) && !PyErr_Occurred();
}

void look_for_signals(Interrupt *interrupt)
{
    interrupt->countdown = PARTS_PER_LOOK;
    const clock_t now = clock();
    if (interrupt->last == 0) {
        interrupt->last = now;
    }
    if (now - interrupt->last < TIME_PER_LOOK) {
        return;
    }
    PyEval_RestoreThread(interrupt->state);
    /* Loops of other libraries may have raised an exception, with which nothing may be called. */
    if (PyErr_CheckSignals() < 0) {
        atomic_store(&interrupt->stopped, 1);
    }
    interrupt->state = PyEval_SaveThread();
    interrupt->last = now;
    feclearexcept(FE_ALL_EXCEPT); /* a handler's floating-point exceptions are none of ours */
}
