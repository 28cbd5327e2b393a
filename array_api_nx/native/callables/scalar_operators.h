#ifndef ARRAY_API_NX_SCALAR_OPERATORS_H
#define ARRAY_API_NX_SCALAR_OPERATORS_H

/* From now on NumPy's scalars to the left of an operator ask arrays of the face, to its right, first. */
void ask_arrays_first(void);

#endif
