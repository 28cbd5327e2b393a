"""``python -m conformance.clients``: the same command by itself."""

from __future__ import annotations

import argparse
import signal
import sys

from ..report import CANNOT_RUN, INTERRUPTED
from ..suite import CannotRunError
from .command import add_parser, run


def main() -> int:
    """Run the command; the exit status."""
    signal.signal(signal.SIGTERM, _terminate)
    parser = argparse.ArgumentParser(prog="python -m conformance")
    add_parser(parser.add_subparsers(required=True))
    try:
        return run(parser.parse_args(["clients", *sys.argv[1:]]))
    except CannotRunError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        print("conformance: interrupted", file=sys.stderr)
        return INTERRUPTED


def _terminate(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
