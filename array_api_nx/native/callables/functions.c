/* How the arguments of a function are sorted and read. */

#include "functions.h"

int take_shape(PyObject *value, npy_intp most, int *ndim, npy_intp *shape)
{
    PyObject *const *items = &value;
    Py_ssize_t count = 1;
    if (PyTuple_CheckExact(value)) {
        count = PyTuple_GET_SIZE(value);
        items = count == 0 ? items : &PyTuple_GET_ITEM(value, 0);
    }
    npy_intp size = 1;
    if (count > ARRAY_DIMS) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        npy_intp length;
        if (!take_number(items[i], &length) || length < 0 ||
            (length > 0 && size > most / length)) {
            return 0;
        }
        shape[i] = length;
        size *= length > 0 ? length : 1;
    }
    *ndim = (int)count;
    return 1;
}

int read_parameters(const Implementation *implementation, Parameters *parameters)
{
    int by_name_alone = 0;
    *parameters = (Parameters){0};
    for (const char *text = implementation->parameters; *text != '\0'; text += strspn(text, ", ")) {
        const Py_ssize_t length = (Py_ssize_t)strcspn(text, "=,");
        const int number = parameters->total;
        if (*text == '/') {
            memset(parameters->names, 0, sizeof(parameters->names)); /* of those before */
        } else if (*text == '*') {
            by_name_alone = 1;
            parameters->positional = number == 0 ? PY_SSIZE_T_MAX : number;
        } else if ((parameters->names[number] = PyUnicode_FromStringAndSize(text, length)) == NULL) {
            return -1;
        } else {
            PyUnicode_InternInPlace(&parameters->names[number]); /* for ever */
            parameters->total++;
            parameters->positional += !by_name_alone;
            parameters->required += text[length] != '=';
        }
        text += length + (text[length] == '=');
    }
    return 0;
}

int sort_names(const Parameters *parameters, PyObject *const *args, Py_ssize_t count, PyObject *names,
               PyObject **room)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        int j = 0;
        while (j < parameters->total && parameters->names[j] != name) {
            j++;
        }
        if (j == parameters->total || room[j] != NULL) {
            return 0;
        }
        room[j] = args[count + i];
    }
    for (Py_ssize_t i = count; i < parameters->required; i++) {
        if (room[i] == NULL) {
            return 0;
        }
    }
    return 1;
}
