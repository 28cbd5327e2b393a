/* Counts of elements that are not zero, by parts, which are cast to booleans, and of those that are NaN. The compiler makes
   vector instructions of the loops that count. */

#include "truth.h"
#include "compiler.h"
#include "loops.h"

/* Elements that are cast at a time. */
enum { PART = 1024 };

/* Bytes that are counted side by side, and how often: a byte counts to 255. */
enum { LANES = 64, MOST_ROUNDS = 255 };

CLONED(static, npy_intp, count_bytes, (const npy_bool *truth, npy_intp size), (truth, size))
{
    npy_intp count = 0;
    while (size >= LANES) {
        npy_uint8 counts[LANES] = {0};
        for (int round = 0; round < MOST_ROUNDS && size >= LANES; round++) {
            for (int k = 0; k < LANES; k++) {
                counts[k] += truth[k] != 0;
            }
            truth += LANES;
            size -= LANES;
        }
        for (int k = 0; k < LANES; k++) {
            count += counts[k];
        }
    }
    for (npy_intp i = 0; i < size; i++) {
        count += truth[i] != 0;
    }
    return count;
}

npy_intp ask_truth(TruthQuestion question, const char *data, DTypeCode code, npy_intp size)
{
    const PyUFuncGenericFunction truth_of_each = cast_function(code, BOOL);
    const npy_intp itemsize = dtypes[code].itemsize;
    npy_bool compared[PART];
    npy_intp count = 0;
    if (code == BOOL && size > 0) {
        /* Bytes are all 0 if the first one is, and each is the same as the next one. */
        return question == COUNT_TRUE    ? count_bytes((const npy_bool *)data, size)
               : question == IS_ALL_TRUE ? memchr(data, 0, (size_t)size) == NULL
                                         : data[0] != 0 || memcmp(data, data + 1, (size_t)size - 1) != 0;
    }
    for (npy_intp i = 0; i < size; i += PART) {
        const npy_intp n = size - i < PART ? size - i : PART;
        char *args[2] = {(char *)data + i * itemsize, (char *)compared};
        const npy_intp steps[2] = {itemsize, 1};
        truth_of_each(args, &n, steps, NULL);
        const npy_intp found = count_bytes(compared, n);
        if (question == IS_ANY_TRUE && found > 0) {
            return 1;
        }
        if (question == IS_ALL_TRUE && found < n) {
            return 0;
        }
        count += found;
    }
    return question == COUNT_TRUE ? count : question == IS_ALL_TRUE;
}

#define DEFINE_COUNT_NAN(TYPE)                                                                            \
    CLONED(static, npy_intp, count_special_##TYPE, (const TYPE *row, npy_intp length), (row, length))     \
    {                                                                                                     \
        npy_intp count = 0;                                                                               \
        for (npy_intp i = 0; i < length; i++) {                                                           \
            count += row[i] - row[i] != 0;                                                                \
        }                                                                                                 \
        return count;                                                                                     \
    }                                                                                                     \
    static npy_intp count_nan_##TYPE(const TYPE *row, npy_intp length)                                    \
    {                                                                                                     \
        const npy_intp special = count_special_##TYPE(row, length);                                       \
        npy_intp count = 0;                                                                               \
        for (npy_intp i = 0; i < length && special > 0; i++) {                                            \
            count += row[i] != row[i];                                                                    \
        }                                                                                                 \
        return count == special ? count : -1;                                                             \
    }
DEFINE_COUNT_NAN(double)
DEFINE_COUNT_NAN(float)

npy_intp count_nan(DTypeCode code, const char *row, npy_intp length)
{
    return code == FLOAT64   ? count_nan_double((const double *)row, length)
           : code == FLOAT32 ? count_nan_float((const float *)row, length)
                             : 0;
}
