"""The first chapter of the backend contract: arrays and their ways in and out; see interface.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from ..core import dtypes as d
from ..core.dtypes import CANONICAL, DType
from ..explain.explanation import Explanation
from .arguments import AxisOrder, Handle, Info, Native, Scalar
from .numpy_dtypes import WORD, NDArray, suitable

HOST: Final = 1
"""DLPack's type of devices whose memory is the host's."""


class Handles(ABC):
    """Properties of arrays, and how they come from and go to other libraries."""

    shares_host: bool = False
    """Whether arrays lie in memory that the host reads and writes: whether `to_host`, and
    `from_host` without `copy`, share it."""

    takes_any_bool: bool = True
    """Whether a true bool may be any byte but 0. If not, `from_host` is given zeros and ones."""

    word: int = WORD
    """Elements of memory that is handed in lie at multiples of their size, or of so many bytes if
    they are larger."""

    strided_shares: bool = False
    """Whether the result of `strided` shares the memory of an argument that is row-major."""

    immutable: str | None = None
    """Why no array of the device may be written to, if none may. Then in-place operators make new
    arrays. The frontend still writes to memory that it made itself."""

    @abstractmethod
    def shape(self, x: Handle) -> tuple[int, ...]:
        """The shape of `x`. Backend must: answer without computing anything but `sizes` that are
        None."""

    def sizes(self, x: Handle) -> tuple[int | None, ...]:
        """The shape of `x`; None for a size that depends on elements, and is not known yet.

        Backend must: answer without computing anything. `reduce` and `var` over an axis of unknown
        size compute nothing either; they raise ValueError for an extreme of no elements later.
        """
        return self.shape(x)

    @abstractmethod
    def dtype(self, x: Handle) -> DType:
        """The dtype of `x`. Backend must: answer without computing anything."""

    @abstractmethod
    def read_only_reason(self, x: Handle) -> str | None:
        """Why `x` may not be written to, or None if it may.

        Backend must: refuse memory that was handed in as read-only, views in which several
        elements share memory or some have none, and views of views in which several elements
        share memory.
        """

    @abstractmethod
    def to_host(self, x: Handle) -> NDArray:
        """`x` as a NumPy array of native byte order.

        Backend must: share memory if `shares_host`, so that writing to either shows in the
        other, and copy otherwise.
        """

    @abstractmethod
    def from_host(self, array: NDArray, *, copy: bool, lent: bool = True) -> Handle:
        """A NumPy array's elements as an array of this backend.

        Frontend guarantees: the dtype has a counterpart in the table, and the array is one that
        `numpy_dtypes.suitable` gives for the backend's `word`: bytes are in native order, elements
        are aligned and strides are whole elements. Bools are 0 or 1 unless `takes_any_bool`.
        Unless `lent`, the array has no other reference, and the backend alone can write to it.
        Backend must: own the memory if `copy`; otherwise share it if `shares_host`, respecting
        that it may be read-only.
        """

    def native(self, x: Handle) -> Native:
        """`x` as an array of the engine, for DLPack and for users of the engine itself.

        Backend must: share memory where the engine has such an array, and copy otherwise. The
        array has ``__dlpack__``.
        """
        return self.to_host(x)

    def from_native(self, array: Native) -> Handle:
        """An array of the engine, or of another one in memory that it can reach, as a handle.

        Backend must: share its memory, unless elements in it are not aligned; raise TypeError for a
        dtype that is not in the table, and BufferError for strides that the engine lacks.
        """
        if array.dtype not in CANONICAL:
            raise TypeError(f"the standard has no dtype for {array.dtype}; convert the array first")
        return self.from_host(suitable(array, self.word), copy=False)

    def available_dtypes(self) -> tuple[DType, ...]:
        """The dtypes that arrays can have here; all of the table's by default."""
        return tuple(d.ALL)

    def item(self, x: Handle) -> Scalar:
        """The only element of `x` as a Python scalar.

        Backend must: raise ValueError if there is not exactly one.
        """
        value: Scalar = self.to_host(x).item()
        return value

    def has_elements(self, x: Handle) -> bool:
        """Whether there are elements to look at; False for arrays of a trace."""
        return True

    def axis_order(self, x: Handle) -> AxisOrder | None:
        """How the elements of `x` follow each other in memory; None if row-major.

        That decides where a reshape needs a copy, and how results are laid out.
        """
        return None

    def may_overlap(self, x1: Handle, x2: Handle) -> bool:
        """Whether writes to `x1` may show in `x2`. Backend must: say True if in doubt."""
        return True

    def worth_deferring(self, size: int) -> bool:
        """Whether operations on `size` elements are faster if they wait for each other, to be
        computed together; False where nothing waits."""
        return False

    def evaluate(self, *handles: Handle) -> None:  # noqa: B027  # most backends defer nothing
        """Compute the pending elements of `handles`."""

    def explain(self, *handles: Handle) -> Explanation:
        """What `evaluate` would do for `handles`; nothing is computed."""
        return Explanation()

    def dlpack_device(self) -> tuple[int, int]:
        """The device type and id of DLPack; those of the host by default."""
        return HOST, 0

    @property
    def is_on_host(self) -> bool:
        """Whether the memory of handles is the host's."""
        return self.dlpack_device()[0] == HOST

    def runtime_info(self) -> Info:
        """What `show_config` tells of this backend, by name; nothing by default.

        Backend must: use strings, numbers, booleans, None, and dicts of these.
        """
        return {}

    def release_memory(self) -> None:
        """Give memory that is kept for later arrays back to the system; nothing by default."""
        return None
