"""Random numbers of the CPU backend, by the extension, on several threads."""

from __future__ import annotations

from typing import Any

from ...contract.arguments import Kind
from ...contract.strided import Tensor
from ...core.dtypes import DType
from ...native import native
from .engine import loops, sliced_calls
from .storage import NumPyMemory, wrap


class RandomNumbers(NumPyMemory):
    """The draws of the contract's section "random bits"."""

    def draw(
        self,
        kind: Kind,
        key: tuple[int, int],
        base: int,
        first: int,
        count: int,
        dtype: DType,
        low: int = 0,
        span: int = 0,
        parameters: tuple[Tensor | float, ...] = (),
    ) -> Tensor:
        if native is None:
            composite: Tensor = super().draw(
                kind, key, base, first, count, dtype, low, span, parameters
            )
            return composite
        # 0 stands for the parameters that are arrays.
        arrays = [None if isinstance(x, float) else self.array(x) for x in parameters]
        numbers = [x if isinstance(x, float) else 0.0 for x in parameters]
        name = loops.drawing_kind(kind, span)
        drawing = native.drawing(name, dtype, *key, base, low % 2**64, span % 2**64, *numbers)
        return wrap(sliced_calls.draw(drawing, first, (count,), dtype, arrays))

    def draw_from(
        self, kind: Kind, key: Tensor, counter: Tensor, offset: int, *numbers: Any
    ) -> Tensor:
        words, base = self._state(key, counter)
        return self.draw(kind, words, base + offset, 0, *numbers)

    def _state(self, key: Tensor, counter: Tensor) -> tuple[tuple[int, int], int]:
        """The words of a generator's key, and its counter."""
        whole = int(self.array(key))
        return (whole & 0xFFFFFFFF, (whole >> 32) & 0xFFFFFFFF), int(self.array(counter))
