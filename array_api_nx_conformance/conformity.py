"""Whether a namespace conforms, in the same words for every report, and what that rests on."""

from __future__ import annotations

from .records import Record, unexcused
from .verdict import BAD, FULL_EXAMPLES, is_provisional


def basis(examples: int) -> str:
    """What a verdict rests on, in words."""
    words = f"{examples} example{'s' if examples > 1 else ''} per test"
    return f"{words}, provisional below {FULL_EXAMPLES}" if is_provisional(examples) else words


def is_selection(run: Record) -> bool:
    """Whether tests were left out, by choice or because the run ended early."""
    options = run["options"]
    chosen = options["select"] or options["chapters"] or run["left_out"]
    return bool(chosen) or run["end"] != "finished"


def is_partial(run: Record) -> bool:
    """Whether tests or dtypes were left out, or functions have not been judged."""
    return is_selection(run) or bool(run["totals"]["not run"] or lacking(run))


def lacking(run: Record) -> str:
    """The dtypes that no test used, because the namespace says that its default device has none."""
    return ", ".join(run["module"].get("lacking", ()))


def untested(run: Record) -> list[str]:
    """Sentences about dtypes that no test used."""
    extra = ", ".join(run["module"].get("extra", ()))
    sentences = {
        "No test used the dtypes that the default device lacks": lacking(run),
        "No test used the dtypes beyond the standard": extra,
    }
    return [f"{words}: {dtypes}." for words, dtypes in sentences.items() if dtypes]


def answer(run: Record) -> str:
    """Whether the namespace conforms, as far as the run can tell.

    "yes", or "partly" and "but for known failures", together or alone, with "(provisional)" where
    too few examples were tried; "no", which more examples would not change; or how a run ended that
    did not finish.
    """
    if run["end"] != "finished":
        return str(run["end"])
    if unexcused(run):
        return "no"
    known = any(test["known"] and test["verdict"] in BAD for test in run["tests"])
    limits = (is_partial(run), "partly"), (known, "but for known failures")
    word = ", ".join(words for holds, words in limits if holds) or "yes"
    provisional = is_provisional(run["options"]["max_examples"])
    return f"{word} (provisional)" if provisional else word
