/* The rules that keep a kernel inside its memory, and the fields that follow from the others. */

#ifndef ARRAY_API_NX_KERNEL_RULES_H
#define ARRAY_API_NX_KERNEL_RULES_H

#include "kernel_types.h"

/* Check every rule that relates the fields of a kernel to each other, and set the members of its structs
   that are not read but follow: extents, copies, chains, the layout of the scratch memory. 0 with an
   exception set if a rule is broken. */
int check_kernel(Kernel *kernel);

#endif
