"""Settings: their defaults, and how a `with` statement changes them.

It imports nothing that imports NumPy, and every layer above may import it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ContextDecorator
from contextvars import ContextVar
from functools import partial
from importlib.util import find_spec
from operator import index
from threading import RLock
from typing import Any, Final, Literal, NamedTuple, Never, TypeAlias, get_args

from .core.forks import hold_at_forks
from .core.spelling import did_you_mean

Fusion: TypeAlias = Literal["auto", "off", "always"]
HostAccess: TypeAlias = Literal["allow", "warn", "error"]
Operands: TypeAlias = Literal["numpy", "strict"]
Placement: TypeAlias = Literal["follow", "strict"]
Transfers: TypeAlias = Literal["allow", "log", "error"]
Given: TypeAlias = Any
"""A setting as a user gives it; its check says what it must be."""
HintedDevice: TypeAlias = Any
"""A `Device`, which is a class of a layer above."""


class Settings(NamedTuple):
    """What fused execution, the creation of arrays and reads of their elements go by.

    fusion: "auto" defers operations whose results cannot depend on when they run; "off" runs every
        operation at once; "always" defers also what reads memory that others can write.
    fusion_threshold: Operations on arrays with more elements than this wait, if they can; of
        elements of fewer than eight bytes, as many bytes.
    num_threads: Threads to use; None for as many as the process may use.
    default_device: The name of the device of new arrays.
    extras: Whether functions beyond the standard are found at the top level of the namespace.
    host_access: What happens where elements of an array are read out of the namespace.
    operands: Whether functions take NumPy arrays, and Python scalars where the standard has arrays
        only.
    placement: Whether arrays made without ``device=`` follow operands on other devices.
    transfers: What happens where an array follows another one to its device.
    progress: Whether computations that last show a progress bar.
    """

    fusion: Fusion = "auto"
    # docs/tuning.md, 101
    fusion_threshold: int = 2000
    num_threads: int | None = None
    default_device: str = "cpu"
    extras: bool = True
    host_access: HostAccess = "allow"
    operands: Operands = "numpy"
    placement: Placement = "follow"
    transfers: Transfers = "allow"
    progress: bool = False


def _listed(words: tuple[str, ...]) -> str:
    *others, last = [repr(word) for word in words]
    return f"{', '.join(others)} or {last}"


def _as_word(name: str, value: Given, words: tuple[str, ...]) -> str:
    """One of several words; the first is the default."""
    problem = f"{name} must be {_listed(words)}, not {value!r}; {words[0]!r} is the default"
    if not isinstance(value, str):
        raise TypeError(problem)
    if value not in words:
        raise ValueError(problem)
    return value


def _as_integer(name: str, value: Given, least: int, example: int) -> int:
    problem = f"{name} must be an integer of at least {least}, not {value!r}; try {example}"
    if isinstance(value, bool):
        raise TypeError(problem)
    try:
        number = index(value)
    except TypeError:
        raise TypeError(problem) from None
    if number < least:
        raise ValueError(problem)
    # No array has more elements, and no machine more threads, than an index can say.
    return min(number, sys.maxsize)


def _as_flag(name: str, value: Given, default: bool) -> bool:
    # An environment variable says 1 or 0.
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {value!r}; {default} is the default")


def _as_progress(name: str, value: Given) -> bool:
    wanted = _as_flag(name, value, False)
    if wanted and find_spec("tqdm") is None:
        raise ImportError(
            f"{name} shows bars by tqdm, which is not installed; install it with: pip install tqdm"
        )
    return wanted


_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "fusion": get_args(Fusion),
    "host_access": get_args(HostAccess),
    "operands": get_args(Operands),
    "placement": get_args(Placement),
    "transfers": get_args(Transfers),
}
_CHECKS: Final[dict[str, Callable[[str, Given], str | int]]] = {
    **{field: partial(_as_word, words=words) for field, words in _WORDS.items()},
    "fusion_threshold": lambda name, value: _as_integer(
        name, value, 0, Settings().fusion_threshold
    ),
    "num_threads": lambda name, value: _as_integer(name, value, 1, 2),
    # The devices, which are a layer above, replace this check.
    "default_device": lambda name, value: str(value),
    "extras": lambda name, value: _as_flag(name, value, True),
    "progress": _as_progress,
}


_PREFIX: Final = "ARRAY_API_NX_"

VARIABLES: Final = (
    *[_PREFIX + field.upper() for field in Settings._fields],
    *("ARRAY_API_NX_CHECKED", "ARRAY_API_NX_CPU", "ARRAY_API_NX_EXTENSION", "ARRAY_API_NX_SUITE"),
    *("ARRAY_API_NX_PROGRAMS", "ARRAY_API_NX_ENGINE_PROGRAMS"),
    *("ARRAY_API_NX_LEAK_CALLS", "ARRAY_API_NX_SLOW_TESTS"),
)
"""The environment variables that something reads: one for each setting, four that the packages
read beside them, and those of the tests."""


def from_environment(environ: Mapping[str, str]) -> Settings:
    """The settings that environment variables ask for; an empty one counts as not set.

    A variable that looks like one of ours, and is none, is warned of.

    ValueError: If a variable has an illegal value.
    """
    for name in environ:
        if name.startswith(_PREFIX) and name not in VARIABLES:
            meant = did_you_mean(name, VARIABLES) or f"; there are {', '.join(VARIABLES)}"
            warnings.warn(
                f"array_api_nx reads no environment variable {name}{meant}",
                RuntimeWarning,
                stacklevel=2,
            )
    changes: dict[str, Given] = {}
    for field, check in _CHECKS.items():
        name = _PREFIX + field.upper()
        text = environ.get(name)
        if text:
            value = int(text) if text.removeprefix("-").isdecimal() else text
            try:
                changes[field] = check(name, value)
            except TypeError as error:
                raise ValueError(*error.args) from None
    return Settings(**changes)


DEFAULTS: Final = from_environment(os.environ)
"""The settings outside any `config_context`."""

# The settings in force and those around them. They live in the context and not in the objects that
# `with` statements enter, so that one object can serve several threads at a time.
stack: Final[ContextVar[tuple[Settings, ...]]] = ContextVar(
    "array_api_nx.config", default=(DEFAULTS,)
)


def current() -> Settings:
    """The settings in force here: in this thread, or in this task of an event loop."""
    return stack.get()[-1]


class Hints:
    """What hot paths may read in place of `current()`.

    A hint, not an answer. An array of at most `threshold` elements need not be looked at any
    further while `defer_small` is False, since then no `config_context` asks to defer it; otherwise
    `current()` decides. `defer_small` is True while *any* thread is inside a `config_context` with
    a threshold below the process's default, in whichever thread it is read. It does not know of
    tasks that began inside such a `with` statement and go on after it: their operations run at
    once.

    threshold: The process's default.
    strict_operands: Whether *any* thread is inside a `config_context` with `operands` "strict".
    device: The process's default device; None while any thread is inside a `config_context` with
        another one, when `current()` decides.
    watched: Whether *any* thread wants to know of transfers and evaluations (contract/events.py):
        it listens, or is inside a `config_context` with `host_access` or `transfers` other than
        "allow".
    """

    __slots__ = (
        "defer_small", "device", "strict_operands", "threshold", "watched",
    )  # fmt: skip

    defer_small: bool
    threshold: int
    device: HintedDevice | None
    strict_operands: bool
    watched: bool


hints: Final = Hints()
watchers: Final[list[Callable[[], None]]] = []
"""Functions to call when hints of deferral, progress or watching may have changed."""

hints.threshold = DEFAULTS.fusion_threshold

# A finaliser or a signal's handler may enter a `config_context` while its thread holds the lock.
_lock: Final = RLock()
_process_device: HintedDevice | None = None

hold_at_forks(_lock)


class _Count:
    """The `config_context` statements, of all threads, that change a hint.

    hint: The attribute of `hints`.
    value: From whether there is such a statement to the value of the hint.
    listeners: Called after each change.
    """

    def __init__(
        self,
        hint: str,
        value: Callable[[bool], object],
        listeners: Sequence[Callable[[], None]] = watchers,
    ) -> None:
        self._hint, self._value, self._listeners = hint, value, listeners
        self._entered = 0
        self.add(0)

    def add(self, change: int) -> None:
        """Count one more, or one less."""
        with _lock:
            self._entered += change
            setattr(hints, self._hint, self._value(self._entered > 0))
            for changed in self._listeners:
                changed()


_deferring: Final = _Count("defer_small", lambda asked: asked)
_refusing: Final = _Count(
    "strict_operands", lambda asked: asked or DEFAULTS.operands == "strict", ()
)
_moving: Final = _Count("device", lambda asked: None if asked else _process_device, ())
_watching: Final = _Count(
    "watched",
    lambda asked: asked or DEFAULTS.host_access != "allow" or DEFAULTS.transfers != "allow",
)

_WATCHED: Final = ("warn", "log", "error")

count_watching: Final = _watching.add
"""Count listeners to transfers and evaluations: one more, or one less."""


def use_devices(check: Callable[[str, Given], str], device: Callable[[str], HintedDevice]) -> None:
    """Let the devices check the setting `default_device`, and make the process's one.

    check: From the name of the setting and a value to the name of a device.
    device: From the name of a device to the device.
    """
    global _process_device
    _CHECKS["default_device"] = check
    name = "ARRAY_API_NX_DEFAULT_DEVICE" if os.environ.get("ARRAY_API_NX_DEFAULT_DEVICE") else ""
    _process_device = device(check(name or "default_device", DEFAULTS.default_device))
    _moving.add(0)


def _no_setting(name: str) -> str:
    """The message for an unknown setting: the known ones, and their values."""
    takes = {
        "fusion_threshold": "a number of elements",
        "num_threads": "a number of threads",
        "default_device": "the name of a device",
        "extras": "True or False",
        "progress": "True or False",
        **{field: _listed(words) for field, words in _WORDS.items()},
    }
    listed = ", ".join([f"{field} ({takes[field]})" for field in Settings._fields])
    return f"no setting {name!r}; there are {listed}{did_you_mean(name, Settings._fields)}"


class config_context(ContextDecorator):
    """Change settings for a `with` statement, or for the calls of a decorated function.

    What is not given stays as it is around the statement. Settings hold for the thread, or the
    task of an event loop, that enters; threads that start inside begin with the defaults, which
    come from the environment variables ``ARRAY_API_NX_FUSION``, ``ARRAY_API_NX_FUSION_THRESHOLD``,
    ``ARRAY_API_NX_NUM_THREADS``, ``ARRAY_API_NX_DEFAULT_DEVICE``, ``ARRAY_API_NX_EXTRAS`` (1 or 0),
    ``ARRAY_API_NX_HOST_ACCESS``, ``ARRAY_API_NX_OPERANDS``, ``ARRAY_API_NX_PLACEMENT``,
    ``ARRAY_API_NX_TRANSFERS`` and ``ARRAY_API_NX_PROGRESS`` (1 or 0).
    Entering the same object again, also from another thread at the same time, is allowed.

    fusion ({"auto", "off", "always"}, optional): "auto", the default of the process, defers
        operations on large arrays where their results cannot depend on when they run. "off" runs
        every operation at once. "always" defers also what reads memory that others can write, such
        as an imported NumPy array's: a promise that it is not written before the results are used.
    fusion_threshold (int, optional): Operations on arrays with more elements than this are
        deferred, if they can be; 2000 by default. Of elements narrower than eight bytes there have
        to be as many bytes: operations on them take less time.
    num_threads (int, optional): The largest number of threads that a computation may use; by
        default as many as the process may run on.
    default_device (Device or str, optional): Where new arrays live unless they are told otherwise;
        ``cpu`` by default.
    extras (bool, optional): Whether the functions of `extra`, and `special`, are found at the top
        level of the namespace, as they are by default. False shows what code relies on beyond the
        standard.
    host_access ({"allow", "warn", "error"}, optional): What happens where elements of an array
        leave the namespace for Python, NumPy or other memory of the host: ``float(x)``, ``if x:``,
        ``numpy.asarray(x)``, ``x.to_device("cpu")`` from another device and the like, on every
        device. "allow", the default, reads them. "warn" does so after a `HostAccessWarning`
        (testing) at the user's line. "error" raises a `HostAccessError` (testing) before anything
        is computed. To print an array is not counted.
    operands ({"numpy", "strict"}, optional): What functions and operators take. "numpy", the
        default: NumPy arrays wherever arrays of this package, and Python scalars also where the
        standard has arrays only, as in ``exp(0.5)``. "strict": a TypeError for both, as in code
        that is to run on other libraries.
    placement ({"follow", "strict"}, optional): What happens where operands are on different
        devices. "follow", the default: arrays made without ``device=`` follow those that were put
        on a device. "strict": a ValueError.
    transfers ({"allow", "log", "error"}, optional): What happens where an array follows another
        one. "allow", the default, moves it. "log" does so after a warning of the logger
        ``array_api_nx`` (logging) with the user's line, the devices and the bytes. "error" raises a
        `TransferError` (testing) before it is moved.
    progress (bool, optional): Whether a computation shows a progress bar once it has taken a
        second: by tqdm, as text on a terminal and as a widget in a notebook. It counts elements on
        ``cpu``, and tasks on ``dask``. False by default.
    TypeError: If an argument has the wrong type.
    ValueError: If an argument is out of range.
    ImportError: If `progress` is True, and tqdm is not installed.

    >>> x = xp.ones(1_000_000)
    >>> with xp.config_context(num_threads=1):
    ...     float(xp.sum(2 * x + 1))
    3000000.0
    >>> @xp.config_context(fusion="off")
    ... def step(x):
    ...     return 2 * x + 1
    """

    def __init__(
        self,
        *,
        fusion: Fusion | None = None,
        fusion_threshold: int | None = None,
        num_threads: int | None = None,
        default_device: HintedDevice | str | None = None,
        extras: bool | None = None,
        host_access: HostAccess | None = None,
        operands: Operands | None = None,
        placement: Placement | None = None,
        transfers: Transfers | None = None,
        progress: bool | None = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            raise TypeError(_no_setting(next(iter(unknown))))
        self._changes: dict[str, Given] = {
            field: _CHECKS[field](field, value)
            for field, value in locals().items()
            if field in _CHECKS and value is not None
        }
        threshold = self._changes.get("fusion_threshold", DEFAULTS.fusion_threshold)
        counts = (
            _deferring if threshold < DEFAULTS.fusion_threshold else None,
            _moving if default_device is not None else None,
            _refusing if operands == "strict" else None,
            _watching if host_access in _WATCHED or transfers in _WATCHED else None,
        )
        self._counts = [count for count in counts if count is not None]

    def __enter__(self) -> None:
        around = stack.get()
        stack.set((*around, around[-1]._replace(**self._changes)))
        for count in self._counts:
            count.add(1)

    def __exit__(self, *exception: object) -> None:
        # A generator that was suspended inside may be closed in a context that never entered.
        stack.set(stack.get()[:-1] or (DEFAULTS,))
        for count in self._counts:
            count.add(-1)
