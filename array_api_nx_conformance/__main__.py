"""The command line: ``python -m conformance``, and the installed command."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from .commands import COMMANDS
from .gate import gate
from .options import gate_parser, parser
from .report import CANNOT_RUN, INTERRUPTED
from .suite import CannotRunError, Pins


def main(arguments: Sequence[str] | None = None, pins: Pins | None = None) -> int:
    """Run the command; the exit status.

    0: everything passed, or is excused by the suite's own code, the standard, or a list of known
    failures. 1: something failed. 2: nothing could be run. 130: interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    pins = pins or Pins()
    try:
        if given and given[0] in COMMANDS:
            return COMMANDS[given[0]](parser().parse_args(given), pins)
        return gate(gate_parser().parse_args(given), pins)
    except CannotRunError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        print("conformance: interrupted", file=sys.stderr)
        return INTERRUPTED


def console() -> int:
    """The installed command."""
    # As for Ctrl-C: end the subprocess, which does not share our terminal, and report what has run.
    signal.signal(signal.SIGTERM, _terminate)
    signal.signal(signal.SIGHUP, _terminate)
    return main()


def _terminate(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(console())
