"""Random numbers of the CPU backend, by the extension, on several threads."""

from __future__ import annotations

from ...contract import random_numbers
from ...contract.arguments import Kind
from ...contract.strided import Tensor
from ...core.dtypes import DType
from ...native import native
from .engine import sliced_calls
from .storage import NumPyMemory, wrap


class RandomNumbers(NumPyMemory):
    """The draws of the contract's section "random bits"."""

    draw_from = random_numbers.draw_from_read

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
        name = "wide" if span > random_numbers.MAX_NARROW_SPAN else kind
        # Parameters that are arrays are handed over with the memory for the numbers.
        numbers = [x if isinstance(x, float) else 0.0 for x in parameters]
        arrays = [None if isinstance(x, float) else self.array(x) for x in parameters]
        drawing = native.drawing(name, dtype, *key, base, low % 2**64, span % 2**64, *numbers)
        return wrap(sliced_calls.draw(drawing, first, (count,), dtype, arrays))
