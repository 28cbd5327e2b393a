/* The extension module `array_api_nx._native`. Each subject adds its own types and functions to it. */

#define IMPORTS_NUMPY
#include "common.h"

#include "arg_extremes.h"
#include "array.h"
#include "calls.h"
#include "compiled.h"
#include "context.h"
#include "conversion.h"
#include "distinct.h"
#include "elements.h"
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
#include "products.h"
#include "random.h"
#include "reductions.h"
#include "outcomes.h"
#include "sequence.h"
#include "settings.h"
#include "small_matrices.h"
#include "threads.h"
#include "totals.h"
#include "ufuncs.h"

/* What native/__init__.py compares with the package, to refuse an extension that was built for another
   state of it. setup.py knows both. */
#ifndef ARRAY_API_NX_VERSION
#error "ARRAY_API_NX_VERSION must be the package's version, in quotes; see setup.py"
#endif
#ifndef ARRAY_API_NX_SOURCES
#error "ARRAY_API_NX_SOURCES must be what native/stamp.py prints, in quotes; see setup.py"
#endif

/* Each returns -1 with an exception set if it fails. */
static int (*const subjects[])(PyObject *module) = {
    add_threads,
    add_memory,
    add_loops,
    add_kernel,
    add_sequence,
    add_outcomes,
    add_operations,
    add_totals,
    add_calls,
    add_context,
    add_objects,
    add_elements,
    add_array,
    add_functions,
    add_settings,
    add_elementwise,
    add_distinct,
    add_ufuncs,
    add_compiled,
    add_reductions,
    add_arg_extremes,
    add_conversion,
    add_inspection,
    add_small_matrices,
    add_products,
    add_random,
    add_iteration,
    add_exchange,
};

/* Whether there is a module in this process: its threads, tables and types serve one. */
static int is_loaded;

static int execute(PyObject *module)
{
    if (is_loaded) {
        PyErr_SetString(PyExc_ImportError,
                        "array_api_nx._native is loaded in this process already, by an import "
                        "before this one or by another interpreter");
        return -1;
    }
    import_array1(-1);
    import_umath1(-1);
    if (PyModule_AddStringConstant(module, "VERSION", ARRAY_API_NX_VERSION) < 0 ||
        PyModule_AddStringConstant(module, "SOURCES", ARRAY_API_NX_SOURCES) < 0) {
        return -1;
    }
    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
        if (subjects[i](module) < 0) {
            return -1;
        }
    }
    is_loaded = 1;
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
