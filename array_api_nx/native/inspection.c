/* result_type, isdtype, can_cast, Array.__array_namespace__, and evaluate of what is computed. */

#include "inspection.h"
#include "conversion.h"

/* ------------------------------------------------------------------ dtypes */

/* The dtype of one of our arrays, on any device, or a dtype itself; NO_DTYPE for other objects. */
static DTypeCode code_of(PyObject *object)
{
    return code_of_dtype(is_array(object) ? ((Array *)object)->dtype : object);
}

/* result_type(*arrays_and_dtypes). */
static PyObject *result_type_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                                  PyObject *names)
{
    DTypeCode result = NO_DTYPE;
    (void)ignored;
    if (names != NULL) {
        return DECLINED;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DTypeCode code = code_of(args[i]);
        if (code != NO_DTYPE) {
            result = result == NO_DTYPE ? code : (DTypeCode)promotions[result][code];
        } else if (dtype_of_scalar(args[i]) == NO_DTYPE) {
            return DECLINED;
        }
    }
    if (result == NO_DTYPE) {
        return DECLINED;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DTypeCode scalar = dtype_of_scalar(args[i]);
        if (scalar != NO_DTYPE) {
            result = promote_with_scalar(result, scalar);
        }
    }
    return Py_NewRef((PyObject *)dtypes[result].descr);
}

/* can_cast(from_, to, /). */
static PyObject *can_cast_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                               PyObject *names)
{
    (void)ignored;
    if (count != 2 || names != NULL) {
        return DECLINED;
    }
    const DTypeCode from = code_of(args[0]), to = code_of_dtype(args[1]);
    if (from == NO_DTYPE || to == NO_DTYPE) {
        return DECLINED;
    }
    return PyBool_FromLong(promotions[from][to] == to);
}

/* The kinds of dtypes, by NumPy's letters for them. */
static const struct {
    const char *name, *letters;
} kinds[] = {
    {"real floating", "f"},     {"integral", "iu"},        {"bool", "b"},
    {"complex floating", "c"},  {"numeric", "iufc"},       {"signed integer", "i"},
    {"unsigned integer", "u"},
};

/* 1 or 0; -1 for what Python has to look at. */
static int is_of_kind(DTypeCode code, PyObject *kind)
{
    if (!PyUnicode_CheckExact(kind)) {
        const DTypeCode other = code_of_dtype(kind);
        return other == NO_DTYPE ? -1 : other == code;
    }
    if (!PyUnicode_IS_COMPACT_ASCII(kind)) {
        return -1;
    }
    const char *text = (const char *)PyUnicode_1BYTE_DATA(kind);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(text, kinds[i].name) == 0 &&
            strlen(text) == (size_t)PyUnicode_GET_LENGTH(kind)) {
            return strchr(kinds[i].letters, dtypes[code].kind) != NULL;
        }
    }
    return -1;
}

/* isdtype(dtype, kind). */
static PyObject *isdtype_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                              PyObject *names)
{
    (void)ignored;
    const DTypeCode code = count == 2 && names == NULL ? code_of_dtype(args[0]) : NO_DTYPE;
    if (code == NO_DTYPE) {
        return DECLINED;
    }
    PyObject *const *items = args + 1;
    Py_ssize_t length = 1;
    if (PyTuple_CheckExact(args[1])) {
        length = PyTuple_GET_SIZE(args[1]);
        items = length == 0 ? items : &PyTuple_GET_ITEM(args[1], 0);
    }
    int found = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        const int answer = is_of_kind(code, items[i]);
        if (answer < 0) {
            return DECLINED;
        }
        found = found || answer;
    }
    return PyBool_FromLong(found);
}

/* ------------------------------------------------------------------ the namespace */

static PyObject *package_name, *known_versions;

/* Array.__array_namespace__(*, api_version=None): the public module. */
static PyObject *namespace_twin(int ignored, PyObject *const *args, Py_ssize_t count,
                                PyObject *names)
{
    PyObject *const wanted[2] = {NULL, keyword.api_version};
    PyObject *values[2];
    (void)ignored;
    if (!take_arguments(args, count, names, wanted, 2, 1, values) || count != 1 ||
        !is_array(values[0])) {
        return DECLINED;
    }
    PyObject *version = values[1];
    if (version != NULL && version != Py_None) {
        if (!PyUnicode_CheckExact(version) || known_versions == NULL) {
            return DECLINED;
        }
        const int known = PySequence_Contains(known_versions, version);
        if (known <= 0) {
            return known < 0 ? NULL : DECLINED;
        }
    }
    PyObject *modules = PyImport_GetModuleDict();
    if (modules == NULL || !PyDict_CheckExact(modules)) {
        return DECLINED;
    }
    PyObject *module = PyDict_GetItemWithError(modules, package_name);
    if (module == NULL) {
        return decline_unless_raised();
    }
    return Py_NewRef(module);
}

/* ------------------------------------------------------------------ evaluate */

/* Nothing, if all arrays have their elements. */
static PyObject *evaluate_twin(int code, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    (void)code;
    for (Py_ssize_t i = 0; i < count; i++) {
        Tensor *layout = is_array(args[i]) ? layout_of(args[i]) : NULL;
        if (layout == NULL || data_of(layout) == NULL) {
            return DECLINED;
        }
    }
    return names == NULL ? Py_NewRef(Py_None) : DECLINED;
}

const TwinEntry inspection_twins[] = {
    {"evaluate", evaluate_twin, 0},
    {"result_type", result_type_twin, 0},
    {"can_cast", can_cast_twin, 0},
    {"isdtype", isdtype_twin, 0},
    {"__array_namespace__", namespace_twin, 0},
    {NULL, NULL, 0},
};

static PyObject *set_versions(PyObject *module, PyObject *versions)
{
    (void)module;
    if (!PyTuple_CheckExact(versions)) {
        return PyErr_Format(PyExc_TypeError, "the versions must come in a tuple");
    }
    Py_XSETREF(known_versions, Py_NewRef(versions));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_versions", set_versions, METH_O,
     "set_versions(versions)\n--\n\nThe versions of the standard that may be asked for."},
    {NULL, NULL, 0, NULL},
};

int add_inspection(PyObject *module)
{
    package_name = PyUnicode_InternFromString("array_api_nx");
    return package_name == NULL ? -1 : PyModule_AddFunctions(module, methods);
}
