"""Something to do when another library is imported, by whomever, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, final
from warnings import warn

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    # The import system asks for methods, not for these classes, whose import takes 5 ms.
    Loader = MetaPathFinder = object


def when_imported(name: str, then: Callable[[], object]) -> None:
    """Call `then` once: now, if the module `name` is imported already, else after its import.

    Until then there is one more entry in ``sys.meta_path``, which the import system asks for each
    module that is imported for the first time (docs/tuning.md, 96). It finds nothing but that
    module, by asking the other entries, and is gone once the module is there.

    name: A top-level module.
    then: If it fails for lack of something in the module, as it may in other versions of that,
        there is an ImportWarning, and the import succeeds.
    """
    waiting = [each for each in sys.meta_path if isinstance(each, _Finder) and each.name == name]
    if name in sys.modules:
        _do(name, then)
    elif waiting:  # two finders of one module would ask each other for it without end
        waiting[0].actions.append(then)
    else:
        sys.meta_path.insert(0, _Finder(name, then))


def _do(name: str, then: Callable[[], object]) -> None:
    try:
        then()
    except (AttributeError, ImportError) as error:
        text = f"this version of {name} is not known to array_api_nx: {error}"
        warn(text, ImportWarning, stacklevel=2)


@final
class _Finder(MetaPathFinder):
    """Finds one module as the other finders do, and has something done after it was loaded."""

    def __init__(self, name: str, then: Callable[[], object]) -> None:
        self.name = name
        self.actions = [then]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self.name:
            return None
        # The list may change while other threads import.
        for finder in list(sys.meta_path):
            if finder is not self:
                spec = finder.find_spec(name, path, target)
                if spec is not None and spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self._loaded)
                    return spec
        return None

    def _loaded(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            for then in self.actions:
                _do(self.name, then)


@final
class _Loader(Loader):
    """Loads a module by its own loader, which is then the one that the module knows."""

    def __init__(self, loader: Loader, loaded: Callable[[], None]) -> None:
        self._loader = loader
        self._loaded = loaded

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._loaded()
