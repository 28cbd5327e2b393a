#include "arguments.h"

#include <stdarg.h>

int refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(PyExc_ValueError, format, arguments);
    va_end(arguments);
    return 0;
}

int refuse_type(PyObject *value, const char *name)
{
    PyErr_Format(PyExc_TypeError, "%s must be a tuple, not %.100s", name, Py_TYPE(value)->tp_name);
    return 0;
}
