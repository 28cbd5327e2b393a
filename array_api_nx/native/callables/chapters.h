/* The functions that C implements, a table for each chapter. */

#ifndef ARRAY_API_NX_CHAPTERS_H
#define ARRAY_API_NX_CHAPTERS_H

#include "functions.h"

#define EACH_CHAPTER(C)                                                                                           \
    C(conversion) C(convolution) C(creation) C(distinct) C(einsum) C(elementwise) C(equation) C(exchange)         \
    C(extreme) C(face) C(fourier) C(inspection) C(interpolation) C(joining) C(moment) C(movement) C(nan) C(padding)          \
    C(partition) C(products) C(quantile) C(reduction) C(repeating) C(scan) C(searching) C(selection) C(sorting) C(taking)    \
    C(ufunc)
#define DECLARE_CHAPTER(NAME) extern Implementation NAME##_functions[]; /* the last one has no name */
EACH_CHAPTER(DECLARE_CHAPTER)

/* The implementation of the function of a name, or NULL. */
const Implementation *find_implementation(const char *name);

/* Declare a variable with the implementation of a name that has one. */
#define FIND_ONCE(VARIABLE, NAME)             \
    static const Implementation *VARIABLE;    \
    if (VARIABLE == NULL) {                   \
        VARIABLE = find_implementation(NAME); \
    }

#endif
