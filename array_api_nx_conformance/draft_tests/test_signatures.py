"""Whether functions take the arguments that they have to."""

from __future__ import annotations

from inspect import Parameter, signature

import pytest

from ..draft import ADDITIONS, Addition
from .under_test import xp

_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@pytest.mark.parametrize(
    "addition", [each for each in ADDITIONS if each.signature], ids=lambda each: each.name
)
def test_func_signature(addition: Addition) -> None:
    function = getattr(xp, addition.name)
    try:
        found = signature(function).parameters
    except ValueError:
        pytest.skip("the signature cannot be read")
    assert addition.signature is not None
    for position, wanted in enumerate(addition.signature.parameters.values()):
        if wanted.kind in _BY_POSITION:
            here = list(found.values())[position : position + 1]
            assert here, f"{addition.name} takes no argument {wanted.name!r}"
            assert here[0].kind in _BY_POSITION, f"{here[0].name!r} cannot be given by position"
        if wanted.kind in _BY_NAME:
            named = found.get(wanted.name)
            assert named is not None, f"{addition.name} takes no argument {wanted.name!r}"
            assert named.kind in _BY_NAME, f"{wanted.name!r} cannot be given by name"
            assert named.default is not Parameter.empty, f"{wanted.name!r} has no default"
