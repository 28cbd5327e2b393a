"""Each row of the tables in docs/from-numpy.md gives the same on both sides."""

import re
from pathlib import Path

import numpy as np
import pytest

import array_api_nx as xp

PAGE = (Path(__file__).parents[2] / "docs" / "from-numpy.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| `(.+?)`( if NumPy has it)? \| `(.+?)` \|",
    PAGE.partition("\n## Names\n")[2].partition("\n## ")[0],
    re.MULTILINE,
)


def arguments():
    rng = np.random.default_rng(0)
    return {
        "a": rng.uniform(0.1, 1.0, (3, 3)),
        "b": rng.uniform(0.1, 1.0, (3, 3)),
        "v": rng.permutation(np.asarray([-1.7, -0.4, 0.5, 0.9, 2.25, 3.5])),
        "i": np.asarray([3, 1, 4, 1, 5, 9]),
        "m": np.asarray([True, False, True, True, False, False]),
    }


def test_there_are_enough_rows():
    assert len(ROWS) > 80


@pytest.mark.parametrize(("theirs", "if_there", "ours"), ROWS, ids=[row[0] for row in ROWS])
def test_both_sides_agree(theirs, if_there, ours):
    if if_there and not hasattr(np, theirs.removeprefix("np.").partition("(")[0]):
        pytest.skip("this NumPy does not have it")
    expected = eval(theirs, {"np": np, **arguments()})
    with np.errstate(invalid="ignore"):
        found = eval(
            ours,
            {
                "np": np,
                "xp": xp,
                **{name: xp.asarray(value, copy=True) for name, value in arguments().items()},
            },
        )
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
    else:
        expected, found = (expected,), (found,)
    for one, other in zip(expected, found, strict=True):
        if not isinstance(other, xp.Array):
            assert other == one
            continue
        assert other.shape == np.shape(one)
        assert other.dtype == np.asarray(one).dtype
        np.testing.assert_allclose(np.asarray(other), one, rtol=1e-12)
