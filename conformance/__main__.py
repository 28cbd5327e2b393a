"""``python -m conformance``: runs the package ``array_api_nx_conformance`` from a checkout."""

from __future__ import annotations

import sys

from array_api_nx_conformance.__main__ import console

if __name__ == "__main__":
    sys.exit(console())
