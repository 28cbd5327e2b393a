/* Inner loops that are not a ufunc's (casts, selection, counting), and the capsules in which loops.py
   keeps loops.

   All have the signature of a ufunc's inner loop. A target may be the very memory of a source of
   the same itemsize, so nothing here is `restrict`. */

#ifndef ARRAY_API_NX_LOOPS_H
#define ARRAY_API_NX_LOOPS_H

#include "dtypes.h"
#include "kernel_types.h"

/* Whether these are bools or numbers of the sizes in dtypes.h, whichever C type they are. Others may
   be objects, of any length, or of several meanings. */
static inline int is_standard(int type)
{
    return PyTypeNum_ISBOOL(type) || PyTypeNum_ISINTEGER(type) || type == NPY_HALF || type == NPY_FLOAT ||
           type == NPY_DOUBLE || type == NPY_CFLOAT || type == NPY_CDOUBLE;
}

/* What casts numbers of one dtype to another, a copy if they are the same; NULL from real and complex
   numbers to integers, and from complex to real numbers. */
PyUFuncGenericFunction cast_function(DTypeCode from, DTypeCode to);

/* The loop (bool, value, value) -> value for values of that many bytes. Whether there is one. */
int find_select(npy_intp itemsize, Loop *loop);

#endif
