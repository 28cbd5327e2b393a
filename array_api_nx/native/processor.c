/* Which of the functions that are compiled for several processors run. */

#include "parts.h"
#include "compiler.h"

int processor = BASELINE;
int sorts_by_vectors;

static const char *const names[] = {"baseline", "avx2", "avx512"};

/* What the processor has, or less if ARRAY_API_NX_CPU names less; -1 with an exception for another name. */
int add_processor(PyObject *module)
{
    int found = BASELINE;
#ifdef HAS_TARGETS
    __builtin_cpu_init();
    /* Whatever has these two also converts numbers of 16 bits. */
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        found = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") ? AVX512 : AVX2;
    }
#endif
    const char *asked = getenv("ARRAY_API_NX_CPU");
    if (asked != NULL && *asked != '\0') {
        int most = AVX512;
        while (most > BASELINE && strcmp(asked, names[most]) != 0) {
            most--;
        }
        if (strcmp(asked, names[most]) != 0) {
            PyErr_Format(PyExc_ImportError,
                         "ARRAY_API_NX_CPU must be 'baseline', 'avx2' or 'avx512', not '%s'", asked);
            return -1;
        }
        found = found < most ? found : most;
    }
    processor = found;
#ifdef HAS_TARGETS
    sorts_by_vectors = found == AVX512 && !__builtin_cpu_is("amd");
#endif
    return PyModule_AddStringConstant(module, "PROCESSOR", names[processor]);
}
