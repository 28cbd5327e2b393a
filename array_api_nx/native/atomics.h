/* Atomic integers, which threads share and change by one instruction.

   A lock would put a thread that finds it taken to sleep, for longer than a short job lasts. Where
   the compiler has no such built-in functions, the functions below take a lock all the same. */

#ifndef ARRAY_API_NX_ATOMICS_H
#define ARRAY_API_NX_ATOMICS_H

#include "common.h"
#include "compiler.h"

#ifdef HAS_INTERLOCKED
#include <intrin.h>
#endif

/* Make what the functions below need; 0 if there is no memory. A forked child may have to do it
   again. */
int make_atomics(void);

#ifdef HAS_GNU_C

static inline npy_intp load_shared(npy_intp *number)
{
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/* The functions below return the number as it was before the change. */

static inline npy_intp add_shared(npy_intp *number, npy_intp change)
{
    return __atomic_fetch_add(number, change, __ATOMIC_ACQ_REL);
}

static inline npy_intp exchange_shared(npy_intp *number, npy_intp value)
{
    return __atomic_exchange_n(number, value, __ATOMIC_ACQ_REL);
}

/* Replace the number if it is what is expected. */
static inline npy_intp replace_shared(npy_intp *number, npy_intp expected, npy_intp value)
{
    __atomic_compare_exchange_n(number, &expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
}

#elif defined(HAS_INTERLOCKED)

/* The same by functions that are barriers in both directions. */

static inline npy_intp load_shared(npy_intp *number)
{
    return _InterlockedOr64(number, 0);
}

static inline npy_intp add_shared(npy_intp *number, npy_intp change)
{
    return _InterlockedExchangeAdd64(number, change);
}

static inline npy_intp exchange_shared(npy_intp *number, npy_intp value)
{
    return _InterlockedExchange64(number, value);
}

static inline npy_intp replace_shared(npy_intp *number, npy_intp expected, npy_intp value)
{
    return _InterlockedCompareExchange64(number, value, expected);
}

#else

/* Under the lock, replace the number by `factor * number + change`; if `wanted`, only where the
   number is `expected`. Returns the number before. The functions below are cases of this one. */
npy_intp change_shared(npy_intp *number, npy_intp factor, npy_intp change, int wanted,
                       npy_intp expected);

static inline npy_intp load_shared(npy_intp *number)
{
    return change_shared(number, 1, 0, 0, 0);
}

static inline npy_intp add_shared(npy_intp *number, npy_intp change)
{
    return change_shared(number, 1, change, 0, 0);
}

static inline npy_intp exchange_shared(npy_intp *number, npy_intp value)
{
    return change_shared(number, 0, value, 0, 0);
}

static inline npy_intp replace_shared(npy_intp *number, npy_intp expected, npy_intp value)
{
    return change_shared(number, 0, value, 1, expected);
}

#endif

/* Set bits of the number. */
static inline void add_bits_shared(npy_intp *number, npy_intp bits)
{
    for (npy_intp now = load_shared(number), seen; (now & bits) != bits; now = seen) {
        seen = replace_shared(number, now, now | bits);
        if (seen == now) {
            return;
        }
    }
}

/* Wait for some nanoseconds, and leave the core to the other hardware thread meanwhile. */
static inline void pause_shortly(void)
{
#if defined(HAS_GNU_C) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(HAS_GNU_C) && defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* as long as x86's pause; `yield` takes no time */
#elif defined(HAS_INTERLOCKED) && defined(_M_X64)
    _mm_pause();
#endif
}

#endif
