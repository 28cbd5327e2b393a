"""Reductions of tiles with NumPy calls, for `run.NumPyKernel`: bit for bit those of the extension.

`accumulate` folds a tile into accumulators as native/tiles.h does, in the order of native/sums.h. A
run of floating-point numbers is added up in blocks, of _LENGTH rows of _LANE_BYTES each: down the
rows first, then the lanes by halves, then the blocks in pairs, and pairs of pairs. For moments (see
`loops.MOMENTS`), columns are added up by groups of rows.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from ....contract.numpy_dtypes import NDArray
from .kernel import Reduction

__all__ = ["accumulate", "combined"]

# The extension has the same constants; they decide the bits.
_LANE_BYTES: Final = 128
_LENGTH: Final = 16
_GROUP: Final = 8
_FEW_COLUMNS: Final = 16  # of fewer columns each is reduced over the rows by itself


def accumulate(step: Reduction, block: NDArray, accumulators: NDArray, tile_columns: int) -> None:
    """Fold a block into its accumulators.

    Parameters
    ----------
    step : Reduction
    block : ndarray
        A tile, or several beside or below each other where tiles are not reduced together.
    accumulators : ndarray
        Of the block's shape, with stride 0 along reduced axes.
    tile_columns : int
    """
    rows, columns = block.shape
    ufunc = step.loop.ufunc
    if ufunc is None:
        _accumulate_moments(step, block, accumulators, tile_columns)
        return
    if not step.rows and not step.columns:
        ufunc(accumulators, block, out=accumulators)
    elif step.columns and rows == 1:
        into = accumulators[0, :1]
        for part in _tiles(block, tile_columns):
            for result in _along(step, part):
                ufunc(into, result, out=into)
    elif step.rows and step.columns:
        into = accumulators[0, :1]
        if _is_flat(block):
            result = _along(step, np.ascontiguousarray(block).reshape(1, -1))[0]
        elif _in_lanes(step):
            result = step.identity
            for each in _lane_sums(block):
                result = result + each
        else:
            result = step.identity
            for row in _forwards(block):
                result = ufunc.reduce(row, dtype=step.loop.output, initial=result)
        ufunc(into, result, out=into)
    elif step.columns:
        into = accumulators[:, 0]
        ufunc(into, _along(step, block), out=into)
    else:
        into = accumulators[0]
        if columns < _FEW_COLUMNS:
            result = _along(step, block.T)
        else:
            result = ufunc.reduce(
                _forwards(block), axis=0, dtype=step.loop.output, initial=step.identity
            )
        ufunc(into, result, out=into)


def _tiles(block: NDArray, tile_columns: int) -> list[NDArray]:
    """A block of one row as rows of one tile each, and then a shorter row with the rest."""
    whole = block.shape[1] // tile_columns * tile_columns
    parts = [block[0, :whole].reshape(-1, tile_columns), block[:, whole:]]
    return [part for part in parts if part.size]


def _is_flat(block: NDArray) -> bool:
    """Whether the end of a row and the next row are as far apart as the elements of a row."""
    return len(block) == 1 or block.strides[0] == block.shape[1] * block.strides[1]


def _forwards(block: NDArray) -> NDArray:
    """`block`, copied if its rows run backwards in memory: NumPy would reduce it from its end."""
    if block.strides[0] >= 0:
        return block
    # An extra column keeps NumPy from reducing all rows as one run.
    rows, columns = block.shape
    wide = np.empty((rows, columns + 1), block.dtype)[:, :columns]
    wide[...] = block
    return wide


def _in_lanes(step: Reduction) -> bool:
    return step.loop.ufunc is np.add and step.loop.output.kind == "f"


def _along(step: Reduction, block: NDArray) -> NDArray:
    """Each row of the block reduced to one element."""
    if _in_lanes(step):
        return step.identity + _lane_sums(block)
    loop = step.loop
    assert loop.ufunc is not None
    result: NDArray = loop.ufunc.reduce(
        _forwards(block), axis=1, dtype=loop.output, initial=step.identity
    )
    return result


# ---------------------------------------------------------------------- sums and moments


def _lane_sums(block: NDArray) -> NDArray:
    """The sum of each row, of at least one element."""
    rows, columns = block.shape
    width = _LANE_BYTES // block.itemsize
    blocks = -(-columns // (width * _LENGTH))
    padded = np.zeros((rows, blocks * _LENGTH * width), block.dtype)
    padded[:, :columns] = block
    lanes: NDArray = np.add.reduce(padded.reshape(rows, blocks, _LENGTH, width), axis=2)
    half = width // 2
    while half:
        lanes = lanes[..., :half] + lanes[..., half:]
        half //= 2
    parts = lanes[..., 0]
    while parts.shape[1] > 1:
        second = parts[:, 1::2]
        pairs = parts[:, : 2 * second.shape[1] : 2] + second
        parts = np.concatenate([pairs, parts[:, 2 * second.shape[1] :]], axis=1)
    return parts[:, 0]


_Moments: TypeAlias = tuple[NDArray, NDArray, NDArray, NDArray]
"""Sums; means, rounded; sums of the distances from these means; sums of the squared distances."""


def _moments_along(block: NDArray) -> _Moments:
    """The moments of each row."""
    sums = _lane_sums(block)
    means = sums / block.dtype.type(block.shape[1])
    distances = block - means[:, np.newaxis]
    return sums, means, _lane_sums(distances), _lane_sums(distances * distances)


def _moments_down(block: NDArray) -> _Moments:
    """The moments of each column."""
    sums = _group_sums(block)
    means = sums / block.dtype.type(len(block))
    distances = block - means
    return sums, means, _group_sums(distances), _group_sums(distances * distances)


def _group_sums(block: NDArray) -> NDArray:
    """The sum of each column."""
    rows, columns = block.shape
    whole = rows // _GROUP * _GROUP
    groups = np.add.reduce(block[:whole].reshape(-1, _GROUP, columns), axis=1)
    total: NDArray = np.add.reduce(np.concatenate([groups, block[whole:]]), axis=0, initial=0)
    return total


def _accumulate_moments(
    step: Reduction, block: NDArray, accumulators: NDArray, tile_columns: int
) -> None:
    rows, columns = block.shape
    if step.columns and (rows == 1 or step.rows):
        parts = [block]
        if rows == 1:
            parts = _tiles(block, tile_columns)
        elif _is_flat(block):
            parts = [np.ascontiguousarray(block).reshape(1, -1)]
        for part in parts:
            for sums, means, distances, squares in zip(*_moments_along(part), strict=True):
                _merge(accumulators[0, :1], part.shape[1], (sums, means, distances, squares))
    elif step.columns:
        _merge(accumulators[:, 0], columns, _moments_along(block))
    elif not step.rows:
        for row, into in zip(block, accumulators, strict=True):
            _merge(into, 1, _moments_down(row[np.newaxis]))
    elif columns < _FEW_COLUMNS or block.strides[1] == 0:
        _merge(accumulators[0], rows, _moments_along(block.T))
    else:
        _merge(accumulators[0], rows, _moments_down(block))


def _merge(moments: NDArray, count: int, found: _Moments) -> None:
    """Merge the moments of `count` more elements into `moments`."""
    with np.errstate(all="ignore"):
        sums, means, distances, squares = [np.asarray(each, np.float64) for each in found]
        before = moments["count"].copy()
        weight = count / (before + count)
        parts = distances / count
        rest = np.fmax(squares - distances * parts, 0)
        references = np.where(before == 0, means, moments["reference"])
        steps = (means - references) + (parts - moments["offset"])
        between = steps * steps * (weight * before)
        squares = np.where(np.isfinite(squares), rest, squares)
        moments["count"] = before + count
        moments["sum"] += sums
        moments["reference"] = references
        moments["offset"] += steps * weight
        moments["squares"] += squares + np.where(np.isnan(between), 0, between)


def combined(parts: NDArray) -> tuple[NDArray, NDArray]:
    """Mean and sum of squared distances of all elements, from the moments that tasks accumulated.

    Each row of `parts` is of one task, which had elements.
    """
    with np.errstate(all="ignore"):
        if len(parts) == 1:
            return parts["sum"][0] / parts["count"][0], parts["squares"][0]
        counts = parts["count"]
        count = counts.sum(axis=0)
        means = (parts["reference"] - parts["reference"][0]) + parts["offset"]
        steps = means - (counts * means).sum(axis=0) / count
        between = counts * np.square(steps)
        squares = parts["squares"] + np.where(np.isnan(between), 0, between)
        return parts["sum"].sum(axis=0) / count, squares.sum(axis=0)
