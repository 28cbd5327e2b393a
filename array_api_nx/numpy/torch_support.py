"""Arrays of the face where PyTorch takes NumPy's alone: in `torch.from_numpy`, and in loaders.

This module is imported after PyTorch, wherever that is imported, before this package or after it;
never without PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any, Final

import torch
from torch.utils.data._utils.collate import default_collate_fn_map

from .adoption import as_numpys
from .arrays import ndarray

_from_numpy: Final = torch.from_numpy


@wraps(_from_numpy)
def _of_array(x: Any) -> Any:
    return _from_numpy(as_numpys(x))


def _collate(batch: Sequence[Any], *, collate_fn_map: object = None) -> Any:
    """One tensor of the arrays of a batch, as PyTorch makes it of NumPy's arrays."""
    return torch.stack([torch.as_tensor(x) for x in batch])


torch.from_numpy = _of_array
default_collate_fn_map[ndarray] = _collate
