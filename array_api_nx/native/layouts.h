/* What the types of objects need of layouts; objects.h has what everybody needs. */

#ifndef ARRAY_API_NX_LAYOUTS_H
#define ARRAY_API_NX_LAYOUTS_H

#include "objects.h"

/* As `set_views` left it. */
extern ViewSlots views;

/* Make a Tensor know no layout any more. */
void forget_layout(Tensor *tensor);

/* Make room for a layout; 0 with an exception set if there is none. */
int make_room(Tensor *tensor, int ndim);

#endif
