"""The standard 2025.12, strictly: importing this module gives the namespace."""

import sys

from . import strict

sys.modules[__name__] = strict("2025.12")
