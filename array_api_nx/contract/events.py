"""Transfers of elements and evaluations: reports of them, and their listeners.

Code that moves elements between devices, or between a device and Python, NumPy or another library,
first calls `transferred`, and code that computes pending arrays `evaluated`. Without listeners, and
with the settings `host_access` and `transfers` at "allow", that is one look at
`config.hints.watched`; `set_watched` tells the extension when to leave transfers to Python. Another
setting that concerns transfers belongs in `transferred`, and counts its contexts by
`config.count_watching`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from ..config import count_watching, current, hints, watchers
from ..core.forks import hold_at_forks
from ..native import native
from .callers import caller, warn


class HostAccessError(RuntimeError):
    """Elements were to leave the namespace while ``host_access="error"`` forbade it."""


class HostAccessWarning(UserWarning):
    """Elements left the namespace while ``host_access="warn"`` was set."""


class TransferError(RuntimeError):
    """An array was to be moved to where another one is, which ``transfers="error"`` forbade."""


class Transfer(NamedTuple):
    """Elements that went from one place to another.

    Attributes
    ----------
    kind : str
        "to_device", between devices; "placement", to the device of another array of the call, as
        one of the two was made without ``device=``; "asarray" and "from_dlpack", into the
        namespace; "scalar", "list", "numpy", "dlpack" and "pickle", out of it; "print",
        to show them; and "engine", to NumPy and back for an operation that an engine lacks.
    source, target : str
        The name of a device, or "python", "numpy", "host" for other memory of the CPU, or the name
        of another library.
    nbytes : int
        How many bytes the elements have. Devices that see the same memory may have shared them.
    call : str
        What of this namespace the user's line called, such as ``float(x)``.
    filename : str
    lineno : int
        The line outside this package and NumPy that led there.
    """

    kind: str
    source: str
    target: str
    nbytes: int
    call: str
    filename: str
    lineno: int


class Evaluation(NamedTuple):
    """A computation of pending arrays.

    Attributes
    ----------
    device : str
        Where it was computed.
    why : str
        What needed it.
    call : str
        What of this namespace the user's line called, such as ``float(x)``.
    filename : str
    lineno : int
        The line outside this package and NumPy that led there.
    """

    device: str
    why: str
    call: str
    filename: str
    lineno: int


Listener: TypeAlias = Callable[[Transfer | Evaluation], None]
Each = TypeVar("Each")

_lock: Final = Lock()
hold_at_forks(_lock)


class Present(Generic[Each]):
    """What `with` statements have put in place, each for its own thread or for all threads."""

    def __init__(self, name: str) -> None:
        # A context variable holds for a thread, or a task of an event loop, and what inherits its
        # context.
        self._here: ContextVar[tuple[Each, ...]] = ContextVar(f"array_api_nx.{name}", default=())
        # Replaced, not changed, so that it can be gone through while another thread adds to it.
        self._everywhere: tuple[Each, ...] = ()

    def get(self) -> tuple[Each, ...]:
        """What is in place in this thread."""
        return (*self._here.get(), *self._everywhere)

    @contextmanager
    def including(self, one: Each, *, all_threads: bool) -> Iterator[None]:
        """A context in which `one` is in place: in this thread, or in all threads."""
        self._change(lambda there: (*there, one), all_threads)
        try:
            yield
        finally:
            self._change(lambda there: _without(there, one), all_threads)

    def _change(
        self, change: Callable[[tuple[Each, ...]], tuple[Each, ...]], all_threads: bool
    ) -> None:
        if all_threads:
            with _lock:
                self._everywhere = change(self._everywhere)
        else:
            self._here.set(change(self._here.get()))


def _without(there: tuple[Each, ...], one: Each) -> tuple[Each, ...]:
    """`there` without the last one that is `one`, if there is one."""
    for i in reversed(range(len(there))):
        if there[i] is one:
            return (*there[:i], *there[i + 1 :])
    return there


_listeners: Final[Present[Listener]] = Present("listeners")
_unobserved: Final[ContextVar[bool]] = ContextVar("array_api_nx.unobserved", default=False)

_OPERATORS: Final = {
    "add": "+", "and": "&", "eq": "==", "floordiv": "//", "ge": ">=", "gt": ">", "le": "<=",
    "lshift": "<<", "lt": "<", "matmul": "@", "mod": "%", "mul": "*", "ne": "!=", "or": "|",
    "pow": "**", "rshift": ">>", "sub": "-", "truediv": "/", "xor": "^",
}  # fmt: skip

# Methods that users call by operators and functions of other libraries.
_SPELLINGS: Final = {
    **{f"__{name}__": f"x {sign} y" for name, sign in _OPERATORS.items()},
    **{f"__r{name}__": f"y {sign} x" for name, sign in _OPERATORS.items()},
    **{f"__i{name}__": f"x {sign}= y" for name, sign in _OPERATORS.items()},
    "__abs__": "abs(x)",
    "__invert__": "~x",
    "__neg__": "-x",
    "__pos__": "+x",
    "__array__": "numpy.asarray(x)",
    "__array_ufunc__": "a ufunc of NumPy",
    "__bool__": "bool(x)",
    # From Python 3.12 on NumPy asks for it first.
    "__complex__": "complex(x)",
    "__contains__": "value in x",
    "__dlpack__": "from_dlpack(x)",
    "_export": "from_dlpack(x)",
    "__float__": "float(x)",
    "__len__": "len(x)",
    "__format__": "format(x)",
    "__getitem__": "x[key]",
    "__index__": "operator.index(x)",
    "__int__": "int(x)",
    "__iter__": "iter(x)",
    "__reduce__": "pickle.dumps(x)",
    "__repr__": "repr(x)",
    "__setitem__": "x[key] = value",
    "__str__": "str(x)",
    "_restore": "pickle.loads(...)",
    "item": "x.item()",
    "nbytes": "x.nbytes",
    "shape": "x.shape",
    "size": "x.size",
    "to_device": "x.to_device(...)",
    "tolist": "x.tolist()",
}

# Elements are read out of the namespace where a user's line calls one of these, and they go to one
# of these places; or where they go there as operands of an array that was made without device=.
# Functions that look at elements for reasons of their own, such as `nanmean` to warn of slices
# without numbers, are in the record of transfers, but a user could not avoid it.
_READERS: Final = frozenset(
    {
        "__array__", "__array_ufunc__", "__bool__", "__complex__", "__contains__",
        "__dlpack__", "__float__", "__index__", "__int__", "__reduce__", "_export", "allclose",
        "array_equal", "asarray", "astype", "from_dlpack", "item", "to_device", "tolist",
    }
)  # fmt: skip
_HOST: Final = frozenset({"cpu", "host", "numpy", "python"})
_INWARDS: Final = frozenset({"asarray", "engine", "from_dlpack", "print"})

# Advice by the function that was called, and else by the kind of transfer.
_MENDS: Final = {
    "bool(x)": "choose by elements with where(condition, a, b), and combine conditions with "
    "logical_and, logical_or and logical_not",
    "allclose()": "keep the answer as an array, as with all(isclose(a, b))",
    "array_equal()": "keep the answer as an array, as with all(a == b)",
    "value in x": "keep the answer as an array, as with any(x == value)",
    "scalar": "keep the number as an array of shape (), which every function and operator takes",
    "to_device": "compute on the device where the array is",
    "pickle": "store it outside of what is to run on a device",
    "placement": "make the array there on the device of the others, with device=",
}
_OTHERWISE: Final = "compute with the functions of the array's namespace"


def transferred(kind: str, source: str, target: str, nbytes: int, call: str | None = None) -> None:
    """Report that elements are about to go from one place to another.

    kind, source, target: See `Transfer`.
    call: The method that the user's line means; by default the one that it called.
    HostAccessWarning: If the elements leave the namespace and the setting `host_access` is "warn".
    HostAccessError: If it is "error". Then nothing must be read.
    TransferError: If the kind is "placement" and the setting `transfers` is "error". Nothing must
        be moved.
    """
    if not hints.watched or _unobserved.get():
        return
    called, filename, lineno = caller()
    call = call or called
    transfer = Transfer(kind, source, target, nbytes, _spelling(call), filename, lineno)
    access = current().host_access
    leaves = target in _HOST and kind not in _INWARDS
    if access != "allow" and leaves and (call in _READERS or kind == "placement"):
        if access == "error":
            raise HostAccessError(
                f"{_told(transfer)}, which host_access='error' forbids; {_mend(transfer)}"
            )
        warn(f"{_told(transfer)}; {_mend(transfer)}", HostAccessWarning)
    if kind == "placement":
        _heed_transfers(transfer)
    _tell(transfer)


def _heed_transfers(transfer: Transfer) -> None:
    """Apply the setting `transfers` to a move to the device of another array."""
    transfers = current().transfers
    if transfers == "allow":
        return
    moved = (
        f"{transfer.call} moves {counted(transfer.nbytes, 'byte')} from {transfer.source} to "
        f"{transfer.target}, where another array is"
    )
    if transfers == "error":
        raise TransferError(
            f"{moved}, which transfers='error' forbids; make both on one device, with device=, or "
            "move one with to_device first"
        )
    # Imported where it is used: most programs have no log.
    import logging

    line = f"{transfer.filename}:{transfer.lineno}"
    logging.getLogger("array_api_nx").warning("%s: %s", line, moved)


def evaluated(device: str, why: str) -> None:
    """Report that pending arrays are about to be computed.

    device: The name of the device.
    why: What needs it, as a sentence without its full stop.
    """
    if not hints.watched or _unobserved.get():
        return
    call, filename, lineno = caller()
    # Where the extension has answered a call by itself there is no function of ours above this one.
    spelled = "a call" if call == "evaluated" else _spelling(call)
    _tell(Evaluation(device, why, spelled, filename, lineno))


@contextmanager
def listening(listener: Listener, *, all_threads: bool = False) -> Iterator[None]:
    """A context in which `listener` is called with each transfer and each evaluation.

    listener: Called in the thread that transfers or evaluates; must raise nothing.
    all_threads: Whether it gets those of all threads, not only of this one.
    """
    count_watching(1)
    try:
        with _listeners.including(listener, all_threads=all_threads):
            yield
    finally:
        count_watching(-1)


@contextmanager
def unobserved() -> Iterator[None]:
    """A context without reports, in which `host_access` does not apply.

    For code that examines other code, and so reads elements itself.
    """
    token = _unobserved.set(True)
    try:
        yield
    finally:
        _unobserved.reset(token)


def _tell(event: Transfer | Evaluation) -> None:
    for listener in _listeners.get():
        listener(event)


def counted(number: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _spelling(call: str) -> str:
    return _SPELLINGS.get(call, f"{call}()")


def _told(transfer: Transfer) -> str:
    return (
        f"{transfer.call} reads {counted(transfer.nbytes, 'byte')} of an array on device "
        f"{transfer.source} out of the namespace"
    )


def _mend(transfer: Transfer) -> str:
    mend = _MENDS.get(transfer.call) or _MENDS.get(transfer.kind, _OTHERWISE)
    return f"{mend}; or allow it here: with config_context(host_access='allow')"


def _update() -> None:
    if native is not None:
        native.set_watched(hints.watched)


watchers.append(_update)
_update()
