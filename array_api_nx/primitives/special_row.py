"""What a row of `special_functions` says, and the docstring that follows from it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from .documentation import wrapped


class SpecialFunction(NamedTuple):
    """A function that is a ufunc of SciPy's.

    definition: A paragraph, with a formula as a rule.
    operands: What each operand is, by its name; operands that are alike have one entry, "a, b".
        By default one real `x`.
    results: What decides the dtype of the result: "real" and "complex" the precision of all arrays,
        where complex operands are legal in the second case; "arrays" whether all operands are
        arrays of float32; else the words themselves.
    small: Whether SciPy computes small integers in float32.
    engines: The engines whose function of the same name agrees with SciPy's (see
        backends/engines/torch_special.py and jax_special.py).
    """

    name: str
    summary: str
    definition: str
    operands: dict[str, str] = {"x": "Real values."}  # noqa: RUF012 - nothing changes it
    results: Literal["real", "complex", "arrays"] | str = "real"
    small: bool = False
    engines: str = ""

    @property
    def types(self) -> dict[str, str]:
        """The annotation of each parameter, by its name."""
        names = [name for names in self.operands for name in names.split(", ")]
        if len(names) == 1:
            return {names[0]: "Array"}
        return {
            name: "Array | complex"
            if self.results == "complex" or "complex" in self.operands.get(name, "")
            else "Array | float"
            for name in names
        }


def of_complex(
    name: str, summary: str, definition: str, *, small: bool = False, engines: str = ""
) -> SpecialFunction:
    """The row of a function of one operand, which may be complex."""
    operands = {"x": "Real or complex values."}
    return SpecialFunction(name, summary, definition, operands, "complex", small, engines)


_ONE: Final = "A new array of the same shape, "
_SEVERAL: Final = "A new array of the shape that the operands broadcast to, "
_RESULTS: Final = {
    "real": ("float32 if `{}` is, else float64", "float32 if all arrays are, else float64"),
    "complex": (
        "in single precision if `{}` is, else in double",
        "in single precision if all arrays have that, else in double; complex if one is",
    ),
    "arrays": ("", "float32 if all operands are arrays of that dtype, else float64"),
}


def docstring(row: SpecialFunction) -> str:
    """The docstring of a function of `special`."""
    (first, *others) = row.types
    one, several = _RESULTS.get(row.results, ("", row.results))
    returns = _SEVERAL + several if others else _ONE + one.format(first)
    if row.small:
        returns += "; float32 also for integers of at most 16 bits, and bool"
    kind = "Array or scalar" if others else "Array"
    parameters = "".join(
        [
            f"    {names} : {kind}\n{wrapped(f'        {text}')}\n"
            for names, text in row.operands.items()
        ]
    )
    return (
        f"{row.summary}\n\n{wrapped(f'    {row.definition}')}\n\n"
        f"    Parameters\n    ----------\n{parameters}\n"
        f"    Returns\n    -------\n    Array\n{wrapped(f'        {returns}.')}\n\n"
        "    Raises\n    ------\n    TypeError, ValueError, ImportError\n"
        "        As all functions of this package do.\n    "
    )
