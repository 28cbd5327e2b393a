/* Methods of the CPU's backend on large Tensors: they wait as the functions of arrays do, so that what consists of these
   methods is computed in few passes, too: functions composed in Python, programs run step by step, the chunks of Dask. */

#include "chapters.h"
#include "nodes.h"
#include "parts.h"

/* Arrays around the Tensors among values, which are new references; others as they are. 1; 0 if they have few elements;
   -1 with an exception set. */
static int wrap_values(PyObject **values, Py_ssize_t count)
{
    double size = 1; /* no fewer elements than the result has */
    int is_large = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        Tensor *x = is_tensor(values[i]) ? (Tensor *)values[i] : NULL;
        if (x == NULL) {
            Py_INCREF(values[i]);
            continue;
        }
        values[i] = (x->flags & KNOWN) || learn_layout(x)
                        ? wrap_tensor((Tensor *)Py_NewRef((PyObject *)x), (DTypeCode)x->code)
                        : NULL;
        if (values[i] == NULL) {
            while (i-- > 0) {
                Py_DECREF(values[i]);
            }
            return PyErr_Occurred() ? -1 : 0;
        }
        Py_SETREF(((Array *)values[i])->device, Py_NewRef(cpu.unplaced));
        size *= (double)x->size;
        is_large |= awaits_reduction(x);
    }
    if (!is_large && size <= (double)recorded_limit()) {
        for (Py_ssize_t i = 0; i < count; i++) {
            Py_DECREF(values[i]);
        }
        return 0;
    }
    return 1;
}

/* call_on_tensors(name, *values) */
static PyObject *call_on_tensors(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    const char *name = count == 0 ? NULL : PyUnicode_AsUTF8(args[0]);
    const Implementation *entry = name == NULL ? NULL : find_implementation(name);
    PyObject *values[MOST_PARAMETERS] = {NULL};
    if (entry == NULL || count > MOST_PARAMETERS + 1) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "there is no function of that name");
    }
    for (Py_ssize_t i = 1; i < count; i++) {
        values[i - 1] = args[i];
    }
    const int wrapped = wrap_values(values, --count);
    if (wrapped <= 0) {
        return wrapped < 0 ? NULL : Py_NewRef(Py_None);
    }
    PyObject *result = entry->compute(entry->code, values, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_DECREF(values[i]);
    }
    if (result == NULL || result == DECLINED) {
        return result == NULL ? NULL : Py_NewRef(Py_None);
    }
    PyObject *tensor = Py_NewRef((PyObject *)tensor_of(result));
    Py_DECREF(result);
    return tensor;
}

PyMethodDef backend_calls_methods[] = {
    {"call_on_tensors", (PyCFunction)(void (*)(void))call_on_tensors, METH_FASTCALL,
     "call_on_tensors(name, *values)\n--\n\n"
     "What the function of that name answers in C for arrays around the Tensors, as a Tensor; None if it declines, or if they "
     "have few elements."},
    {NULL, NULL, 0, NULL},
};
