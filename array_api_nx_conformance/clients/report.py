"""Counts and causes of clients' runs, as JSON values.

The JSON (``schema`` is raised with every change that a reader would notice):

- ``schema``, ``started``, ``exit_status``, ``environment``: versions of Python and NumPy;
- ``explanations``: name -> the client's ``line`` and the ``reason``, where a failure needs it;
- ``namespaces``: a list, the judged one first; each has ``name``, ``version``, and ``clients``:
  name -> ``version``, ``end``, ``duration``, ``not_run`` (a number), ``totals``, ``submodules``
  (name -> counts), ``causes`` (``message``, ``tests``, ``explanation``), and for the judged one
  ``failures`` (``id``, ``message``, ``cause``, ``at``, ``explanation``, ``also``: the other
  namespaces on which the test fails). A client that is of another run has its own ``started``.

Counts: ``tests`` use the namespace; each is ``passed``, ``failed`` (``explained`` of them),
``expected`` (marked by the client as failing), or ``skipped`` by the client. ``became`` counts
those of the failed whose result is another library's array; it and ``left_out`` (``id`` and
``reason`` of what was skipped) are of the client ``consumers`` alone. ``groups`` (name ->
``tests``, ``reason``) of the client ``numpy`` are what was expected to fail, and what was not run.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from ..pytest_run import Result
from ..report import FAILED, INTERRUPTED, PASSED, cut
from .consumers import BECAME
from .explain import Explanation, explain, place
from .packages import CONSUMERS, NUMPY, folder_of, submodule
from .runner import OUTCOMES, ClientRun

Values = dict[str, Any]
SCHEMA = 1
_LONGEST = 160  # of a message
_GROUP = re.compile(r"group (?P<name>[\w-]+): (?P<reason>.+)")  # of `numpy_plugin`
# What differs between tests that fail for one cause.
_ARRAY = re.compile(r"\barray\(\[.*", re.DOTALL)
_VARIABLE = re.compile(r"\b0x[0-9a-f]+\b|(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?\b")


def record(runs: list[list[ClientRun]], explanations: list[Explanation]) -> Values:
    """The runs of several namespaces as JSON values.

    Parameters
    ----------
    runs : list of list of ClientRun
        The runs of each namespace; the judged one first.
    explanations : list of Explanation
        The explanations.
    """
    namespaces = [_namespace(each, explanations) for each in runs]
    judged, others = namespaces[0], namespaces[1:]
    for name, client in judged["clients"].items():
        for failure in client["failures"]:
            failure["also"] = [
                other["name"]
                for other in others
                if name in other["clients"]
                and failure["id"].replace(judged["name"], other["name"])
                in {each["id"] for each in other["clients"][name]["failures"]}
            ]
    needed = {cause["explanation"] for cause in _causes(judged)}
    for other in others:
        for client in other["clients"].values():
            del client["failures"]  # thousands of lines about something else
    return {
        "schema": SCHEMA,
        "started": runs[0][0].started.isoformat(timespec="seconds"),
        "exit_status": _exit_status(namespaces),
        "environment": {"python": platform.python_version(), "numpy": version("numpy")},
        "explanations": {
            e.name: {"line": e.line, "reason": e.reason} for e in explanations if e.name in needed
        },
        "namespaces": namespaces,
    }


def _exit_status(namespaces: list[Values]) -> int:
    ends = [{client["end"] for client in each["clients"].values()} for each in namespaces]
    if any("interrupted" in each for each in ends):
        return INTERRUPTED
    unexplained = any(not cause["explanation"] for cause in _causes(namespaces[0]))
    return FAILED if unexplained or ends[0] != {"finished"} else PASSED


def _causes(namespace: Values) -> list[Values]:
    return [cause for client in namespace["clients"].values() for cause in client["causes"]]


def _namespace(runs: list[ClientRun], explanations: list[Explanation]) -> Values:
    module = runs[0].module
    return {
        "name": module.name,
        "version": module.version,
        "clients": {run.client.client.name: _client(run, explanations) for run in runs},
    }


def _client(run: ClientRun, explanations: list[Explanation]) -> Values:
    submodules: dict[str, list[Result]] = {}
    for result in run.results.values():
        submodules.setdefault(submodule(run.client.client, result.id), []).append(result)
    failures = [
        _failure(result, run, explanations)
        for result in run.results.values()
        if result.outcome == "failed"
    ]
    explained = {each["id"] for each in failures if each["explanation"]}
    causes = Counter((each["cause"], each["explanation"]) for each in failures)
    counts = _calls if run.client.client.name == CONSUMERS else _counts
    return {
        "version": run.client.version,
        "end": run.end,
        "duration": round(run.duration, 1),
        "not_run": len(run.not_run),
        "totals": counts(run.results.values(), explained),
        "submodules": {name: counts(submodules[name], explained) for name in sorted(submodules)},
        "causes": [
            {"message": message, "tests": tests, "explanation": name}
            for (message, name), tests in causes.most_common()
        ],
        "failures": failures,
        **({"left_out": _left_out(run)} if run.client.client.name == CONSUMERS else {}),
        **({"groups": _groups(run)} if run.client.client.name == NUMPY else {}),
    }


def _groups(run: ClientRun) -> Values:
    groups: Values = {}
    for result in run.results.values():
        found = _GROUP.fullmatch(result.message)
        if result.outcome in ("expected", "skipped") and found is not None:
            group = groups.setdefault(found["name"], {"tests": 0, "reason": found["reason"]})
            group["tests"] += 1
    return groups


def _left_out(run: ClientRun) -> list[dict[str, str]]:
    return [
        {"id": result.id, "reason": cut(result.message, _LONGEST)}
        for result in run.results.values()
        if result.outcome == "skipped"
    ]


def _failure(result: Result, run: ClientRun, explanations: list[Explanation]) -> Values:
    folder = folder_of(run.client, result.id)
    at, source = place(result.longrepr, folder)
    return {
        "id": result.id,
        "message": cut(result.message, _LONGEST),
        "cause": normalised(result.message),
        "at": at,
        "explanation": explain(explanations, result.id, result.message, source, folder),
    }


def _counts(results: Iterable[Result], explained: set[str]) -> dict[str, int]:
    results = list(results)
    counter = Counter(result.outcome for result in results)
    return {
        "tests": len(results),
        **{outcome: counter[outcome] for outcome in OUTCOMES},
        "explained": sum(result.id in explained for result in results),
    }


def _calls(results: Iterable[Result], explained: set[str]) -> dict[str, int]:
    results = list(results)
    became = [each for each in results if each.outcome == "failed" and BECAME in each.message]
    return _counts(results, explained) | {"became": len(became)}


def normalised(message: str) -> str:
    """A message without the numbers, addresses and arrays that differ from test to test."""
    return cut(_ARRAY.sub("array(...)", _VARIABLE.sub("N", message)), _LONGEST)
