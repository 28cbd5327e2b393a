"""The extension of contract/fast_path.py; what its functions do is told in _fast_path.c."""

from collections.abc import Callable
from typing import Any, final

@final
class Shortcut:
    def __new__(
        cls,
        function: Callable[..., object],
        operands: int,
        extras: int,
        Array: type,
        Device: type,
        Tensor: type,
        hints: object,
        find: Callable[..., object],
        /,
    ) -> Shortcut: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def function(self) -> Callable[..., object]: ...
