"""Whether the names are there."""

from __future__ import annotations

import pytest

from ..draft import ADDITIONS
from .under_test import xp


@pytest.mark.parametrize(
    ("chapter", "name"),
    [
        pytest.param(each.chapter, each.name, id=f"{each.chapter.split()[0]}-{each.name}")
        for each in ADDITIONS
    ],
)
def test_has_names(chapter: str, name: str) -> None:
    owner = xp.ones((1, 1)) if chapter == "array object" else xp
    assert hasattr(owner, name), f"{xp.__name__} lacks {name}"
