"""NumPy's generators of random numbers, whose methods take and give arrays of the face."""

from __future__ import annotations

from typing import Any, Final

import numpy

from .adoption import as_numpys, by_numpy
from .fronts import fronted


def _plain(generator: Any) -> Any:
    """NumPy's own generator with the same stream. NumPy's methods call each other as methods of
    this one, and get NumPy's arrays."""
    members = vars(generator)
    if "_plain" not in members:
        numpys: Any = type(generator).__base__
        members["_plain"] = numpys(generator._bit_generator)
    return members["_plain"]


class _Method:
    """A method of NumPy's generators. The first access makes it an attribute of the generator."""

    def __init__(self, numpys: Any) -> None:
        self._numpys = numpys

    def __get__(self, generator: Any, owner: type) -> Any:
        if generator is None:
            return self._numpys
        name = self._numpys.__name__
        numpys = getattr(_plain(generator), name)

        def call(*args: Any, **named: Any) -> Any:
            return by_numpy(numpys, *args, **named)

        call.__name__, call.__doc__ = name, numpys.__doc__
        method = vars(generator)[name] = fronted(call, numpys)
        return method


class _Type(type):
    """The metaclass of our generators' classes. For ``isinstance`` NumPy's generators, which other
    libraries may have made, are instances of these classes, as its arrays are of `ndarray`."""

    def __instancecheck__(cls, instance: object) -> bool:
        numpys: Any = cls.__base__
        is_ours = type(numpys) is not _Type  # else a program's subclass of one of ours
        return isinstance(instance, numpys) if is_ours else super().__instancecheck__(instance)


def _subclass(numpys: type, members: dict[str, Any]) -> type:
    """A subclass of one of NumPy's classes, in the face's module."""
    place = {"__module__": "array_api_nx.numpy.random", "__doc__": numpys.__doc__}
    return _Type(numpys.__name__, (numpys,), members | place)


def _with_our_arrays(numpys: type) -> type:
    """A subclass whose methods take and give arrays of the face."""
    names = [name for name in dir(numpys) if name[0] != "_" and callable(getattr(numpys, name))]
    reduce: Any = numpys.__reduce__
    members = {
        **{name: _Method(getattr(numpys, name)) for name in names if name != "spawn"},
        "__reduce__": lambda self: (type(self), *reduce(self)[1:]),
    }
    return _subclass(numpys, members)


GENERATORS: Final[dict[str, Any]] = {
    kind.__name__: _with_our_arrays(kind)
    for kind in (numpy.random.Generator, numpy.random.RandomState)
}
"""By NumPy's names."""


def _with_our_seeds(numpys: Any) -> type:
    """A subclass whose seeds may be arrays of the face."""

    def init(self: Any, *args: Any, **named: Any) -> None:
        numpys.__init__(self, *as_numpys(args), **as_numpys(named))

    return _subclass(numpys, {"__init__": init})


SEEDED: Final[dict[str, Any]] = {
    name: _with_our_seeds(getattr(numpy.random, name))
    for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence")
}
"""The streams below generators, by NumPy's names."""


def _over(given: Any, kind: type) -> Any:
    """A generator of ours that draws from one of NumPy's."""
    generator = kind(given._bit_generator)
    vars(generator)["_plain"] = given
    return generator


def default_rng(seed: Any = None) -> Any:
    """A generator of random numbers, whose arrays are ours: see `numpy.random.default_rng`."""
    given = numpy.random.default_rng(as_numpys(seed))
    kind = GENERATORS["Generator"]
    return given if issubclass(type(given), kind) else _over(given, kind)


GLOBAL: Final = _over(numpy.random.mtrand._rand, GENERATORS["RandomState"])
"""The state of ``np.random.normal`` and others, which programs and libraries name, too."""
