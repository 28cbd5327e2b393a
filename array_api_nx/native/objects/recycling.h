/* Objects whose memory is used again for the next object of their type, instead of being given back to
   Python and asked for again (docs/tuning.md, 55). */

#ifndef ARRAY_API_NX_RECYCLING_H
#define ARRAY_API_NX_RECYCLING_H

#include "common.h"

/* How many objects of a type wait to be used again, at most. */
enum { MOST_RECYCLED = 32 };

typedef struct {
    int count;
    PyObject *objects[MOST_RECYCLED]; /* freed but for their memory, and not tracked */
} Recycled;

/* The memory of an object; NULL, without an exception, if there is none. */
static inline PyObject *take_recycled(Recycled *recycled)
{
    return recycled->count > 0 ? recycled->objects[--recycled->count] : NULL;
}

/* Have one reference again to an object whose deallocator has kept it as it was. */
static inline void revive(PyObject *object)
{
#if defined(Py_REF_DEBUG) || defined(Py_TRACE_REFS)
    _Py_NewReference(object);
#else
    Py_SET_REFCNT(object, 1);
#endif
}

/* An object of a type that has no subclasses and no items: untracked, its fields not initialised. NULL
   with an exception set if there is no memory. */
static inline PyObject *make_object(Recycled *recycled, PyTypeObject *type)
{
    PyObject *object = take_recycled(recycled);
    return object != NULL ? PyObject_Init(object, type) : PyObject_GC_New(PyObject, type);
}

/* Free an object, untracked, that refers to nothing any more. All that come here have one size. */
static inline void free_object(Recycled *recycled, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
#ifndef __SANITIZE_ADDRESS__
    if (recycled->count < MOST_RECYCLED) {
        recycled->objects[recycled->count++] = object;
        Py_DECREF(type);
        return;
    }
#endif
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

#endif
