"""Modules made by tests."""

from __future__ import annotations

import importlib.util
import types
from pathlib import Path

__all__ = ["module"]


def module(path: Path, source: str) -> types.ModuleType:
    """The module of this source, which is written to `path`."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
