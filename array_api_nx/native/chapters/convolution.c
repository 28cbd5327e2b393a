/* convolve and correlate of two vectors, as sums of products.

   The taps, the elements of the shorter vector, lie in one run, in the order in which they meet the elements of the longer one.
   Most results are sums over all taps: for a block of them at a time each tap is multiplied by as many elements as there are
   results. At both ends some taps meet nothing, and each result is a sum of its own. */

#include "boxes.h"
#include "chapters.h"
#include "conversion.h"
#include "elements.h"
#include "pack.h"
#include "product_sums.h"
#include "settings.h"
#include "sizes.h"
#include "threads.h"

/* Results of a part: they and the elements that they need stay in the first level of the cache (docs/tuning.md, 161). */
enum { RESULTS_EACH = 1 << 11 };

/* How much of a convolution there is: all places at which the vectors meet, as many as the longer vector has elements, and
   those where the shorter one lies within the longer. */
typedef enum { VALID, SAME, FULL } Mode;

typedef struct {
    DTypeCode code;
    const char *elements, *taps;
    npy_intp size, tap_count;
    npy_intp first, count; /* the results, of all places at which the vectors meet */
    char *out;
} Convolution;

/* Compute `count` results from `place` on, each the sum of so many products. Those of the first result begin with an element
   and a tap of these numbers, those of each other one with the next element and the same tap. */
static void compute_block(const Convolution *all, npy_intp place, npy_intp count, npy_intp element, npy_intp tap,
                          npy_intp products)
{
    const npy_intp itemsize = dtypes[all->code].itemsize;
    ProductNest nest = {.code = all->code, .ndim = 0};
    nest.data[SUMS] = all->out + (place - all->first) * itemsize;
    nest.data[LEFT_FACTOR] = (char *)all->elements + element * itemsize;
    nest.data[RIGHT_FACTOR] = (char *)all->taps + tap * itemsize;
    add_product_axis(&nest, products, 0, itemsize, itemsize);
    add_product_axis(&nest, count, itemsize, itemsize, 0);
    sum_products_alone(&nest);
}

/* Compute results from one place up to another. */
static void compute_places(const Convolution *all, npy_intp place, npy_intp end)
{
    const npy_intp taps = all->tap_count, last = taps - 1;
    for (; place < least(end, last); place++) {
        compute_block(all, place, 1, 0, last - place, place + 1);
    }
    const npy_intp inside = least(end, all->size);
    if (place < inside) {
        compute_block(all, place, inside - place, place - last, 0, taps);
        place = inside;
    }
    for (; place < end; place++) {
        compute_block(all, place, 1, place - last, 0, all->size - (place - last));
    }
}

static void run_part(const void *shared, npy_intp part, char *scratch)
{
    const Convolution *all = shared;
    const npy_intp from = all->first + part * RESULTS_EACH;
    compute_places(all, from, least(from + RESULTS_EACH, all->first + all->count));
}

/* Write the taps in one run: in reverse order for a convolution, conjugated for a correlation. */
static void write_taps(const Tensor *x, const char *data, int reverses, char *taps)
{
    const npy_intp itemsize = dtypes[x->code].itemsize, size = x->shape[0];
    const npy_intp step = reverses ? -itemsize : itemsize;
    copy_elements(1, &size, taps, &itemsize, reverses ? data - (size - 1) * step : data, &step, itemsize);
    for (npy_intp i = 0; i < size && !reverses; i++) {
        if (x->code == COMPLEX64) {
            ((npy_float *)taps)[2 * i + 1] *= -1;
        } else if (x->code == COMPLEX128) {
            ((npy_double *)taps)[2 * i + 1] *= -1;
        }
    }
}

/* Compute all results. 0 with an exception set. */
static int run(const Convolution *all)
{
    const npy_intp parts = (all->count - 1) / RESULTS_EACH + 1;
    if (parts == 1) {
        run_part(all, 0, NULL);
        return 1;
    }
    const npy_intp threads = most_threads();
    return threads > 0 && run_parts_freely(run_part, all, parts, threads, 0);
}

/* The result of two vectors of one dtype, the longer one first, whose elements lie one after the other. */
static PyObject *convolve_vectors(Tensor *x, Tensor *y, Mode mode, int reverses)
{
    Scratch scratch = {.heap = NULL};
    Convolution all = {.code = (DTypeCode)x->code, .size = x->shape[0], .tap_count = y->shape[0]};
    const npy_intp last = all.tap_count - 1;
    all.first = mode == FULL ? 0 : mode == SAME ? last / 2 : last;
    all.count = mode == FULL ? all.size + last : mode == SAME ? all.size : all.size - last;
    const char *taps = data_of(y);
    all.elements = taps == NULL ? NULL : data_of(x);
    if (all.elements == NULL || !is_aligned(x, all.elements) || !is_aligned(y, taps)) {
        return decline_unless_raised();
    }
    PyObject *result = new_array_like_memory(1, &all.count, all.code, 0, &all.out);
    if (result == NULL) {
        return NULL;
    }
    if (reverses || is_complex(all.code)) {
        if (take_scratch(&scratch, all.tap_count * dtypes[all.code].itemsize) < 0) {
            Py_DECREF(result);
            return NULL;
        }
        write_taps(y, taps, reverses, scratch.data);
        taps = scratch.data;
    }
    all.taps = taps;
    if (!run(&all)) {
        Py_CLEAR(result);
    }
    free_scratch(&scratch);
    return result;
}

/* The mode of a call; 0 if it is left to Python. */
static int take_mode(PyObject *value, Mode *mode)
{
    static const char *const names[] = {[VALID] = "valid", [SAME] = "same", [FULL] = "full"};
    if (value == NULL) {
        return 1;
    }
    for (int i = VALID; PyUnicode_Check(value) && i <= FULL; i++) {
        if (PyUnicode_CompareWithASCIIString(value, names[i]) == 0) {
            *mode = (Mode)i;
            return 1;
        }
    }
    return 0;
}

/* An operand in a dtype, its elements one after the other: a new reference. NULL, or DECLINED, as `cast_array`. */
static PyObject *take_vector(PyObject *object, Tensor *x, DTypeCode code)
{
    if (x->code != code) {
        return cast_array(x, code);
    }
    return x->flags & ROW_MAJOR ? Py_NewRef(object) : copy_into_shape(x, 1, x->shape);
}

/* `reverses` says that it is a convolution, in which the shorter vector is the second one. */
static PyObject *convolve(int reverses, PyObject *const *values, Py_ssize_t count)
{
    Mode mode = reverses ? FULL : VALID;
    Tensor *x = layout_of_any(values[0]), *y = layout_of_any(values[1]);
    if (x == NULL || y == NULL || limits.at_once < 0 || x->ndim != 1 || y->ndim != 1 || x->size == 0 || y->size == 0 ||
        !take_mode(values[2], &mode) || (!reverses && x->size < y->size)) {
        return DECLINED;
    }
    const DTypeCode code = (DTypeCode)promotions[x->code][y->code];
    if (code == NO_DTYPE || !has_product_sums(code)) {
        return DECLINED;
    }
    PyObject *first = take_vector(values[0], x, code);
    PyObject *second = is_answer(first) ? take_vector(values[1], y, code) : first;
    PyObject *result = second;
    if (is_answer(second)) {
        x = layout_of_any(first);
        y = layout_of_any(second);
        const int turns = x->size < y->size;
        Py_INCREF(x); /* whatever finalisers and other threads do meanwhile */
        Py_INCREF(y);
        result = convolve_vectors(turns ? y : x, turns ? x : y, mode, reverses);
        Py_DECREF(x);
        Py_DECREF(y);
    }
    drop_answer(first);
    drop_answer(second);
    return result;
}

Implementation convolution_functions[] = {
    {"convolve", convolve, 1, "a, v, /, mode="},
    {"correlate", convolve, 0, "a, v, /, mode="},
    {NULL, NULL, 0, NULL},
};
