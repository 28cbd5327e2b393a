"""Calls of opt_einsum, from its README and its pages about backends and sharing."""

from __future__ import annotations

import opt_einsum

from ..agreement import Call, Namespace, Value


def _cube(xp: Namespace) -> Value:
    return xp.reshape(xp.astype(xp.arange(27), xp.float64), (3, 3, 3)) / 10


def _square(xp: Namespace) -> Value:
    return _cube(xp)[1, :, :]


def _shared(xp: Namespace) -> Value:
    with opt_einsum.shared_intermediates():
        one = opt_einsum.contract("ab,bc,cd->ad", *[_square(xp)] * 3)
        other = opt_einsum.contract("ab,bc,ce->ae", *[_square(xp)] * 3)
    return one, other


def _with_constants(xp: Namespace) -> Value:
    expression = opt_einsum.contract_expression(
        "ij,jk,kl->il", _square(xp), _square(xp), (3, 3), constants=[0, 1]
    )
    return expression(_square(xp) + 1)


CALLS: dict[str, Call] = {
    "contract, product": lambda xp: opt_einsum.contract("ij,jk->ik", _square(xp), _square(xp)),
    "contract, sum": lambda xp: opt_einsum.contract("ijk->j", _cube(xp)),
    "contract, transpose": lambda xp: opt_einsum.contract("ijk->kij", _cube(xp)),
    "contract, outer": lambda xp: opt_einsum.contract("ij,kl->ijkl", _square(xp), _square(xp)),
    "contract, trace": lambda xp: opt_einsum.contract("ii", _square(xp)),
    "contract, hadamard": lambda xp: opt_einsum.contract("ij,ij->ij", _square(xp), _square(xp)),
    "contract, a chain": lambda xp: opt_einsum.contract(
        "ea,fb,abcd,gc,hd->efgh", _square(xp), _square(xp), xp.stack([_cube(xp)] * 3),
        _square(xp), _square(xp),
    ),
    "contract, optimize='dp'": lambda xp: opt_einsum.contract(
        "ij,jk,kl->il", _square(xp), _square(xp), _square(xp), optimize="dp"
    ),
    "contract, interleaved": lambda xp: opt_einsum.contract(
        _square(xp), (0, 1), _square(xp), (1, 2), (0, 2)
    ),
    "contract_expression": lambda xp: opt_einsum.contract_expression(
        "ij,jkl->ikl", (3, 3), (3, 3, 3)
    )(_square(xp), _cube(xp)),
    "contract_expression, constants": _with_constants,
    "shared_intermediates": _shared,
}  # fmt: skip
