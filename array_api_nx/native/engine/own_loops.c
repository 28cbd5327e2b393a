#include "own_loops.h"
#include "compiler.h"
#include "flags.h"
#include "half_loops.h"
#include "sizes.h"
#include "ufunc_fields.h"

#include <math.h>

typedef struct {
    const char *name; /* of the ufunc */
    int type;
    PyUFuncGenericFunction function, numpys;
    void *numpys_data;
} OwnLoop;

/* Elements that are computed together: they stay in the first level of the cache. */
enum { CHUNK = 512 };

/* Equal numbers have the same bits unless they are zeros: NumPy's loop decides which one the result is. An element that
   is NaN stays. */
#define LIMIT_LOOP(NAME, TYPE, BEYOND)                                                             \
    CLONED_LOOP(NAME)                                                                              \
    {                                                                                              \
        const npy_intp size = sizeof(TYPE);                                                        \
        const int is_last = steps[1] == 0; /* the number */                                        \
        const int is_row = steps[!is_last] == size && steps[is_last] == 0 && steps[2] == size;     \
        const TYPE limit = is_row ? *(const TYPE *)args[is_last] : 0;                              \
        const OwnLoop *loop = data;                                                              \
        if (!is_row || limit != limit) {                                                           \
            loop->numpys(args, count, steps, loop->numpys_data);                                   \
            return;                                                                                \
        }                                                                                          \
        for (npy_intp done = 0; done < *count; done += CHUNK) {                                    \
            const npy_intp n = least(CHUNK, *count - done);                                        \
            const TYPE *source = (const TYPE *)args[!is_last] + done;                              \
            TYPE *target = (TYPE *)args[2] + done;                                                 \
            npy_uint8 zeros = 0;                                                                   \
            for (npy_intp i = 0; limit == 0 && i < n; i++) {                                       \
                zeros |= source[i] == 0;                                                           \
            }                                                                                      \
            if (zeros) {                                                                           \
                char *part[3] = {args[0] + done * steps[0], args[1] + done * steps[1],             \
                                 (char *)target};                                                  \
                loop->numpys(part, &n, steps, loop->numpys_data);                                  \
                continue;                                                                          \
            }                                                                                      \
            INDEPENDENT                                                                            \
            for (npy_intp i = 0; i < n; i++) {                                                     \
                target[i] = source[i] BEYOND limit ? limit : source[i];                            \
            }                                                                                      \
        }                                                                                          \
        clear_flags(); /* comparisons with NaN raise one, which NumPy does not report */           \
    }

LIMIT_LOOP(maximum_floats, npy_float, <)
LIMIT_LOOP(maximum_doubles, npy_double, <)
LIMIT_LOOP(minimum_floats, npy_float, >)
LIMIT_LOOP(minimum_doubles, npy_double, >)

/* A function of contiguous elements that is correctly rounded everywhere. */
#define ELEMENT_LOOP(NAME, TYPE, FUNCTION)                                                                 \
    CLONED(static, void, NAME,                                                                             \
                         (char **args, npy_intp const *count, npy_intp const *steps, void *data),          \
                         (args, count, steps, data))                                                       \
    {                                                                                                      \
        const OwnLoop *loop = data;                                                                        \
        if (steps[0] != sizeof(TYPE) || steps[1] != sizeof(TYPE)) {                                        \
            loop->numpys(args, count, steps, loop->numpys_data);                                           \
            return;                                                                                        \
        }                                                                                                  \
        const TYPE *source = (const TYPE *)args[0];                                                        \
        TYPE *target = (TYPE *)args[1];                                                                    \
        const npy_intp n = *count;                                                                         \
        INDEPENDENT                                                                                        \
        for (npy_intp i = 0; i < n; i++) {                                                                 \
            target[i] = FUNCTION(source[i]);                                                               \
        }                                                                                                  \
    }

#define RADIANS_FLOAT(X) ((X) * (NPY_PIf / 180.0f))
#define RADIANS_DOUBLE(X) ((X) * (NPY_PI / 180.0))
#define DEGREES_FLOAT(X) ((X) * (180.0f / NPY_PIf))
#define DEGREES_DOUBLE(X) ((X) * (180.0 / NPY_PI))

ELEMENT_LOOP(roots_of_floats, npy_float, sqrtf)
ELEMENT_LOOP(roots_of_doubles, npy_double, sqrt)
ELEMENT_LOOP(radians_of_floats, npy_float, RADIANS_FLOAT)
ELEMENT_LOOP(radians_of_doubles, npy_double, RADIANS_DOUBLE)
ELEMENT_LOOP(degrees_of_floats, npy_float, DEGREES_FLOAT)
ELEMENT_LOOP(degrees_of_doubles, npy_double, DEGREES_DOUBLE)
ELEMENT_LOOP(magnitudes_of_floats, npy_float, fabsf)
ELEMENT_LOOP(magnitudes_of_doubles, npy_double, fabs)

/* Booleans in a row and one for all of them, which NumPy's loops take one after the other. */
#define TRUTH_LOOP(NAME, WITH)                                                                                         \
    CLONED_LOOP(NAME)                                                                                                  \
    {                                                                                                                  \
        const OwnLoop *loop = data;                                                                                    \
        const int is_last = steps[1] == 0; /* the one for all */                                                       \
        if (steps[!is_last] != 1 || steps[is_last] != 0 || steps[2] != 1) {                                            \
            loop->numpys(args, count, steps, loop->numpys_data);                                                       \
            return;                                                                                                    \
        }                                                                                                              \
        const npy_bool truth = (npy_bool)truth_of(*(const npy_bool *)args[is_last]);                                   \
        const npy_bool *source = (const npy_bool *)args[!is_last];                                                     \
        npy_bool *target = (npy_bool *)args[2];                                                                        \
        const npy_intp n = *count;                                                                                     \
        INDEPENDENT                                                                                                    \
        for (npy_intp i = 0; i < n; i++) {                                                                             \
            target[i] = (npy_bool)(truth_of(source[i]) WITH truth);                                                    \
        }                                                                                                              \
    }

TRUTH_LOOP(both_true, &)
TRUTH_LOOP(either_true, |)

#ifdef HAS_TARGETS /* on other processors NumPy's products here may be fused */

/* Numbers whose parts are multiplied together, apart from each other. */
enum { NUMBERS = 128 };

/* Complex numbers to a power that is one whole number from 3 to 99, by the products that NumPy's loop computes. */
#define POWER_LOOP(NAME, TYPE)                                                                                         \
    typedef struct {                                                                                                   \
        TYPE real[NUMBERS], imaginary[NUMBERS];                                                                        \
    } Parts_##TYPE;                                                                                                    \
                                                                                                                       \
    /* `to` becomes x * y, and may be either. */                                                                       \
    static INLINE void multiply_##TYPE(const Parts_##TYPE *x, const Parts_##TYPE *y, Parts_##TYPE *to, npy_intp n)     \
    {                                                                                                                  \
        INDEPENDENT                                                                                                    \
        for (npy_intp i = 0; i < n; i++) {                                                                             \
            const TYPE real = x->real[i] * y->real[i] - x->imaginary[i] * y->imaginary[i];                             \
            const TYPE imaginary = x->real[i] * y->imaginary[i] + x->imaginary[i] * y->real[i];                        \
            to->real[i] = real;                                                                                        \
            to->imaginary[i] = imaginary;                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    CLONED_LOOP(NAME)                                                                                                  \
    {                                                                                                                  \
        const npy_intp size = 2 * sizeof(TYPE);                                                                        \
        const OwnLoop *loop = data;                                                                                    \
        const TYPE *power = (const TYPE *)args[1];                                                                     \
        const int exponent = steps[1] == 0 && power[1] == 0 && isfinite(power[0]) && power[0] >= 3 && power[0] < 100   \
                                 ? (int)power[0]                                                                       \
                                 : 0;                                                                                  \
        if (exponent == 0 || (TYPE)exponent != power[0] || steps[0] != size || steps[2] != size) {                     \
            loop->numpys(args, count, steps, loop->numpys_data);                                                       \
            return;                                                                                                    \
        }                                                                                                              \
        Parts_##TYPE x, square, result;                                                                                \
        for (npy_intp done = 0; done < *count; done += NUMBERS) {                                                      \
            const npy_intp n = least(NUMBERS, *count - done);                                                          \
            const TYPE *source = (const TYPE *)args[0] + 2 * done;                                                     \
            TYPE *target = (TYPE *)args[2] + 2 * done;                                                                 \
            for (npy_intp i = 0; i < n; i++) {                                                                         \
                x.real[i] = square.real[i] = source[2 * i];                                                            \
                x.imaginary[i] = square.imaginary[i] = source[2 * i + 1];                                              \
                result.real[i] = 1;                                                                                    \
                result.imaginary[i] = 0;                                                                               \
            }                                                                                                          \
            if (exponent == 3) {                                                                                       \
                multiply_##TYPE(&x, &x, &square, n);                                                                   \
                multiply_##TYPE(&x, &square, &result, n);                                                              \
            }                                                                                                          \
            for (int bits = exponent == 3 ? 0 : exponent; bits > 0; bits >>= 1) {                                      \
                if (bits & 1) {                                                                                        \
                    multiply_##TYPE(&result, &square, &result, n);                                                     \
                }                                                                                                      \
                if (bits > 1) {                                                                                        \
                    multiply_##TYPE(&square, &square, &square, n);                                                     \
                }                                                                                                      \
            }                                                                                                          \
            for (npy_intp i = 0; i < n; i++) {                                                                         \
                const int is_zero = x.real[i] == 0 && x.imaginary[i] == 0;                                             \
                target[2 * i] = is_zero ? 0 : result.real[i];                                                          \
                target[2 * i + 1] = is_zero ? 0 : result.imaginary[i];                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

POWER_LOOP(powers_of_floats, npy_float)
POWER_LOOP(powers_of_doubles, npy_double)

#endif

static OwnLoop own_loops[] = {
#ifdef HAS_TARGETS
    {"power", NPY_CFLOAT, powers_of_floats, NULL, NULL},
    {"power", NPY_CDOUBLE, powers_of_doubles, NULL, NULL},
#endif
    {"multiply", NPY_BOOL, both_true, NULL, NULL},
    {"logical_and", NPY_BOOL, both_true, NULL, NULL},
    {"bitwise_and", NPY_BOOL, both_true, NULL, NULL},
    {"minimum", NPY_BOOL, both_true, NULL, NULL},
    {"add", NPY_BOOL, either_true, NULL, NULL},
    {"logical_or", NPY_BOOL, either_true, NULL, NULL},
    {"bitwise_or", NPY_BOOL, either_true, NULL, NULL},
    {"maximum", NPY_BOOL, either_true, NULL, NULL},
    {"sqrt", NPY_FLOAT, roots_of_floats, NULL, NULL},
    {"sqrt", NPY_DOUBLE, roots_of_doubles, NULL, NULL},
    {"deg2rad", NPY_FLOAT, radians_of_floats, NULL, NULL},
    {"deg2rad", NPY_DOUBLE, radians_of_doubles, NULL, NULL},
    {"radians", NPY_FLOAT, radians_of_floats, NULL, NULL},
    {"radians", NPY_DOUBLE, radians_of_doubles, NULL, NULL},
    {"rad2deg", NPY_FLOAT, degrees_of_floats, NULL, NULL},
    {"rad2deg", NPY_DOUBLE, degrees_of_doubles, NULL, NULL},
    {"degrees", NPY_FLOAT, degrees_of_floats, NULL, NULL},
    {"degrees", NPY_DOUBLE, degrees_of_doubles, NULL, NULL},
    {"fabs", NPY_FLOAT, magnitudes_of_floats, NULL, NULL},
    {"fabs", NPY_DOUBLE, magnitudes_of_doubles, NULL, NULL},
    {"maximum", NPY_FLOAT, maximum_floats, NULL, NULL},
    {"maximum", NPY_DOUBLE, maximum_doubles, NULL, NULL},
    {"minimum", NPY_FLOAT, minimum_floats, NULL, NULL},
    {"minimum", NPY_DOUBLE, minimum_doubles, NULL, NULL},
};

int replace_loop(PyObject *ufunc, int type, PyUFuncGenericFunction *function, void **data)
{
    for (size_t i = 0; i < sizeof(own_loops) / sizeof(*own_loops); i++) {
        OwnLoop *loop = &own_loops[i];
        if (loop->type == type && has_name(ufunc, loop->name)) {
            loop->numpys = *function;
            loop->numpys_data = *data;
            *function = loop->function;
            *data = loop;
            return 1;
        }
    }
    return replace_half_loop(ufunc, type, function, data);
}
