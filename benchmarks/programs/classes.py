"""The class of each program of NPBench: it decides which figures are averaged together.

The class was decided by reading the program, by the first rule that fits:

- BLAS: most of NumPy's time at preset S passes inside of matrix products, inverses and
  decompositions. The program calls few of them, on whole matrices. Both libraries call BLAS and
  LAPACK there.
- Loops: Python statements handle an element, a row or a column at a time, and their number grows
  with the size of the arrays. The cost of a call decides.
- Whole arrays: each statement handles whole arrays, or their interiors; loops count time steps,
  iterations or pixels of a small image.
"""

from __future__ import annotations

WHOLE, BLAS, LOOPS = "whole arrays", "BLAS", "loops over rows and scalars"
CLASSES = (WHOLE, BLAS, LOOPS)
"""In the order of the table."""

_NAMES = {
    WHOLE: (
        *["arc_distance", "azimint_hist", "azimint_naive", "cavity_flow", "channel_flow"],
        *["compute", "conv2d_bias", "fdtd_2d", "floyd_warshall", "gemver", "hdiff", "heat_3d"],
        *["jacobi_1d", "jacobi_2d", "lenet", "mandelbrot1", "mandelbrot2", "nbody", "resnet"],
        *["softmax", "stockham_fft", "vadv"],
    ),
    BLAS: (
        *["atax", "bicg", "cholesky2", "contour_integral", "covariance2", "doitgen", "gemm"],
        *["gesummv", "k2mm", "k3mm", "mlp", "mvt"],
    ),
    LOOPS: (
        *["adi", "cholesky", "correlation", "covariance", "crc16", "deriche", "durbin", "go_fast"],
        *["gramschmidt", "lu", "ludcmp", "nussinov", "scattering_self_energies", "seidel_2d"],
        *["spmv", "symm", "syr2k", "syrk", "trisolv", "trmm"],
    ),
}
OF_NPBENCH = {name: kind for kind, names in _NAMES.items() for name in names}
"""By the names of the files in NPBench's ``bench_info``."""
