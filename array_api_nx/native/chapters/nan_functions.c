/* nansum and its like, of arrays without NaN: there they are sum and its like. Arrays with NaN are left to Python, and so are
   infinities, whose warnings may have other names. */

#include "chapters.h"
#include "elements.h"
#include "flags.h"
#include "nodes.h"
#include "pack.h"
#include "sorting.h"
#include "truth.h"

#define EACH_NAN_FUNCTION(F)                                                                                             \
    F(SUM, "nansum", "sum") F(PROD, "nanprod", "prod") F(MAX, "nanmax", "max") F(MIN, "nanmin", "min")                   \
    F(MEAN, "nanmean", "mean") F(VAR, "nanvar", "var") F(STD, "nanstd", "std") F(ARGMAX, "nanargmax", "argmax_of_any")   \
    F(ARGMIN, "nanargmin", "argmin_of_any") F(CUMSUM, "nancumsum", "cumulative_sum")                                     \
    F(CUMPROD, "nancumprod", "cumulative_prod")
#define NAME_CODE(CODE, ...) CODE,
enum { EACH_NAN_FUNCTION(NAME_CODE) FUNCTIONS };

/* Whether an array has elements, all of which are finite. Large arrays are not looked at, and count as others: NumPy's
   functions for NaN, or Python's here, compute them. */
static int is_finite_array(Tensor *x)
{
    const DTypeCode code = (DTypeCode)x->code;
    const char *data = x->size > 0 && x->size <= limits.at_once && !is_complex(code) && !is_float16(code) ? data_of(x) : NULL;
    if (data == NULL || !is_inexact(code)) {
        return data != NULL;
    }
    if (!is_aligned(x, data)) {
        return 0;
    }
    Tensor *copy = x->flags & (ROW_MAJOR | COLUMN_MAJOR) ? NULL : copy_tensor(x, data);
    if (copy != NULL) {
        data = data_of(copy);
    }
    const int is_finite = !PyErr_Occurred() && count_nan(code, data, x->size) == 0;
    clear_flags();
    Py_XDECREF(copy);
    return is_finite;
}

/* Whether each result has more elements than the degrees of freedom that it loses. */
static int has_freedom(const Tensor *x, PyObject *correction)
{
    npy_intp lost = 0;
    if (correction != NULL && (!PyLong_CheckExact(correction) || !take_number(correction, &lost))) {
        return 0;
    }
    for (int dim = 0; dim < x->ndim; dim++) {
        if (x->shape[dim] <= lost) {
            return 0;
        }
    }
    return lost >= 0;
}

static PyObject *call_without_nan(int which, PyObject *const *values, Py_ssize_t count)
{
    static const char *const names[] = {
#define PLAIN_NAME(CODE, NAME, PLAIN) PLAIN,
        EACH_NAN_FUNCTION(PLAIN_NAME)
    };
    static const Implementation *plain[FUNCTIONS];
    Tensor *x = layout_of_any(values[0]);
    if (x == NULL || ((which == VAR || which == STD) && !has_freedom(x, values[3])) || !is_finite_array(x)) {
        return decline_unless_raised();
    }
    /* Which of two zeros is the greater one is another matter in NumPy's functions. */
    const int chooses_zeros = (which == MAX || which == MIN) && is_inexact(x->code);
    const int has_choice = chooses_zeros ? has_both_zeros(x, data_of(x)) : 0;
    if (has_choice != 0) {
        return has_choice < 0 ? NULL : DECLINED;
    }
    if (plain[which] == NULL) {
        plain[which] = find_implementation(names[which]);
    }
    return plain[which]->compute(plain[which]->code, values, count);
}

#define PARAMETERS_OF(CODE)                                                                                \
    ((CODE) == SUM || (CODE) == PROD         ? "x, /, *, axis=, keepdims=, dtype="                         \
     : (CODE) == VAR || (CODE) == STD        ? "x, /, *, axis=, keepdims=, correction="                    \
     : (CODE) == CUMSUM || (CODE) == CUMPROD ? "x, /, *, axis=, dtype=, include_initial="                  \
                                             : "x, /, *, axis=, keepdims=")
#define IMPLEMENTATION(CODE, NAME, PLAIN) {NAME, call_without_nan, CODE, PARAMETERS_OF(CODE)},
Implementation nan_functions[] = {
    EACH_NAN_FUNCTION(IMPLEMENTATION){NULL, NULL, 0, NULL},
};
