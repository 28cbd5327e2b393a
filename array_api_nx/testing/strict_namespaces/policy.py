"""The options of a strict namespace: the version, and the parts that it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Policy:
    """The options of a strict namespace, as `strict` takes them."""

    version: str
    extensions: tuple[str, ...]
    data_dependent_shapes: bool
    boolean_indexing: bool
    numpy_conversion: bool
    lists: bool

    @cached_property
    def name(self) -> str:
        """The name of the namespace: that of its module, and the other options."""
        said = [f"v{self.version.replace('.', '_')}"]
        if self.numpy_conversion:
            said.append("numpy")
        if self.lists:
            said.append("lists")
        said += [f"no_{each}" for each in ("linalg", "fft") if each not in self.extensions]
        if not self.data_dependent_shapes:
            said.append("no_data_dependent_shapes")
        if not self.boolean_indexing:
            said.append("no_boolean_indexing")
        return f"{__package__}.{'_'.join(said)}"
