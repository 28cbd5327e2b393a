"""Modules that lie in no package."""

import importlib.util
import sys
import types
from pathlib import Path

__all__ = ["load", "module"]


def module(path: Path, source: str) -> types.ModuleType:
    """The module of this source, which is written to `path`."""
    path.write_text(source, encoding="utf-8")
    return load(path)


def load(path: Path) -> types.ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded  # dataclasses look for it there
    spec.loader.exec_module(loaded)
    return loaded
