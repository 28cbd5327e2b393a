"""Errors that several backends, or they and the frontend, raise."""

from __future__ import annotations


class EngineError(RuntimeError):
    """An engine, or its device, failed; the text says which."""


class CannotCompileError(RuntimeError):
    """An engine cannot compile a program; the text says which step, and what to do."""


class LimitError(RuntimeError):
    """A device was asked for what devices of its kind cannot do.

    No TypeError, ValueError or IndexError, which code that tries one way after the other would
    swallow.
    """


def no_identity(name: str, shape: tuple[int, ...], axis: object) -> ValueError:
    """The error for an extreme of no elements; `axis` is that of the call, None for all."""
    where = "" if axis is None else f" over axis {axis}"
    return ValueError(
        f"{name}{where} of an array of shape {shape} is undefined: there are no elements and "
        "no identity; test x.size first"
    )


def negative_elements(least: int) -> str:
    """The message for elements that are no numbers of bins."""
    return (
        f"bincount counts ints from 0 on, but the least element is {least}; subtract it from them"
    )
