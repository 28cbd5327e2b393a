"""Tests as a maintainer writes them: each function on an array, against numbers that are known.

Run ``python -m pytest -p array_api_nx.testing.plugin --xp numpy,nx:strict examples/testing_kit``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import library

from array_api_nx.testing import transfers, xp_assert_close

NUMBERS = [1.0, 4.0, 2.0, 8.0]


def make(xp, device, values=NUMBERS):
    return xp.asarray(values, dtype=xp.float32, device=device)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (library.geometric_mean, 2.828427),
        (library.positive_part_sum, 15.0),
        (library.standardise, [-1.025755, 0.093250, -0.652753, 1.585258]),
        (library.centre_of_mass, 2.133333),
        (library.without_mean, [-2.75, 0.25, -1.75, 4.25]),
        (library.weighted, 32.0),
        (library.number_of_values, 4),
        (library.with_first_doubled, [2.0, 4.0, 2.0, 8.0]),
    ],
)
def test_vectors(function, expected, xp, device):
    xp_assert_close(function(make(xp, device)), expected, rtol=1e-5)


def test_channels_first(xp, device):
    image = make(xp, device, [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
    xp_assert_close(library.channels_first(image), [[[1.0], [4.0]], [[2.0], [5.0]], [[3.0], [6.0]]])


def test_euclidean_length_without_a_loop(xp, device):
    x = make(xp, device)
    with transfers() as log:
        length = library.euclidean_length(x)
    assert len([each for each in log if each.kind == "scalar"]) <= 1, str(log)
    xp_assert_close(length, 9.219544, rtol=1e-5)
