"""The primitives on the array namespaces of other engines: PyTorch, JAX, CuPy.

They call functions of the standard, and the hooks of adapter.py where engines differ.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ...contract import composed
from ...contract.arguments import Keys, Native, Norm, Operand, Scalar
from ...contract.arrays import open_mesh
from ...contract.numpy_dtypes import NDArray
from ...contract.strided import Tensor
from ...contract.ufuncs import UfuncLoop
from ...core import dtypes as d
from ...core.dtypes import CANONICAL, DType
from ...core.shape import broadcast_shapes
from ...core.symbolic import KnownInts
from ...primitives import table as p
from ...primitives.rules import joined_shape
from ...primitives.table import Primitive
from .adapter import EngineBackend, wrap
from .indices import Selected, in_range, resolve
from .special import engines_function


def _of_axes(name: str) -> Native:
    """The method of a transform over axes that keep their sizes, or half of the last one."""

    def method(self: NamespaceBackend, x: Tensor, axes: tuple[int, ...], norm: Norm) -> Tensor:
        return self._transform(name, x, axes, norm, None)

    return method


def _of_one_matrix(name: str) -> Native:
    """The method of a decomposition that takes stacks of matrices and no options."""

    def method(self: NamespaceBackend, x: Tensor) -> Native:
        return self._linalg(name, x)

    return method


NO_RESULT: Final = {
    "cholesky": "the matrix is not positive definite",
    "inv": "the matrix is singular",
    "solve": "the matrix is singular",
}
"""Functions that have a result for some matrices alone, and what is wrong with others."""


class NamespaceBackend(EngineBackend):
    """Executes primitives with the functions of an array namespace.

    Engines are subclasses, decorated by `explain_errors`.
    """

    # ------------------------------------------------------------------ creation

    def empty(self, shape: tuple[int, ...], dtype: DType) -> Tensor:
        return wrap(self.xp.empty(shape, dtype=self.dtypes[dtype], device=self.place))

    def full(self, shape: tuple[int, ...], dtype: DType, value: Scalar) -> Tensor:
        return wrap(self.xp.full(shape, value, dtype=self.dtypes[dtype], device=self.place))

    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Tensor:
        self.dtypes[CANONICAL[array.dtype]]  # TypeError for a dtype that the device lacks
        result = wrap(self.load(array, copy))
        if not copy and not array.flags.writeable:
            self.ensure_view(result)
            self._read_only.add(result.storage)
        return result

    def arange(
        self, start: int | float, stop: int | float, step: int | float, dtype: DType
    ) -> Tensor:
        # NumPy's values, to the last bit.
        values = np.arange(start, stop, step, dtype=dtype.name)
        return self.from_host(values, copy=False, lent=False)

    def linspace(
        self, start: Scalar, stop: Scalar, num: int, dtype: DType, *, endpoint: bool
    ) -> Tensor:
        values = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype.name)
        return self.from_host(values, copy=False, lent=False)

    # ------------------------------------------------------------------ element by element

    def unary(self, op: Primitive, x: Tensor) -> Tensor:
        array = x.array
        if array is None:
            array = self.bind(x)
        try:
            computed = self.unaries[array.dtype][op](array)
        except self.errors as error:
            self.refuse(error)
        result = Tensor()
        result.array = computed
        result.view = result.storage = None
        return result

    def binary(self, op: Primitive, x1: Operand, x2: Operand, out: Tensor | None = None) -> Tensor:
        first: Native = x1
        second: Native = x2
        if type(x1) is Tensor:
            first = x1.array
            if first is None:
                first = self.bind(x1)
            dtype = first.dtype
        if type(x2) is Tensor:
            second = x2.array
            if second is None:
                second = self.bind(x2)
            dtype = second.dtype
        try:
            computed = self.binaries[dtype][op](first, second)
        except self.errors as error:
            self.refuse(error)
        if out is not None:
            self.write(out, computed)
            return out
        result = Tensor()
        result.array = computed
        result.view = result.storage = None
        return result

    def where(self, condition: Tensor, x1: Operand, x2: Operand) -> Tensor:
        first = self.array(x1) if type(x1) is Tensor else x1
        second = self.array(x2) if type(x2) is Tensor else x2
        try:
            return wrap(self.choose(self.array(condition), first, second))
        except self.errors as error:
            self.refuse(error)

    def apply(self, op: UfuncLoop, *operands: Operand) -> Tensor:
        function = engines_function(self.ufuncs, op)
        if function is not None:
            arrays = [
                self.array(x if type(x) is Tensor else self.full((), dtype, x))
                for x, dtype in zip(operands, op.inputs, strict=True)
            ]
            try:
                return wrap(function(*arrays))
            except self.errors as error:
                self.refuse(error)
        return super().apply(op, *operands)

    # ------------------------------------------------------------------ reductions and scans

    def reduce(
        self,
        op: Primitive,
        x: Tensor,
        axes: tuple[int, ...],
        keepdims: bool,
        dtype: DType | None = None,
    ) -> Tensor:
        if op is p.COUNT_NONZERO:
            return composed.reduce(self, op, x, axes, keepdims)
        if op is p.MEAN:
            shape = self.shape(x)
            total = self.array(self.reduce(p.SUM, x, axes, keepdims))
            return wrap(self.divided(total, self.number(prod([shape[axis] for axis in axes]))))
        array = x.array
        if array is None:
            array = self.bind(x)
        if not axes:
            target = dtype or op.results[self._ours[array.dtype]]
            return self.cast(x, target)
        try:
            reduced = self.reduction(
                op, array, axes, keepdims, array.dtype if dtype is None else self.dtypes[dtype]
            )
        except self.errors as error:
            self.refuse(error)
        result = Tensor()
        result.array = reduced
        result.view = result.storage = None
        return result

    def arg_reduce(self, op: Primitive, x: Tensor, axis: int, keepdims: bool) -> Tensor:
        extreme = getattr(self.xp, op.name)
        return self._indices(extreme(self.sortable(self.array(x)), axis=axis, keepdims=keepdims))

    def _indices(self, array: Native) -> Tensor:
        int64 = self.dtypes[d.int64]
        return wrap(array if array.dtype == int64 else array.astype(int64))

    def scan(self, op: Primitive, x: Tensor, axis: int, dtype: DType | None = None) -> Tensor:
        array = self.array(x)
        if op is p.CUMULATIVE_MAX or op is p.CUMULATIVE_MIN:
            return wrap(self.running_extreme(op, array, axis))
        theirs = array.dtype if dtype is None else self.dtypes[dtype]
        return wrap(self.running_total(op, array, axis, theirs))

    # ------------------------------------------------------------------ sorting and searching

    def _reversed_order(self, x: Tensor) -> Tensor:
        """An array that sorts the other way round, NaN last all the same; its own inverse."""
        reverse = p.NEGATIVE if self.dtype(x) in d.REAL_FLOATING else p.BITWISE_INVERT
        return self.unary(reverse, x)

    def sort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        if descending:
            reverse = self._reversed_order(x)
            ascending = self.sort(reverse, axis, descending=False, stable=stable)
            return self._reversed_order(ascending)
        order = self.argsort(x, axis, descending=False, stable=stable)
        return self.gather(x, order, axis)

    def argsort(self, x: Tensor, axis: int, *, descending: bool, stable: bool) -> Tensor:
        if descending:
            x = self._reversed_order(x)
        array = self.sortable(self.array(x))
        return self._indices(self.xp.argsort(array, axis=axis, stable=stable))

    def searchsorted(self, x: Tensor, values: Tensor, *, right: bool) -> Tensor:
        side = "right" if right else "left"
        haystack, needles = self.sortable(self.array(x)), self.sortable(self.array(values))
        return self._indices(self.xp.searchsorted(haystack, needles, side=side))

    unique = composed.unique
    unique_counts = composed.unique_counts
    unique_inverse = composed.unique_inverse

    # ------------------------------------------------------------------ movement that copies

    def cat(self, arrays: Sequence[Tensor], axis: int) -> Tensor:
        joined_shape([self.shape(x) for x in arrays], axis)  # ValueError unless they agree
        return wrap(self.xp.concat([self.array(x) for x in arrays], axis=axis))

    def cast(self, x: Tensor, dtype: DType) -> Tensor:
        array = self.array(x)
        if dtype is d.bool:
            return wrap(array != 0)
        if self._ours[array.dtype] in d.COMPLEX and dtype not in d.COMPLEX:
            array = self.xp.real(array)
        return wrap(array.astype(self.dtypes[dtype]))

    def assign(self, target: Tensor, value: Operand) -> None:
        if type(value) is not Tensor:
            self.write(target, value)
            return
        array = self.array(value)
        surplus = len(array.shape) - len(self.shape(target))
        if surplus > 0:
            array = self.xp.reshape(array, tuple(array.shape[surplus:]))
        self.write(target, array)

    # ------------------------------------------------------------------ indexed access

    def _resolved(self, x: Tensor, keys: Keys) -> Selected:
        """The keys of the contract, checked, as arrays of positions that broadcast together."""
        arrays = [self.array(key) if type(key) is Tensor else key for key in keys]
        return resolve(self.xp, self.place, self.shape(x), arrays, self.dtypes, self.in_range)

    def in_range(self, index: Native, size: int) -> Native:
        """`index` with its positions counted from the front; IndexError if one is out of range."""
        return in_range(self.xp, index, size)

    def index_get(self, x: Tensor, keys: Keys) -> Tensor:
        selected = self._resolved(x, keys)
        array = self.array(x)
        return wrap(self.moved(selected.read(self.movable(array)), array.dtype))

    def index_set(self, target: Tensor, keys: Keys, value: Operand) -> None:
        if self._set_where(target, keys, value):
            return
        selected = self._resolved(target, keys)
        view = target.view or self.ensure_view(target)
        storage = target.storage
        values: Native = value
        if type(value) is Tensor:
            values = self.movable(self.array(value))
            shape = tuple(values.shape)
            while len(shape) > len(selected.shape) and shape[0] == 1:
                shape = shape[1:]
            if shape != selected.shape and not broadcasts(shape, selected.shape):
                raise ValueError(
                    f"cannot broadcast a value of shape {shape} to the selected {selected.shape}"
                )
            values = self.xp.broadcast_to(self.xp.reshape(values, shape), selected.shape)
        offset: KnownInts = view.offset
        positions, values = selected.written(offset, view.strides, values, may_look=self.may_look)
        if type(value) is Tensor:
            values = self.moved(values, storage.dtype)
        self.put(storage, positions, values)

    def _set_where(self, target: Tensor, keys: Keys, value: Operand) -> bool:
        """Write through one mask by `where`, and say whether that was to be done.

        How many elements the mask selects need not be known for it: that would have to be computed
        before, compiled for on JAX, and is not known while a program is compiled.
        """
        shape = self.shape(target)
        masks = [i for i, key in enumerate(keys) if key is not None]
        mask = keys[masks[0]] if len(masks) == 1 else None
        if type(mask) is not Tensor or self.dtype(mask) is not d.bool:
            return False
        own, before = self.shape(mask), masks[0]
        after = len(shape) - before - len(own)
        if not own or own != shape[before : before + len(own)]:
            return False
        if type(value) is not Tensor:
            value = self.full((), self.dtype(target), value)
        elif self.shape(value):
            spread = self.spread(value, mask, shape[:before], shape[len(shape) - after :])
            if spread is None:
                return False
            value = spread
        condition = self.reshape(mask, (*(1,) * before, *own, *(1,) * after))
        self.write(target, self.array(self.where(condition, value, target)))
        return True

    def spread(
        self, values: Tensor, mask: Tensor, before: tuple[int, ...], after: tuple[int, ...]
    ) -> Tensor | None:
        """The values to write through `mask`, each where it belongs; other places hold any.

        The mask's axes come after those of the lengths `before`, and before those of `after`. None
        if it pays to look where the mask is true, and to write the values there.
        """
        return None

    def scatter(
        self, template: Tensor, indices: Tensor, updates: Tensor, axis: int, *, add: bool
    ) -> Tensor:
        result: Tensor = self.copy(template)
        keys = open_mesh(self, indices, axis)
        if not add:
            self.index_set(result, keys, updates)
            return result
        flat: Tensor = self.reshape(result, (prod(self.shape(result)),))
        selected = self._resolved(result, keys)
        view = result.view or self.ensure_view(result)
        offset: KnownInts = view.offset
        positions = selected.positions(offset, view.strides)
        values = self.xp.reshape(self.array(updates), (-1,))
        added = self.add_at(self.array(flat), self.xp.reshape(positions, (-1,)), values)
        return self.reshape(wrap(added), self.shape(template))

    @abstractmethod
    def add_at(self, array: Native, positions: Native, values: Native) -> Native:
        """A copy of 1-D `array` with all `values` added at `positions`."""

    def nonzero(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple([wrap(indices) for indices in self.xp.nonzero(self.movable(self.array(x)))])

    # ------------------------------------------------------------------ matrices

    def matmul(self, x1: Tensor, x2: Tensor) -> Tensor:
        first, second = self.array(x1), self.array(x2)
        if len(first.shape) > 2 or len(second.shape) > 2:
            broadcast_shapes(tuple(first.shape[:-2]), tuple(second.shape[:-2]))
        return wrap(self.product(first, second))

    def product(self, x1: Native, x2: Native) -> Native:
        """The matrix product, of matrices or vectors whose other axes broadcast."""
        return self.xp.matmul(x1, x2)

    # ------------------------------------------------------------------ Fourier transforms

    fft = _of_axes("fftn")
    ifft = _of_axes("ifftn")
    rfft = _of_axes("rfftn")

    def irfft(self, x: Tensor, axes: tuple[int, ...], last_size: int, norm: Norm) -> Tensor:
        sizes = [self.shape(x)[axis] for axis in axes[:-1]]
        return self._transform("irfftn", x, axes, norm, (*sizes, last_size))

    def _transform(
        self,
        name: str,
        x: Tensor,
        axes: tuple[int, ...],
        norm: Norm,
        sizes: tuple[int, ...] | None,
    ) -> Tensor:
        array = self.transformable(self.array(x))
        empty = 0 in array.shape
        if empty:
            # Engines refuse empty batches: let them transform one of zeros, and take none of it.
            shape = [max(size, 1) for size in array.shape]
            array = self.xp.zeros(shape, dtype=array.dtype, device=self.place)
        result = getattr(self.xp.fft, name)(array, s=sizes, axes=axes, norm=norm)
        if not empty:
            return wrap(result)
        whole = zip(self.shape(x), result.shape, strict=True)
        return wrap(result[tuple([slice(0, n and m) for n, m in whole])])

    # ------------------------------------------------------------------ linear algebra

    def _linalg(self, name: str, *arrays: Tensor, **options: object) -> Native:
        function = getattr(self.xp.linalg, name)
        result = function(*[self.array(x) for x in arrays], **options)
        if isinstance(result, tuple):
            return tuple([wrap(part) for part in result])
        return wrap(result)

    def cholesky(self, x: Tensor, *, upper: bool) -> Tensor:
        return self._linalg("cholesky", x, upper=upper)

    def qr(self, x: Tensor, *, complete: bool) -> tuple[Tensor, Tensor]:
        return self._linalg("qr", x, mode="complete" if complete else "reduced")

    def svd(self, x: Tensor, *, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
        return self._linalg("svd", x, full_matrices=full_matrices)

    def solve(self, x1: Tensor, x2: Tensor) -> Tensor:
        broadcast_shapes(self.shape(x1)[:-2], self.shape(x2)[:-2])
        return self._linalg("solve", x1, x2)

    svdvals = _of_one_matrix("svdvals")
    eig = _of_one_matrix("eig")
    eigvals = _of_one_matrix("eigvals")
    eigh = _of_one_matrix("eigh")
    eigvalsh = _of_one_matrix("eigvalsh")
    inv = _of_one_matrix("inv")
    slogdet = _of_one_matrix("slogdet")
    det = _of_one_matrix("det")


def broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return broadcast_shapes(shape, target) == target
    except ValueError:
        return False
