/* Which of the functions that are compiled for several processors run. */

#include "parts.h"
#include "compiler.h"
#include "inner_loops.h"

#ifdef HAS_TARGETS
#include <cpuid.h>
#endif

int processor = BASELINE;
int vector_sorted_bytes = NOT_SORTED_BY_VECTORS;
npy_intp streamed_bytes = STREAMED_BYTES;

static const char *const names[] = {"baseline", "avx2", "avx512"};

#ifdef HAS_TARGETS
/* AMD's processors with AVX-512 before this family take a hundred cycles to write the chosen elements of a vector to memory. */
enum { FAMILY_OF_ZEN_5 = 0x1a };

static int is_amd(void)
{
    return __builtin_cpu_is("amd") != 0;
}

static int is_old_amd(void)
{
    unsigned int family, ignored[3];
    if (!is_amd() || !__get_cpuid(1, &family, &ignored[0], &ignored[1], &ignored[2])) {
        return 0;
    }
    return (family >> 8 & 0xf) + (family >> 20 & 0xff) < FAMILY_OF_ZEN_5;
}
#endif

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
    if (found == AVX512 && !is_old_amd()) {
        vector_sorted_bytes = __builtin_cpu_supports("avx512vbmi2") ? 2 : 4;
    }
    streamed_bytes = is_amd() ? STREAMED_BYTES_ON_AMD : STREAMED_BYTES;
#endif
    return PyModule_AddStringConstant(module, "PROCESSOR", names[processor]);
}
