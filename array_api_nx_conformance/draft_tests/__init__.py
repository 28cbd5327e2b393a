"""Tests of what the standard's draft has beyond the official suite; `runner` runs them."""
