/* Counts of elements that are not zero, by parts: NumPy's loop compares a part with zero, and the
   compiler makes vector instructions of the loop that counts. */

#include "truth.h"

/* Elements that are compared at a time. A sum of up to 255 bytes that are 0 or 1 fits a byte. */
enum { PART = 1020, BYTES = 255 };

static npy_intp count_bytes(const npy_bool *truth, npy_intp size)
{
    npy_intp count = 0;
    for (npy_intp i = 0; i < size; i += BYTES) {
        const npy_intp end = size - i < BYTES ? size : i + BYTES;
        npy_uint8 sum = 0;
        for (npy_intp j = i; j < end; j++) {
            sum += truth[j] != 0;
        }
        count += sum;
    }
    return count;
}

npy_intp ask_truth(TruthQuestion question, const ElementLoop *loop, const char *data,
                   DTypeCode code, npy_intp size)
{
    static const npy_cdouble zero; /* of any dtype */
    const npy_intp itemsize = dtypes[code].itemsize;
    npy_bool compared[PART];
    npy_intp count = 0;
    for (npy_intp i = 0; i < size; i += PART) {
        const npy_intp n = size - i < PART ? size - i : PART;
        const npy_bool *truth = (const npy_bool *)data + i;
        if (code != BOOL) {
            char *args[3] = {(char *)data + i * itemsize, (char *)&zero, (char *)compared};
            npy_intp length = n, steps[3] = {itemsize, 0, 1};
            loop->function(args, &length, steps, loop->data);
            truth = compared;
        }
        const npy_intp found = count_bytes(truth, n);
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
