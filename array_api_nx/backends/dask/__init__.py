"""The Dask backend: arrays larger than memory, on one machine or many, computed when asked for."""

from __future__ import annotations

from .backend import DaskBackend

__all__ = ["DaskBackend"]
