"""Calls of aspire: its samples and its transformations of them."""

from __future__ import annotations

from dataclasses import fields

from array_api_compat import is_array_api_obj
from aspire.samples import BaseSamples, MCMCSamples, Samples, SMCSamples
from aspire.transforms import AffineTransform, LogitTransform, PeriodicTransform, ProbitTransform

from ..agreement import Call, Namespace, Value


def _points(xp: Namespace) -> Value:
    return xp.reshape(xp.astype(xp.arange(12) * 7 % 12, xp.float64), (6, 2)) / 12 + 0.02


def _logs(xp: Namespace) -> Value:
    return xp.asarray([-1.0, -2.5, -0.5, -3.0, -1.5, -2.0])


def _samples(xp: Namespace) -> Samples:
    return Samples(
        x=_points(xp), log_likelihood=_logs(xp), log_prior=0.1 * _logs(xp), log_q=0.5 * _logs(xp)
    )


def _tempered(xp: Namespace) -> SMCSamples:
    return SMCSamples(
        x=_points(xp), log_likelihood=_logs(xp), log_prior=_logs(xp), log_q=-_logs(xp), beta=0.1
    )


def _both_ways(transform: Value, xp: Namespace) -> Value:
    forward, log_jacobian = transform.forward(_points(xp))
    return forward, log_jacobian, transform.inverse(forward)


def _fitted(xp: Namespace) -> AffineTransform:
    transform = AffineTransform(xp=xp)
    transform.fit(_points(xp))
    return transform


def _bounds(xp: Namespace) -> dict[str, Value]:
    return {"lower": xp.asarray([0.0, 0.0]), "upper": xp.asarray([1.5, 1.5]), "xp": xp}


def unwrap(value: Value) -> Value:
    """The arrays of samples: their points, and what else they hold for each."""
    if not isinstance(value, BaseSamples):
        return value
    found = [getattr(value, field.name) for field in fields(value)]
    return tuple(each for each in found if is_array_api_obj(each))


CALLS: dict[str, Call] = {
    "BaseSamples": lambda xp: BaseSamples(x=_points(xp), parameters=["a", "b"]),
    "BaseSamples, dtype": lambda xp: BaseSamples(x=_points(xp), dtype="float32"),
    "samples[...]": lambda xp: BaseSamples(x=_points(xp), log_prior=_logs(xp))[2:4],
    "concatenate": lambda xp: BaseSamples.concatenate([BaseSamples(x=_points(xp))] * 2),
    "to_dict": lambda xp: tuple(BaseSamples(x=_points(xp)).to_dict()[k] for k in ("x_0", "x_1")),
    "Samples": _samples,
    "efficiency": lambda xp: _samples(xp).efficiency,
    "scaled_weights": lambda xp: _samples(xp).scaled_weights,
    "Samples[...]": lambda xp: _samples(xp)[1:4],
    "SMCSamples.log_p_t": lambda xp: _tempered(xp).log_p_t(0.5),
    "SMCSamples.log_weights": lambda xp: _tempered(xp).log_weights(0.5),
    "SMCSamples.log_evidence_ratio_variance": lambda xp: _tempered(xp).log_evidence_ratio_variance(
        0.5
    ),
    "SMCSamples.to_standard_samples": lambda xp: _tempered(xp).to_standard_samples(),
    "MCMCSamples.from_chain": lambda xp: (
        MCMCSamples.from_chain(xp.reshape(_points(xp), (3, 2, 2))).chain
    ),
    "AffineTransform": lambda xp: _both_ways(_fitted(xp), xp),
    "LogitTransform": lambda xp: _both_ways(LogitTransform(**_bounds(xp)), xp),
    "ProbitTransform": lambda xp: _both_ways(ProbitTransform(**_bounds(xp)), xp),
    "PeriodicTransform": lambda xp: _both_ways(PeriodicTransform(**_bounds(xp)), xp),
}
