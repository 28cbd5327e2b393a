"""Operations on an `xarray.DataArray`.

They are the examples of the guide to computation, and the methods that the page of the API lists
as: missing value handling, indexing, comparisons, aggregation, ndarray methods, grouped operations,
computation, reshaping and reorganizing. Methods that need packages which xarray does not require
fail on NumPy, too, and are not counted.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import xarray as xr

from ..agreement import Call, Namespace, Value

_NUMBERS = [[3.0, -1.0, 2.5, 0.5], [0.0, 4.0, -2.0, 6.0], [7.5, 1.0, -3.0, 2.0]]


def _full(xp: Namespace) -> xr.DataArray:
    return xr.DataArray(
        xp.asarray(_NUMBERS), dims=("x", "y"), coords={"x": [10, 20, 30], "y": [0.0, 1.0, 2.0, 4.0]}
    )


def _holes(xp: Namespace) -> xr.DataArray:
    numbers = [row[:] for row in _NUMBERS]
    numbers[0][1] = numbers[2][3] = np.nan
    return _full(xp).copy(data=xp.asarray(numbers))


def _series(xp: Namespace) -> xr.DataArray:
    days = np.arange("2026-01-01", "2026-01-09", dtype="datetime64[D]").astype("datetime64[ns]")
    numbers = xp.asarray([1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 3.0, 6.0])
    return xr.DataArray(numbers, dims="time", coords={"time": days})


def _letters(xp: Namespace) -> Any:
    return _series(xp).assign_coords(letter=("time", list("abbacabc"))).groupby("letter")


def _ints(xp: Namespace) -> xr.DataArray:
    return xr.DataArray(xp.asarray([5, 2, 9, 0]), dims="y")


def _complex(xp: Namespace) -> xr.DataArray:
    return xr.DataArray(xp.asarray([1.0 + 2.0j, -3.0j]), dims="y")


def _assigned(xp: Namespace) -> xr.DataArray:
    array = _full(xp)
    array.loc[{"x": 20}] = 9.0
    return array


def unwrap(value: Value) -> Value:
    """The arrays in a result."""
    if isinstance(value, xr.Dataset):
        return tuple(variable.data for variable in value.data_vars.values())
    return value.data if isinstance(value, xr.DataArray) else value


CALLS: dict[str, Call] = {
    # Arithmetic
    "array - number": lambda xp: _full(xp) - 3,
    "array + array, by names": lambda xp: _full(xp) + xr.DataArray(xp.asarray([1, 2, 3]), dims="x"),
    "array > number": lambda xp: _full(xp) > 1,
    "abs": lambda xp: abs(_full(xp)),
    "numpy.sin": lambda xp: np.sin(_full(xp)),
    "<<": lambda xp: _ints(xp) << 2,
    "@": lambda xp: _full(xp) @ _full(xp),
    "dot": lambda xp: _full(xp).dot(_ints(xp), dim="y"),
    "clip": lambda xp: _full(xp).clip(0.0, 3.0),
    "round": lambda xp: _full(xp).round(1),
    "astype": lambda xp: _full(xp).astype("float32"),
    "conjugate": lambda xp: _complex(xp).conjugate(),
    "conj": lambda xp: _complex(xp).conj(),
    "real": lambda xp: _complex(xp).real,
    "imag": lambda xp: _complex(xp).imag,
    "apply_ufunc": lambda xp: xr.apply_ufunc(xp.exp, _full(xp)),
    "where of three": lambda xp: xr.where(_full(xp) > 0, _full(xp), 0.0),
    # Aggregation
    "all": lambda xp: (_full(xp) > -9).all(),
    "any": lambda xp: (_full(xp) > 6).any("y"),
    "argmax": lambda xp: _full(xp).argmax("y"),
    "argmin": lambda xp: _full(xp).argmin("x"),
    "idxmax": lambda xp: _full(xp).idxmax("y"),
    "idxmin": lambda xp: _full(xp).idxmin("y"),
    "count": lambda xp: _holes(xp).count("y"),
    "max": lambda xp: _holes(xp).max("y"),
    "min": lambda xp: _holes(xp).min(),
    "mean": lambda xp: _holes(xp).mean("y"),
    "mean skipna=False": lambda xp: _full(xp).mean("y", skipna=False),
    "median": lambda xp: _holes(xp).median("y"),
    "prod": lambda xp: _holes(xp).prod("y"),
    "sum": lambda xp: _holes(xp).sum("y"),
    "sum min_count": lambda xp: _holes(xp).sum("y", min_count=4),
    "std": lambda xp: _holes(xp).std("y"),
    "var": lambda xp: _holes(xp).var("x", ddof=1),
    "quantile": lambda xp: _full(xp).quantile([0.25, 0.5], dim="y"),
    "quantile of NaN": lambda xp: _holes(xp).quantile([0.25, 0.5], dim="y"),
    "cumsum": lambda xp: _holes(xp).cumsum("y"),
    "cumprod": lambda xp: _holes(xp).cumprod("y"),
    "reduce": lambda xp: _full(xp).reduce(xp.sum, dim="y"),
    # Missing values
    "isnull": lambda xp: _holes(xp).isnull(),
    "notnull": lambda xp: _holes(xp).notnull(),
    "fillna": lambda xp: _holes(xp).fillna(0.0),
    "where": lambda xp: _full(xp).where(_full(xp) > 0),
    "ffill": lambda xp: _holes(xp).ffill("y"),
    "bfill": lambda xp: _holes(xp).bfill("y"),
    "dropna": lambda xp: _holes(xp).dropna("y"),
    "combine_first": lambda xp: _holes(xp).combine_first(_full(xp)),
    "interpolate_na": lambda xp: _holes(xp).interpolate_na("y"),
    "isin": lambda xp: _ints(xp).isin([2, 9]),
    # Indexing
    "[...]": lambda xp: _full(xp)[1:, ::2],
    "isel": lambda xp: _full(xp).isel(x=[2, 0], y=1),
    "isel, pointwise": lambda xp: _full(xp).isel(
        x=xr.DataArray([0, 2], dims="p"), y=xr.DataArray([1, 3], dims="p")
    ),
    "sel": lambda xp: _full(xp).sel(x=20, y=slice(1.0, 2.0)),
    "loc =": _assigned,
    "head": lambda xp: _full(xp).head(y=2),
    "tail": lambda xp: _full(xp).tail(y=2),
    "thin": lambda xp: _full(xp).thin(y=2),
    "drop_sel": lambda xp: _full(xp).drop_sel(x=[20]),
    "drop_isel": lambda xp: _full(xp).drop_isel(x=[1]),
    "drop_duplicates": lambda xp: _full(xp).drop_duplicates("x"),
    "interp_like": lambda xp: _full(xp).interp_like(_full(xp).assign_coords(y=_full(xp).y / 2)),
    "reindex_like": lambda xp: _full(xp).reindex_like(_full(xp)[:2]),
    "set_index": lambda xp: (
        _full(xp).assign_coords(z=("x", [1, 2, 3])).set_index(x="z").sel(x=2)
    ),
    "set_xindex": lambda xp: (
        _full(xp).assign_coords(z=("x", [1, 2, 3])).set_xindex("z").sel(z=2)
    ),
    "reorder_levels": lambda xp: _full(xp).stack(z=("x", "y")).reorder_levels(z=["y", "x"]),
    "query": lambda xp: _full(xp).rename("a").query(x="x > 10"),
    "get_axis_num": lambda xp: _full(xp).get_axis_num("y"),
    "reset_index": lambda xp: _full(xp).reset_index("x"),
    "argsort": lambda xp: _ints(xp).argsort(),
    "searchsorted": lambda xp: _ints(xp).searchsorted(3),
    "rank": lambda xp: _full(xp).rank("x"),
    "item": lambda xp: _ints(xp).item(2),
    "sortby": lambda xp: _full(xp).sortby("x", ascending=False),
    "reindex": lambda xp: _full(xp).reindex(x=[20, 40]),
    # Shapes
    "T": lambda xp: _full(xp).T,
    "transpose": lambda xp: _full(xp).transpose("y", "x"),
    "stack": lambda xp: _full(xp).stack(z=("x", "y")),
    "unstack": lambda xp: _full(xp).stack(z=("x", "y")).unstack("z"),
    "expand_dims": lambda xp: _full(xp).expand_dims(z=2),
    "squeeze": lambda xp: _full(xp).isel(x=[0]).squeeze("x"),
    "shift": lambda xp: _full(xp).shift(y=1),
    "roll": lambda xp: _full(xp).roll(y=1),
    "pad": lambda xp: _full(xp).pad(y=(1, 2), constant_values=0.0),
    "concat": lambda xp: xr.concat([_full(xp), _full(xp)], dim="x"),
    "broadcast_like": lambda xp: _ints(xp).broadcast_like(_full(xp).drop_vars("y")),
    "swap_dims": lambda xp: _full(xp).assign_coords(z=("x", [1, 2, 3])).swap_dims(x="z"),
    "rename": lambda xp: _full(xp).rename(x="row"),
    "to_dataset": lambda xp: _full(xp).to_dataset(dim="x"),
    "to_unstacked_dataset": lambda xp: (
        _full(xp).to_dataset(dim="x").to_stacked_array("z", ["y"]).to_unstacked_dataset("z")
    ),
    "copy": lambda xp: copy.deepcopy(_full(xp)),
    "zeros_like": lambda xp: xr.zeros_like(_full(xp)),
    "full_like": lambda xp: xr.full_like(_full(xp), 2.0),
    # Groups and windows
    "groupby mean": lambda xp: _letters(xp).mean(),
    "groupby sum": lambda xp: _letters(xp).sum(),
    "groupby - array": lambda xp: _letters(xp) - _letters(xp).mean(),
    "groupby_bins": lambda xp: _full(xp).groupby_bins("y", [0, 1, 4]).sum(),
    "groupby max": lambda xp: _letters(xp).max(),
    "groupby first": lambda xp: _letters(xp).first(),
    "groupby map": lambda xp: _letters(xp).map(lambda x: x - x.mean()),
    "resample": lambda xp: _series(xp).resample(time="2D").mean(),
    "rolling mean": lambda xp: _series(xp).rolling(time=3).mean(),
    "rolling_exp": lambda xp: _series(xp).rolling_exp(time=3).mean(),
    "cumulative": lambda xp: _series(xp).cumulative("time").sum(),
    "rolling construct": lambda xp: _series(xp).rolling(time=3).construct("window"),
    "coarsen mean": lambda xp: _full(xp).coarsen(y=2).mean(),
    "coarsen construct": lambda xp: _full(xp).coarsen(y=2).construct(y=("a", "b")),
    "weighted sum": lambda xp: _full(xp).weighted(_ints(xp)).sum("y"),
    "weighted mean": lambda xp: _full(xp).weighted(_ints(xp)).mean("y"),
    # Computation
    "diff": lambda xp: _full(xp).diff("y"),
    "differentiate": lambda xp: _full(xp).differentiate("y"),
    "integrate": lambda xp: _full(xp).integrate("y"),
    "cumulative_integrate": lambda xp: _full(xp).cumulative_integrate("y"),
    "interp": lambda xp: _full(xp).interp(y=[0.5, 3.0]),
    "polyfit": lambda xp: _full(xp).polyfit("y", deg=1),
    "curvefit": lambda xp: _full(xp).curvefit("y", lambda y, a: a * y),
    "map_blocks": lambda xp: _full(xp).map_blocks(lambda x: x + 1),
    "corr": lambda xp: xr.corr(_full(xp), _full(xp) ** 2, dim="y"),
    "cov": lambda xp: xr.cov(_holes(xp), _full(xp), dim="y"),
    "cross": lambda xp: xr.cross(_full(xp), _full(xp) + 1, dim="x"),
    "equals": lambda xp: _full(xp).equals(_full(xp)),
    "identical": lambda xp: _full(xp).identical(_holes(xp)),
    "broadcast_equals": lambda xp: _full(xp).broadcast_equals(_full(xp)),
    "testing.assert_allclose": lambda xp: xr.testing.assert_allclose(_full(xp), _full(xp)),
}  # fmt: skip
