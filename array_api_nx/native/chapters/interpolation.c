/* interp: values between points, on the lines that join them, with NumPy's rounding. */

#include "buckets.h"
#include "chapters.h"
#include "conversion.h"
#include "elements.h"
#include "flags.h"
#include "pack.h"
#include "settings.h"
#include "threads.h"
#include "vectors.h"

enum {
    BLOCK = 512,             /* values at a time, whose places are found together unless they ascend */
    NEAR = 32,               /* points after the last place that are near it */
    STRETCH = 16,            /* ascending values that are tried on one line at a time */
    EACH = 1 << 12,          /* values of a part */
    SERIAL_VALUES = 1 << 14, /* values up to which one thread takes as long as several (docs/tuning.md, 159) */
};

typedef struct {
    const double *points, *values;
    npy_intp last; /* of the points, which are at least two: NumPy has another result for NaN beside a single one */
    double before, after; /* the results outside of the points */
    int ascends;          /* whether the points do, if it was worth finding out */
    const double *x;
    double *out;
    npy_intp count;
} Interpolation;

/* The last of some points that is not above `x`, which is no less than the first of them. */
static inline npy_intp find_point(const double *points, npy_intp length, double x)
{
    npy_intp place = 0;
    while (length > 1) {
        const npy_intp half = length >> 1;
        place += points[place + half] <= x ? half : 0;
        length -= half;
    }
    return place;
}

/* The same of all points but the last one, near a place where others were found. What is not near is looked for among all,
   so that the processor need not wait for the place. */
static inline npy_intp find_near(const Interpolation *all, npy_intp place, double x)
{
    const double *points = all->points;
    const npy_intp near = least(NEAR, all->last - place);
    if (x < points[place] || points[place + near] <= x) {
        return find_point(points, all->last, x);
    }
    npy_intp step = 1;
    while (place + step < all->last && points[place + step] <= x) {
        place += step;
        step <<= 1;
    }
    return place + find_point(points + place, least(step, all->last - place), x);
}

/* The result between a point and the next one. If it is NaN from this side it may not be from the other one. */
static inline double on_line(const Interpolation *all, npy_intp place, double x)
{
    const double *points = all->points + place, *values = all->values + place;
    if (points[0] == x) {
        return values[0];
    }
    const double slope = (values[1] - values[0]) / (points[1] - points[0]);
    double result = slope * (x - points[0]) + values[0];
    if (isnan(result)) {
        result = slope * (x - points[1]) + values[1];
        if (isnan(result) && values[0] == values[1]) {
            result = values[0];
        }
    }
    return result;
}

/* Whether NumPy looks for no place, also among points that do not ascend, or are NaN: the value is outside of them, or NaN. */
static inline int is_outside(const Interpolation *all, double x)
{
    return x < all->points[0] || x > all->points[all->last] || isnan(x);
}

static inline double result_outside(const Interpolation *all, double x)
{
    return isnan(x) ? x : x > all->points[all->last] ? all->after : all->before;
}

/* Whether STRETCH ascending values, of which the first one is not outside, all lie between a point and the next one. */
static inline int lie_on_line(const Interpolation *all, npy_intp place, const double *x)
{
    const double *points = all->points, last = x[STRETCH - 1];
    return x[0] >= points[place] && last < points[place + 1] && last <= points[all->last];
}

CLONED(static, void, go_along, (const double *x, double point, double value, double slope, double *out),
       (x, point, value, slope, out))
{
    for (int i = 0; i < STRETCH; i++) {
        const double result = slope * (x[i] - point) + value;
        out[i] = x[i] == point ? value : result;
    }
}

/* Ascending values: each place is looked for from the last one on. Returns the place of the last value. */
static npy_intp interpolate_ascending(const Interpolation *all, const double *x, npy_intp count, npy_intp place, double *out)
{
    const double *points = all->points, *values = all->values;
    for (npy_intp i = 0; i < count;) {
        const double value = x[i];
        if (is_outside(all, value) || value == points[all->last]) {
            out[i] = is_outside(all, value) ? result_outside(all, value) : values[all->last];
            i++;
            continue;
        }
        if (!(points[place] <= value && value < points[place + 1])) {
            place = find_near(all, place, value);
        }
        const double slope = (values[place + 1] - values[place]) / (points[place + 1] - points[place]);
        if (count - i >= STRETCH && lie_on_line(all, place, x + i) && isfinite(slope) && isfinite(points[place]) &&
            isfinite(values[place])) { /* so that nothing becomes NaN */
            do {
                go_along(x + i, points[place], values[place], slope, out + i);
                i += STRETCH;
            } while (count - i >= STRETCH && lie_on_line(all, place, x + i));
        } else {
            out[i] = on_line(all, place, value);
            i++;
        }
    }
    return place;
}

static int ascend(const double *x, npy_intp count)
{
    return direction_of((const char *)x, FLOAT64, count) > 0;
}

static void interpolate(const Interpolation *all, npy_intp begin, npy_intp end)
{
    npy_int64 places[BLOCK];
    npy_intp place = 0;
    for (npy_intp i = begin; i < end; i += BLOCK) {
        const npy_intp count = least(BLOCK, end - i);
        const double *x = all->x + i;
        double *out = all->out + i;
        if (ascend(x, count)) {
            place = interpolate_ascending(all, x, count, place, out);
            continue;
        }
        if (all->ascends) {
            find_places_of((const char *)all->points, FLOAT64, all->last + 1, (const char *)x, count, 1, places);
        }
        for (npy_intp k = 0; k < count; k++) {
            const double value = x[k];
            if (is_outside(all, value)) {
                out[k] = result_outside(all, value);
                continue;
            }
            /* Another thread may have written to the points since the places were found. */
            const npy_intp found = all->ascends ? greatest(0, places[k] - 1) : find_point(all->points, all->last + 1, value);
            out[k] = found < all->last ? on_line(all, found, value) : all->values[all->last];
        }
    }
    clear_flags(); /* comparisons with NaN, and what NumPy does not report here either */
}

static void run_part(const void *shared, npy_intp part, char *scratch)
{
    const Interpolation *all = shared;
    interpolate(all, part * EACH, least(all->count, (part + 1) * EACH));
}

/* The elements of an operand as float64, one row after the other: an own reference. NULL, perhaps without an exception,
   where Python has to look at it. */
static Tensor *take_reals(PyObject *object, double **data)
{
    Tensor *x = layout_of_any(object);
    char *elements = x == NULL || x->size == 0 || is_complex(x->code) ? NULL : data_of(x), *rows;
    if (elements == NULL || !is_aligned(x, elements)) {
        return NULL;
    }
    x = x->code == FLOAT64 ? (Tensor *)Py_NewRef(x) : cast_operand(x, FLOAT64);
    elements = x == NULL ? NULL : data_of(x);
    if (elements != NULL && !(x->flags & ROW_MAJOR)) {
        Tensor *copy = new_memory(x->ndim, x->shape, FLOAT64, 0, &rows);
        if (copy != NULL) {
            copy_elements(x->ndim, x->shape, rows, copy->strides, elements, x->strides, sizeof(double));
        }
        Py_SETREF(x, copy);
        elements = copy == NULL ? NULL : rows;
    }
    *data = (double *)elements;
    if (elements == NULL) {
        Py_CLEAR(x);
    }
    return x;
}

/* Compute the results. 0 with an exception set. */
static int run(Interpolation *all)
{
    if (all->count <= SERIAL_VALUES) {
        interpolate(all, 0, all->count);
        return 1;
    }
    const npy_intp threads = most_threads();
    return threads > 0 && run_parts_freely(run_part, all, (all->count - 1) / EACH + 1, threads, 0);
}

static PyObject *call_interp(int takes_scalars, PyObject *const *values, Py_ssize_t count)
{
    Tensor *taken[3] = {NULL, NULL, NULL};
    double *data[3], number;
    PyObject *result = NULL;
    const int is_number = !is_array(values[0]);
    if (is_given(values[5]) || (is_number && !(takes_scalars && write_scalar((char *)&number, FLOAT64, values[0])))) {
        return DECLINED;
    }
    int known = 1;
    for (int i = is_number; i < 3 && known; i++) {
        known = (taken[i] = take_reals(values[i], &data[i])) != NULL;
    }
    known = known && taken[1]->ndim == 1 && taken[2]->ndim == 1 && taken[1]->size == taken[2]->size && taken[1]->size > 1;
    if (known) {
        const npy_intp last = taken[1]->size - 1;
        Interpolation all = {.points = data[1], .values = data[2], .last = last, .before = data[2][0],
                             .after = data[2][last], .x = is_number ? &number : data[0],
                             .count = is_number ? 1 : taken[0]->size};
        known = (!is_given(values[3]) || write_scalar((char *)&all.before, FLOAT64, values[3])) &&
                (!is_given(values[4]) || write_scalar((char *)&all.after, FLOAT64, values[4]));
        if (known) {
            all.ascends = !ascend(all.x, least(all.count, BLOCK)) &&
                          last < 2 * all.count && is_worth_turns((const char *)all.points, FLOAT64, last + 1, all.count);
            result = new_array_like_memory(is_number ? 0 : taken[0]->ndim, is_number ? NULL : taken[0]->shape, FLOAT64, 0,
                                           (char **)&all.out);
            if (result != NULL && !run(&all)) {
                Py_CLEAR(result);
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        Py_XDECREF(taken[i]);
    }
    return known ? result : decline_unless_raised();
}

Implementation interpolation_functions[] = {
    {"interp", call_interp, 0, "x, xp, fp, /, left=, right=, period="},
    {"interp_of_any", call_interp, 1, "x, xp, fp, /, left=, right=, period="}, /* of scalars, too */
    {NULL, NULL, 0, NULL},
};
