"""Every function of the namespace on 12 elements: compiled, against the same call made eagerly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, partial
from statistics import geometric_mean, median
from timeit import Timer
from typing import Any

import numpy as np

from . import peers
from .environment import environment
from .timing import in_turns, ratio
from .worker import Prepared, Service, workers

SECONDS = 0.004
"""The least duration of a turn."""
ALLOWED = 0.5e-6
"""Seconds that a compiled function may take beyond the call that it makes."""

_UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp"),
    *("expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "negative"),
    *("positive", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan"),
    *("tanh", "trunc"),
)
_BINARY = (
    *("add", "atan2", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal"),
    *("hypot", "less", "less_equal", "logaddexp", "maximum", "minimum", "multiply", "nextafter"),
    *("not_equal", "pow", "remainder", "subtract"),
)
_BITS = ("bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor")
_REDUCTIONS = ("max", "mean", "min", "prod", "std", "sum", "var")

STATEMENTS = (
    *[f"xp.{name}({'e' if name == 'acosh' else 'a'})" for name in _UNARY],
    *[f"xp.{name}(a, b)" for name in _BINARY],
    *[f"xp.{name}(n, n)" for name in _BITS],
    *[f"xp.{name}(m, m)" for name in ("logical_and", "logical_or", "logical_xor")],
    *[f"xp.{name}(a, axis=0)" for name in _REDUCTIONS],
    *["xp.bitwise_invert(n)", "xp.logical_not(m)", "xp.conj(z)", "xp.imag(z)", "xp.real(z)"],
    *["xp.clip(a, 0.2, 0.8)", "xp.where(m, a, b)", "xp.astype(a, xp.float32)"],
    *["xp.arange(12)", "xp.asarray(a, copy=True)", "xp.empty((3, 4))", "xp.empty_like(a)"],
    *["xp.eye(3)", "xp.full((3, 4), 2.0)", "xp.full_like(a, 2.0)", "xp.linspace(0.0, 1.0, 12)"],
    *["xp.meshgrid(v, w)", "xp.ones((3, 4))", "xp.ones_like(a)", "xp.tril(a)", "xp.triu(a)"],
    *["xp.zeros((3, 4))", "xp.zeros_like(a)"],
    *["xp.take(a, i, axis=0)", "xp.take_along_axis(a, j, axis=0)", "xp.matmul(a, c)"],
    *["xp.matrix_transpose(a)", "xp.tensordot(a, c, axes=1)", "xp.vecdot(a, b)"],
    *["xp.broadcast_arrays(a, v)", "xp.broadcast_to(a, (2, 3, 4))", "xp.concat([a, b])"],
    *["xp.expand_dims(a, axis=0)", "xp.flip(a, axis=0)", "xp.moveaxis(a, 0, 1)"],
    *["xp.permute_dims(a, (1, 0))", "xp.repeat(a, 2, axis=0)", "xp.reshape(a, (4, 3))"],
    *["xp.roll(a, 1, axis=0)", "xp.squeeze(a[None, ...], axis=0)", "xp.stack([a, b])"],
    *["xp.tile(a, (2, 1))", "xp.unstack(a)"],
    *["xp.argmax(a, axis=1)", "xp.argmin(a, axis=1)", "xp.count_nonzero(m)", "xp.isin(n, i)"],
    *["xp.searchsorted(x, y)", "xp.argsort(a)", "xp.sort(a)", "xp.all(m, axis=0)", "xp.any(m)"],
    *["xp.cumulative_prod(y)", "xp.cumulative_sum(a, axis=0)", "xp.diff(a)", "xp.sum(a)"],
    *["a[1, ...]", "a[:, 1:3]", "a[:, 2]", "a[::-1, :]", "a[None, ...]", "a.T", "a[i, ...]"],
    *["a + b", "a * 2.0", "-a", "a ** 2", "a < b", "a @ c", "2 * a + 3 * b"],
    *["xp.linalg.cholesky(p)", "xp.linalg.cross(w, w)", "xp.linalg.det(s)", "xp.linalg.eig(s)"],
    *["xp.linalg.diagonal(s)", "xp.linalg.eigh(p)", "xp.linalg.eigvals(s)", "xp.linalg.inv(s)"],
    *["xp.linalg.eigvalsh(p)", "xp.linalg.matmul(a, c)", "xp.linalg.matrix_norm(a)"],
    *["xp.linalg.matrix_power(s, 3)", "xp.linalg.matrix_rank(s)", "xp.linalg.outer(w, v)"],
    *["xp.linalg.matrix_transpose(a)", "xp.linalg.pinv(a)", "xp.linalg.qr(a)"],
    *["xp.linalg.slogdet(s)", "xp.linalg.solve(s, w)", "xp.linalg.svd(a)", "xp.linalg.svdvals(a)"],
    *["xp.linalg.tensordot(a, c, axes=1)", "xp.linalg.trace(s)", "xp.linalg.vecdot(a, b)"],
    *["xp.linalg.vector_norm(a)"],
    *["xp.fft.fft(z)", "xp.fft.fftn(z)", "xp.fft.fftfreq(12)", "xp.fft.fftshift(z)"],
    *["xp.fft.hfft(z)", "xp.fft.ifft(z)", "xp.fft.ifftn(z)", "xp.fft.ifftshift(z)"],
    *["xp.fft.ihfft(a)", "xp.fft.irfft(z)", "xp.fft.irfftn(z)", "xp.fft.rfft(a)"],
    *["xp.fft.rfftfreq(12)", "xp.fft.rfftn(a)"],
)
"""One or more for each function of the namespace whose results have shapes that are known."""


def connect(name: str) -> Service:
    """Serve array_api_nx, whose functions are called, or compiled if `name` is "nx.compile"."""
    peer = peers.load("nx")
    return Service(peer.version, partial(_prepare, peer, name == "nx.compile"))


def run(turns: int, wanted: str = "") -> dict[str, Any]:
    """Time the statements that contain `wanted`, print and return the ratios."""
    ratios: dict[str, float] = {}
    above = []
    with workers(__name__, ("nx", "nx.compile")) as found:
        figures = environment(turns, {name: worker.version for name, worker in found.items()})
        print("\nCompiled functions of one call (12 elements): times relative to the call")
        print(f"\n{'':40}{'nx, us':>10}{'compiled':>10}")
        for statement in [each for each in STATEMENTS if wanted in each]:
            times, problems = in_turns(found, (statement,), turns, SECONDS)
            if problems:
                raise RuntimeError(f"{statement}: {problems}")
            called, compiled = times["nx"].per_call, times["nx.compile"].per_call
            ratios[statement] = ratio(compiled, called)
            is_above = median(compiled) > median(called) + ALLOWED
            above += [statement] * is_above
            mark = "  above" if is_above else ""
            print(f"{statement:40}{median(called) * 1e6:10.2f}{ratios[statement]:10.2f}{mark}")
    print(f"{'geometric mean':50}{geometric_mean(ratios.values()):10.2f}")
    print(f"More than {ALLOWED * 1e6} us above the call: {', '.join(above) or 'none'}")
    return {**figures, "ratios": ratios, "above": above}


def _prepare(peer: peers.Peer, compiles: bool, statement: str) -> Prepared:
    arrays = _arrays(peer)
    names = [name for name in arrays if re.search(rf"(?<![.\w]){name}\b", statement)]
    given = ", ".join(names)
    function = eval(f"lambda {given}: {statement}", {"xp": peer.xp})
    if compiles:
        function = peer.xp.compile(function)
        for _ in range(3):
            function(*[arrays[name] for name in names])
    return Prepared(Timer(f"function({given})", globals={"function": function, **arrays}))


@lru_cache(maxsize=1)
def _arrays(peer: peers.Peer) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    square = rng.random((3, 3)) + 3 * np.eye(3)
    values: dict[str, Sequence[Any] | np.ndarray[Any, Any]] = {
        "a": rng.random((3, 4)),
        "b": rng.random((3, 4)) + 0.1,
        "c": rng.random((4, 3)),
        "e": rng.random((3, 4)) + 1.0,
        "i": np.asarray([0, 2]),
        "j": rng.integers(0, 3, (3, 4)),
        "m": rng.random((3, 4)) > 0.5,
        "n": rng.integers(1, 5, (3, 4)),
        "p": square @ square.T,
        "s": square,
        "v": rng.random(4),
        "w": rng.random(3),
        "x": np.sort(rng.random(12)),
        "y": rng.random(12),
        "z": rng.random((3, 4)) + 1j * rng.random((3, 4)),
    }
    return {name: peer.asarray(x) for name, x in values.items()}
