/* Draws of distributions with parameters: gamma, beta, Poisson and binomial. */

#ifndef ARRAY_API_NX_DISTRIBUTIONS_H
#define ARRAY_API_NX_DISTRIBUTIONS_H

#include "drawing.h"

/* Write `count` numbers of a draw, `step` apart from number `first` on. `parameters` are those of the
   numbers that are written, or NULL if the drawing's are those of all. */
typedef void (*Distribute)(const Drawing *drawing, const Parameter *parameters, npy_uint64 first,
                           npy_uint64 step, npy_uint64 count, char *target);

void draw_gamma(const Drawing *drawing, const Parameter *parameters, npy_uint64 first,
                npy_uint64 step, npy_uint64 count, char *target);
void draw_beta(const Drawing *drawing, const Parameter *parameters, npy_uint64 first,
               npy_uint64 step, npy_uint64 count, char *target);
void draw_poisson(const Drawing *drawing, const Parameter *parameters, npy_uint64 first,
                  npy_uint64 step, npy_uint64 count, char *target);
void draw_binomial(const Drawing *drawing, const Parameter *parameters, npy_uint64 first,
                   npy_uint64 step, npy_uint64 count, char *target);

#endif
