"""Devices: what a user names to say where arrays live, and how a name leads to a backend."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from . import config
from .backends.engines.devices import ENGINES, EngineSpec, Traits
from .backends.engines.devices import options_of as options_of
from .backends.limited.devices import LIMITED
from .contract.backend import Backend
from .core import dtypes as d
from .core.dtypes import DType, as_dtype
from .core.spelling import did_you_mean
from .native import native

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS: Final = "array_api_nx.backends"
"""The group of entry points by which other packages register backends. The name of an entry point
is what the names of its devices begin with; it leads to a function that takes the rest of a
device's name, after the first colon, and returns the backend."""


StandIn: TypeAlias = Any
"""What is in the place of a device's backend: the backend, what loads it, or what leads to it from
all contexts but those that trace."""


@final
class Device:
    """A place where arrays live and are computed.

    Parameters
    ----------
    name : str or Device
        The string that names it: ``"cpu"``, or an engine and one of its devices, such as
        ``"torch:cuda:0"``. The engine alone stands for its first device.
    **options
        Settings that the device takes, if any. They become a part of its name:
        ``Device("dask", chunks="64MiB")`` is ``Device("dask:chunks=64MiB")``.

    Raises
    ------
    ValueError
        If no such device is known; the error lists what there is.
    ImportError
        If the engine is not installed; the error says how to install it.

    Notes
    -----
    Equal by name, also to the name itself, as ``x.device == "cpu"``: NumPy's arrays have that
    string as their device, and code that takes both compares the two. A device is the same object
    for the same name. The engine is imported on first use.
    The exception is the device of an array that was made without ``device=``: it is equal to the
    one of that name but another object, which is not `committed`, and neither is what is made
    with ``device=x.device`` of such an array.

    Attributes
    ----------
    name : str
    backend : Backend
        Executes primitives on this device.
    real, complex, integral : dtype
        The dtypes of new arrays.
    missing : frozenset of dtype
        The dtypes that arrays cannot have.
    traits : Traits
        These dtypes, and what else is known of it.
    committed : bool
        Whether a user named it, so that arrays on it stay there. Other arrays follow those.
    counterpart : Device
        The device of this name that is committed if this one is not, and the other way round.
    token : object
        Stands for this device, and not for its counterpart, in tables that are read at each
        call: its hash takes no call of Python.
    uncommitted : Device
        This device, or its counterpart: that of the two which is not committed.
    """

    __slots__ = (
        "backend",
        "committed",
        "complex",
        "counterpart",
        "integral",
        "missing",
        "name",
        "real",
        "token",
        "traits",
    )

    name: str
    backend: Backend
    real: DType
    complex: DType
    integral: DType
    missing: frozenset[DType]
    traits: Traits
    committed: bool
    counterpart: Device
    token: object

    def __new__(cls, name: str | Device, /, **options: object) -> Device:
        if options:
            name = _with_options(str(name), options)
        if isinstance(name, Device):
            return name
        try:
            return _devices[name]
        except (KeyError, TypeError):
            return _resolve(name)

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def _repr_html_(self) -> str:
        """For notebooks: dtypes, and the report of a backend that is loaded."""
        from .explain.html import card, fold, nested, table

        defaults = f"{self.real}, {self.complex}, {self.integral}"
        missing = ", ".join(sorted(map(str, self.missing)))
        rows = [("dtypes of new arrays", defaults), ("missing dtypes", missing or "none")]
        loaded = is_loaded(self)
        rows.append(("loaded", "yes" if loaded else "no, its first use will load it"))
        told = nested(self.backend.runtime_info()) if loaded else ""
        return card("Device", [("", self.name)], table(rows), fold("runtime", told) if told else "")

    @property
    def uncommitted(self) -> Device:
        return self.counterpart if self.committed else self

    def __eq__(self, other: object) -> bool:
        return self is other or self.counterpart is other or self.name == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Callable[[str], Device], tuple[str]]:
        return Device if self.committed else _uncommitted, (self.name,)

    def release_memory(self) -> None:
        """Give memory that the device keeps for later arrays back to the system.

        Arrays are left alone. Of use where something else in the process, or on the accelerator,
        needs the memory.
        """
        self.backend.release_memory()


_devices: Final[dict[str, Device]] = {}
_engines: Final[dict[str, EngineSpec]] = {}
_resolved: Final[dict[str, Device]] = {}
"""Devices of engines: under the names that users gave, and under their own."""


class _NotLoaded:
    """Stands where a device's backend will be, and puts it there when it is first used.

    A property would do the same at the cost of a call for every operation.
    """

    def __init__(self, device: Device, load: Callable[[], Backend]) -> None:
        self._device = device
        self._load = load

    def __getattr__(self, name: str) -> StandIn:
        backend = self._load()
        if os.environ.get("ARRAY_API_NX_CHECKED", "0") not in ("", "0"):
            from .contract.checked import CheckedBackend

            backend = CheckedBackend(backend)
        use_backend(self._device, backend)
        return getattr(backend, name)


def _make(name: str, load: Callable[[], Backend], traits: Traits) -> Device:
    device: Device = object.__new__(Device)
    other: Device = object.__new__(Device)
    device.counterpart, other.counterpart = other, device
    until_used: StandIn = _NotLoaded(device, load)
    for each in (device, other):
        each.name = name
        each.committed = each is device
        each.token = object()
        each.backend = until_used
        each.traits, each.missing = traits, traits.missing
        each.real, each.complex, each.integral = traits.real, traits.complex, traits.integral
    return device


def use_backend(device: Device, backend: StandIn) -> None:
    """From now on let a backend execute the calls on a device, committed or not."""
    device.backend = device.counterpart.backend = backend


def _uncommitted(name: str) -> Device:
    """The device of arrays that were made without ``device=``."""
    return Device(name).uncommitted


def default_dtype(kind: type, device: Device) -> DType:
    """The dtype of new arrays of Python scalars of type `kind`."""
    if kind is float:
        return device.real
    if kind is int:
        return device.integral
    return device.complex if kind is complex else as_dtype(kind)


def available(dtype: DType, device: Device) -> DType:
    """`dtype`; TypeError, naming another, if arrays on `device` cannot have it."""
    if dtype in device.missing:
        raise TypeError(
            f"device {device} has no {dtype}; give dtype={nearest(dtype, device)}, or leave it out "
            "where the default will do"
        )
    return dtype


def nearest(dtype: DType, device: Device) -> DType:
    """`dtype`, or the widest one of its kind that arrays on `device` can have."""
    missing = device.missing
    if dtype not in missing:
        return dtype
    kind = next(kind for kind in _KINDS if dtype in kind)
    return [each for each in kind if each not in missing][-1]


_KINDS: Final = (d.SIGNED, d.UNSIGNED, d.REAL_FLOATING, d.COMPLEX)


def register(name: str, load: Callable[[], Backend]) -> Device:
    """Make a device known.

    Parameters
    ----------
    name : str
        What users call it.
    load : callable
        Makes its backend; called once, on first use.
    """
    if name in _devices:
        raise ValueError(f"device {name!r} is registered already; choose another name")
    device = _devices[name] = _make(name, load, Traits())
    return device


def register_engine(engine: EngineSpec) -> None:
    """Make the devices of an engine known, by the beginning of their names.

    Parameters
    ----------
    engine : EngineSpec
        See there. Its `resolve` sees options as a part of the name; `options_of` reads them.

    Raises
    ------
    ValueError
        If there is an engine of that name.
    """
    if engine.name in _engines:
        raise ValueError(f"engine {engine.name!r} is registered already; choose another name")
    _engines[engine.name] = engine


def _with_options(name: str, options: dict[str, object]) -> str:
    text = ",".join([f"{key}={options[key]}" for key in sorted(options)])
    return f"{name}{',' if '=' in name else ':'}{text}"


def _resolve(name: object) -> Device:
    """The device of an engine, or of an entry point, by a name that is not registered."""
    if type(name) is not str:
        raise _unknown(name)
    found = _resolved.get(name)
    if found is not None:
        return found
    prefix, _, rest = name.partition(":")
    engine = _engines.get(prefix)
    if engine is not None:
        try:
            canonical = f"{prefix}:{engine.resolve(rest)}".removesuffix(":")
        except ValueError as error:
            raise _unknown(name, f"; {error}") from None
        if find_spec(engine.requires) is None:
            raise ImportError(
                f"device {name!r} needs {engine.requires}, which is not installed; "
                f"install it with: {engine.install}"
            )
        if canonical not in _resolved:
            load = partial(engine.load, canonical)
            _resolved[canonical] = _make(canonical, load, engine.traits(canonical))
        _resolved[name] = _resolved[canonical]
        return _resolved[name]
    for entry in _entry_points():
        if entry.name == prefix:
            _resolved[name] = _make(name, partial(_load_entry, entry, rest), Traits())
            return _resolved[name]
    raise _unknown(name)


def _load_entry(entry: EntryPoint, rest: str) -> Backend:
    backend: Backend = entry.load()(rest)
    return backend


def _unknown(name: object, hint: str = "") -> ValueError:
    names = [device.name for device in known_devices()]
    known = ", ".join(map(repr, names))
    if not hint and (meant := _meant(str(name).lower())):
        hint = f"; did you mean {' or '.join([repr(each) for each in meant])}?"
    hint = hint or did_you_mean(str(name), names)
    return ValueError(f"no device {name!r}; known devices: {known}{hint}")


def _meant(name: str) -> list[str]:
    """Devices whose names are those that other libraries have for them: ``cuda``, ``cpu:0``."""
    kind, _, number = name.partition(":")
    if kind == "cpu":
        return ["cpu"]
    rest = ":".join([{"gpu": "cuda"}.get(kind, kind), *([number] if number else [])])
    found = []
    for engine in _engines.values():
        try:
            engine.resolve(rest)
        except ValueError:
            continue
        found.append(f"{engine.name}:{rest}")
    return found if kind.isidentifier() else []


def _entry_points() -> Iterator[EntryPoint]:
    # Slow to import, and seldom needed.
    from importlib.metadata import entry_points

    yield from entry_points(group=ENTRY_POINTS)


def known_devices() -> tuple[Device, ...]:
    """The devices of this machine, as far as they are known without importing an engine.

    ``cpu`` first, then what was registered, then the devices of the installed engines: their
    accelerators are known once they are imported.
    """
    found = [*_devices.values()]
    for engine in _engines.values():
        found += [Device(f"{engine.name}:{rest}".removesuffix(":")) for rest in engine.offers()]
    names = {device.name for device in found}
    for entry in _entry_points():
        if entry.name not in names and entry.name not in _engines:
            found.append(Device(entry.name))
    return tuple(found)


def named_devices() -> tuple[Device, ...]:
    """The devices of engines that were named so far, with their options."""
    return tuple(dict.fromkeys(_resolved.values()))


def is_loaded(device: Device) -> bool:
    """Whether the backend of a device is loaded."""
    return not isinstance(device.backend, _NotLoaded)


def device_of(obj: object) -> Device | None:
    """The device that another library's array is on; None if no engine here knows it."""
    owner = type(obj).__module__.partition(".")[0]
    for engine in _engines.values():
        if owner in engine.owns:
            rest = engine.device_of(obj)
            return None if rest is None else Device(f"{engine.name}:{rest}".removesuffix(":"))
    return None


def as_device(device: Device | str | None) -> Device:
    """`device` as a Device: itself, the one of that name, or the default one for None."""
    if device is None:
        return default_device()
    return Device(device)


def default_device() -> Device:
    """The device of new arrays by default, here and now: not committed."""
    device: Device | None = config.hints.device
    return _uncommitted(config.current().default_device) if device is None else device


def _load_cpu() -> Backend:
    from .backends.cpu import CPUBackend

    backend = CPUBackend()
    if native is not None:
        native.set_cpu(CPU.counterpart, CPU, backend)
    return backend


CPU: Final = register("cpu", _load_cpu)

for _spec in (*ENGINES, *LIMITED):
    register_engine(_spec)


def _as_device_name(name: str, value: config.Given) -> str:
    """The check of the setting `default_device`."""
    try:
        return Device(value).name
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


config.use_devices(_as_device_name, _uncommitted)

if native is not None:
    native.set_hints(config.hints)
