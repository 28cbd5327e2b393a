/* The types of the objects, the CPU's device and its limits, which other files set. */

#include "objects.h"

PyTypeObject *array_type, *face_type, *tensor_type;
Limits limits = {-1, 0, NPY_MAX_INTP, NPY_MAX_INTP};
THREAD_LOCAL int records_all;
int recordings;
CPU cpu;
PyObject declined_object;
