/* Arrays of NumPy's face (numpy/arrays.py): a second type with the fields of Array, so that all of C computes with
   them. What C makes is an Array; where a slot or a function of the face gives it back, it becomes an array of the
   face, or NumPy's scalar if it has no axes. */

#ifndef ARRAY_API_NX_FACE_H
#define ARRAY_API_NX_FACE_H

#include "objects.h"

static inline int is_face(PyObject *object)
{
    return Py_IS_TYPE(object, face_type) && face_type != array_type;
}

/* Whether an argument, or an item of a tuple or list among them, is an array of the face. */
static inline int has_face(PyObject *const *args, Py_ssize_t count)
{
    if (face_type == array_type) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (is_face(args[i])) {
            return 1;
        }
        const Py_ssize_t length =
            PyTuple_CheckExact(args[i]) || PyList_CheckExact(args[i]) ? PySequence_Fast_GET_SIZE(args[i]) : 0;
        for (Py_ssize_t j = 0; j < length; j++) {
            if (is_face(PySequence_Fast_GET_ITEM(args[i], j))) {
                return 1;
            }
        }
    }
    return 0;
}

/* Whether a call is the face's: the first array among the arguments decides. */
static inline int is_call_of_face(PyObject *const *args, size_t count)
{
    for (size_t i = 0; i < count && face_type != array_type; i++) {
        if (is_array(args[i])) {
            return is_face(args[i]);
        }
    }
    return 0;
}

/* A tuple or list of the items of another one, each as `convert` makes it of the borrowed item; the same one where all
   items stay the same. A new reference. */
PyObject *convert_items(PyObject *sequence, PyObject *(*convert)(PyObject *item, const void *context),
                        const void *context);

/* A result as an array of the face; `gives_scalars`: without axes as a scalar. Tuples and lists become those of such
   results. Steals the reference to `result`, which may be NULL or DECLINED. */
PyObject *face_of(PyObject *result, int gives_scalars);

/* `object`, and the items of a tuple or list, with Arrays in place of arrays of the face. A new reference. */
PyObject *standard_of(PyObject *object);

/* Another Array over the elements of an array, so many bytes behind where these begin, of a dtype; they have its layout. */
PyObject *view_elements(Tensor *x, DTypeCode code, npy_intp offset);

/* The magnitudes of booleans, which are booleans in NumPy and which the standard does not have; DECLINED for all else. */
PyObject *magnitudes_of_booleans(PyObject *x);

/* An element as NumPy's scalar. */
PyObject *scalar_of(const char *element, DTypeCode code);

/* The slots of the class for keys and iteration. */
PyObject *face_subscript(PyObject *self, PyObject *key);
PyObject *face_item(PyObject *self, Py_ssize_t position);
int face_assign(PyObject *self, PyObject *key, PyObject *value);
PyObject *face_iterate(PyObject *self);

/* An operand itself, or the array that NumPy makes of a list or tuple, of a dtype unless that is NULL; a new reference. */
PyObject *operand_of(PyObject *object, PyObject *dtype);

/* An argument as NumPy takes it, a new reference: arrays of the face, up to `most` elements, as NumPy's over the same
   memory. NULL, perhaps with an exception set, if C does not say. `*overrides` is set, unless that is NULL, where a class
   may compute NumPy's functions itself, and where elements are Python's objects. */
PyObject *to_numpys(PyObject *object, npy_intp most, int *overrides);

/* The attributes and fields of the class, and what they ask: meanings of members by their names, and
   assign(array, name, value). */
extern PyGetSetDef face_attributes[];
extern PyMemberDef face_members[];
void keep_attributes(PyObject *meanings, PyObject *assign);

/* How often NumPy computed something, here or in Python. */
extern npy_intp numpys_calls;

/* What NumPy returned, whose reference is stolen, in the face: an argument itself where it was given back. */
PyObject *from_numpys(PyObject *result, PyObject *const *given, PyObject *const *args, Py_ssize_t count);

#endif
