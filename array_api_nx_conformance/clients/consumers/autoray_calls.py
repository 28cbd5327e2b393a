"""Calls of autoray, from its README and its guide to dispatch."""

from __future__ import annotations

import autoray
from autoray import do

from ..agreement import Call, Namespace, Value


def _matrix(xp: Namespace) -> Value:
    return xp.asarray([[2.0, 0.5, 1.0], [0.5, 3.0, -1.0], [1.0, -1.0, 4.0]])


def _orthogonal(xp: Namespace) -> Value:
    """The README's modified Gram-Schmidt."""
    rows: list[Value] = []
    matrix = _matrix(xp)
    for j in range(autoray.shape(matrix)[0]):
        row = matrix[j, :]
        for i in range(j):
            row = row - do("tensordot", do("conj", rows[i]), row, 1) * rows[i]
        rows.append(row / do("linalg.norm", row, 2))
    return do("stack", rows, axis=0, like=matrix)


def _noised_svd(xp: Namespace) -> Value:
    """The README's example of functions and methods, without its noise."""
    u, s, vh = do("linalg.svd", _matrix(xp))
    return do("einsum", "ij,j,jk->ik", u, s, vh)


def _lazy(xp: Namespace) -> Value:
    matrix = autoray.lazy.array(_matrix(xp))
    return do("sum", matrix @ matrix + 1, axis=0).compute()


CALLS: dict[str, Call] = {
    "do sqrt": lambda xp: do("sqrt", _matrix(xp) ** 2),
    "do sum": lambda xp: do("sum", _matrix(xp), axis=1),
    "do einsum": lambda xp: do("einsum", "ij,jk->ik", _matrix(xp), _matrix(xp)),
    "do tensordot": lambda xp: do("tensordot", _matrix(xp), _matrix(xp), 1),
    "do transpose": lambda xp: do("transpose", _matrix(xp)),
    "do transpose axes": lambda xp: do("transpose", _matrix(xp), (1, 0)),
    "do concatenate": lambda xp: do("concatenate", [_matrix(xp), _matrix(xp)], axis=1),
    "do stack": lambda xp: do("stack", [_matrix(xp), _matrix(xp)]),
    "do reshape": lambda xp: do("reshape", _matrix(xp), (9,)),
    "do eye": lambda xp: do("eye", 3, like=_matrix(xp)),
    "do linalg.norm": lambda xp: do("linalg.norm", _matrix(xp)),
    "do linalg.eigh": lambda xp: do("linalg.eigh", _matrix(xp))[0],
    "do linalg.svd": _noised_svd,
    "Gram-Schmidt": _orthogonal,
    "astype": lambda xp: autoray.astype(_matrix(xp), "float32"),
    "transpose": lambda xp: autoray.transpose(_matrix(xp), (1, 0)),
    "real": lambda xp: autoray.real(_matrix(xp) + 1j),
    "numpy.exp": lambda xp: autoray.numpy.exp(_matrix(xp)),
    "get_dtype_name": lambda xp: autoray.get_dtype_name(_matrix(xp)) == "float64",
    "to_numpy": lambda xp: xp.asarray(autoray.to_numpy(_matrix(xp))),
    "lazy": _lazy,
}
