"""The namespace that is judged, inside the process that judges it."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..dtypes import ALL
from .findings import MissingError, UnsupportedError

Value: TypeAlias = Any  # an array of the namespace, a dtype of it
Numbers: TypeAlias = NDArray[np.number]


class Subject:
    """A namespace, with the few steps that every check takes.

    Parameters
    ----------
    name : str
        Its importable name.
    device : str
        The device that is to be the default one; empty for the namespace's own choice.
    """

    def __init__(self, name: str, device: str = "") -> None:
        self.name = name
        self.xp: Value = pkgutil.resolve_name(name)
        for extension in ("linalg", "fft"):
            try:
                importlib.import_module(f"{name}.{extension}")
            except ImportError:
                continue  # it is an attribute, or is not there: `function` says so
        if device:
            self.xp.set_default_device(device)
        self.mutable = self._is_mutable()
        # Whether a write to a slice shows in the array: else views and copies look the same.
        self.views = self.mutable and self._has_views()

    def function(self, name: str) -> Value:
        """The function of that name in the standard, such as ``sin`` or ``linalg.det``.

        Raises
        ------
        MissingError
            If the namespace lacks it.
        """
        owner = self.xp
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is None:
            raise MissingError(f"{self.name} has no {name}")
        return owner

    def has(self, name: str) -> bool:
        """Whether the namespace has the function."""
        try:
            self.function(name)
        except MissingError:
            return False
        return True

    def dtype(self, name: str) -> Value:
        """The dtype of that name.

        Raises
        ------
        UnsupportedError
            If the namespace does not have it.
        """
        found = getattr(self.xp, name, None)
        if found is None:
            raise UnsupportedError(f"{self.name} has no {name}")
        return found

    def array(self, values: object, dtype: str) -> Value:
        """A new array of these values: nested lists or numbers.

        Raises
        ------
        UnsupportedError
            If the namespace does not make arrays of this dtype, as JAX does without x64.
        """
        wanted = self.dtype(dtype)
        made = self.xp.asarray(values, dtype=wanted)
        if made.dtype != wanted:
            raise UnsupportedError(f"{self.name} makes {made.dtype} where {dtype} is asked for")
        return made

    def dtype_of(self, array: Value) -> str:
        """The standard's name of an array's dtype; its own where the standard has none."""
        for name in ALL:
            if getattr(self.xp, name, None) == array.dtype:
                return name
        return str(array.dtype)

    def numpy(self, array: Value) -> Numbers:
        """A copy of an array's values."""
        for convert in (_by_dlpack, _from_device, np.asarray):
            try:
                found = convert(array)
            except Exception:
                continue  # the next way may do
            if found.dtype != object:
                return np.array(found)
        return self._element_by_element(array)

    def _element_by_element(self, array: Value) -> Numbers:
        """The way that the standard promises."""
        dtype = self.dtype_of(array)
        convert: Any = complex if "complex" in dtype else float if "float" in dtype else int
        out = np.empty(array.shape, dtype=dtype)
        for index in itertools.product(*map(range, array.shape)):
            out[index] = convert(array[index])
        return out

    def write(self, array: Value, value: object) -> None:
        """Assign to all elements.

        Raises
        ------
        UnsupportedError
            If arrays of this namespace cannot be written.
        """
        if not self.mutable:
            raise UnsupportedError(f"arrays of {self.name} cannot be written")
        array[...] = value

    def _is_mutable(self) -> bool:
        array = self.xp.asarray([1.0, 2.0])
        try:
            array[...] = 3.0
        except Exception:
            return False
        return bool(self.numpy(array)[0] == 3.0)

    def _has_views(self) -> bool:
        array = self.xp.asarray([1.0, 2.0])
        part = array[:1]  # array[:] may be the array itself
        part[...] = 3.0
        return bool(self.numpy(array)[0] == 3.0)


def _by_dlpack(array: Value) -> Value:
    return np.from_dlpack(array)


def _from_device(array: Value) -> Value:
    return np.from_dlpack(array.to_device("cpu"))
