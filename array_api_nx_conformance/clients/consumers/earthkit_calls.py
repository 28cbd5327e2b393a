"""Calls of the functions of arrays in earthkit-meteo."""

from __future__ import annotations

import datetime

import earthkit.meteo.extreme.array as extreme
import earthkit.meteo.score.array as score
import earthkit.meteo.solar.array as solar
import earthkit.meteo.stats.array as stats
import earthkit.meteo.thermo.array as thermo
import earthkit.meteo.vertical.array as vertical
import earthkit.meteo.wind.array as wind

from ..agreement import Call, Namespace, Value

_DATE = datetime.datetime(2026, 6, 1, 12)


def _temperature(xp: Namespace) -> Value:
    return xp.asarray([264.12, 261.45, 275.30, 290.01])


def _dewpoint(xp: Namespace) -> Value:
    return _temperature(xp) - xp.asarray([1.0, 3.5, 8.0, 2.2])


def _pressure(xp: Namespace) -> Value:
    return xp.asarray([100300.0, 95000.0, 85000.0, 70000.0])


def _humidity(xp: Namespace) -> Value:
    return xp.asarray([0.001, 0.002, 0.0031, 0.0089])


def _ensemble(xp: Namespace) -> Value:
    """Eleven members or quantiles at three points."""
    numbers = xp.astype(xp.arange(33) * 7 % 17, xp.float64)
    return xp.sort(xp.reshape(numbers, (11, 3)), axis=0)


CALLS: dict[str, Call] = {
    "thermo.specific_humidity_from_mixing_ratio": lambda xp: (
        thermo.specific_humidity_from_mixing_ratio(_humidity(xp))
    ),
    "thermo.saturation_vapour_pressure": lambda xp: (
        thermo.saturation_vapour_pressure(_temperature(xp))
    ),
    "thermo.relative_humidity_from_dewpoint": lambda xp: (
        thermo.relative_humidity_from_dewpoint(_temperature(xp), _dewpoint(xp))
    ),
    "thermo.potential_temperature": lambda xp: (
        thermo.potential_temperature(_temperature(xp), _pressure(xp))
    ),
    "thermo.lcl": lambda xp: (
        thermo.lcl(_temperature(xp), _dewpoint(xp), _pressure(xp))
    ),
    "thermo.ept_from_dewpoint": lambda xp: (
        thermo.ept_from_dewpoint(_temperature(xp), _dewpoint(xp), _pressure(xp))
    ),
    "thermo.wet_bulb_temperature_from_dewpoint": lambda xp: (
        thermo.wet_bulb_temperature_from_dewpoint(
            _temperature(xp), _dewpoint(xp), _pressure(xp)
        )
    ),
    "wind.speed": lambda xp: wind.speed(_dewpoint(xp), _temperature(xp)),
    "wind.direction": lambda xp: wind.direction(_dewpoint(xp), -_temperature(xp)),
    "wind.polar_to_xy": lambda xp: wind.polar_to_xy(
        _temperature(xp), xp.asarray([0.0, 90.0, 200.0, 310.0])
    ),
    "wind.coriolis": lambda xp: wind.coriolis(xp.asarray([-20.0, 0.0, 50.0])),
    "wind.windrose": lambda xp: wind.windrose(
        xp.asarray([3.0, 7.0, 8.0, 1.0]), xp.asarray([10.0, 100.0, 190.0, 350.0]),
        sectors=4, speed_bins=xp.asarray([0.0, 5.0, 10.0]),
    ),
    "solar.cos_solar_zenith_angle": lambda xp: solar.cos_solar_zenith_angle(
        _DATE, xp.asarray([40.0, -10.0]), xp.asarray([18.0, 60.0])
    ),
    "vertical.geometric_height_from_geopotential": lambda xp: (
        vertical.geometric_height_from_geopotential(_pressure(xp))
    ),
    "vertical.interpolate_monotonic": lambda xp: vertical.interpolate_monotonic(
        _ensemble(xp), xp.asarray([float(level) for level in range(11)]),
        xp.asarray([1.5, 4.0]), "linear",
    ),
    "score.pearson_correlation": lambda xp: score.pearson_correlation(
        _ensemble(xp), _ensemble(xp) ** 2
    ),
    "score.crps_from_ensemble": lambda xp: score.crps_from_ensemble(
        _ensemble(xp), _ensemble(xp)[4, :]
    ),
    "stats.nanaverage": lambda xp: stats.nanaverage(_ensemble(xp), axis=0),
    "stats.quantiles, sort": lambda xp: tuple(
        stats.iter_quantiles(_ensemble(xp), which=4, method="sort")
    ),
    "stats.quantiles, numpy": lambda xp: tuple(
        stats.iter_quantiles(_ensemble(xp), which=4, method="numpy")
    ),
    "extreme.efi": lambda xp: extreme.efi(_ensemble(xp), _ensemble(xp) + 1),
    "extreme.sot": lambda xp: extreme.sot(
        xp.concat([_ensemble(xp)] * 10)[:101, ...], _ensemble(xp) + 1, 90
    ),
}  # fmt: skip
