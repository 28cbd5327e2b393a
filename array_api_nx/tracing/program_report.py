"""The report of a program: its text, and how it is run."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract.program import Guard, Program, Step
from ..core.polynomial import Var
from ..core.symbolic import Number


class ProgramExplanation:
    """What a call of a compiled function would do. Printed, it is a text.

    sizes: The values of the program's variables; None without an example.
    how: How the device runs it.
    """

    __slots__ = ("how", "program", "sizes")

    def __init__(
        self, program: Program, sizes: Mapping[Var, int] | None, how: str = "each step is a call"
    ) -> None:
        self.program = program
        self.sizes = sizes
        self.how = how

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What must hold of the sizes, and the lines that asked."""
        return self.program.guards

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the program."""
        return self.program.steps

    @property
    def peak_bytes(self) -> Number:
        """The most memory that the results of steps take at one time, as an expression of the
        sizes. Of steps that are computed together those in between need none."""
        return self.program.peak_bytes

    @property
    def summary(self) -> str:
        """The run in one line."""
        sizes = ", ".join([f"{v.name} = {n}" for v, n in (self.sizes or {}).items()])
        return f"with {sizes}: {self.how}" if sizes else self.how

    def __repr__(self) -> str:
        return f"{self.program}\n{self.summary}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary, and the text to be unfolded."""
        from ..explain.html import card, fold, preformatted

        text = fold("as text", preformatted(repr(self)), is_open=True)
        return card("Program", [("", self.summary)], text)
