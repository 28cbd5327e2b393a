"""Where the parts of a picture of a computation go: rows from top to bottom, lines in between.

The rows are given. Within them items are ordered so that few lines cross, and then moved so that
lines are short and long ones straight, while neighbours keep their distance.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["STRAIGHT", "Item", "Line", "arrange", "connect"]

GAP: Final = 18.0
"""Between neighbours."""

SWEEPS: Final = 20

CENTRE: Final = 0.15
"""How much everything wants to be in the middle, against a line that wants to be straight."""

STRAIGHT: Final = 8.0
"""The weight of lines that belong together."""

FIXED: Final = 100.0
"""The weight of the place of an item in a straight chain."""


class Item:
    """Something in a row.

    Attributes
    ----------
    width : float
    x : float
        The middle.
    above, below : list of Line
        Lines to the row above and to the row below.
    """

    __slots__ = ("above", "below", "width", "x")

    def __init__(self, width: float) -> None:
        self.width = width
        self.x = 0.0
        self.above: list[Line] = []
        self.below: list[Line] = []


class Line(NamedTuple):
    """A line from an item to one in the next row.

    Attributes
    ----------
    upper, lower : Item
    entry : float
        Where it ends: how far to the right of the lower item's middle.
    weight : float
        How much it matters that it is straight.
    """

    upper: Item
    lower: Item
    entry: float
    weight: float


def connect(upper: Item, lower: Item, entry: float = 0.0, weight: float = 1.0) -> None:
    """Draw a line between items of neighbouring rows."""
    line = Line(upper, lower, entry, weight)
    upper.below.append(line)
    lower.above.append(line)


def arrange(rows: list[list[Item]]) -> float:
    """Order the items of each row, and place them.

    Returns
    -------
    float
        The width of the whole. The items lie between 0 and this.
    """
    _order(rows)
    _place(rows)
    _straighten(rows)
    left = min([item.x - item.width / 2 for row in rows for item in row])
    for row in rows:
        for item in row:
            item.x -= left
    return max([item.x + item.width / 2 for row in rows for item in row])


# ---------------------------------------------------------------------- order


def _order(rows: list[list[Item]]) -> None:
    """Order each row by what it is connected to, down and up; the best order of all stays."""
    for row in rows:
        _pack(row)
    best, fewest = [list(row) for row in rows], _crossings(rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            row.sort(key=lambda item: _wish(item, down))
            _pack(row)
        count = _crossings(rows)
        if count < fewest:
            best, fewest = [list(row) for row in rows], count
    for row, order in zip(rows, best, strict=True):
        row[:] = order
        _pack(row)


def _pack(row: list[Item]) -> None:
    x = -sum([item.width + GAP for item in row]) / 2
    for item in row:
        item.x = x + (item.width + GAP) / 2
        x += item.width + GAP


def _wish(item: Item, down: bool) -> float:
    """Where the lines from one side come from on the average; where the item is if it has none."""
    if down:
        ends = [line.upper.x - line.entry for line in item.above]
    else:
        ends = [line.lower.x + line.entry for line in item.below]
    return sum(ends) / len(ends) if ends else item.x


def _crossings(rows: list[list[Item]]) -> int:
    count = 0
    for row in rows:
        ends = [(line.upper.x, line.lower.x + line.entry) for item in row for line in item.below]
        for i, (x, y) in enumerate(ends):
            count += sum([(x - u) * (y - v) < 0 for u, v in ends[:i]])
    return count


def _aim(item: Item, from_above: bool, from_below: bool) -> tuple[float, float]:
    """Where an item should be on the average of what its lines say, and how much it matters."""
    wishes = [(0.0, CENTRE)]
    if from_above:
        wishes += [(line.upper.x - line.entry, line.weight) for line in item.above]
    if from_below:
        wishes += [(line.lower.x + line.entry, line.weight) for line in item.below]
    total = sum([weight for _, weight in wishes])
    return sum([x * weight for x, weight in wishes]) / total, total


# ---------------------------------------------------------------------- places


def _place(rows: list[list[Item]]) -> None:
    for sweep in range(SWEEPS):
        last = sweep >= SWEEPS - 4
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            _spread(row, [_aim(item, down or last, not down or last) for item in row])


def _spread(row: list[Item], aims: list[tuple[float, float]]) -> None:
    """Bring the items of a row as near to where they should be as their order and gaps allow.

    Items that would come too near to each other are joined, and go together to where that is best
    on the average, in the sense of least squares.
    """
    # Without their widths and gaps, items may come as near as to the same place.
    shifts = []
    shift = 0.0
    for i, item in enumerate(row):
        if i:
            shift += (row[i - 1].width + item.width) / 2 + GAP
        shifts.append(shift)
    groups: list[tuple[float, float, int]] = []
    for (x, weight), shift in zip(aims, shifts, strict=True):
        place, count = x - shift, 1
        while groups and groups[-1][0] >= place:
            other, more, size = groups.pop()
            place = (place * weight + other * more) / (weight + more)
            weight += more
            count += size
        groups.append((place, weight, count))
    places = [place for place, _, count in groups for _ in range(count)]
    for item, place, shift in zip(row, places, shifts, strict=True):
        item.x = place + shift


def _chains(rows: list[list[Item]]) -> list[list[Item]]:
    """Items that should be exactly below each other."""
    chains: dict[Item, list[Item]] = {}
    for row in rows:
        for item in row:
            chain = [item]
            if len({line.upper for line in item.above}) == 1:
                upper, _, _, weight = item.above[0]
                if weight == STRAIGHT or len({line.lower for line in upper.below}) == 1:
                    chain = chains[upper]
                    chain.append(item)
            chains[item] = chain
    return [chain for item, chain in chains.items() if len(chain) > 1 and item is chain[0]]


def _straighten(rows: list[list[Item]]) -> None:
    """Bring the items of each chain below each other, and the others to where that leaves them."""
    chains = _chains(rows)
    middles: dict[Item, tuple[float, float]] = {}
    for _ in range(SWEEPS):
        for chain in chains:
            x = sum([item.x for item in chain]) / len(chain)
            middles.update(dict.fromkeys(chain, (x, FIXED)))
        for row in rows:
            _spread(row, [middles.get(item) or _aim(item, True, True) for item in row])
    for item, (x, _) in middles.items():
        # Half of the gap can be spared.
        if abs(item.x - x) < GAP / 4:
            item.x = x
