"""What strict namespaces say when they refuse: the rule, its section, and what to write instead."""

from __future__ import annotations


class Section(str):
    """A section of the standard, by its title."""

    __slots__ = ()

    def refuse(self, kind: type[Exception], rule: str, instead: str) -> Exception:
        """The exception that tells of a refusal.

        kind (type): Of the exception.
        rule: The call, and the rule of the section about it.
        instead: What to write instead.
        """
        return kind(f'{rule} - the standard, "{self}"; {instead}')


def refuse_attribute(owner: str, name: str, instead: str | None, section: str) -> Exception:
    """The AttributeError for a name that the standard does not have."""
    if name.startswith("__"):
        # Python and libraries probe for these.
        return AttributeError(f"{owner} of the standard has no {name}")
    rule = f"{owner} of the standard has no {name}"
    if instead is None:
        return AttributeError(f'{rule} - the standard, "{section}"')
    return Section(section).refuse(AttributeError, rule, f"use {instead}")
