/* Blocks of memory, and what Storage and Tensor have in common as Python objects. */

#ifndef ARRAY_API_NX_STORAGE_H
#define ARRAY_API_NX_STORAGE_H

#include "objects.h"

/* A new reference, or None. */
static inline PyObject *or_none(PyObject *object)
{
    return Py_NewRef(object == NULL ? Py_None : object);
}

/* A getter for the object at an offset, which is its closure: a new reference, or None. */
static inline PyObject *get_object(PyObject *self, void *offset)
{
    return or_none(slot_at(self, (Py_ssize_t)offset));
}

#define AT(TYPE, MEMBER) ((void *)offsetof(TYPE, MEMBER))

/* NULL for None; a borrowed reference. */
static inline PyObject *or_null(PyObject *value)
{
    return value == Py_None ? NULL : value;
}

/* The memory of results up to so many bytes follows the Storage itself. It has room for 128, 256, ... bytes, so
   that it is used again once the Storage is freed: for another result. */
enum { INLINE_BYTES = 1 << 11, SMALLEST_ROOM = 1 << 7, ROOMS = 5 };

/* The number of the smallest room for at most INLINE_BYTES. */
static inline int room_for(npy_intp bytes)
{
    int room = 0;
    while (SMALLEST_ROOM << room < bytes) {
        room++;
    }
    return room;
}

/* A Storage with uninitialised memory of its own, or of NumPy's if that is large. NULL with an
   exception set if there is none. */
Storage *new_storage(npy_intp bytes, DTypeCode code);

/* A Storage that is to wait for its memory: the caller gives it a node (nodes.h). NULL with an exception set. */
Storage *pending_storage(DTypeCode code);

/* Give it the memory, not initialised; 0 with an exception set if there is none. */
int fill_storage(Storage *storage, npy_intp bytes);

/* The same, with memory of zeros. */
int fill_with_zeros(Storage *storage, npy_intp bytes);

/* Take that away again. */
void empty_storage(Storage *storage);

/* Give the memory of one such storage to another, which has none. */
void move_memory(Storage *to, Storage *from);

/* A Storage over an array of NumPy, whose reference is stolen (also if it is NULL). */
Storage *storage_over(PyObject *memory, DTypeCode code);

/* What an array of NumPy's over the storage's own memory refers to as its base: NumPy's views of that array refer to
   it, too, so that the storage knows whether there are any. A new reference; NULL with an exception set. */
PyObject *lend(Storage *storage);

/* Whether nobody but the storage refers to its memory, although it was handed out or came in by reference: every array
   that could write there would be counted. */
int is_private(const Storage *storage);

/* Add the type to the module; -1 with an exception set. */
int add_storage(PyObject *module);

#endif
