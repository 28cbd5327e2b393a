"""Docstrings in full, made of the fields in the source, annotations and shared descriptions."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Literal

import pytest

import array_api_nx as xp
from array_api_nx.frontend.docstrings import SHARED, complete_docstrings, completed
from tests.support.docstrings import needs_docstrings

pytestmark = needs_docstrings


def example(
    x: xp.Array,
    /,
    *others: int | tuple[int, int],
    axis: int | None = None,
    mode: Literal["a", "b"] = "a",
    low: int = 0,
    high: int = 1,
    order: Sequence[int] | None = (),
    keepdims: bool = False,
    **more: dict[str, float],
) -> tuple[int, str]:
    """Summary of it.

    A note: which is no field.

    x: Real
        or bool.
    low, high: Bounds.
    mode ("a" or "b"):
    Returns first (int): One.
    Returns: Both.
    IndexError, ValueError: If so.
    RuntimeWarning: Over nothing.

    >>> 1 + 1
    2
    """
    return 1, str((x, others, axis, mode, low, high, order, keepdims, more))


def test_sections_are_made_of_fields_and_annotations():
    assert completed(example) == inspect.cleandoc(  # type: ignore[arg-type]
        """Summary of it.

        A note: which is no field.

        Parameters
        ----------
        x : Array
            Real or bool.
        *others : int or (int, int)
        axis : int, optional
        mode : "a" or "b"
        low, high : int
            Bounds.
        order : sequence of int or None
        keepdims : bool
            Whether reduced axes stay, with size 1.
        **more : dict of str to float

        Returns
        -------
        first : int
            One.
        (int, str)
            Both.

        Raises
        ------
        IndexError, ValueError
            If so.

        Warns
        -----
        RuntimeWarning
            Over nothing.

        Examples
        --------
        >>> import array_api_nx as xp
        >>> 1 + 1
        2
        """
    ).replace("x : Array", "x : xp.Array")


def test_a_docstring_with_sections_stays_as_it_is():
    def whole(x: int) -> None:
        """Summary.

        Returns
        -------
        None
        """

    text = inspect.getdoc(whole)
    complete_docstrings({"whole": whole, "number": 1}, ["whole", "number"])
    assert inspect.getdoc(whole) == text


@pytest.mark.parametrize("function", [xp.max, xp.fft.rfft, xp.extra.nansum])
def test_public_functions_have_all_sections(function):
    text = inspect.getdoc(function) or ""
    assert "Parameters\n----------\nx : Array\n" in text
    assert "Returns\n-------\nArray\n" in text
    assert function.__wrapped__.__doc__ == text if hasattr(function, "__wrapped__") else text


def test_functions_of_the_standard_name_its_chapter():
    for name, chapter in (("max", "statistical functions"), ("arange", "creation functions")):
        assert (inspect.getdoc(getattr(xp, name)) or "").endswith(f"Standard: {chapter}.")
    assert (inspect.getdoc(xp.fft.fftn) or "").endswith("Standard: fft extension.")
    assert "Standard" not in (inspect.getdoc(xp.extra.median) or "")


def test_lines_are_narrow_and_no_field_is_left():
    for module in (xp, xp.linalg, xp.fft, xp.extra, xp.random):
        for name in module.__all__:
            text = inspect.getdoc(getattr(module, name)) or ""
            # A class or a constant of NumPy's has lines of its own.
            if inspect.isroutine(getattr(module, name)):
                assert max([len(line) for line in text.split("\n")]) <= 100
                assert "\nReturns: " not in text, name


def test_shared_descriptions_are_used():
    texts = " ".join(
        [
            " ".join((inspect.getdoc(getattr(module, name)) or "").split())
            for module in (xp, xp.linalg, xp.fft, xp.extra)
            for name in module.__all__
        ]
        + [" ".join((inspect.getdoc(xp.random.Generator.normal) or "").split())]
    )
    for text in SHARED.values():
        assert texts.count(text) > 1 or "parameters" in text
