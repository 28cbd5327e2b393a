/* Products of matrices and vectors. */

#ifndef ARRAY_API_NX_PRODUCTS_H
#define ARRAY_API_NX_PRODUCTS_H

#include "functions.h"
#include <numpy/ufuncobject.h>

/* The inner loops of one of NumPy's generalised ufuncs, such as matmul. */
typedef struct {
    PyObject *ufunc;
    PyObject *name; /* in warnings */
    PyUFuncGenericFunction functions[DTYPE_COUNT]; /* NULL where not looked up yet */
    void *data[DTYPE_COUNT];
} CoreLoops;

/* Other threads run during loops over operands with more elements. */
enum { MOST_BRIEF = 4096 };

/* Look up the ufunc of a module by its name. Without one of so many operands and results there are no loops. -1 with an
   exception set if there is no memory. */
int find_ufunc(PyObject *module, const char *name, int operands, int results, CoreLoops *loops);

/* Look up the loop for operands and results of one dtype. Whether there is one. */
int find_core_loop(CoreLoops *loops, int code);

/* Call the loop; returns its floating-point flags. Python's exception may be set. */
int run_core_loop(const CoreLoops *loops, int code, char **args, const npy_intp *sizes, const npy_intp *steps,
                  int is_brief);

/* `x @ y` of two matrices, or of a matrix and a vector; DECLINED if Python has to compute. */
PyObject *multiply_matrices(PyObject *x, PyObject *y);

/* The same, written to the array `out`, of which it returns a new reference, unless that is NULL. A stack is not written to
   one: DECLINED. */
PyObject *multiply_into(PyObject *x, PyObject *y, PyObject *out);

/* `x @ y` of booleans as NumPy has it: whether both of any pair are true. DECLINED if NumPy has to compute it. */
PyObject *multiply_booleans(PyObject *x, PyObject *y);

/* The implementations of matmul and dot. */
PyObject *call_matmul(int which, PyObject *const *values, Py_ssize_t count);
PyObject *call_dot(int which, PyObject *const *values, Py_ssize_t count);

#endif
