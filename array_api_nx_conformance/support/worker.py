"""A process that tries subjects: ``python -m array_api_nx_conformance.support.worker``.

Arguments: the namespace, the device beside the default one (or ""), and what is wanted of each
subject: "row" or "speed". On each line of its input is the number of a subject in
`subjects.find()`; it answers by a line of JSON. Its first line says that it is ready.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from importlib import import_module

from .subjects import find
from .trial import Trials

_MEMORY = 6 * 2**30  # above that a call fails, and not the machine


def main() -> None:
    """Answer until the input ends."""
    # What the libraries print is not an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    module, device, wanted = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    trials, subjects = Trials(import_module(module), device), find()
    if wanted == "speed":
        trials.prepare_speed()
    ask = trials.row if wanted == "row" else trials.speed
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(ask(subjects[int(line)])), file=answers, flush=True)


if __name__ == "__main__":
    main()
