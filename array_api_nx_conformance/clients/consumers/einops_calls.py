"""Calls of einops, from its tutorial and its page about the Array API."""

from __future__ import annotations

import einops
import einops.array_api

from ..agreement import Call, Namespace, Value


def _images(xp: Namespace) -> Value:
    """Three images: batch, height, width, channels."""
    return xp.reshape(xp.astype(xp.arange(3 * 4 * 6 * 2), xp.float64), (3, 4, 6, 2))


CALLS: dict[str, Call] = {
    "rearrange": lambda xp: einops.rearrange(_images(xp), "b h w c -> b c h w"),
    "rearrange, composing axes": lambda xp: einops.rearrange(
        _images(xp), "b h w c -> (b h) (w c)"
    ),
    "rearrange, decomposing axes": lambda xp: einops.rearrange(
        _images(xp), "b (h h2) (w w2) c -> b h w (c h2 w2)", h2=2, w2=2
    ),
    "rearrange a list": lambda xp: einops.rearrange(
        list(einops.array_api.rearrange(_images(xp), "b h w c -> b h w c")), "b h w c -> b h w c"
    ),
    "reduce mean": lambda xp: einops.reduce(_images(xp), "b h w c -> b c", "mean"),
    "reduce max, pooling": lambda xp: einops.reduce(
        _images(xp), "b (h h2) (w w2) c -> b h w c", "max", h2=2, w2=2
    ),
    "reduce by a function": lambda xp: einops.reduce(
        _images(xp), "b h w c -> b", lambda x, axes: xp.sum(x, axis=axes)
    ),
    "repeat": lambda xp: einops.repeat(_images(xp), "b h w c -> b (h 2) (w 2) c"),
    "pack": lambda xp: einops.pack([_images(xp), _images(xp)[..., 0]], "b h w *"),
    "unpack": lambda xp: einops.unpack(_images(xp), [(1,), (1,)], "b h w *"),
    "parse_shape": lambda xp: tuple(einops.parse_shape(_images(xp), "b h w _").values()),
    "einsum": lambda xp: einops.einsum(
        _images(xp)[0], _images(xp)[1], "h w c, h w d -> c d"
    ),
    "array_api.rearrange": lambda xp: einops.array_api.rearrange(
        _images(xp), "b h w c -> b c h w"
    ),
    "array_api.reduce": lambda xp: einops.array_api.reduce(_images(xp), "b h w c -> b c", "mean"),
    "array_api.repeat": lambda xp: einops.array_api.repeat(
        _images(xp), "b h w c -> b (h 2) (w 2) c"
    ),
    "array_api.pack": lambda xp: einops.array_api.pack(
        [_images(xp), _images(xp)[..., 0]], "b h w *"
    ),
}  # fmt: skip
