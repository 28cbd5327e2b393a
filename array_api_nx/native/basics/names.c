#include "names.h"
#include "parts.h"

Names names_of;

int add_names(PyObject *module)
{
#define INTERN(NAME)                                                            \
    if ((names_of.NAME = PyUnicode_InternFromString(#NAME)) == NULL) {          \
        return -1;                                                              \
    }
    EACH_NAME(INTERN)
    return 0;
}
