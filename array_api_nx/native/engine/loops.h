/* Inner loops that are not a ufunc's: casts and choices.

   All have the signature of a ufunc's inner loop. A target may be the very memory of a source of
   the same itemsize, so nothing here is `restrict`. */

#ifndef ARRAY_API_NX_LOOPS_H
#define ARRAY_API_NX_LOOPS_H

#include "dtypes.h"
#include "inner_loops.h"

/* What casts numbers of one dtype to another, a copy if they are the same; NULL from real and complex
   numbers to integers, and from complex to real numbers. */
PyUFuncGenericFunction cast_function(DTypeCode from, DTypeCode to);

/* What chooses (bool, value, value) -> value for values of so many bytes: 1, 2, 4, 8 or 16. */
PyUFuncGenericFunction select_function(npy_intp itemsize);

#endif
