"""What is told of the attributes of NumPy's, PyTorch's and JAX's arrays that ours lack."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import re
import sys

import numpy as np
import pytest

import array_api_nx as xp
from array_api_nx.core.spelling import swapped
from array_api_nx.frontend.missing_attributes import INSTEAD, MissingAttribute
from tests.support.tables import for_each


def test_every_attribute_of_numpys_arrays_is_there_or_has_an_alternative():
    x = xp.ones((2, 2))
    names = [name for name in dir(np.ndarray) if not name.startswith("_")]
    assert not [n for n in names if not hasattr(x, n) and n not in INSTEAD]


OTHERS = {
    "torch": """
        T abs add_ bool clamp clone contiguous cpu cuda detach device dim dtype expand flatten
        float item is_cuda long masked_fill mm mul_ numel numpy permute requires_grad reshape shape
        sum t to tolist topk unsqueeze zero_
    """,
    "jax.numpy": "at block_until_ready devices item sharding",
}


@pytest.mark.parametrize("library", OTHERS)
def test_what_users_of_other_libraries_write_is_there_or_has_an_alternative(library):
    x = xp.ones((2, 2))
    names = OTHERS[library].split()
    assert not [name for name in names if not hasattr(x, name) and name not in INSTEAD]
    theirs = pytest.importorskip(library).ones((2, 2))
    assert [name for name in names if not hasattr(theirs, name)] == []


def test_no_attribute_that_is_there_has_an_alternative():
    for name in INSTEAD:
        assert type(inspect.getattr_static(xp.Array, name)) is MissingAttribute


@for_each("name", INSTEAD)
def test_the_error_tells_the_mend_and_python_does_not_guess(name):
    for owner in (xp.ones(2), xp.Array):
        with pytest.raises(AttributeError) as caught:
            getattr(owner, name)
        assert str(caught.value) == f"'Array' object has no attribute {name!r}; {INSTEAD[name]}"
        assert caught.value.name is None
        assert caught.value.obj is owner
        assert not hasattr(owner, name)
    for path in re.findall(r"\bxp\.([\w.]*\w)", INSTEAD[name]):
        owner, _, function = path.rpartition(".")
        assert hasattr(getattr(xp, owner) if owner else xp, function)
    for attribute in re.findall(r"\bx\.(\w+)", INSTEAD[name]):
        assert hasattr(xp.ones((2, 2)), attribute)


def test_an_attribute_whose_letters_changed_places_is_guessed_as_a_name_is(capsys):
    x = xp.ones((2, 2))
    for name in (name for name in dir(x) if not name.startswith("_")):
        for word in swapped(name) - {*dir(x)} - {*INSTEAD}:
            with pytest.raises(AttributeError, match=f"'{word}'; did you mean '\\w+'\\?"):
                getattr(x, word)
            assert not hasattr(x, word)
            assert word not in dir(x)
    for code, told in (
        ("x.maen()", "'Array' object has no attribute 'maen'; did you mean 'mean'?"),
        ("x.shpe", "'shpe'. Did you mean: 'shape'?"),
        ("x.astpye", "'astpye'; did you mean 'astype'?"),
        ("x.reshap", "'reshap'. Did you mean: 'reshape'?"),
    ):
        try:
            eval(code, {"x": x})
        except AttributeError:
            sys.__excepthook__(*sys.exc_info())
        assert capsys.readouterr().err.splitlines()[-1].endswith(told)


def test_arrays_do_not_list_them():
    x = xp.ones((2, 2))
    assert not set(INSTEAD) & set(dir(x))
    assert {"T", "mT", "shape", "sum", "__add__", "__dlpack__"} <= set(dir(x))
    with pytest.raises(AttributeError) as caught:
        _ = x.shapes
    assert caught.value.name == "shapes"
    for name in ("fit", "iloc", "pvalue", "__array_interface__", "_private"):
        assert not hasattr(x, name)


def test_arrays_cannot_be_given_them():
    x = xp.ones(2)
    with pytest.raises(AttributeError):
        x.flags = None
    assert copy.copy(x).shape == pickle.loads(pickle.dumps(x)).shape == (2,)


def test_numpys_functions_that_look_for_methods_do_without():
    x = xp.asarray([3.0, 1.0, 2.0])
    assert np.sort(x).tolist() == [1.0, 2.0, 3.0]
    assert np.argsort(x).tolist() == [1, 2, 0]
    assert np.cumsum(x).tolist() == [3.0, 4.0, 6.0]
    assert np.take(x, [1]).tolist() == [1.0]
    assert np.repeat(x, 2).shape == (6,)


def test_help_tells_the_mends():
    text = pydoc.render_doc(xp.Array, renderer=pydoc.plaintext)
    assert "Missing: use xp.sort(x), which gives a new array." in text
