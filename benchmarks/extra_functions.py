"""Functions that the standard lacks, under NumPy's names, on our arrays and on NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from string import ascii_lowercase
from timeit import Timer
from typing import Any, NamedTuple

import numpy as np

from . import functions
from .worker import Prepared, Service

NAN_SHARE = 0.05
"""Of the elements of what functions read that leave NaN out."""

PATTERNS = (
    *["a,ab,abc->abc", "ea,fb,abcd,gc,hd->efgh", "ab,ab,c->c", "ab,ab,cd,cd->ac"],
    *["ab,cd,ef->acdf", "ab,cd,de->abe", "ab,bc,cd->ad", "ab,bcd,cd->abd"],
    *["abc,bcd,cde->abe", "eb,cb,fb->cef", "bd,db,eac->ace", "ef,cdb,ec->fdb"],
    *["a,ac,ab,ad,cd,bd,bc->", "bdhe,acad,hiab,agac,hibd->eg"],
    *["cd,bdhe,aidb,hgca,gc,hgibcd,hgac->e", "acdf,jbje,gihb,hfac,gfac,gifabc,hfac->de"],
    "chd,bde,agbc,hiad,hgc,hgi,hiad->e",
)
"""Like those of opt_einsum's tests."""

SIZES = dict(zip(ascii_lowercase, (2, 3, 4, 5, 4, 3, 2, 6, 5, 4), strict=False))
"""Of axes by their labels; each is taken four times."""


class Inputs(NamedTuple):
    """What functions read: a row or a table."""

    x: Any
    holed: Any
    """`x` with NaN here and there."""
    ints: Any
    """From 0 to 999."""


def _top(xp: Any, x: Any, count: int) -> tuple[Any, ...]:
    if xp is not np:
        values, places = xp.top_k(x, count)
        return values, places
    places = np.argpartition(-x, count - 1)[..., :count]
    places = np.take_along_axis(
        places, np.argsort(-np.take_along_axis(x, places, -1), stable=True), -1
    )
    return np.take_along_axis(x, places, -1), places


def _named(name: str) -> Callable[[Any, Inputs, dict[str, int]], Any]:
    return lambda xp, i, along: getattr(xp, name)(i.holed, **along)


_ALONG: dict[str, Callable[[Any, Inputs, dict[str, int]], Any]] = {
    **{
        name: _named(name)
        for name in (
            *["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar", "nanmedian"],
            *["nanargmax", "nanargmin", "nancumsum", "nancumprod"],
        )
    },
    "nanquantile": lambda xp, i, along: xp.nanquantile(i.holed, 0.3, **along),
    "median": lambda xp, i, along: xp.median(i.x, **along),
    "quantile": lambda xp, i, along: xp.quantile(i.x, 0.3, **along),
}
"""Functions that reduce or scan: all of a row, or the rows of a table."""

_FLAT: dict[str, Callable[[Any, Inputs], Any]] = {
    "bincount": lambda xp, i: xp.bincount(i.ints),
    "bincount with weights": lambda xp, i: xp.bincount(i.ints, weights=i.x),
    "histogram": lambda xp, i: xp.histogram(i.x, 10),
    "gradient": lambda xp, i: xp.gradient(i.x),
    "isclose": lambda xp, i: xp.isclose(i.x, i.holed),
}
_BOTH: dict[str, Callable[[Any, Inputs], Any]] = {
    "argpartition": lambda xp, i: xp.argpartition(i.x, 100),
    "top_k": lambda xp, i: _top(xp, i.x, 10),
}
_TABLE: dict[str, Callable[[Any, Inputs], Any]] = {
    "cov": lambda xp, i: xp.cov(xp.reshape(i.x, (4, -1))),
    "pad": lambda xp, i: xp.pad(i.x, 1),
    "pad at the edge": lambda xp, i: xp.pad(i.x, 1, mode="edge"),
}
CASE_NAMES = [
    *[f"{name}, {layout}" for layout in ("flat", "table") for name in (*_ALONG, *_BOTH)],
    *[f"{name}, flat" for name in _FLAT],
    *[f"{name}, table" for name in _TABLE],
    *[f"einsum {pattern}, x4" for pattern in PATTERNS],
]


def connect(name: str) -> Service:
    """Serve numpy or nx in this process; a case is a function, a layout and a size."""
    if name == "numpy":
        return Service(np.__version__, _prepare_numpy)
    xp: Any = import_module("array_api_nx")
    return Service(xp.__version__, partial(_prepare_nx, xp))


def run(turns: int, elements: int = functions.ELEMENTS, wanted: str = "") -> dict[str, Any]:
    """Time and compare the functions whose names contain `wanted`, and print their speed."""
    cases = [case for case in CASE_NAMES if wanted in case]
    return functions.run(__name__, "Functions that the standard lacks", cases, turns, elements)


def _prepare_numpy(name: str, layout: str, elements: int) -> Prepared:
    return Prepared(Timer(_call(np, np.asarray, name, layout, elements)))


def _prepare_nx(xp: Any, name: str, layout: str, elements: int) -> Prepared:
    own = _call(xp, lambda x: xp.asarray(x, copy=True), name, layout, elements)
    return functions.agreeing(xp, own, _call(np, np.asarray, name, layout, elements))


def _call(
    xp: Any, asarray: Callable[[Any], Any], name: str, layout: str, elements: int
) -> Callable[[], Any]:
    if name.startswith("einsum "):
        pattern = name.removeprefix("einsum ")
        operands = [asarray(x) for x in _operands(pattern)]
        return lambda: xp.einsum(pattern, *operands, optimize=True)
    inputs = Inputs(*[asarray(x) for x in _inputs(layout, elements)])
    if name in _ALONG:
        along = {} if layout == "flat" else {"axis": 1}
        return lambda: _ALONG[name](xp, inputs, along)
    function = {**_FLAT, **_BOTH, **_TABLE}[name]
    return lambda: function(xp, inputs)


def _operands(pattern: str) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(4)
    terms = pattern.partition("->")[0].split(",")
    return [rng.random([4 * SIZES[label] for label in term]) for term in terms]


@lru_cache(maxsize=1)
def _inputs(layout: str, elements: int) -> Inputs:
    rng = np.random.default_rng(21)
    x = rng.standard_normal(elements)
    holed = np.where(rng.random(elements) < NAN_SHARE, np.nan, x)
    ints = rng.integers(0, 1000, elements)
    return Inputs(*[functions.laid_out(layout, each) for each in (x, holed, ints)])
