"""The standard 2024.12, strictly: importing this module gives the namespace."""

import sys

from . import strict

sys.modules[__name__] = strict("2024.12")
