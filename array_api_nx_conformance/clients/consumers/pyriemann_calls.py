"""Calls of pyRiemann's functions of symmetric positive definite matrices."""

from __future__ import annotations

from pyriemann.geometry import base, covariance, distance, geodesic, kernel, mean, tangentspace

from ..agreement import Call, Namespace, Value


def _matrices(xp: Namespace) -> Value:
    """Four positive definite matrices."""
    numbers = xp.reshape(xp.astype(xp.arange(36) * 7 % 11, xp.float64), (4, 3, 3)) / 10
    return numbers @ xp.matrix_transpose(numbers) + 0.5 * xp.eye(3)


def _signals(xp: Namespace) -> Value:
    """Two recordings of three channels."""
    return xp.reshape(xp.sin(xp.astype(xp.arange(120) ** 2, xp.float64)), (2, 3, 20))


CALLS: dict[str, Call] = {
    "sqrtm": lambda xp: base.sqrtm(_matrices(xp)),
    "logm": lambda xp: base.logm(_matrices(xp)),
    "expm": lambda xp: base.expm(_matrices(xp)),
    "powm": lambda xp: base.powm(_matrices(xp), 0.3),
    "nearest_sym_pos_def": lambda xp: base.nearest_sym_pos_def(_matrices(xp)),
    "distance_riemann": lambda xp: distance.distance_riemann(
        _matrices(xp)[0, ...], _matrices(xp)[1, ...]
    ),
    "distance_logeuclid": lambda xp: distance.distance(
        _matrices(xp), _matrices(xp)[0, ...], metric="logeuclid"
    ),
    "distance_wasserstein": lambda xp: distance.distance(
        _matrices(xp), _matrices(xp)[0, ...], metric="wasserstein"
    ),
    "pairwise_distance": lambda xp: distance.pairwise_distance(_matrices(xp), metric="riemann"),
    "mean_riemann": lambda xp: mean.mean_riemann(_matrices(xp)),
    "mean_logeuclid": lambda xp: mean.gmean(_matrices(xp), metric="logeuclid"),
    "mean_euclid, weights": lambda xp: mean.gmean(
        _matrices(xp), metric="euclid", sample_weight=xp.asarray([1.0, 2.0, 1.0, 0.5])
    ),
    "mean_wasserstein": lambda xp: mean.mean_wasserstein(_matrices(xp)),
    "geodesic": lambda xp: geodesic.geodesic(
        _matrices(xp)[0, ...], _matrices(xp)[1, ...], 0.3, metric="riemann"
    ),
    "kernel": lambda xp: kernel.kernel(_matrices(xp), metric="riemann"),
    "tangent_space": lambda xp: tangentspace.tangent_space(
        _matrices(xp), _matrices(xp)[0, ...], metric="riemann"
    ),
    "untangent_space": lambda xp: tangentspace.untangent_space(
        tangentspace.upper(_matrices(xp)), _matrices(xp)[0, ...], metric="riemann"
    ),
    "covariances": lambda xp: covariance.covariances(_signals(xp), estimator="cov"),
    "covariances scm": lambda xp: covariance.covariances(_signals(xp), estimator="scm"),
    "covariance_sch": lambda xp: covariance.covariance_sch(_signals(xp)[0, ...]),
    "normalize": lambda xp: covariance.normalize(_matrices(xp), "trace"),
}
