"""Where elements are: making handles, moving between them, computing, and notes on that."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Final

import dask
import dask.array as da
import numpy as np
from dask.utils import format_bytes

from ...contract.arguments import AxisOrder, Info, Native, Operand, Scalar
from ...contract.derived import Derived, Method, derive, method_of
from ...contract.events import evaluated
from ...contract.numpy_dtypes import NDArray
from ...contract.program import Argument
from ...contract.strided import axis_order
from ...core.dtypes import CANONICAL, DType
from ...core.layout import Selection
from ...core.shape import broadcast_shapes
from ...core.view import View
from ...explain.explanation import Explanation
from ...primitives.rules import ArrayType, results_of
from .expressions import (
    ArraySource,
    Expression,
    Mask,
    Sizes,
    StorageValue,
    bound,
    counted,
    is_same,
    on_host,
)
from .layer_reports import explanation, together
from .layers import (
    Chunks,
    Grid,
    Part,
    batched,
    chunkwise,
    layer,
    name_of,
    positions,
    rechunked,
    starts,
)
from .scheduling import client, compute, persist
from .views import (
    Bitcast,
    DaskStorage,
    DaskTensor,
    Movement,
    Permute,
    Reshape,
    Slice,
    followed,
    stretched,
)


@derive({"sort", "argsort", "fft", "ifft", "rfft", "irfft"})
@derive({"cholesky", "qr", "svd", "svdvals", "eig", "eigvals", "eigh", "eigvalsh"})
@derive({"solve", "inv", "slogdet", "det"})
class DaskMemory(Derived):  # type: ignore[misc]  # see Derived
    """The part of the Dask backend that knows where elements are.

    `chunks`: about how many bytes a chunk has, such as "64MiB"; Dask's own setting,
    ``array.chunk-size``, by default.
    `progress`: whether `evaluate` shows a progress bar.
    Raises ValueError if `chunks` is no size.
    """

    def __init__(self, chunks: str | int | None = None, *, progress: bool = False) -> None:
        self.grid = Grid(chunks)
        self.progress = progress

    # ------------------------------------------------------------------ handles

    def tensor(self, value: StorageValue, *notes: str) -> DaskTensor:
        """A handle that shows `value`."""
        selected = type(value) is Expression and value.mask is not None
        view = None if selected else View.row_major(value.shape)
        return DaskTensor(DaskStorage(value, notes=list(notes)), view, value.dtype)

    def from_chunks(self, array: NDArray, *notes: str) -> DaskTensor:
        """A handle over an ndarray that is never written to."""
        chunks = self.grid.chunks(array.shape, array.dtype)
        value = da.from_array(array, chunks=chunks, name=name_of("host"))
        return DaskTensor(
            DaskStorage(value, array, notes=list(notes)),
            View.row_major(array.shape),
            array.dtype,
        )

    def array(self, x: DaskTensor) -> da.Array:
        """The Dask array of `x`."""
        return x.array(self.grid)

    def arrays(self, *handles: DaskTensor) -> list[da.Array]:
        """The Dask arrays of operands. An expression that several of them show, as
        do ``x.T`` and ``x``, is computed once."""
        wholes: dict[tuple[int, tuple[Movement, ...]], da.Array] = {}
        storages = [x.storage for x in handles]
        found = []
        for x in handles:
            if storages.count(x.storage) == 1 or x.is_computed:
                found.append(self.array(x))
                continue
            # A source can be cut for the shape that it gets first.
            first = x.path[:1] if x.path and type(x.path[0]) is Reshape else ()
            key = id(x.storage), first
            if key not in wholes:
                wholes[key] = followed(x.storage.value, first, self.grid)
            found.append(followed(wholes[key], x.path[len(first) :], self.grid))
        return found

    def elementwise(self, method: str, arguments: tuple[Argument, ...], dtype: DType) -> DaskTensor:
        """A pending result. Handles among `arguments` are its operands.

        Raises ValueError if their shapes do not broadcast.
        """
        tensors = [x for x in arguments if type(x) is DaskTensor]
        sizes, mask = _selected_alike(tensors) or (
            broadcast_shapes(*[x.shape for x in tensors]),
            None,
        )
        values = []
        for x in arguments:
            if type(x) is DaskTensor:
                value = self.joining(x)
                values.append(value if mask is not None else counted(value))
            else:
                values.append(x)
        return self.tensor(Expression(method, tuple(values), sizes, dtype, mask))

    def joining(self, x: DaskTensor) -> StorageValue:
        """What `x` shows, as an operand of one more operation in its task."""
        value = x.value(self.grid)
        if type(value) is Expression and value.is_long():
            value = bound(value, self.grid)
            x.storage.value = value
        return value

    def call(
        self, method: Method, arguments: tuple[Argument, ...], keywords: Mapping[str, Argument]
    ) -> Native:
        """A method that needs some axes of its operands in one piece."""
        return self.in_pieces(method.name, method.values(arguments, keywords))

    def in_pieces(self, name: str, values: list[Argument]) -> Native:
        """A method on whole axes: those that it names, or the last two."""
        method = method_of(name)
        named = dict(zip(method.names, method.mapped(values, _type_of), strict=True))
        results = results_of(name, named)
        options = {key: x for key, x in named.items() if not isinstance(x, ArrayType)}
        arrays = [self.array(values[i]) for i in method.operands]
        call = partial(on_host, name, **options)
        axes = named.get("axes", (named["axis"],) if "axis" in named else None)
        if axes is not None:
            (array,), (result,) = arrays, results
            array = self.grid.joined(array, axes)
            chunks = tuple(
                [(result.shape[i],) if i in axes else c for i, c in enumerate(array.chunks)]
            )
            return self.tensor(chunkwise(name, call, [array], chunks, result.dtype))
        outer = len(broadcast_shapes(*[x.shape[:-2] for x in arrays]))
        sizes = [(x.shape[outer:], x.dtype) for x in results]
        found = batched(name, call, arrays, [2] * len(arrays), sizes, self.grid)
        tensors = tuple([self.tensor(array) for array in found])
        return tensors if method.several else tensors[0]

    def at_once(self, method: str, *arguments: Argument, **options: Argument) -> Part:
        """A primitive on arrays without elements: there is nothing to wait for."""
        result = on_host(
            method,
            *[np.empty(x.shape, x.dtype) if type(x) is DaskTensor else x for x in arguments],
            **options,
        )
        if isinstance(result, tuple):
            return tuple([self.from_chunks(array) for array in result])
        return self.from_chunks(result)

    # ------------------------------------------------------------------ properties

    def shape(self, x: DaskTensor) -> tuple[int, ...]:
        return x.shape

    def sizes(self, x: DaskTensor) -> Sizes:
        return x.shape if x.is_counted else x.sizes

    def dtype(self, x: DaskTensor) -> DType:
        return CANONICAL[x.dtype]

    def read_only_reason(self, x: DaskTensor) -> str | None:
        return x.view.read_only_reason or x.storage.read_only

    def axis_order(self, x: DaskTensor) -> AxisOrder | None:
        return axis_order(x.view)

    def to_host(self, x: DaskTensor) -> NDArray:
        return np.array(self.computed(x, "its elements were asked for"))

    def item(self, x: DaskTensor) -> Scalar:
        if prod(x.shape) != 1:
            raise ValueError(f"an array of size {prod(x.shape)} is no scalar")
        return self.computed(x, "its value was asked for").item()

    def computed(self, x: DaskTensor, why: str) -> NDArray:
        """The elements of `x`, to be read only. What fits in one chunk is kept."""
        if x.elements is not None:
            return x.elements
        _make_room(x)
        array = self.array(x)
        found = np.asarray(compute(array, why=why)[0])
        if not x.is_computed and found.nbytes <= self.grid.limit:
            x.keep(da.from_array(found, chunks=array.chunks, name=name_of("computed")), found)
            x.storage.notes.append(f"computed {_described(x)}: {why}")
        return found

    def evaluate(self, *handles: DaskTensor) -> None:
        waiting = [x for x in handles if not x.is_computed]
        if not waiting:
            return
        if client() is None:
            for x in waiting:
                _make_room(x)
        kept = persist([self.array(x) for x in waiting], self.progress)
        for x, array in zip(waiting, kept, strict=True):
            x.keep(array)
            x.storage.notes.append(f"computed {_described(x)}: evaluate was called")

    def explain(self, *handles: DaskTensor) -> Explanation:
        if len(handles) != 1:
            return together([self.array(x) for x in handles if not x.is_computed])
        (x,) = handles
        return explanation(self.array(x), x.is_computed, tuple(x.storage.notes))

    def runtime_info(self) -> Info:
        cluster = client()
        return {
            "dask": dask.__version__,
            "chunks": self.grid.limit,
            "scheduler": "this process" if cluster is None else cluster.scheduler.address,
        }

    # ------------------------------------------------------------------ creation

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> DaskTensor:
        if not copy:
            file = _mapped(array)
            if file is not None:
                return self._from_file(array, *file)
        # Chunks are read when the graph runs, and must not have been written to by then.
        result = self.from_chunks(np.array(array) if copy or lent else array)
        if not copy and not array.flags.writeable:
            result.storage.read_only = "its memory was handed in as read-only"
        return result

    def _from_file(self, array: NDArray, path: str, offset: int) -> DaskTensor:
        """A handle over a mapped file; each task reads its own part."""
        read = partial(_read, path, offset, array.dtype, array.strides)
        result = self.source("read", array.shape, CANONICAL[array.dtype], read)
        result.storage.read_only = "its elements are read from a mapped file when they are needed"
        return result

    def from_native(self, array: Native) -> DaskTensor:
        """A Dask array, or a NumPy array, as a handle.

        Computes nothing but the sizes of chunks, if the Dask array does not know them.

        Raises TypeError if the standard has no such dtype, or chunks are not NumPy's.
        """
        if isinstance(array, np.ndarray):
            return self.from_host(array, copy=False)
        if type(array._meta) is not np.ndarray:
            raise TypeError(
                f"the chunks of this Dask array are {type(array._meta).__name__}, not NumPy "
                "arrays; convert them with x.map_blocks(np.asarray)"
            )
        if array.dtype not in CANONICAL:
            raise TypeError(
                f"the standard has no dtype for {array.dtype}; convert the Dask array with its "
                "astype first"
            )
        if not any([np.isnan(n) for n in array.shape]):
            return self.tensor(array)
        evaluated("dask", "Dask did not know the sizes of its chunks")
        array = array.copy()
        array.compute_chunk_sizes()
        return self.tensor(array, "computed the sizes of chunks, which Dask did not know")

    def source(
        self,
        label: str,
        shape: tuple[int, ...],
        dtype: DType,
        call: Callable[..., NDArray],
        parts: Sequence[DaskTensor] = (),
    ) -> DaskTensor:
        """An array whose chunks `call` makes, from where they begin, their shape, and the same
        chunks of other arrays of the shape."""

        def make_cut(chunks: Chunks) -> da.Array:
            begins = [starts(sizes) for sizes in chunks]
            arrays = [rechunked(self.array(x), chunks) for x in parts]
            tasks = {
                index: (
                    partial(
                        call,
                        tuple([begin[i] for i, begin in zip(index, begins, strict=True)]),
                        tuple([sizes[i] for i, sizes in zip(index, chunks, strict=True)]),
                    ),
                    *[(array.name, *index) for array in arrays],
                )
                for index in positions([len(sizes) for sizes in chunks])
            }
            return layer(label, tasks, arrays, chunks, dtype)

        def make() -> da.Array:
            return make_cut(self.grid.chunks(shape, dtype))

        return self.tensor(ArraySource(make, shape, dtype, make_cut))

    # ------------------------------------------------------------------ movement

    def expand(self, x: DaskTensor, shape: tuple[int, ...]) -> DaskTensor:
        return x.expanded(shape, x.view.expand(shape))

    def try_reshape(self, x: DaskTensor, shape: tuple[int, ...]) -> DaskTensor | None:
        view = x.view.reshape(shape)
        return None if view is None else x.moved(Reshape(shape), view)

    def permute(self, x: DaskTensor, axes: tuple[int, ...]) -> DaskTensor:
        return x.moved(Permute(axes), x.view.permute(axes))

    def slice(self, x: DaskTensor, selection: Selection) -> DaskTensor:
        view = x.view.slice(selection)
        assert view is not None  # nothing here is padding
        return x.moved(Slice(selection), view)

    def bitcast(self, x: DaskTensor, dtype: DType) -> DaskTensor:
        old, new = x.dtype.itemsize, dtype.itemsize
        if old == new:
            return x.moved(Bitcast(dtype), x.view, dtype)
        shape = x.shape
        if shape[-1] != 1 and prod(shape) > 0 and x.view.strides[-1] != 1:
            raise ValueError(
                f"cannot read {x.dtype} as {dtype}: the last axis is not contiguous; copy the "
                "array first"
            )
        view = View.row_major((*shape[:-1], shape[-1] * old // new))
        if x.view.is_read_only:
            view = view.as_read_only()
        return x.moved(Bitcast(dtype), view, dtype)

    # ------------------------------------------------------------------ memory

    def contiguous(self, x: DaskTensor) -> DaskTensor:
        return x if x.view.is_row_major else self.copy(x)

    def copy(self, x: DaskTensor) -> DaskTensor:
        # Values never change, and need no copy.
        result = self.tensor(x.value(self.grid))
        result.storage.computed = x.is_computed
        result.storage.elements = x.elements
        return result

    def assign(self, target: DaskTensor, value: Operand) -> None:
        shape = target.shape
        if type(value) is not DaskTensor:
            value = self.full(shape, self.dtype(target), value)
        elif value.shape != shape:
            array = self.array(value)
            array = array[(0,) * (array.ndim - len(shape))] if array.ndim > len(shape) else array
            value = self.tensor(stretched(array, shape, self.grid))
        target.write(value.value(self.grid), self.grid)


_SELECTED: Final = -1
"""The unknown number of selected elements, where shapes are compared."""


def _selected_alike(tensors: Sequence[DaskTensor]) -> tuple[Sizes, Mask] | None:
    """The sizes of an elementwise result over the elements that one mask selects, and the mask.

    None if no mask selects them, if several do, or if others than numbers, and arrays that
    broadcast to each selected element, are among the operands.
    """
    masks = [x.mask for x in tensors if x.mask is not None]
    if not masks or not all([is_same(masks[0].value, mask.value) for mask in masks[1:]]):
        return None
    sizes = [tuple([_SELECTED if n is None else n for n in x.sizes]) for x in tensors]
    try:
        known = broadcast_shapes(*sizes)
    except ValueError:
        return None
    if len(masks[0].shape) > 1:
        # Over all elements, several axes stand in place of the one, and further ones before it.
        last = len(known) - known.index(_SELECTED)
        if any([x.mask is None and len(x.sizes) > last for x in tensors]):
            return None
    return tuple([None if n == _SELECTED else n for n in known]), masks[0]


def _type_of(x: DaskTensor) -> ArrayType:
    return ArrayType(x.shape, CANONICAL[x.dtype])


def _described(x: DaskTensor) -> str:
    return f"{x.dtype} of shape {x.shape}"


def _make_room(x: DaskTensor) -> None:
    """Raise MemoryError if the elements of `x` cannot be in this process, before computing them."""
    try:
        np.empty(x.shape, x.dtype)
    except MemoryError:
        size = format_bytes(prod(x.shape) * x.dtype.itemsize)
        raise MemoryError(
            f"device dask has not enough memory in this process for {size}, the elements of an "
            f"array of shape {x.shape}; take parts of it, as with x[start:stop], or reduce it first"
        ) from None


# ---------------------------------------------------------------------- files


def _mapped(array: NDArray) -> tuple[str, int] | None:
    """The file that a memory-mapped `array` lies in, and where in it the first element is."""
    root: Native = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None:
        return None
    begin = root.__array_interface__["data"][0]
    distance = array.__array_interface__["data"][0] - begin
    return os.fspath(root.filename), root.offset + distance


def _read(
    path: str,
    offset: int,
    dtype: DType,
    strides: tuple[int, ...],
    begin: tuple[int, ...],
    shape: tuple[int, ...],
) -> NDArray:
    """A chunk of an array that lies in a file. The file stays mapped for that long only."""
    first = offset + sum([i * step for i, step in zip(begin, strides, strict=True)])
    low = first + sum([min(0, (n - 1) * step) for n, step in zip(shape, strides, strict=True)])
    high = first + sum([max(0, (n - 1) * step) for n, step in zip(shape, strides, strict=True)])
    block = np.memmap(path, np.uint8, "r", low, (high - low + dtype.itemsize,))
    return np.array(np.ndarray(shape, dtype, block, first - low, strides))
