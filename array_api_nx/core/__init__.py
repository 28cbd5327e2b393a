"""Metadata only: what arrays look like, never what they hold; standard library alone."""
