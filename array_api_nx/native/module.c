/* The extension module `array_api_nx._native`. Each part adds its own types and functions to it. */

#define IMPORTS_NUMPY
#include "common.h"

#include "parts.h"

/* What native/__init__.py compares with the package, to refuse an extension that was built for another
   state of it. setup.py knows both. */
#ifndef ARRAY_API_NX_VERSION
#error "ARRAY_API_NX_VERSION must be the package's version, in quotes; see setup.py"
#endif
#ifndef ARRAY_API_NX_SOURCES
#error "ARRAY_API_NX_SOURCES must be what native/stamp.py prints, in quotes; see setup.py"
#endif

static int (*const parts[])(PyObject *module) = {
#define PART(NAME) add_##NAME,
    EACH_PART(PART)
};

static PyMethodDef *const methods[] = {
#define METHODS(NAME) NAME##_methods,
    EACH_METHODS(METHODS)
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
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (parts[i](module) < 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        if (PyModule_AddFunctions(module, methods[i]) < 0) {
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
