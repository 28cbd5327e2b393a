"""The timed cases: one statement each, written against the standard alone.

a and b are float64 matrices, d is one to write to; c fits for a product, e has a leading axis of
size 1, i holds indices and mask booleans.
"""

from __future__ import annotations

COMPUTING = (
    "xp.add(a, b)",
    "a + b",
    "a * 2.0",
    "a / b",
    "a ** 2",
    "-a",
    "a < b",
    "xp.equal(a, b)",
    "xp.maximum(a, b)",
    "xp.exp(a)",
    "xp.sqrt(a)",
    "xp.abs(a)",
    "xp.isnan(a)",
    "xp.where(mask, a, b)",
    "xp.clip(a, 0.2, 0.8)",
    "xp.sum(a)",
    "xp.sum(a, axis=0)",
    "xp.mean(a, axis=0, keepdims=True)",
    "xp.std(a, axis=1)",
    "xp.max(a, axis=1)",
    "xp.any(mask)",
    "xp.argmax(a, axis=1)",
    "xp.matmul(a, c)",
    "xp.astype(a, xp.float32)",
    "xp.zeros((3, 4))",
    "xp.concat([a, b])",
    "xp.stack([a, b])",
    "xp.take(a, i, axis=0)",
    "xp.sort(a)",
    "xp.cumulative_sum(a, axis=0)",
    "float(a[0, 0])",
)
"""Small calls that compute."""

WRITING = (
    "a[mask]",
    "a[i, ...]",
    "d[0, :] = 1.0",
    "d[...] = b",
    "d[mask] = 0.0",
    "d += b",
    "d *= 2.0",
)
"""Small calls that select with arrays, and that write."""

MOVING = (
    "xp.permute_dims(a, (1, 0))",
    "xp.reshape(a, (4, 3))",
    "a.T",
    "xp.expand_dims(a, axis=0)",
    "xp.broadcast_to(a, (2, 3, 4))",
    "xp.flip(a, axis=0)",
    "xp.squeeze(e, axis=0)",
    "xp.moveaxis(a, 0, 1)",
    "a[1, ...]",
    "a[:, 1:3]",
    "a[::-1, :]",
    "a[None, ...]",
)
"""Small calls that move and index."""

LARGE = (
    "a + b",
    "a * 2.0",
    "a / b",
    "a.T + b.T",
    "a < b",
    "xp.exp(a)",
    "xp.sqrt(a)",
    "xp.floor_divide(a, b)",
    "xp.where(mask, a, b)",
    "xp.clip(a, 0.2, 0.8)",
    "xp.sum(a)",
    "xp.sum(a, axis=0)",
    "xp.max(a, axis=1)",
    "xp.mean(a, axis=1)",
    "xp.var(a, axis=0)",
    "xp.argmax(a, axis=1)",
    "xp.cumulative_sum(a, axis=1)",
    "xp.sort(a, axis=1)",
    "xp.astype(a, xp.float32)",
    "xp.concat([a, b])",
    "a[mask]",
    "d += b",
)
"""Single operations on large arrays."""
