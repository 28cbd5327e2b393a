/* How one task of a kernel runs, tile by tile. Nothing here touches Python. */

#ifndef ARRAY_API_NX_TILES_H
#define ARRAY_API_NX_TILES_H

#include "kernel_types.h"

/* Prepare a thread for the tasks of a kernel. `scratch` has as many bytes as the kernel says. */
void start_frame(Frame *frame, const Kernel *kernel, char *const *memories, char *scratch,
                 Interrupt *interrupt, int is_caller);

/* Run one task, or a part of it if the computation is interrupted. Floating-point flags gather in
   the frame. */
void run_task(Frame *frame, npy_intp task);

#endif
