/* The extension module `array_api_nx._native`. Each subject adds its own types and functions to it. */

#define IMPORTS_NUMPY
#include "common.h"

#include "array.h"
#include "calls.h"
#include "compiled.h"
#include "context.h"
#include "conversion.h"
#include "distinct.h"
#include "elementwise.h"
#include "exchange.h"
#include "functions.h"
#include "inspection.h"
#include "iteration.h"
#include "kernel.h"
#include "loops.h"
#include "memory.h"
#include "objects.h"
#include "operations.h"
#include "reductions.h"
#include "products.h"
#include "random.h"
#include "sequence.h"
#include "threads.h"
#include "totals.h"
#include "ufuncs.h"

/* Each returns -1 with an exception set if it fails. */
static int (*const subjects[])(PyObject *module) = {
    add_threads,
    add_memory,
    add_loops,
    add_kernel,
    add_sequence,
    add_operations,
    add_totals,
    add_calls,
    add_context,
    add_objects,
    add_array,
    add_functions,
    add_elementwise,
    add_distinct,
    add_ufuncs,
    add_compiled,
    add_reductions,
    add_conversion,
    add_inspection,
    add_products,
    add_random,
    add_iteration,
    add_exchange,
};

static int execute(PyObject *module)
{
    import_array1(-1);
    import_umath1(-1);
    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
        if (subjects[i](module) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_USED}, /* fields of arrays are not read atomically */
#endif
    {0, NULL},
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Kernels of NumPy's inner loops, run without the GIL.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
