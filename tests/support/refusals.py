"""Calls that must raise an error in certain words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import array_api_nx as xp

__all__ = ["refused", "refused_unchanged"]


def refused(
    error: type[Exception] | tuple[type[Exception], ...],
    words: str | None,
    call: Callable[..., Any],
    *arguments: Any,
    **named: Any,
) -> None:
    """The call raises this error, and the pattern `words`, if given, matches its message."""
    __tracebackhide__ = True
    with pytest.raises(error, match=words):
        call(*arguments, **named)


def refused_unchanged(
    call: Callable[[], Any], error: type[Exception], words: str, *watched: xp.Array
) -> None:
    """As `refused`, but it is that very error, and the arrays stay as they are."""
    before = [np.array(x) for x in watched]
    with pytest.raises(error, match=words) as info:
        call()
    assert type(info.value) is error
    for x, kept in zip(watched, before, strict=True):
        np.testing.assert_array_equal(np.asarray(x), kept)
