/* asarray, astype, and Array.__array__. */

#include "conversion.h"
#include "arguments.h"
#include "boxes.h"
#include "chapters.h"
#include "elementwise.h"
#include "face.h"
#include "sizes.h"
#include "flags.h"
#include "layouts.h"
#include "loops.h"
#include "names.h"
#include "nested_lists.h"
#include "nodes.h"
#include "pack.h"
#include "storage.h"
#include "walk.h"

/* Whether `value` is NumPy's scalar type of a dtype, or its name. */
static int is_scalar_type(PyObject *value, const PyTypeObject *type)
{
    return value == (const PyObject *)type ||
           (PyUnicode_Check(value) &&
            PyUnicode_CompareWithASCIIString(value, type->tp_name + strlen("numpy.")) == 0);
}

int take_dtype_or_type(PyObject *value, DTypeCode *code)
{
    const PyTypeObject *type = (PyTypeObject *)value;
    if (type == &PyFloat_Type) {
        *code = FLOAT64;
    } else if (type == &PyLong_Type) {
        *code = NX_INT64;
    } else if (type == &PyBool_Type) {
        *code = BOOL;
    } else if (type == &PyComplex_Type) {
        *code = COMPLEX128;
    } else if (value != NULL && (PyType_Check(value) || PyUnicode_Check(value))) {
        *code = BOOL;
        while (*code < DTYPE_COUNT && !is_scalar_type(value, dtypes[*code].descr->typeobj)) {
            ++*code;
        }
        return *code != NO_DTYPE;
    } else {
        return take_dtype(value, code);
    }
    return 1;
}

/* ------------------------------------------------------------------ copies and casts */

/* Write the elements, cast to another dtype, one after the other: with the axes in an order. */
static void write_elements(int ndim, const npy_intp *shape, const npy_intp *strides, char *data,
                           PyUFuncGenericFunction function, const npy_intp *itemsizes, const npy_uint8 *order, char *target)
{
    Walk walk;
    walk.ndim = ndim;
    walk.operands = 2;
    for (int dim = 0; dim < ndim; dim++) {
        const int axis = order[ndim - 1 - dim];
        walk.shape[dim] = shape[axis];
        walk.strides[0][dim] = strides[axis];
    }
    lay_out(&walk, 1, itemsizes[1]);
    walk.data[0] = data;
    walk.data[1] = target;
    run_walk_in_blocks(&walk, itemsizes, NO_LINK, 1, function, NULL);
}

/* A row-major copy. */
static PyObject *copy_rows(int ndim, const npy_intp *shape, const npy_intp *strides, char *data,
                               DTypeCode code)
{
    char *target;
    AxisOrder order;
    PyObject *result = new_array_like_memory(ndim, shape, code, 0, &target);
    if (result != NULL) {
        order_rows(ndim, order);
        pack(data, code, ndim, shape, strides, order, code, target);
    }
    return result;
}

void order_copy(const Tensor *x, npy_uint8 *order)
{
    const int ndim = x->ndim;
    order_rows(ndim, order);
    if (x->flags & ROW_MAJOR) {
        return;
    }
    for (int i = 1; i < ndim; i++) {
        const npy_uint8 axis = order[i];
        const npy_intp stride = magnitude(x->strides[axis]);
        int place = i;
        for (; place > 0 && (x->flags & COLUMN_MAJOR || magnitude(x->strides[order[place - 1]]) > stride); place--) {
            order[place] = order[place - 1];
        }
        order[place] = axis;
    }
}

/* Write the elements as those of another dtype, with the axes in an order. */
static void write_cast(const Tensor *x, PyUFuncGenericFunction function, DTypeCode code, const npy_uint8 *order, char *data,
                       char *out)
{
    char *args[2] = {data, out};
    const npy_intp steps[2] = {dtypes[x->code].itemsize, dtypes[code].itemsize};
    if (x->flags & ROW_MAJOR) {
        function(args, &x->size, steps, NULL);
    } else {
        write_elements(x->ndim, x->shape, x->strides, data, function, steps, order, out);
    }
}

Tensor *cast_operand(Tensor *x, DTypeCode code)
{
    for (int dim = 0; dim < x->ndim; dim++) {
        if (x->strides[dim] == 0 && x->shape[dim] > 1) {
            return NULL; /* the copy would decide the order of axes in the result, which this operand does not */
        }
    }
    const PyUFuncGenericFunction function = cast_function((DTypeCode)x->code, code);
    char *data = data_of(x), *out;
    AxisOrder order;
    npy_intp sizes[ARRAY_DIMS];
    if (function == NULL || data == NULL) {
        return NULL;
    }
    order_copy(x, order);
    sizes_in_order(x, order, sizes);
    Tensor *copy = new_memory(x->ndim, sizes, code, 0, &out);
    if (copy != NULL) {
        reorder_axes(copy, order);
        write_cast(x, function, code, order, data, out);
    }
    return copy;
}

/* A cast by this thread. */
static PyObject *cast_now(Tensor *x, const Operation *cast, DTypeCode code)
{
    char *data = data_of(x), *out;
    AxisOrder order;
    npy_intp sizes[ARRAY_DIMS];
    if (cast->function == NULL || data == NULL) {
        return decline_unless_raised();
    }
    order_copy(x, order);
    sizes_in_order(x, order, sizes);
    PyObject *result = new_array_in_order(x->ndim, sizes, order, code, &out);
    if (result == NULL) {
        return NULL;
    }
    clear_flags();
    write_cast(x, cast->function, code, order, data, out);
    return settle(result, names_of.cast, cast->raises != RAISES_NONE ? take_flags() : 0);
}

/* Whether NumPy lays out a copy of an array as its iterators do, and so as results that wait. */
static int is_copied_in_order(const Tensor *x)
{
    AxisOrder order, own;
    if (x->flags & ROW_MAJOR) {
        return 1;
    }
    order_copy(x, order);
    order_axes(x->ndim, x->shape, x->strides, own);
    return memcmp(order, own, (size_t)x->ndim) == 0;
}

PyObject *cast_array(Tensor *x, DTypeCode code)
{
    const Operation cast = cast_operation((DTypeCode)x->code, code);
    if (cast.function != NULL && is_copied_in_order(x)) {
        PyObject *result = is_recorded_size(x->size) ? record(&cast, &x, NULL) : DECLINED;
        if (result == DECLINED && x->size > limits.at_once) {
            result = compute_by_pass(&cast, &x, NULL);
        }
        if (result != DECLINED) {
            return result;
        }
    }
    return is_computed_now(x->size) && x->size > 0 ? cast_now(x, &cast, code) : DECLINED;
}

/* `object` itself, a copy of it, or a cast. */
static PyObject *convert_array(PyObject *object, DTypeCode code, int copy)
{
    Tensor *x = layout_of(object);
    if (x == NULL) {
        return DECLINED;
    }
    if (x->code != code) {
        return cast_array(x, code);
    }
    if (copy && is_face(object) && !(x->flags & ROW_MAJOR)) { /* NumPy's copy keeps the order of the axes */
        AxisOrder order;
        order_copy(x, order);
        if (!is_row_order(x->ndim, order)) {
            Tensor *rows = pending_of(object) != NULL ? NULL : view_in_order(x, x->ndim, order);
            PyObject *result = rows == NULL ? decline_unless_raised() : copy_into_shape(rows, x->ndim, rows->shape);
            Py_XDECREF(rows);
            return result_in_order(result, order);
        }
    }
    if (copy && pending_of(object) != NULL) {
        /* A copy of a value that waits is one more operation of its expression. */
        PyObject *waiting = compute_unary(OP_POSITIVE, object);
        if (waiting != DECLINED) {
            return waiting;
        }
    }
    return copy ? copy_into_shape(x, x->ndim, x->shape) : Py_NewRef(object);
}

/* The real parts of complex numbers in a dtype of floating-point numbers, with NumPy's warning. */
static PyObject *discard_imaginary(Tensor *x, DTypeCode code)
{
    static PyObject *category;
    const DTypeCode part = part_of(x->code);
    if ((code != FLOAT32 && code != FLOAT64) || x->size == 0 || is_watched || limits.at_once < 1 || data_of(x) == NULL) {
        return decline_unless_raised();
    }
    PyObject *parts = view_elements(x, part, 0), *result = DECLINED;
    if (parts == NULL || (part == code && !(x->flags & ROW_MAJOR))) {
        Py_XDECREF(parts);
        return decline_unless_raised();
    }
    if (category == NULL) {
        PyObject *exceptions = PyImport_ImportModule("numpy.exceptions");
        category = exceptions == NULL ? NULL : PyObject_GetAttrString(exceptions, "ComplexWarning");
        Py_XDECREF(exceptions);
    }
    if (category == NULL || PyErr_WarnEx(category, "Casting complex values to real discards the imaginary part", 1) < 0) {
        result = NULL;
    } else if (part == code) {
        result = copy_into_shape(tensor_of(parts), x->ndim, x->shape);
    } else {
        const Operation cast = cast_operation(part, code);
        result = cast_array(tensor_of(parts), code);
        result = result == DECLINED && !PyErr_Occurred() ? cast_now(tensor_of(parts), &cast, code) : result;
    }
    Py_DECREF(parts);
    return result;
}

static PyObject *call_astype(int which, PyObject *const *values, Py_ssize_t count)
{
    DTypeCode code = NO_DTYPE;
    int copy = 1;
    if (!is_array(values[0]) || !take_dtype_or_type(values[1], &code) || code == NO_DTYPE ||
        !take_flag(values[2], &copy)) {
        return DECLINED;
    }
    Tensor *x = is_face(values[0]) ? layout_of(values[0]) : NULL;
    if (is_given(values[3]) && values[3] != ((Array *)values[0])->device) {
        return DECLINED;
    }
    if (x != NULL && is_complex(x->code) && !is_complex(code)) {
        return discard_imaginary(x, code);
    }
    return convert_array(values[0], code, copy);
}

/* Copies of arrays: in C's order, or with the axes in the order in which they lie. Without an order given, the first for the
   method, the second for np.copy. */
static PyObject *call_copy(int keeps_order, PyObject *const *values, Py_ssize_t count)
{
    Tensor *x = layout_of_any(values[0]);
    if (x == NULL) {
        return DECLINED;
    }
    if (values[1] != NULL || keeps_order) {
        const int is_kept = values[1] == NULL ||
                            (PyUnicode_Check(values[1]) && PyUnicode_CompareWithASCIIString(values[1], "K") == 0);
        return is_kept && x->size > 0 ? convert_array(values[0], (DTypeCode)x->code, 1) : DECLINED;
    }
    return x->size == 0 && x->ndim == 1 && is_computed_now(0) ? new_without_elements((DTypeCode)x->code)
                                                              : copy_into_shape(x, x->ndim, x->shape);
}

/* dispatch.cast(x, dtype). */
static PyObject *call_cast(int which, PyObject *const *values, Py_ssize_t count)
{
    const DTypeCode code =
        is_array(values[0]) ? code_of_dtype(values[1]) : NO_DTYPE;
    return code == NO_DTYPE ? DECLINED : convert_array(values[0], code, 0);
}

/* ------------------------------------------------------------------ scalars */

PyObject *new_scalar_array(PyObject *value, DTypeCode code)
{
    npy_uint64 number[2];
    char *target;
    if (limits.at_once < 0 || !write_scalar((char *)number, code, value)) {
        return DECLINED;
    }
    PyObject *result = new_array_like_memory(0, NULL, code, 0, &target);
    if (result != NULL) {
        memcpy(target, number, (size_t)dtypes[code].itemsize);
    }
    return result;
}

/* ------------------------------------------------------------------ NumPy */

/* The dtype of an ndarray, if it is one of the standard's in the machine's byte order. C's long and
   long long are one dtype here. */
static DTypeCode code_of_ndarray(PyArrayObject *array)
{
    const PyArray_Descr *descr = PyArray_DESCR(array);
    const DTypeCode code = code_of_dtype((PyObject *)descr);
    if (code != NO_DTYPE) {
        return code;
    }
    if ((descr->type_num == NPY_LONGLONG || descr->type_num == NPY_LONG) &&
        PyArray_ISNOTSWAPPED(array) && PyArray_ITEMSIZE(array) == dtypes[NX_INT64].itemsize) {
        return NX_INT64;
    }
    if ((descr->type_num == NPY_ULONGLONG || descr->type_num == NPY_ULONG) &&
        PyArray_ISNOTSWAPPED(array) && PyArray_ITEMSIZE(array) == dtypes[NX_UINT64].itemsize) {
        return NX_UINT64;
    }
    return NO_DTYPE;
}

/* Another ndarray over the same memory; only for reading if elements repeat, even where the layout says
   that it is writeable. */
static PyObject *view_ndarray(PyArrayObject *array, DTypeCode code)
{
    int flags = PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE;
    for (int dim = 0; dim < PyArray_NDIM(array) && PyArray_SIZE(array) > 0; dim++) {
        if (PyArray_STRIDE(array, dim) == 0 && PyArray_DIM(array, dim) > 1) {
            flags = 0;
        }
    }
    Py_INCREF(dtypes[code].descr);
    PyObject *view =
        PyArray_NewFromDescr(&PyArray_Type, dtypes[code].descr, PyArray_NDIM(array),
                             PyArray_DIMS(array), PyArray_STRIDES(array), PyArray_DATA(array),
                             flags, NULL);
    if (view != NULL &&
        PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef((PyObject *)array)) < 0) {
        Py_CLEAR(view);
    }
    return view;
}

/* The array around an ndarray of so many elements that Python finds them by their storage alone. DECLINED if they do not
   follow each other. */
static PyObject *share_large(PyArrayObject *array, DTypeCode code)
{
    npy_intp strides[ARRAY_DIMS];
    if (is_watched || !PyArray_IS_C_CONTIGUOUS(array)) {
        return DECLINED;
    }
    step_by_rows(PyArray_NDIM(array), PyArray_DIMS(array), dtypes[code].itemsize, strides);
    PyObject *view = view_ndarray(array, code);
    PyObject *flat = view == NULL ? NULL : PyArray_Ravel((PyArrayObject *)view, NPY_CORDER);
    Storage *storage = flat == NULL ? NULL : storage_over(flat, code);
    Py_XDECREF(view);
    if (storage == NULL) {
        return NULL;
    }
    storage->shared = 1; /* others may have the array, too */
    Tensor *tensor = tensor_over_storage(storage, code, 0, PyArray_NDIM(array), PyArray_DIMS(array), strides);
    Py_DECREF(storage);
    return tensor == NULL ? NULL : wrap_tensor(tensor, code);
}

PyObject *array_from_ndarray(PyArrayObject *array, DTypeCode wanted, int copy)
{
    const DTypeCode code = code_of_ndarray(array);
    const npy_intp size = PyArray_SIZE(array);
    if (code == NO_DTYPE || (wanted != NO_DTYPE && wanted != code) || (copy && size > limits.large) ||
        (npy_uintp)PyArray_DATA(array) % (npy_uintp)alignment(dtypes[code].itemsize) != 0) {
        return DECLINED;
    }
    for (int dim = 0; dim < PyArray_NDIM(array); dim++) {
        if (PyArray_STRIDE(array, dim) % dtypes[code].itemsize != 0) {
            return DECLINED;
        }
    }
    if (copy) {
        if (size > limits.at_once || size == 0) {
            return DECLINED;
        }
        return copy_rows(PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
                             PyArray_BYTES(array), code);
    }
    if (size > limits.large) {
        return share_large(array, code);
    }
    PyObject *view = view_ndarray(array, code);
    return view == NULL ? NULL : wrap_ndarray(view, code);
}

/* An array of a NumPy scalar, which keeps its dtype. */
static PyObject *array_from_numpy_scalar(PyObject *scalar, DTypeCode wanted)
{
    char *target;
    const DTypeCode code = dtype_of_numpy_scalar(scalar);
    if (code == NO_DTYPE || (wanted != NO_DTYPE && wanted != code)) {
        return DECLINED;
    }
    PyObject *result = new_array_like_memory(0, NULL, code, 0, &target);
    if (result != NULL) {
        memcpy(target, data_of_numpy_scalar(scalar), (size_t)dtypes[code].itemsize);
    }
    return result;
}

PyObject *adopt_operand(PyObject *object)
{
    const int is_ndarray = PyArray_CheckExact(object);
    if (!is_ndarray && !PyArray_IsScalar(object, Generic)) {
        return DECLINED;
    }
    if (!is_new_on_cpu(NULL) || limits.at_once < 1) {
        return DECLINED;
    }
    if (!is_ndarray) {
        return array_from_numpy_scalar(object, NO_DTYPE);
    }
    return is_watched || !takes_numpy_operands()
               ? DECLINED
               : array_from_ndarray((PyArrayObject *)object, NO_DTYPE, 0);
}

/* An array of arrays of NumPy's face in a list or tuple, one after the other; DECLINED for those of other dtypes than
   `code`, if that is one. */
static PyObject *array_of_arrays(PyObject *list, DTypeCode code)
{
    FIND_ONCE(stack, "stack")
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(list, i);
        const Tensor *x = is_face(item) ? layout_of(item) : NULL;
        if (x == NULL || (code != NO_DTYPE && x->code != code)) {
            return decline_unless_raised();
        }
    }
    PyObject *const values[2] = {list, NULL};
    return stack->compute(stack->code, values, 1);
}

/* The parameters of asarray and array after the first one; the last ones are NumPy's alone. */
enum { DTYPE = 1, DEVICE, COPY, ORDER, SUBOK, NDMIN };

static PyObject *convert_object(int copies, PyObject *const *values)
{
    DTypeCode code = NO_DTYPE;
    int copy = copies;
    PyObject *object = values[0], *device = values[DEVICE];
    if (!copies && is_array(object) && values[DTYPE] == NULL && device == NULL && values[COPY] == NULL) {
        return Py_NewRef(object);
    }
    if (!take_dtype_or_type(values[DTYPE], &code)) {
        return DECLINED;
    }
    const int may_copy = values[COPY] != Py_False;
    if (values[COPY] == Py_None) {
        copy = 0; /* only if it must */
    } else if (!take_flag(values[COPY], &copy)) {
        return DECLINED;
    }
    if (is_array(object)) {
        PyObject *dtype = ((Array *)object)->dtype;
        const int here =
            !is_given(device) || device == ((Array *)object)->device;
        if (code == NO_DTYPE) {
            code = code_of_dtype(dtype);
        }
        if (!here || code == NO_DTYPE || (!may_copy && (PyObject *)dtypes[code].descr != dtype)) {
            return DECLINED;
        }
        return convert_array(object, code, copy);
    }
    if (is_watched || !is_new_on_cpu(device)) {
        return DECLINED;
    }
    if (PyArray_CheckExact(object)) {
        return array_from_ndarray((PyArrayObject *)object, code, copy);
    }
    if (!may_copy) {
        return DECLINED;
    }
    if (is_sequence(object)) {
        const Py_ssize_t length = PySequence_Fast_GET_SIZE(object);
        return length > 0 && is_face(PySequence_Fast_GET_ITEM(object, 0)) ? array_of_arrays(object, code)
                                                                          : array_from_list(object, code);
    }
    if (PyRange_Check(object)) {
        PyObject *list = PySequence_List(object), *result = list == NULL ? NULL : array_from_list(list, code);
        Py_XDECREF(list);
        return result;
    }
    if (PyArray_IsScalar(object, Generic)) {
        return limits.at_once < 1 ? DECLINED : array_from_numpy_scalar(object, code);
    }
    const DTypeCode found = dtype_of_scalar(object);
    if (found == NO_DTYPE) {
        return DECLINED;
    }
    return new_scalar_array(object, code == NO_DTYPE ? found : code);
}

/* Whether an array has flags, or the object is none. */
static int has_order(PyObject *object, int flags)
{
    const Tensor *x = layout_of_any(object);
    return x == NULL ? object == NULL || !is_array(object) : (x->flags & flags) == flags;
}

PyObject *view_with_axes(PyObject *array, int ndim)
{
    Tensor *x = layout_of(array);
    PyObject *view = x == NULL ? DECLINED : x->ndim >= ndim ? Py_NewRef(array) : new_view(x, ndim);
    if (!is_answer(view) || view == array) {
        return view;
    }
    Tensor *tensor = tensor_of(view);
    const npy_intp itemsize = dtypes[x->code].itemsize;
    for (int dim = 0; dim < ndim; dim++) {
        const int axis = dim - (ndim - x->ndim); /* of the array */
        tensor->shape[dim] = axis < 0 ? 1 : x->shape[axis];
        tensor->strides[dim] = axis >= 0 ? x->strides[axis] : x->ndim > 0 ? x->shape[0] * x->strides[0] : itemsize;
    }
    finish_layout(tensor, x->flags & READ_ONLY);
    return view;
}

/* What asarray and array give where an order, subok or ndmin is asked for, which NumPy's functions have alone. */
static PyObject *convert_in_order(int copies, PyObject *const *values)
{
    npy_intp ndmin = 0;
    int subok = 0, flags = ROW_MAJOR;
    PyObject *order = values[ORDER];
    if (is_given(order)) {
        const int is_letter = PyUnicode_CheckExact(order) && PyUnicode_GET_LENGTH(order) == 1;
        const Py_UCS4 letter = is_letter ? PyUnicode_READ_CHAR(order, 0) : 0;
        if (letter != 'C' && letter != 'F' && letter != 'K' && letter != 'A') {
            return DECLINED;
        }
        flags |= letter == 'F' ? COLUMN_MAJOR : 0;
    }
    if (!take_flag(values[SUBOK], &subok) || (values[NDMIN] != NULL && !take_number(values[NDMIN], &ndmin)) || ndmin < 0 ||
        ndmin > ARRAY_DIMS) {
        return DECLINED;
    }
    PyObject *found = has_order(values[0], flags) ? convert_object(copies, values) : DECLINED;
    PyObject *result = !has_order(found, flags) ? DECLINED : is_answer(found) ? view_with_axes(found, (int)ndmin) : found;
    drop_answer(found);
    return result;
}

static PyObject *call_asarray(int copies, PyObject *const *values, Py_ssize_t count)
{
    const int is_plain = values[ORDER] == NULL && values[SUBOK] == NULL && values[NDMIN] == NULL;
    return is_plain ? convert_object(copies, values) : convert_in_order(copies, values);
}

PyObject *new_array_of(PyObject *object, PyObject *dtype)
{
    PyObject *const values[MOST_PARAMETERS] = {object, dtype};
    return convert_object(0, values);
}

PyObject *shared_ndarray(PyObject *array)
{
    Tensor *x = layout_of_any(array);
    return x == NULL || is_watched || data_of(x) == NULL ? decline_unless_raised() : new_ndarray(x);
}

/* An array that could not be computed for a buffer, and the exception, which `__array__` raises: NumPy asks for a buffer first,
   and where there is none calls `__array__` without heeding why, be it a warning that is an error, or Ctrl-C. */
static struct {
    PyObject *array, *exception;
} unheard;

void keep_unheard(PyObject *array)
{
    PyObject *exception = array == NULL ? NULL : take_exception();
    Py_XSETREF(unheard.array, Py_XNewRef(array));
    Py_XSETREF(unheard.exception, Py_XNewRef(exception));
    if (exception != NULL) {
        put_exception(exception);
    }
}

static PyObject *call_array(int which, PyObject *const *values, Py_ssize_t count)
{
    if (unheard.array == values[0]) {
        put_exception(Py_NewRef(unheard.exception));
        keep_unheard(NULL);
        return NULL;
    }
    const Tensor *x = layout_of_any(values[0]);
    const int is_plain = x != NULL && !is_given(values[2]) &&
                         (!is_given(values[1]) || values[1] == (PyObject *)dtypes[x->code].descr);
    return is_plain ? shared_ndarray(values[0]) : decline_unless_raised();
}

Implementation conversion_functions[] = {
    {"asarray", call_asarray, 0, "obj, /, *, dtype=, device=, copy="},
    {"array", call_asarray, 1, "obj, /, *, dtype=, device=, copy=, order=, subok=, ndmin="}, /* NumPy's, which copies */
    {"astype", call_astype, 0, "x, dtype, /, *, copy=, device="},
    {"cast", call_cast, 0, "x, dtype, /"},
    {"copy", call_copy, 0, "self, /, order="},
    {"copy_in_order", call_copy, 1, "a, order="},
    {"__array__", call_array, 0, "self, /, dtype=, copy="},
    {NULL, NULL, 0, NULL},
};
