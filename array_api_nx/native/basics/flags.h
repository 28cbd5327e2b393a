/* Floating-point exceptions, which the processor notes in flags of the running thread. */

#ifndef ARRAY_API_NX_FLAGS_H
#define ARRAY_API_NX_FLAGS_H

#include "common.h"
#include "compiler.h"

#include <fenv.h>

#ifdef HAS_SSE2
#include <xmmintrin.h>
#endif

enum { EXCEPTIONS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };

/* NumPy's bits for the exceptions raised since the last call. */
static inline npy_uint8 take_flags(void)
{
    const int raised = fetestexcept(EXCEPTIONS);
    if (raised == 0) {
        return 0;
    }
    feclearexcept(EXCEPTIONS);
    return (npy_uint8)((raised & FE_DIVBYZERO ? NPY_FPE_DIVIDEBYZERO : 0) |
                       (raised & FE_OVERFLOW ? NPY_FPE_OVERFLOW : 0) |
                       (raised & FE_UNDERFLOW ? NPY_FPE_UNDERFLOW : 0) |
                       (raised & FE_INVALID ? NPY_FPE_INVALID : 0));
}

/* Add flags to those that several threads share. */
static inline void note_flags(atomic_uchar *shared, npy_uint8 flags)
{
    if (flags != 0) {
        atomic_fetch_or(shared, flags);
    }
}

/* Clear all exceptions. */
static inline void clear_flags(void)
{
    if (fetestexcept(EXCEPTIONS)) {
        feclearexcept(EXCEPTIONS);
    }
}

/* The two functions above for loops that compute with vector instructions alone, as NumPy's loops
   for arithmetic do: the register of these instructions is read, which takes 1 ns instead of 4. */
#ifdef HAS_SSE2
enum { VECTOR_EXCEPTIONS = 0x1d }; /* invalid, zero divide, overflow, underflow */

static inline void clear_vector_flags(void)
{
    const unsigned state = _mm_getcsr();
    if (state & VECTOR_EXCEPTIONS) {
        _mm_setcsr(state & ~(unsigned)VECTOR_EXCEPTIONS);
    }
}

static inline npy_uint8 take_vector_flags(void)
{
    return (_mm_getcsr() & VECTOR_EXCEPTIONS) ? take_flags() : 0;
}
#else
#define clear_vector_flags clear_flags
#define take_vector_flags take_flags
#endif

/* Clear the floating-point exceptions that are not among `raised`. */
static inline void keep_exceptions(int raised)
{
    const int more = fetestexcept(EXCEPTIONS) & ~raised;
    if (more != 0) {
        feclearexcept(more);
    }
}

#endif
