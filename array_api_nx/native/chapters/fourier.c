/* Fourier transforms of few elements in double precision, by the inner loops of NumPy's functions. Python has several threads
   transform more (backends/cpu/fourier.py), and others by NumPy, whose versions choose the precision in different ways. */

#include "chapters.h"
#include "conversion.h"
#include "face.h"
#include "pack.h"
#include "products.h"
#include "settings.h"
#include "sizes.h"
#include "ufunc_fields.h"

#include <math.h>

typedef enum { FORWARD, INVERSE, FROM_REAL, TO_REAL } Direction;

/* What is divided by the number of elements, or by its root. */
typedef enum { DIVIDES_INVERSE, DIVIDES_BOTH, DIVIDES_FORWARD, NO_NORM } Norm;

/* From real numbers to an odd number of elements of the whole transform is a direction of its own. */
static CoreLoops loops[5];

static const char *const names[5] = {"fft", "ifft", "rfft_n_even", "irfft", "rfft_n_odd"};

/* Look up NumPy's functions, which are imported when they are first needed. 0 with an exception set if there is no memory. */
static int find_functions(void)
{
    static int found;
    if (found) {
        return 1;
    }
    PyObject *fft = PyImport_ImportModule("numpy.fft._pocketfft_umath");
    found = fft != NULL || PyErr_ExceptionMatches(PyExc_ImportError);
    if (fft == NULL && found) {
        PyErr_Clear(); /* the module is private: without it NumPy's public functions compute */
    }
    for (int i = 0; fft != NULL && i < 5; i++) {
        found &= loops[i].name != NULL || find_ufunc(fft, names[i], 2, 1, &loops[i]) == 0;
    }
    Py_XDECREF(fft);
    return found;
}

/* Look up the loop whose operand has a dtype. Whether there is one. */
static int find_transform(CoreLoops *transform, DTypeCode code)
{
    const char *types;
    for (int i = 0; transform->ufunc != NULL && transform->functions[code] == NULL &&
                    (types = read_ufunc_loop(transform->ufunc, i, &transform->functions[code], &transform->data[code])) != NULL;
         i++) {
        if (types[0] != dtypes[code].type_number) {
            transform->functions[code] = NULL;
        }
    }
    return transform->functions[code] != NULL;
}

static Norm read_norm(PyObject *value)
{
    static const char *const norms[] = {"backward", "ortho", "forward"};
    Norm norm = DIVIDES_INVERSE;
    if (value == NULL) {
        return norm;
    }
    while (norm < NO_NORM && !(PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, norms[norm]) == 0)) {
        norm++;
    }
    return norm;
}

/* What a transform is multiplied by. */
static double factor_of(Direction direction, Norm norm, npy_intp size)
{
    const int is_inverse = direction == INVERSE || direction == TO_REAL;
    const double count = (double)size;
    return norm == DIVIDES_BOTH ? 1 / sqrt(count) : (norm == DIVIDES_INVERSE) == is_inverse ? 1 / count : 1;
}

/* The dtype in which operands are transformed; NO_DTYPE if Python has to look at them. */
static DTypeCode computed_in(Direction direction, DTypeCode code)
{
    if (direction == FROM_REAL) {
        return code == FLOAT64 || !is_inexact(code) ? FLOAT64 : NO_DTYPE;
    }
    return code == FLOAT64 || code == COMPLEX128 || !is_inexact(code) ? COMPLEX128 : NO_DTYPE;
}

/* The transform along one axis of elements of the dtype in which it is computed; `size` are those of the whole transform. */
static PyObject *transform_axis(Direction direction, Tensor *x, int axis, npy_intp size, Norm norm)
{
    const DTypeCode code = (DTypeCode)x->code, made = direction == TO_REAL ? FLOAT64 : COMPLEX128;
    CoreLoops *transform = &loops[direction == FROM_REAL && size % 2 ? 4 : direction];
    npy_intp shape[ARRAY_DIMS], before = 1, after = 1;
    double factor = factor_of(direction, norm, size);
    char *target;
    if (x->size == 0 || size < 1 || size > MOST_ELEMENTS / x->size || x->size / x->shape[axis] * size > limits.at_once ||
        !(x->ndim == 1 || (x->flags & ROW_MAJOR)) || !find_functions() || !find_transform(transform, code)) {
        return decline_unless_raised();
    }
    char *source = data_of(x);
    if (source == NULL || !is_aligned(x, source)) {
        return decline_unless_raised();
    }
    for (int dim = 0; dim < x->ndim; dim++) {
        shape[dim] = x->shape[dim];
        *(dim < axis ? &before : &after) *= dim == axis ? 1 : x->shape[dim];
    }
    shape[axis] = direction == FROM_REAL ? size / 2 + 1 : size;
    Py_INCREF(x); /* whatever finalisers and other threads do meanwhile */
    PyObject *result = new_array_like_memory(x->ndim, shape, made, 0, &target);
    if (result == NULL) {
        Py_DECREF(x);
        return NULL;
    }
    const npy_intp itemsize = dtypes[code].itemsize, made_size = dtypes[made].itemsize;
    const npy_intp step = x->ndim == 1 ? x->strides[0] : after * itemsize, given = x->shape[axis];
    /* One call transforms all that lies behind the axis, or in front of it. */
    const int is_last = after == 1;
    const npy_intp sizes[3] = {is_last ? before : after, given, shape[axis]};
    const npy_intp steps[5] = {is_last ? given * itemsize : itemsize, 0, is_last ? shape[axis] * made_size : made_size, step,
                               after * made_size};
    int flags = 0;
    for (npy_intp i = 0; i < (is_last ? 1 : before); i++) {
        char *args[3] = {source + i * given * after * itemsize, (char *)&factor, target + i * shape[axis] * after * made_size};
        flags |= run_core_loop(transform, code, args, sizes, steps, x->size <= MOST_BRIEF);
    }
    Py_DECREF(x);
    if (PyErr_Occurred()) { /* there was no memory for a copy */
        Py_DECREF(result);
        return NULL;
    }
    return settle(result, transform->name, flags);
}

/* The same in any dtype. */
static PyObject *transform(Direction direction, Tensor *x, int axis, npy_intp size, Norm norm)
{
    const DTypeCode code = computed_in(direction, (DTypeCode)x->code);
    if (code == NO_DTYPE || x->size > limits.at_once) {
        return DECLINED;
    }
    if (code == x->code) {
        return transform_axis(direction, x, axis, size, norm);
    }
    PyObject *cast = cast_array(x, code);
    if (cast == NULL || cast == DECLINED) {
        return cast;
    }
    PyObject *result = transform_axis(direction, tensor_of(cast), axis, size, norm);
    Py_DECREF(cast);
    return result;
}

/* From so many real numbers along an axis on, Python computes half of a transform of the standard's arrays and mirrors it, in
   half the time (_HALVED_MIN of backends/cpu/fourier.py). Transforms of the face's arrays have NumPy's bits instead. */
enum { HALVED_FROM = 64 };

static int is_halved(Direction direction, PyObject *array, const Tensor *x, npy_intp size)
{
    return direction <= INVERSE && !is_complex(x->code) && !is_face(array) && size >= HALVED_FROM;
}

/* The elements of the whole transform along an axis. */
static npy_intp whole_size(Direction direction, const Tensor *x, int axis)
{
    return direction == TO_REAL ? 2 * (x->shape[axis] - 1) : x->shape[axis];
}

/* fft(x, n, axis, norm) */
static PyObject *call_transform(int direction, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_of_any(values[0]);
    const Norm norm = read_norm(values[3]);
    int axis;
    if (x == NULL || x->ndim == 0 || norm == NO_NORM) {
        return decline_unless_raised();
    }
    if (values[2] == NULL) {
        axis = x->ndim - 1;
    } else if (!take_axis(values[2], x->ndim, &axis)) {
        return decline_unless_raised();
    }
    npy_intp size = whole_size((Direction)direction, x, axis);
    if (is_given(values[1])) {
        int overflow = 0;
        size = PyLong_CheckExact(values[1]) ? PyLong_AsLongLongAndOverflow(values[1], &overflow) : 0;
        if (overflow || size < 1) {
            return DECLINED;
        }
    }
    return is_halved((Direction)direction, values[0], x, size) ? DECLINED
                                                               : transform((Direction)direction, x, axis, size, norm);
}

/* Read axes, all different; without a value these are all. Returns their number; 0 if Python has to look at them. */
static int read_axes(PyObject *value, int ndim, int *axes)
{
    char seen[ARRAY_DIMS] = {0};
    if (!is_given(value)) {
        for (int dim = 0; dim < ndim; dim++) {
            axes[dim] = dim;
        }
        return ndim;
    }
    const Py_ssize_t count = PyTuple_CheckExact(value) ? PyTuple_GET_SIZE(value) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (i == ndim || !take_axis(PyTuple_GET_ITEM(value, i), ndim, &axes[i]) || seen[axes[i]]) {
            return 0;
        }
        seen[axes[i]] = 1;
    }
    return (int)count;
}

/* The transform along each of the axes. */
static PyObject *transform_axes(Direction direction, PyObject *array, Tensor *x, const int *axes, int count, Norm norm)
{
    const int last = axes[count - 1];
    if (is_halved(direction, array, x, x->shape[last])) {
        return DECLINED;
    }
    PyObject *result = Py_NewRef(array);
    for (int i = 0; i < count; i++) {
        /* One axis after the other in the order of NumPy's functions. */
        const int axis = direction == TO_REAL ? axes[i] : axes[count - 1 - i];
        const Direction each = axis == last || direction <= INVERSE ? direction : direction == TO_REAL ? INVERSE : FORWARD;
        Tensor *given = i == 0 ? x : tensor_of(result);
        PyObject *next = transform(each, given, axis, whole_size(each, given, axis), norm);
        Py_DECREF(result);
        result = next;
        if (!is_answer(result)) {
            return result;
        }
    }
    return result;
}

/* fftn(x, s, axes, norm), or with `which` of four more over the last two axes by default. */
static PyObject *call_transforms(int which, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_of_any(values[0]);
    const Norm norm = read_norm(values[3]);
    int axes[ARRAY_DIMS];
    if (x == NULL || norm == NO_NORM || is_given(values[1]) || x->ndim < (which >= 4 ? 2 : 1)) {
        return decline_unless_raised();
    }
    int number = read_axes(values[2], x->ndim, axes);
    if (which >= 4 && values[2] == NULL) {
        axes[0] = x->ndim - 2;
        axes[1] = x->ndim - 1;
        number = 2;
    }
    return number == 0 ? decline_unless_raised() : transform_axes((Direction)(which % 4), values[0], x, axes, number, norm);
}

#define ONE_AXIS "x, /, *, n=, axis=, norm="
#define SEVERAL_AXES "x, /, *, s=, axes=, norm="

Implementation fourier_functions[] = {
    {"fft", call_transform, FORWARD, ONE_AXIS},
    {"ifft", call_transform, INVERSE, ONE_AXIS},
    {"rfft", call_transform, FROM_REAL, ONE_AXIS},
    {"irfft", call_transform, TO_REAL, ONE_AXIS},
    {"fftn", call_transforms, FORWARD, SEVERAL_AXES},
    {"ifftn", call_transforms, INVERSE, SEVERAL_AXES},
    {"rfftn", call_transforms, FROM_REAL, SEVERAL_AXES},
    {"irfftn", call_transforms, TO_REAL, SEVERAL_AXES},
    {"fft2", call_transforms, 4 + FORWARD, SEVERAL_AXES},
    {"ifft2", call_transforms, 4 + INVERSE, SEVERAL_AXES},
    {"rfft2", call_transforms, 4 + FROM_REAL, SEVERAL_AXES},
    {"irfft2", call_transforms, 4 + TO_REAL, SEVERAL_AXES},
    {NULL, NULL, 0, NULL},
};
