"""Where the parts of a picture go."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.explain.layout import STRAIGHT, Item, arrange, connect

Rows = list[list[Item]]


@st.composite
def pictures(draw: st.DrawFn) -> Rows:
    """A few rows of items, with lines between neighbouring rows."""
    widths = st.floats(2.0, 200.0)
    rows = draw(
        st.lists(st.lists(st.builds(Item, widths), min_size=1, max_size=5), min_size=1, max_size=6)
    )
    for upper, lower in pairwise(rows):
        ends = st.tuples(st.sampled_from(upper), st.sampled_from(lower))
        for start, end in draw(st.lists(ends, max_size=6)):
            connect(start, end, weight=draw(st.sampled_from([0.2, 1.0, STRAIGHT])))
    return rows


@given(pictures())
def test_items_of_a_row_lie_apart_and_inside(rows):
    before = [set(row) for row in rows]
    width = arrange(rows)
    assert [set(row) for row in rows] == before
    for row in rows:
        for left, right in pairwise(row):
            assert left.x + left.width / 2 < right.x - right.width / 2
        assert row[0].x - row[0].width / 2 >= -1e-6
        assert row[-1].x + row[-1].width / 2 <= width + 1e-6


def test_a_chain_is_straight():
    rows = [[Item(width)] for width in (30.0, 80.0, 10.0)]
    for (upper,), (lower,) in pairwise(rows):
        connect(upper, lower)
    assert arrange(rows) == 80.0
    assert [row[0].x for row in rows] == [40.0, 40.0, 40.0]


def test_lines_that_cross_are_uncrossed():
    a, b, c, d = [Item(40.0) for _ in range(4)]
    connect(a, d)
    connect(b, c)
    rows = [[a, b], [c, d]]
    arrange(rows)
    assert (a.x < b.x) == (d.x < c.x)
    assert abs(a.x - d.x) < 1
    assert abs(b.x - c.x) < 1


def test_a_line_ends_where_it_enters():
    left, right, sum_ = Item(40.0), Item(40.0), Item(100.0)
    # The argument on the left comes from the item on the right, until they change places.
    connect(right, sum_, entry=-16.0)
    connect(left, sum_, entry=16.0)
    arrange([[left, right], [sum_]])
    assert right.x < left.x
    assert abs((left.x + right.x) / 2 - sum_.x) < 1e-6
