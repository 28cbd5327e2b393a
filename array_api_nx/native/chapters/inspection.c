/* result_type, isdtype, can_cast, Array.__array_namespace__, and evaluate of computed arrays. */

#include "chapters.h"
#include "parts.h"
#include "conversion.h"
#include "names.h"
#include "nodes.h"

/* ------------------------------------------------------------------ dtypes */

/* The dtype of one of our arrays, on any device, or a dtype itself; NO_DTYPE for other objects. */
static DTypeCode code_of(PyObject *object)
{
    return code_of_dtype(is_array(object) ? ((Array *)object)->dtype : object);
}

/* result_type(*arrays_and_dtypes). */
static PyObject *call_result_type(int which, PyObject *const *values, Py_ssize_t count)
{
    DTypeCode result = NO_DTYPE;
    for (Py_ssize_t i = 0; i < count; i++) {
        const DTypeCode code = code_of(values[i]);
        if (code != NO_DTYPE) {
            result = result == NO_DTYPE ? code : (DTypeCode)promotions[result][code];
        } else if (dtype_of_scalar(values[i]) == NO_DTYPE) {
            return DECLINED;
        }
    }
    if (result == NO_DTYPE) {
        return DECLINED;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const DTypeCode promoted = promote_with_scalar(result, dtype_of_scalar(values[i]));
        result = promoted == NO_DTYPE ? result : promoted;
    }
    return Py_NewRef((PyObject *)dtypes[result].descr);
}

/* can_cast(from_, to, /). */
static PyObject *call_can_cast(int which, PyObject *const *values, Py_ssize_t count)
{
    const DTypeCode from = code_of(values[0]), to = code_of_dtype(values[1]);
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

/* 1 or 0; -1 for kinds that Python has to read. */
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
static PyObject *call_isdtype(int which, PyObject *const *values, Py_ssize_t count)
{
    const DTypeCode code = code_of_dtype(values[0]);
    if (code == NO_DTYPE) {
        return DECLINED;
    }
    PyObject *const *items = values + 1;
    Py_ssize_t length = 1;
    if (PyTuple_CheckExact(values[1])) {
        length = PyTuple_GET_SIZE(values[1]);
        items = length == 0 ? items : &PyTuple_GET_ITEM(values[1], 0);
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

static PyObject *known_versions;

/* Array.__array_namespace__(*, api_version=None): the public module. */
static PyObject *call_namespace(int which, PyObject *const *values, Py_ssize_t count)
{
    if (!is_array(values[0])) {
        return DECLINED;
    }
    PyObject *version = values[1];
    if (is_given(version)) {
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
    PyObject *module = PyDict_GetItemWithError(modules, names_of.array_api_nx);
    if (module == NULL) {
        return decline_unless_raised();
    }
    return Py_NewRef(module);
}

/* ------------------------------------------------------------------ evaluate */

/* Nothing, once all arrays have their elements. Python computes several reductions together. */
static PyObject *call_evaluate(int which, PyObject *const *values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tensor *layout = layout_of_any(values[i]);
        if (layout == NULL || is_watched || (count > 1 && awaits_reduction(layout))) {
            return DECLINED;
        }
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (data_of(layout_of_any(values[i])) == NULL) {
            return decline_unless_raised();
        }
    }
    Py_RETURN_NONE;
}

Implementation inspection_functions[] = {
    {"evaluate", call_evaluate, 0, "*"},
    {"result_type", call_result_type, 0, "*"},
    {"can_cast", call_can_cast, 0, "from_, to, /"},
    {"isdtype", call_isdtype, 0, "dtype, kind, /"},
    {"__array_namespace__", call_namespace, 0, "self, /, *, api_version="},
    {NULL, NULL, 0, NULL},
};

static PyObject *set_versions(PyObject *module, PyObject *versions)
{
    if (!PyTuple_CheckExact(versions)) {
        return PyErr_Format(PyExc_TypeError, "the versions must come in a tuple");
    }
    Py_XSETREF(known_versions, Py_NewRef(versions));
    Py_RETURN_NONE;
}

PyMethodDef inspection_methods[] = {
    {"set_versions", set_versions, METH_O,
     "set_versions(versions)\n--\n\nThe versions of the standard that may be asked for."},
    {NULL, NULL, 0, NULL},
};
