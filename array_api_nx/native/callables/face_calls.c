/* Calls of NumPy's face: by the C implementations first, then by NumPy's function, then in Python. */

#include "callables.h"
#include "memory.h"
#include "recorded_calls.h"
#include "conversion.h"
#include "elementwise.h"
#include "face.h"
#include "indexing.h"
#include "nest.h"
#include "nested_lists.h"
#include "nodes.h"
#include "parts.h"
#include "products.h"

/* Let the implementation compute, where a dtype may be anything that NumPy makes one of. */
static PyObject *call_with_dtype(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *room[MOST_PARAMETERS];
    PyObject *const *values = sort_arguments(&self->parameters, args, count, names, room);
    if (values == NULL) {
        return DECLINED;
    }
    PyObject *dtype = self->dtype_place < 0 ? NULL : values[self->dtype_place];
    if (!is_given(dtype) || PyType_Check(dtype) || code_of_dtype(dtype) != NO_DTYPE) {
        return self->compute(self->code, values, count);
    }
    PyArray_Descr *descr = NULL;
    if (is_array(dtype) || PyArray_Check(dtype)) {
        return DECLINED; /* NumPy raises an error, though these have a dtype */
    }
    if (!PyArray_DescrConverter2(dtype, &descr) || descr == NULL) {
        PyErr_Clear(); /* NumPy raises it */
        return DECLINED;
    }
    for (int i = 0; i < self->parameters.total; i++) {
        room[i] = values[i];
    }
    room[self->dtype_place] = (PyObject *)descr;
    PyObject *result = self->compute(self->code, room, count);
    Py_DECREF(descr);
    return result;
}

static DTypeCode code_of_operand(PyObject *operand, const Tensor *x)
{
    if (x != NULL) {
        return (DTypeCode)x->code;
    }
    if (PyArray_Check(operand)) {
        return code_of_dtype((PyObject *)PyArray_DESCR((PyArrayObject *)operand));
    }
    return PyArray_IsScalar(operand, Generic) ? dtype_of_numpy_scalar(operand) : NO_DTYPE;
}

/* Whether NumPy answers a call of the face otherwise: it has other result dtypes for some operands, other orders of
   axes in memory, and warnings for arrays without elements. */
static int is_numpys(const Function *self, PyObject *const *args, Py_ssize_t count)
{
    const int reduces = self->gives_scalars && self->adopts != NUMPYS && !self->is_product;
    for (Py_ssize_t i = 0; i < count && (reduces || self->keeps_order || self->refused != 0); i++) {
        const Tensor *x = layout_of_any(args[i]);
        /* A number of Python's decides where it is alone. */
        const DTypeCode code = count > 1 || !PyLong_Check(args[i]) ? code_of_operand(args[i], x)
                               : PyBool_Check(args[i])             ? BOOL
                                                                   : NX_INT64;
        if ((code != NO_DTYPE && (self->refused >> code & 1)) ||
            (code == NO_DTYPE && self->refused != 0 && PyArray_Check(args[i])) || /* such as C's long long */
            (self->keeps_order && PyArray_Check(args[i]) && !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)args[i])) ||
            (x != NULL && ((reduces && x->size == 0) || (self->keeps_order && !(x->flags & ROW_MAJOR))))) {
            return 1;
        }
    }
    return 0;
}

/* The place of a parameter; -1 if there is none of the name. */
static int place_of_parameter(const Parameters *parameters, const char *name)
{
    int i = parameters->total - 1;
    while (i >= 0 && (parameters->names[i] == NULL ||
                      PyUnicode_CompareWithASCIIString(parameters->names[i], name) != 0)) {
        i--;
    }
    return i;
}

static PyObject *operand_of_item(PyObject *item, const void *unused)
{
    return operand_of(item, NULL);
}

static PyObject *answer_lists(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* What an implementation answers in NumPy's face, as an Array. */
static PyObject *answer(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *result = call_with_dtype(self, args, count, names);
    if (result == DECLINED && !PyErr_Occurred()) {
        result = call_adopted(self, call_with_dtype, args, count, names);
    }
    if (result == DECLINED && !PyErr_Occurred()) {
        result = answer_lists(self, args, count, names);
    }
    if (result == DECLINED) {
        return decline_unless_raised();
    }
    return place_result(result, args, count + (names == NULL ? 0 : PyTuple_GET_SIZE(names)));
}

/* The same with arrays of the lists and tuples that are operands; DECLINED if there are none. */
static PyObject *answer_lists(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    const Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject *given[MOST_ADOPTED], *result = DECLINED;
    Py_ssize_t made = 0;
    int changed = 0;
    if (total > MOST_ADOPTED || (self->operands | self->sequences) == 0) {
        return DECLINED;
    }
    while (made < total) {
        PyObject *arg = args[made];
        int place = -1; /* of a list */
        if (PyList_CheckExact(arg) || PyTuple_CheckExact(arg)) {
            const char *name = made < count ? NULL : PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, made - count));
            place = name != NULL ? place_of_parameter(&self->parameters, name) : made < count ? (int)made : -1;
        }
        given[made] = place >= 0 && self->operands >> place & 1    ? operand_of(arg, NULL)
                      : place >= 0 && self->sequences >> place & 1 ? convert_items(arg, operand_of_item, NULL)
                                                                   : Py_NewRef(arg);
        if (given[made] == NULL) {
            result = NULL;
            break;
        }
        changed = changed || given[made] != arg;
        made++;
    }
    if (changed && result == DECLINED && !is_numpys(self, given, count)) {
        result = answer(self, given, count, names);
    }
    while (made > 0) {
        Py_DECREF(given[--made]);
    }
    return result;
}

/* An operation on numbers, Python's or NumPy's; DECLINED for others, and where there is something to warn of. */
static PyObject *answer_scalars(const Function *self, PyObject *const *args, Py_ssize_t count)
{
    const int fits = count <= 2 && count == self->parameters.total && !is_array(args[0]) && !is_array(args[count - 1]);
    return fits ? compute_scalars_alone((OperationCode)self->code, args, (int)count, self->refused) : DECLINED;
}

/* The place of a name among those of a call; -1 if it is not there. */
static Py_ssize_t find_name(PyObject *names, const char *name)
{
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

/* The place of the argument out; -1 if there is none. */
static Py_ssize_t find_out(const Function *self, Py_ssize_t count, PyObject *names)
{
    const Py_ssize_t named = find_name(names, "out");
    if (named >= 0) {
        return count + named;
    }
    const int warns = self->code == OP_MAXIMUM || self->code == OP_MINIMUM; /* of an out without its name */
    const int takes_out = self->takes_out || (self->is_operation && !warns);
    return takes_out && count == self->parameters.total + 1 ? count - 1 : -1;
}

/* The arguments of a call without those at some places, which are bits: `given` and the names that are left, a new
   reference or NULL. Returns how many of them have no names. Without memory for the names it sets an exception. */
static Py_ssize_t leave_out(PyObject *const *args, Py_ssize_t count, PyObject *names, npy_uint32 places,
                            PyObject **given, PyObject **rest)
{
    const Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    Py_ssize_t left = 0, plain = 0;
    for (Py_ssize_t i = 0; i < total; i++) {
        if (!(places >> i & 1)) {
            given[left++] = args[i];
            plain += i < count;
        }
    }
    *rest = left == plain ? NULL : PyTuple_New(left - plain);
    for (Py_ssize_t i = total - 1; *rest != NULL && i >= count; i--) {
        if (!(places >> i & 1)) {
            PyTuple_SET_ITEM(*rest, --left - plain, Py_NewRef(PyTuple_GET_ITEM(names, i - count)));
        }
    }
    return plain;
}

/* The places, as bits, of arguments with names that mean nothing, such as out=None. */
static npy_uint32 find_defaults(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    npy_uint32 found = 0;
    const Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < named && self->defaults != NULL && count + named <= MOST_ADOPTED; i++) {
        const int means_nothing = PyDict_GetItemWithError(self->defaults, PyTuple_GET_ITEM(names, i)) == args[count + i];
        found |= (npy_uint32)means_nothing << (count + i);
    }
    return found;
}

/* A call with `out`, a single array of the face: what it would give without is written there. */
static PyObject *answer_into(const Function *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *given[MOST_ADOPTED], *rest, *result;
    const Py_ssize_t place = find_out(self, count, names), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (place < 0 || count + named > MOST_ADOPTED) {
        return DECLINED;
    }
    PyObject *out = args[place];
    if (PyTuple_CheckExact(out) && PyTuple_GET_SIZE(out) == 1) {
        out = PyTuple_GET_ITEM(out, 0);
    }
    Tensor *target = is_face(out) ? layout_of(out) : NULL;
    if (target == NULL || (self->copies && target->size > limits.at_once)) {
        return DECLINED;
    }
    if (self->is_operation && place == self->parameters.total && count + named == place + 1) {
        result = compute_into((OperationCode)self->code, args, (int)place, out);
        if (result != DECLINED) {
            return result;
        }
    }
    if ((self->compute == call_matmul || self->compute == call_dot) && place == 2 && count + named == 3) {
        result = multiply_into(args[0], args[1], out);
        if (result != DECLINED) {
            return result;
        }
    }
    const Py_ssize_t plain = leave_out(args, count, names, (npy_uint32)1 << place, given, &rest);
    result = PyErr_Occurred() ? NULL : answer(self, given, plain, rest);
    Py_XDECREF(rest);
    if (result == NULL || result == DECLINED) {
        return result;
    }
    Tensor *found = layout_of_any(result);
    int done = 0;
    if (found != NULL && found->code == target->code && has_shape(found, target->ndim, target->shape)) {
        done = set_item(out, Py_Ellipsis, result);
    }
    Py_DECREF(result);
    return done == 1 ? Py_NewRef(out) : done < 0 ? NULL : DECLINED;
}

/* ------------------------------------------------------------------ NumPy's function in place of ours */

/* Whether operands are broadcast to more elements than NumPy is to compute. */
static int are_many(PyObject *const *args, Py_ssize_t count, npy_intp most)
{
    npy_intp shape[ARRAY_DIMS], size = 1;
    int ndim = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        const Tensor *x = layout_of_any(args[i]);
        if (x != NULL && !broadcast_shape(&ndim, shape, x->ndim, x->shape)) {
            return 0;
        }
    }
    for (int dim = 0; dim < ndim && size <= most; dim++) {
        size *= shape[dim];
    }
    return size > most;
}

/* Whether an operand's class may compute an operator itself, or may take NumPy's arrays alone, as SciPy's sparse arrays
   do. */
static int is_foreign(PyObject *operand)
{
    if (PyArray_Check(operand)) {
        return !PyArray_CheckExact(operand);
    }
    return !(is_face(operand) || is_array(operand) || PyArray_IsAnyScalar(operand) || PyList_Check(operand) ||
             PyTuple_Check(operand) || PySlice_Check(operand) || operand == Py_None || operand == Py_Ellipsis);
}

/* What NumPy's function returns. Where no class of an argument may compute it, its implementation is called, because
   to ask the classes takes as long as a small call. The function has the words for arguments that do not fit, and may step
   through the first one, which a number refuses. */
static PyObject *ask_numpys(const Function *self, PyObject *const *given, Py_ssize_t count, PyObject *names, int overrides)
{
    const int is_direct = self->direct != NULL && !overrides && count > 0;
    const int is_method = is_direct && Py_IS_TYPE(self->direct, &PyMethodDescr_Type);
    if (is_direct && (PyArray_CheckExact(given[0]) ? is_method || PyArray_NDIM((PyArrayObject *)given[0]) > 0
                                                   : !is_method && is_sequence(given[0]))) {
        PyObject *result = PyObject_Vectorcall(self->direct, given, (size_t)count, names);
        if (result != NULL || !PyErr_ExceptionMatches(PyExc_TypeError)) {
            return result;
        }
        PyErr_Clear();
    }
    return PyObject_Vectorcall(self->numpys, given, (size_t)count, names);
}

/* NumPy's answer for operands of up to `most` elements. */
static PyObject *call_numpys(const Function *self, npy_intp most, PyObject *const *args, Py_ssize_t count,
                             PyObject *names)
{
    const Py_ssize_t total = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    PyObject *given[MOST_ADOPTED], *result = DECLINED;
    Py_ssize_t made = 0;
    if (self->numpys == NULL || total > MOST_ADOPTED || !is_new_on_cpu(NULL) ||
        find_name(names, "device") >= 0) {
        return DECLINED;
    }
    if (self->is_operation && are_many(args, count, most)) {
        return DECLINED;
    }
    /* Here only NumPy's part of an operator is called: an operand that has one of its own goes to Python's code. */
    const int is_slot = Py_IS_TYPE(self->numpys, &PyWrapperDescr_Type);
    int overrides = 0;
    while (made < total && !(is_slot && is_foreign(args[made])) &&
           (given[made] = to_numpys(args[made], most, &overrides)) != NULL) {
        made++;
    }
    if (made == total) {
        PyObject *used = enter_pool_for(args, total), *found = ask_numpys(self, given, count, names, overrides);
        leave_pool(used);
        result = from_numpys(found, given, args, total);
    } else {
        result = decline_unless_raised();
    }
    while (made > 0) {
        Py_DECREF(given[--made]);
    }
    return result;
}

static PyObject *call_face(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    const Function *self = (Function *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *given[MOST_ADOPTED], *const *values = args, *rest = names, *result = DECLINED;
    const int is_refused = is_numpys(self, args, count), computes = self->compute != NULL && !is_refused;
    const npy_uint32 defaults = computes ? find_defaults(self, args, count, names) : 0;
    Py_ssize_t plain = count;
    int gives_scalars = self->gives_scalars;
    if (defaults != 0) {
        plain = leave_out(args, count, names, defaults, given, &rest);
        values = given;
        if (rest == NULL && PyErr_Occurred()) {
            return NULL;
        }
    }
    if (self->is_operation && rest == NULL) {
        result = is_refused && self->code == OP_ABS && plain == 1 ? magnitudes_of_booleans(values[0])
                                                                  : answer_scalars(self, values, plain);
    }
    if (result == DECLINED && computes && !PyErr_Occurred()) {
        result = answer(self, values, plain, rest);
    }
    if (result == DECLINED && computes && !PyErr_Occurred()) {
        result = answer_into(self, values, plain, rest);
        gives_scalars = 0; /* an array without axes stays one */
    }
    if (defaults != 0) {
        Py_XDECREF(rest);
    }
    if (result != DECLINED) {
        return face_of(result, gives_scalars);
    }
    /* Python has NumPy compute these, too, however many elements there are. */
    const npy_intp most = is_refused || (self->is_operation && names != NULL) ? MOST_ELEMENTS : self->most;
    result = PyErr_Occurred() ? NULL : call_numpys(self, most, args, count, names);
    return result != DECLINED ? result : call_python(self->function, object, args, flags, names);
}

/* ------------------------------------------------------------------ the module's part */

static PyObject *front_face(PyObject *module, PyObject *args)
{
    PyObject *function, *numpys, *direct, *defaults, *refused;
    const char *name, *parameters;
    int takes_out, gives_scalars;
    Py_ssize_t most;
    npy_uint8 operands, sequences;
    if (!PyArg_ParseTuple(args, "OOOssO!(bb)ppnO!", &function, &numpys, &direct, &name, &parameters, &PyDict_Type,
                          &defaults, &operands, &sequences, &takes_out, &gives_scalars, &most, &PyTuple_Type, &refused)) {
        return NULL;
    }
    const Implementation *found = *name == '\0' ? NULL : find_implementation(name);
    if (found == NULL && *name != '\0') {
        return PyErr_Format(PyExc_LookupError, "%s has no C implementation", name);
    }
    Function *self = (Function *)make_function(function, found);
    if (self == NULL) {
        return NULL;
    }
    self->call = call_face;
    self->takes_out = (char)takes_out;
    self->gives_scalars = (char)gives_scalars;
    self->most = most;
    self->operands = operands;
    self->sequences = sequences;
    self->numpys = numpys == Py_None ? NULL : Py_NewRef(numpys);
    self->direct = direct == Py_None ? NULL : Py_NewRef(direct);
    self->defaults = PyDict_GET_SIZE(defaults) == 0 ? NULL : Py_NewRef(defaults);
    if (numpys != Py_None && Py_TYPE(numpys)->tp_descr_get == NULL) {
        unbind(self);
    }
    self->dtype_place = -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(refused); i++) {
        const DTypeCode code = code_of_dtype(PyTuple_GET_ITEM(refused, i));
        self->refused |= code == NO_DTYPE ? 0 : (npy_uint32)1 << code;
        self->keeps_order |= PyTuple_GET_ITEM(refused, i) == Py_None;
    }
    if (found != NULL) {
        const Implementation own = {.parameters = *parameters == '\0' ? found->parameters : parameters};
        if (read_parameters(&own, &self->parameters) < 0) {
            Py_DECREF(self);
            return NULL;
        }
        self->is_operation = is_in(elementwise_functions, found) && found >= elementwise_functions + 2;
        self->copies = is_in(joining_functions, found) || is_in(taking_functions, found);
        self->is_product = found == find_implementation("matmul");
        self->dtype_place = place_of_parameter(&self->parameters, "dtype");
    }
    return (PyObject *)self;
}

PyMethodDef face_calls_methods[] = {
    {"front_face", front_face, METH_VARARGS,
     "front_face(function, numpys, direct, name, parameters, defaults, lists, takes_out, gives_scalars, most, refused)\n"
     "--\n\n"
     "A callable of NumPy's face that answers calls as the C implementation of a name does, if that is not empty; "
     "has `numpys`, unless that is None, compute what it declines, of arrays of at most `most` elements; and passes "
     "the rest on to the function. `direct` is what `numpys` calls if no class of an argument computes it, or None. "
     "`defaults`: values that mean nothing, by the names of parameters. `parameters` are NumPy's, in the order of the "
     "implementation's; if empty, they are those. `lists`: bits of the parameters of which lists are arrays, and of "
     "those of which their items are. `takes_out`: whether an argument behind them is `out`. "
     "`refused`: dtypes of operands whose calls are NumPy's; None for those of operands "
     "that do not lie row by row. Results without axes are scalars if it is so. LookupError if there is none of that name."},
    {NULL, NULL, 0, NULL},
};
