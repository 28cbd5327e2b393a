#include "atomics.h"

#if defined(HAS_GNU_C) || defined(HAS_INTERLOCKED)

int make_atomics(void)
{
    return 1;
}

#else

static PyThread_type_lock atomics_lock;

int make_atomics(void)
{
    atomics_lock = PyThread_allocate_lock();
    return atomics_lock != NULL;
}

npy_intp change_shared(npy_intp *number, npy_intp factor, npy_intp change, int wanted,
                       npy_intp expected)
{
    PyThread_acquire_lock(atomics_lock, WAIT_LOCK);
    const npy_intp before = *number;
    if (!wanted || before == expected) {
        *number = factor * before + change;
    }
    PyThread_release_lock(atomics_lock);
    return before;
}

#endif
