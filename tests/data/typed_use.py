"""What type checkers are to make of code that uses the package; tests/test_typing.py asks them."""

from typing import assert_type

import array_api_nx as xp

x = xp.asarray([1.0])
assert_type(x, xp.Array)
assert_type(x + 1, xp.Array)
assert_type(1 - x, xp.Array)
assert_type(x.shape, tuple[int, ...])
assert_type(xp.sum(x, axis=0), xp.Array)
assert_type(xp.linalg.qr(xp.eye(2)).Q, xp.Array)
xp.sum(x, 0)  # type: ignore[call-arg]
