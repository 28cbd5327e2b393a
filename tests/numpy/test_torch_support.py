"""PyTorch's functions that take NumPy's arrays, with arrays of the face."""

import inspect

import numpy
import pytest

import array_api_nx.numpy as np
from tests.support.processes import python

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def test_tensors_share_the_memory_of_arrays():
    for x in (np.zeros((2, 3)), np.zeros((3, 2), dtype=np.int16).T, np.zeros(100_000)[::2] * 2.0):
        tensor = torch.from_numpy(x)
        assert tuple(tensor.shape) == x.shape
        tensor[...] = 3
        later = x + 1
        tensor[...] = 5
        assert x.min() == x.max() == 5.0
        assert later.min() == later.max() == 4.0


def test_other_arguments_are_pytorchs():
    x = numpy.zeros(3)
    torch.from_numpy(x)[1] = 2.0
    assert x.tolist() == [0.0, 2.0, 0.0]
    with pytest.raises(TypeError, match="expected"):
        torch.from_numpy([1.0])
    assert "from_numpy" in (inspect.getdoc(torch.from_numpy) or "")


def test_loaders_collate_them():
    items = [(np.arange(3.0) + i, i) for i in range(4)]
    (x, labels), (y, _) = torch.utils.data.DataLoader(items, batch_size=2)
    assert x.tolist() == [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
    assert y.dtype == torch.float64
    assert labels.tolist() == [0, 1]
    mixed = torch.utils.data.default_collate([{"a": x[0]} for x in items])
    assert tuple(mixed["a"].shape) == (4, 3)


@pytest.mark.parametrize("modules", ["torch, array_api_nx.numpy", "array_api_nx.numpy, torch"])
def test_either_may_be_imported_first(modules):
    statement = "print(torch.from_numpy(array_api_nx.numpy.ones(2)).tolist())"
    assert python("-c", f"import {modules}; {statement}").strip() == "[1.0, 1.0]"
