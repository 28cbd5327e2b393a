"""``python -m array_api_nx.testing DEVICE [pytest's arguments]``: the contract tests."""

from __future__ import annotations

import sys

from ..device import Device
from . import backend_contract

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m array_api_nx.testing DEVICE [pytest's arguments]")
    try:
        device = Device(sys.argv[1])
        device.backend.evaluate()  # loads the backend
        sys.exit(backend_contract(device.backend, sys.argv[2:]))
    except (ValueError, ImportError, RuntimeError) as error:
        sys.exit(str(error))
