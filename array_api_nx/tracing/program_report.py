"""The report of a program: its text, and how a backend would run it."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract.program import Guard, Program, Step, shape_text
from ..core.polynomial import Var
from ..core.symbolic import Number
from ..explain.model import PassExplanation, RunExplanation, pass_text, size_text
from ..explain.pictures import Drawable

__all__ = ["ProgramExplanation"]


class ProgramExplanation(Drawable):
    """What a call of a compiled function would do.

    Printed, it is a text; in a notebook a picture, where Graphviz is installed.

    Attributes
    ----------
    program : Program
    sizes : dict of Var to int, or None
        The values of the program's variables; None without an example.
    run : RunExplanation or None
        How the device's backend runs it at those sizes; None if it has the engine's compiler do
        it, or calls its steps one by one.
    how : str
        What is known of it where `run` is None.
    """

    __slots__ = ("how", "program", "run", "sizes")

    def __init__(
        self,
        program: Program,
        sizes: Mapping[Var, int] | None,
        run: RunExplanation | None,
        how: str = "",
    ) -> None:
        self.program = program
        self.how = how
        self.sizes = sizes
        self.run = run

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
        """The most memory that a run takes at one time, as an expression of the sizes."""
        return self.program.peak_bytes if self.run is None else self.run.peak

    @property
    def summary(self) -> str:
        """The run in one line."""
        if self.run is None:
            return self.how or "each step is a call"
        sizes = ", ".join([f"{v.name} = {n}" for v, n in (self.sizes or {}).items()])
        passes = len(self.run.passes)
        peak = f"{self.run.peak} bytes"
        if self.sizes:
            peak += f" ({size_text(self.run.peak_bytes)})"
        return (
            f"{f'with {sizes}: ' if sizes else ''}{passes} pass{'es' * (passes != 1)}, peak {peak}"
        )

    def __repr__(self) -> str:
        run = self.run
        if run is None:
            return f"{self.program}\n{self.how}" if self.how else str(self.program)
        # Its last line is the peak, which is known better here.
        lines = [str(self.program).rpartition("\n")[0], self.summary]
        for i, each in enumerate(run.passes, start=1):
            lines += pass_text(each, f"pass {i}")
        if run.buffers:
            lines.append("buffers:")
            rows = [
                (
                    each.name,
                    each.dtype,
                    shape_text(each.shape),
                    size_text(each.nbytes),
                    each.place,
                    f"pass {each.first}"
                    if each.first == each.last
                    else f"passes {each.first} to {each.last}",
                )
                for each in run.buffers
            ]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
                lines.append(f"  {'  '.join(cells).rstrip()}")
        return "\n".join(lines)

    def _passes(self) -> tuple[PassExplanation, ...]:
        return () if self.run is None else self.run.passes

    def _repr_html_(self) -> str:
        """What a notebook shows: the picture, if there is one, and the text to be unfolded."""
        from ..explain.html import card, fold, preformatted

        picture = self._repr_svg_()
        text = fold("as text", preformatted(repr(self)), is_open=picture is None)
        return card("Program", [] if picture else [("", self.summary)], picture or "", text)
