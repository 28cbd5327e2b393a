"""The names of the engines' devices, which of them this machine has, and how they load.

Nothing here imports an engine before one of its devices is used. Whether it is installed is asked
of the import system; which accelerators it sees, only of an engine that is imported already.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Final, NamedTuple

from ...contract.arguments import Native
from ...contract.backend import Backend
from ...core import dtypes as d
from ...core.dtypes import DType


class Traits(NamedTuple):
    """Traits of a device that are known before its engine is loaded.

    `missing`: the dtypes that arrays cannot have.
    `boolean_indexing`, `data_dependent_shapes`: the standard's capabilities of these names.
    """

    missing: frozenset[DType] = frozenset()
    boolean_indexing: bool = True
    data_dependent_shapes: bool = True

    @property
    def real(self) -> DType:
        """The dtype of new arrays."""
        return d.widest(d.REAL_FLOATING, self.missing)

    @property
    def complex(self) -> DType:
        """That of new complex arrays."""
        return d.widest(d.COMPLEX, self.missing)

    @property
    def integral(self) -> DType:
        """That of new arrays of integers, and of indices."""
        return d.widest(d.SIGNED, self.missing)


def _everything(name: str) -> Traits:
    return Traits()


def _no_device(x: Native) -> str | None:
    return None


class EngineSpec(NamedTuple):
    """The devices of one engine.

    name: What their names begin with, up to the first colon.
    resolve: From the rest of a device's name to its canonical rest; ValueError, saying what there
        is, if there is no such device. Must not import the engine.
    load: From a canonical name to its backend; called once, on first use.
    offers: The canonical names of the devices that are known to be there, without importing.
    requires: The module without which nothing works.
    install: The command that installs it, and what there is to know before it is run.
    owns: The top-level modules whose objects `device_of` understands.
    device_of: From such an object to the name of the device it is on; None if it is no array.
    traits: From a canonical name to what that device has; must not import the engine.
    """

    name: str
    resolve: Callable[[str], str]
    load: Callable[[str], Backend]
    offers: Callable[[], tuple[str, ...]] = tuple
    requires: str = "numpy"
    install: str = "pip install numpy"
    owns: tuple[str, ...] = ()
    device_of: Callable[[Native], str | None] = _no_device
    traits: Callable[[str], Traits] = _everything


def _numbered(engine: str, kinds: tuple[str, ...], single: tuple[str, ...]) -> Callable[[str], str]:
    """A resolver for `kinds` of devices that are counted, and for single ones."""

    def resolve(rest: str) -> str:
        kind, _, number = rest.partition(":")
        if rest in single:
            return rest
        if kind in kinds and (number.isdecimal() or rest == kind):
            return f"{kind}:{int(number or 0)}"
        if not rest:
            return single[0]
        names = [*single, *[f"{kind}:0" for kind in kinds]]
        raise ValueError(f"its devices are {', '.join([f'{engine}:{name}' for name in names])}")

    return resolve


def options_of(rest: str) -> dict[str, str]:
    """The options in the rest of a device's name: ``"a=1,b=2"`` as a dict.

    Raises ValueError if it is anything else.
    """
    options = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"options are written key=value,key=value, not {rest!r}")
        options[key] = value
    return options


# ---------------------------------------------------------------------- PyTorch


def _load_torch(name: str) -> Backend:
    from .torch_compiled import CompilingTorchBackend

    return CompilingTorchBackend(name, name.partition(":")[2])


def _torch_offers() -> tuple[str, ...]:
    torch = sys.modules.get("torch")
    if torch is None:
        return ("cpu",)
    names = ["cpu", *[f"cuda:{i}" for i in range(torch.cuda.device_count())]]
    if torch.backends.mps.is_available():
        names.append("mps")
    return tuple(names)


def _device_of_tensor(x: Native) -> str | None:
    torch = sys.modules["torch"]
    if not isinstance(x, torch.Tensor):
        return None
    # "mps:0" is the only one.
    return "mps" if x.device.type == "mps" else str(x.device)


def _torch_traits(name: str) -> Traits:
    if name != "torch:mps":
        return Traits()
    # It has no double precision.
    return Traits(frozenset(d.DOUBLE))


# ---------------------------------------------------------------------- JAX


def _load_jax(name: str) -> Backend:
    from .jax import JaxBackend

    return JaxBackend(name, name.partition(":")[2])


def _jax_offers() -> tuple[str, ...]:
    jax = sys.modules.get("jax")
    names = ["cpu"]
    if jax is not None and jax.default_backend() != "cpu":
        names += [f"cuda:{device.id}" for device in jax.devices() if device.platform == "gpu"]
    return tuple(names)


def _device_of_jax_array(x: Native) -> str | None:
    jax = sys.modules["jax"]
    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer):
        return None
    devices = x.devices()
    if len(devices) > 1:
        raise TypeError(
            f"a JAX array on {len(devices)} devices is on none of ours; "
            "put it on one with jax.device_put(x, device)"
        )
    (device,) = devices
    return "cpu" if device.platform == "cpu" else f"cuda:{device.id}"


# ---------------------------------------------------------------------- CuPy


def _resolve_cupy(rest: str) -> str:
    if rest.isdecimal() or not rest:
        return str(int(rest or 0))
    raise ValueError("its devices are cupy:0, cupy:1, ...")


def _load_cupy(name: str) -> Backend:
    from .cupy import CupyBackend

    return CupyBackend(name, int(name.partition(":")[2]))


def _cupy_offers() -> tuple[str, ...]:
    cupy = sys.modules.get("cupy")
    if cupy is None or not cupy.cuda.is_available():
        return ()
    return tuple([str(i) for i in range(cupy.cuda.runtime.getDeviceCount())])


def _device_of_cupy_array(x: Native) -> str | None:
    cupy = sys.modules["cupy"]
    return str(x.device.id) if isinstance(x, cupy.ndarray) else None


# ---------------------------------------------------------------------- Dask


# What Dask understands as a number of bytes, except that it understands 0 and nothing at all too.
_SIZE: Final = re.compile(r"(?=.*[1-9])(\d+\.?\d*|\.\d+)(e\d+)? *([kmgtp]i?)?b?", re.IGNORECASE)


def _dask_options(rest: str) -> tuple[str | None, bool]:
    """How large chunks are, and whether computations show how far they are."""
    options = options_of(rest)
    chunks = options.pop("chunks", None)
    progress = options.pop("progress", "False")
    if options or progress not in ("True", "False"):
        raise ValueError("its options are chunks=..., such as chunks=64MiB, and progress=True")
    if chunks is not None and not _SIZE.fullmatch(chunks):
        raise ValueError(f"chunks have a size, such as chunks=64MiB, and not {chunks!r}")
    return chunks, progress == "True"


def _resolve_dask(rest: str) -> str:
    chunks, progress = _dask_options(rest)
    parts = [f"chunks={chunks}"] if chunks is not None else []
    return ",".join([*parts, "progress=True"] if progress else parts)


def _load_dask(name: str) -> Backend:
    from ..dask import DaskBackend

    chunks, progress = _dask_options(name.partition(":")[2])
    return DaskBackend(chunks, progress=progress)


def _device_of_dask_array(x: Native) -> str | None:
    return "" if isinstance(x, sys.modules["dask.array"].Array) else None


def _if_installed(
    module: str, offers: Callable[[], tuple[str, ...]]
) -> Callable[[], tuple[str, ...]]:
    return lambda: offers() if find_spec(module) else ()


_INSTALL_TORCH: Final = (
    "pip install torch, which on Linux brings 5.7 GB of CUDA libraries, or, for the CPU alone, the "
    'command that https://pytorch.org/get-started/locally/ shows for the compute platform "CPU"'
)

ENGINES: Final = (
    EngineSpec(
        "torch",
        _numbered("torch", ("cuda",), ("cpu", "mps")),
        _load_torch,
        _if_installed("torch", _torch_offers),
        "torch",
        _INSTALL_TORCH,
        ("torch",),
        _device_of_tensor,
        _torch_traits,
    ),
    EngineSpec(
        "jax",
        _numbered("jax", ("cuda",), ("cpu",)),
        _load_jax,
        _if_installed("jax", _jax_offers),
        "jax",
        "pip install jax",
        ("jaxlib", "jax"),
        _device_of_jax_array,
    ),
    EngineSpec(
        "cupy",
        _resolve_cupy,
        _load_cupy,
        _if_installed("cupy", _cupy_offers),
        "cupy",
        "pip install cupy-cuda12x",
        ("cupy",),
        _device_of_cupy_array,
    ),
    EngineSpec(
        "dask",
        _resolve_dask,
        _load_dask,
        _if_installed("dask", lambda: ("",)),
        "dask",
        "pip install 'dask[array]' distributed",
        ("dask",),
        _device_of_dask_array,
    ),
)
