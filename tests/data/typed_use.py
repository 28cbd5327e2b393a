"""What type checkers are to make of code that uses the package; tests/test_typing.py asks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np

import array_api_nx as xp

x = xp.asarray([1.0])
assert_type(x, xp.Array)
assert_type(x + 1, xp.Array)
assert_type(1 - x, xp.Array)
assert_type(x.shape, tuple[int, ...])
assert_type(xp.sum(x, axis=0), xp.Array)
assert_type(x.max(axis=0), xp.Array)
assert_type(xp.sin(x), xp.Array)
assert_type(xp.hypot(x, 1.0), xp.Array)
xp.sin(1.0)  # type: ignore[arg-type]
xp.hypot(x, x, x)  # type: ignore[call-arg]
assert_type(x.real, xp.Array)
assert_type(x.nbytes, int)
x.mean(0, keepdim=True)  # type: ignore[call-arg]
assert_type(xp.linalg.qr(xp.eye(2)).Q, xp.Array)
xp.sum(x, 0)  # type: ignore[call-arg]

# Names that `dir` does not list have types too, and misspelt ones are errors.
assert_type(xp.diag(x, k=1), xp.Array)
assert_type(xp.logspace(0, 1), xp.Array)
assert_type(xp.extra.pad(x, 1), xp.Array)
_ = xp.asaray  # type: ignore[attr-defined]


# Dtypes as people write them.
for dtype in (xp.float32, "float32", float, np.float32, np.dtype("f4")):
    assert_type(xp.zeros(2, dtype=dtype), xp.Array)
    assert_type(xp.astype(x, dtype), xp.Array)
assert_type(xp.result_type(x, "f4", np.int8).name, str)
assert_type(xp.isdtype(np.dtype("f8"), "real floating"), bool)
assert_type(xp.float64 == np.float64, bool)
xp.zeros(2, dtype=3)  # type: ignore[arg-type]


# Compiled functions have the parameters and the result of the function.
@xp.compile
def scaled(x: xp.Array, factor: float = 1.0) -> tuple[xp.Array, int]:
    return x * factor, 3


assert_type(scaled(x, factor=2.0), tuple[xp.Array, int])
assert_type(scaled.__wrapped__(x), tuple[xp.Array, int])
assert_type(scaled.cache_info().traces, int)
scaled(x, 1.0, 2.0)  # type: ignore[call-arg]
scaled("x")  # type: ignore[arg-type]


class Model:
    @xp.compile
    def step(self, x: xp.Array) -> xp.Array:
        return x


assert_type(Model().step(x), xp.Array)
assert_type(Model.step(Model(), x), xp.Array)
Model().step()  # type: ignore[call-arg]


# Specs stand where the arrays stood, as far as annotations can say so.
def unknown(x: Any) -> Any:
    return x


def several(x: xp.Array) -> list[xp.Array]:
    return [x]


def named(x: xp.Array) -> dict[str, xp.Array]:
    return {"x": x}


function: Callable[[xp.Array], xp.Array] = Model().step
spec = xp.ShapeSpec(("n", 3), xp.float32)
assert_type(xp.eval_shape(function, spec), xp.ShapeSpec)
assert_type(xp.eval_shape(several, spec), list[xp.ShapeSpec])
assert_type(xp.eval_shape(named, x=spec), dict[str, xp.ShapeSpec])
assert_type(xp.eval_shape(unknown, spec), Any)  # pyright: ignore (takes what comes first)
assert_type(xp.eval_shape(lambda x: xp.linalg.qr(x), spec).Q, Any)
