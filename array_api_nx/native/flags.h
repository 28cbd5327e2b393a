/* Floating-point exceptions, which the processor notes in flags of the running thread. */

#ifndef ARRAY_API_NX_FLAGS_H
#define ARRAY_API_NX_FLAGS_H

#include "common.h"

#include <fenv.h>

enum { EXCEPTIONS = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID };

/* NumPy's bits for what was raised since the last call. */
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

/* Clear the floating-point exceptions that are not among `raised`. */
static inline void keep_exceptions(int raised)
{
    const int more = fetestexcept(EXCEPTIONS) & ~raised;
    if (more != 0) {
        feclearexcept(more);
    }
}

#endif
