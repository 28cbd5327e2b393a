"""The namespace under test."""

from __future__ import annotations

import os
import pkgutil

xp = pkgutil.resolve_name(os.environ["ARRAY_API_TESTS_MODULE"])
