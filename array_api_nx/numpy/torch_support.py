"""Arrays of the face as items that PyTorch's loaders collate.

This module is imported after PyTorch, wherever that is imported, before this package or after it;
never without PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data._utils.collate import default_collate_fn_map

from .arrays import ndarray


def _collate(batch: Sequence[Any], *, collate_fn_map: object = None) -> Any:
    """One tensor of the arrays of a batch, as PyTorch makes it of NumPy's arrays."""
    return torch.stack([torch.as_tensor(x) for x in batch])


default_collate_fn_map[ndarray] = _collate
