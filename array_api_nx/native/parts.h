/* The parts of the extension, which module.c adds to it. */

#ifndef ARRAY_API_NX_PARTS_H
#define ARRAY_API_NX_PARTS_H

#include "common.h"

/* The files that add nothing but functions to the module. */
#define EACH_METHODS(M)                                                                          \
    M(arg_extremes) M(backend_calls) M(buckets) M(calls) M(callables) M(distinct) M(dtypes) M(elements)  \
    M(element_loops) M(evaluation) M(face_calls) M(face_conversion) M(inspection) M(nodes)              \
    M(node_descriptions) M(random) M(recorded_calls) M(recording) M(reductions) M(settings) M(vectors)
#define DECLARE_METHODS(NAME) extern PyMethodDef NAME##_methods[];
EACH_METHODS(DECLARE_METHODS)

/* Those that add types and values, too: each function returns -1 with an exception set if it fails. */
#define EACH_PART(P)                                                                              \
    P(processor) P(names) P(threads) P(memory) P(context) P(tensors) P(array)            \
    P(callables) P(call_lists) P(call_groups) P(ufuncs) P(compiled) P(small_matrices) P(products) P(equations) \
    P(iteration) P(exchange) P(tables) P(face)
#define DECLARE_PART(NAME) int add_##NAME(PyObject *module);
EACH_PART(DECLARE_PART)

#endif
