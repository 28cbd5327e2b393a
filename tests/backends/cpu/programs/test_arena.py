"""Places of blocks in a larger one."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from array_api_nx.backends.cpu.programs.arena import SlotLifetime, place


@st.composite
def blocks(draw: st.DrawFn) -> SlotLifetime:
    first = draw(st.integers(0, 8))
    sizes = st.one_of(st.integers(0, 300), st.sampled_from([0, 1, 63, 64, 65, 4096, 10**9]))
    return SlotLifetime(draw(sizes), first, first + draw(st.integers(0, 8)))


@given(st.lists(blocks(), max_size=14))
def test_places(found):
    positions, total = place(found)
    assert len(positions) == len(found)
    assert all([position % 64 == 0 for position in positions])
    ends = [position + block.size for position, block in zip(positions, found, strict=True)]
    assert total == max(ends, default=0)
    for (a, x, x_end), (b, y, y_end) in combinations(zip(found, positions, ends, strict=True), 2):
        together = a.first <= b.last and b.first <= a.last
        assert not together or x_end <= y or y_end <= x


@given(st.lists(blocks(), max_size=14))
def test_no_more_than_side_by_side(found):
    _, total = place(found)
    aligned = [-(-block.size // 64) * 64 for block in found]
    assert total <= sum(aligned)
    for moment in range(17):
        assert total >= sum([b.size for b in found if b.first <= moment <= b.last])


def test_memory_is_used_again():
    assert place([]) == ([], 0)
    chain = [SlotLifetime(640, i, i + 1) for i in range(10)]
    positions, total = place(chain)
    assert set(positions) == {0, 640}
    assert total == 1280
    # A small block takes the place of a larger one; one that is used throughout lies next to both.
    assert place([SlotLifetime(100, 0, 5), SlotLifetime(640, 0, 2), SlotLifetime(64, 3, 5)]) == (
        [640, 0, 0],
        740,
    )
