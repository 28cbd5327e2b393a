"""Small programs as users of NumPy write them; `own` makes their arguments.

They use functions that NumPy and the array API standard share, so that both can run them.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def heat_1d(u: Any, v: Any, steps: int) -> None:
    for _ in range(steps):
        v[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
        u[1:-1] = v[1:-1] + 0.1 * (v[:-2] - 2.0 * v[1:-1] + v[2:])


def advection_2d(c: Any, east: Any, north: Any, steps: int) -> Any:
    """Upwind differences; the flow is to the east and the north."""
    for _ in range(steps):
        inner = c[1:-1, 1:-1]
        along = east[1:-1, 1:-1] * (inner - c[1:-1, :-2])
        across = north[1:-1, 1:-1] * (inner - c[:-2, 1:-1])
        c[1:-1, 1:-1] = inner - 0.2 * (along + across)
        c[:, 0] = c[:, 1]
        c[0, :] = c[1, :]
    return c


def wave_3d(past: Any, now: Any, steps: int) -> Any:
    for _ in range(steps):
        inner = now[1:-1, 1:-1, 1:-1]
        around = now[2:, 1:-1, 1:-1] + now[:-2, 1:-1, 1:-1]
        around += now[1:-1, 2:, 1:-1] + now[1:-1, :-2, 1:-1]
        around += now[1:-1, 1:-1, 2:] + now[1:-1, 1:-1, :-2]
        past[1:-1, 1:-1, 1:-1] = 2.0 * inner - past[1:-1, 1:-1, 1:-1] + 0.1 * (around - 6.0 * inner)
        past, now = now, past
    return now


def n_body_step(position: Any, velocity: Any, mass: Any, step: float) -> None:
    apart = position[None, :, :] - position[:, None, :]
    squares = np.sum(apart * apart, axis=2) + 0.01
    weights = mass / (squares * np.sqrt(squares))
    velocity += step * np.sum(apart * weights[:, :, None], axis=1)
    position += step * velocity


def _normal_distribution(x: Any) -> Any:
    """By the approximation 26.2.17 of Abramowitz and Stegun."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    factors = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153)
    series = factors[0] * t
    for factor in factors[1:]:
        series = (series + factor) * t
    tail = 0.3989422804 * np.exp(-0.5 * x * x) * series
    return np.where(x < 0.0, tail, 1.0 - tail)


def black_scholes(spot: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    now = strike * np.exp(-rate * years)
    call = spot * _normal_distribution(d1) - now * _normal_distribution(d2)
    return call, call - spot + now


def logistic_map(x: Any, r: Any, steps: int) -> Any:
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x, np.mean(x), np.std(x)


def mandelbrot_by_masks(c: Any, steps: int) -> Any:
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    for _ in range(steps):
        inside = np.abs(z) < 2.0
        z[inside] = z[inside] ** 2 + c[inside]
        counts[inside] += 1
    return counts


def k_means(points: Any, centres: Any, rounds: int) -> Any:
    labels = None
    for _ in range(rounds):
        apart = points[:, None, :] - centres[None, :, :]
        labels = np.argmin(np.sum(apart**2, axis=2), axis=1)
        for k in range(centres.shape[0]):
            centres[k, :] = np.mean(points[labels == k], axis=0)
    return labels, centres


def polynomial(x: Any, y: Any, z: Any, factors: Any) -> Any:
    """Of three variables, by Horner's rule: some 300 operations."""
    total = 0.0
    for plane in factors:
        part = 0.0
        for row in plane:
            inner = row[0]
            for factor in row[1:]:
                inner = inner * z + factor
            part = part * y + inner
        total = total * x + part
    return total


def smoothed(x: Any, weights: Any, window: int) -> Any:
    """A weighted mean of neighbours, and how far values lie from the mean of a window."""
    count = x.shape[0] - len(weights) + 1
    smooth = np.zeros_like(x)
    first = len(weights) // 2
    for k, weight in enumerate(weights):
        smooth[first : first + count] += weight * x[k : k + count]
    sums, squares = np.cumulative_sum(x), np.cumulative_sum(x * x)
    mean = (sums[window:] - sums[:-window]) / window
    variance = (squares[window:] - squares[:-window]) / window - mean * mean
    scores = (x[window:] - mean) / np.sqrt(np.maximum(variance, 1e-6))
    return smooth, np.clip(scores, -3.0, 3.0)


def relaxation_by_rows(u: Any, sweeps: int) -> None:
    for _ in range(sweeps):
        for i in range(1, u.shape[0] - 1):
            around = u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:]
            u[i, 1:-1] = -0.5 * u[i, 1:-1] + 0.375 * around


def kalman(observed: Any, move: Any, noise: Any, see: Any, spread: Any) -> Any:
    """The states of a filter of four variables. Two of them are observed."""
    state, covariance = np.zeros_like(move[:, 0]), np.eye(4, dtype=move.dtype)
    states = np.zeros((observed.shape[0], 4), dtype=move.dtype)
    for k in range(observed.shape[0]):
        state = move @ state
        covariance = move @ covariance @ move.T + noise
        gain = covariance @ see.T @ np.linalg.inv(see @ covariance @ see.T + spread)
        state = state + gain @ (observed[k, :] - see @ state)
        covariance = covariance - gain @ see @ covariance
        states[k, :] = state
    return states
