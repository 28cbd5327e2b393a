"""Strict namespaces: module objects with the names of a version of the standard."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Never

from ...core.dtypes import EXTRA
from ...frontend.missing import mends
from .array import StrictArray, array_class
from .dtypes import STRICT
from .errors import Section
from .functions import function_of
from .policy import Policy
from .signatures import CONSTANTS, DTYPES, functions
from .versions import added_in, lacks

_PACKAGE = __name__.partition(".")[0]


class _Names(ModuleType):
    """A module whose names are listed, and stay as they are."""

    _policy: Policy

    def __dir__(self) -> list[str]:
        return list(vars(self)["__all__"])

    def __getattr__(self, name: str) -> Never:
        raise _missing(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self.__name__} cannot be changed; write functions of your own")


class StrictNamespace(_Names):
    """The names of a version of the standard, and nothing else."""

    _array_class: type[StrictArray]

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy.name, f"The Python Array API standard {policy.version}, strictly.")
        set_ = object.__setattr__
        set_(self, "_policy", policy)
        set_(self, "_array_class", array_class(policy, self))
        ours = import_module(_PACKAGE)
        for name in CONSTANTS:
            set_(self, name, getattr(ours, name))
        for name in DTYPES:
            set_(self, name, STRICT[getattr(ours, name)])
        set_(self, "__array_api_version__", policy.version)
        extensions = {
            name: _Extension(f"{policy.name}.{name}", policy) for name in policy.extensions
        }
        for name, extension in extensions.items():
            set_(self, name, extension)
        own = self._array_class
        for name, function in functions().items():
            if lacks(policy.version, name):
                continue
            where, _, short = name.rpartition(".")
            if where and where not in extensions:
                continue
            place: ModuleType = extensions[where] if where else self
            made = function_of(function, policy, own)
            set_(place, short, vars(self).get(short, made) if where == "linalg" else made)
        every: list[ModuleType] = [self, *extensions.values()]
        for place in every:
            set_(place, "__all__", sorted(_public(place)))

    def __reduce__(self) -> tuple[object, tuple[Policy]]:
        return namespace_of, (self._policy,)


class _Extension(_Names):
    """``linalg`` or ``fft`` of a strict namespace."""

    def __init__(self, name: str, policy: Policy) -> None:
        super().__init__(name, f"An extension of the Python Array API standard {policy.version}.")
        object.__setattr__(self, "_policy", policy)

    def __reduce__(self) -> tuple[object, tuple[object, str]]:
        owner = namespace_of(self._policy)
        return getattr, (owner, self.__name__.rpartition(".")[2])


def _public(place: ModuleType) -> list[str]:
    named = ("__array_api_version__", "__array_namespace_info__")
    return [n for n in vars(place) if not n.startswith("_") or n in named]


def _missing(place: _Names, name: str) -> Exception:
    """The AttributeError for a name that a namespace or an extension lacks."""
    owner, policy = place.__name__, place._policy
    if name.startswith("_"):
        return AttributeError(f"module {owner!r} has no attribute {name!r}")
    extension = owner.rpartition(".")[2] if owner != policy.name else ""
    full = f"{extension}.{name}" if extension else name
    if name in ("linalg", "fft") and not extension:
        return Section("Extensions").refuse(
            AttributeError,
            f"this namespace is one without {name}; extensions are optional",
            f"ask first: if hasattr(xp, {name!r})",
        )
    if full in EXTRA:
        return Section("Data Types").refuse(
            AttributeError, f"{full} is a dtype beyond the standard", "use xp.float32"
        )
    if full in functions():
        since = added_in(full)
        return AttributeError(
            f"{full} came with version {since} of the standard, and this namespace is of "
            f"{policy.version}; use array_api_nx.testing.strict({since!r}), or do without it"
        )
    mend = mends(f"{_PACKAGE}.{extension}" if extension else _PACKAGE).get(name, "")
    words = mend.removeprefix("use xp.").partition(".") if mend.startswith("use xp.") else ("",)
    known = words[0] in vars(namespace_of(policy)) and len(mend.split()) == 2
    return AttributeError(
        f"the standard {policy.version} has no {full}; "
        + (mend if known else "compose it of functions that dir(xp) lists")
    )


@cache
def namespace_of(policy: Policy) -> StrictNamespace:
    """The namespace with these options: always the same object."""
    made = StrictNamespace(policy)
    # By their name here functions are pickled.
    sys.modules.setdefault(policy.name, made)
    for name in policy.extensions:
        sys.modules.setdefault(f"{policy.name}.{name}", getattr(made, name))
    return made
