"""The results as Markdown, which is also what the terminal shows."""

from __future__ import annotations

from ..markdown import table
from .packages import CONSUMERS, NUMPY
from .report import Values
from .runner import RENAMED

_WRITTEN = "This page was written by\n`python -m conformance clients --markdown FILE`."
_ABOUT = """\
The test suites that SciPy and scikit-learn ship, and calls of array-api-extra's functions and of
other consumers, run on `{name}`. {written}

Every test counted uses the namespace. *Skipped* and *expected to fail* are the client's own marks,
among them those for all namespaces but NumPy. *Explained*: it fails for every namespace whose name
the client does not know, or the test itself asks for what the standard does not have; the reasons
are below."""
_CONSUMERS = """\
Calls from the packages' own documentation, with arrays of the namespace and with NumPy's. A call
*works* if it gives the namespace's arrays, on its default device, with NumPy's values and dtypes.
*Became another's*: the result is an array of another library, as a rule NumPy's. *Not counted*:
NumPy itself fails."""
_NUMPY = """\
NumPy's own tests, in which `numpy` and its modules mean `{name}` and its modules. Tests are
*expected to fail* for the reasons below; one that passes all the same is a failure. {written}"""
_RENAMED = f"`{RENAMED}` is array_api_strict under a name that no client knows."


def render(record: Values) -> str:
    """Tables of the counts, the causes of the failures, and their explanations."""
    judged, *others = record["namespaces"]
    environment = record["environment"]
    names = ", ".join(f"`{each['name']}` {each['version']}" for each in record["namespaces"])
    is_numpys = [*judged["clients"]] == [NUMPY]
    whose, about = ("NumPy's", _NUMPY) if is_numpys else ("Clients'", _ABOUT)
    parts = [
        f"# {whose} tests on {judged['name']}",
        about.format(name=judged["name"], written=_WRITTEN),
        f"{names}; NumPy {environment['numpy']}, Python {environment['python']},"
        f" {record['started'][:10]}.",
    ]
    if any(each["name"] == RENAMED for each in record["namespaces"]):
        parts.append(_RENAMED)
    for name, client in judged["clients"].items():
        beside = {each["name"]: each["clients"].get(name) for each in others}
        parts.append(f"## {name} {client['version']}")
        if "started" in client:
            parts.append(f"Run on {client['started'][:10]}.")
        if name == CONSUMERS:
            parts += [_CONSUMERS, _consumers(client, beside)]
        else:
            parts.append(_counts(client, beside))
        if client.get("groups"):
            parts += [_share(client["totals"]), _groups(client["groups"])]
        if client["end"] != "finished":
            parts.append(f"**Not complete ({client['end']}): {client['not_run']} tests not run.**")
        if name == CONSUMERS:
            parts += [*_failures(client), *_left_out(client)]
        elif client["causes"]:
            parts.append(_causes(client))
    if record["explanations"]:
        parts.append("## Explanations")
        parts += [
            f"**{name}**: {_code(each['line'])}\n\n{each['reason'].strip()}"
            for name, each in record["explanations"].items()
        ]
    return "\n\n".join(parts) + "\n"


def _counts(client: Values, beside: dict[str, Values | None]) -> str:
    rows = [
        ["submodule", "tests", "skipped", "expected to fail", "passed", "failed", "explained"]
        + [f"failed on {name}" for name in beside]
    ]
    for name, counts in [*client["submodules"].items(), ("all", client["totals"])]:
        row = [name, counts["tests"], counts["skipped"], counts["expected"]]
        row += [counts["passed"], counts["failed"], counts["explained"]]
        row += [_failed(other, name) for other in beside.values()]
        rows.append([str(cell) for cell in row])
    return table(rows)


def _share(counts: Values) -> str:
    run = counts["tests"] - counts["skipped"]
    return f"**{counts['passed'] / run:.1%}** of the {run} tests that were run pass."


def _groups(groups: Values) -> str:
    rows = [["expected to fail, or left out", "tests", "because"]]
    rows += [[name, str(each["tests"]), each["reason"]] for name, each in groups.items()]
    return table(rows)


def _consumers(client: Values, beside: dict[str, Values | None]) -> str:
    rows = [
        ["package", "calls", "works", "became another's", "fails", "explained", "not counted"]
        + [f"works on {name}" for name in beside]
    ]
    for name, counts in [*client["submodules"].items(), ("all", client["totals"])]:
        fails = counts["failed"] - counts["became"]
        row = [name, counts["tests"] - counts["skipped"], counts["passed"], counts["became"]]
        row += [fails, counts["explained"], counts["skipped"]]
        row += [_works(other, name) for other in beside.values()]
        rows.append([str(cell) for cell in row])
    return table(rows)


def _works(client: Values | None, name: str) -> str:
    if client is None:
        return ""
    counts = client["totals"] if name == "all" else client["submodules"].get(name)
    return "" if counts is None else str(counts["passed"])


def _failures(client: Values) -> list[str]:
    """A row for each call that does not work; nothing if all do."""
    rows = [["call", "what became of it", "there", "explained"]]
    for each in client["failures"]:
        at = _code(each["at"]) if each["at"] else ""
        rows.append(
            [_call(each["id"]), _code(each["message"]), at, each["explanation"] or "**no**"]
        )
    return [table(rows)] if client["failures"] else []


def _left_out(client: Values) -> list[str]:
    rows = [["not counted", "because"]]
    rows += [[_call(each["id"]), _code(each["reason"])] for each in client["left_out"]]
    return [table(rows)] if client["left_out"] else []


def _call(test: str) -> str:
    """The consumer and its operation, out of a test's id."""
    return test.partition("[")[2].removesuffix("]")


def _failed(client: Values | None, name: str) -> str:
    """How many tests failed there, of how many; nothing if there were none."""
    if client is None:
        return ""
    counts = client["totals"] if name == "all" else client["submodules"].get(name)
    return "" if counts is None else f"{counts['failed']} of {counts['tests']}"


def _causes(client: Values) -> str:
    rows = [["failed", "cause", "explained", "one of them"]]
    for cause in client["causes"]:
        example = next(
            each
            for each in client["failures"]
            if (each["cause"], each["explanation"]) == (cause["message"], cause["explanation"])
        )
        explained = cause["explanation"] or "**no**"
        rows.append([str(cause["tests"]), _code(cause["message"]), explained, _code(example["id"])])
    return table(rows)


def _code(text: str) -> str:
    return f"``{text}``" if "`" not in text else f"``` {text} ```"
