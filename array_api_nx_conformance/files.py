"""Files that the user names for output."""

from __future__ import annotations

from pathlib import Path

from .suite import CannotRunError


def check_writable(option: str, path: Path) -> None:
    """Fail before a run, not after it.

    Raises
    ------
    CannotRunError
        If the file cannot be written.
    """
    existed = path.exists()
    try:
        path.open("a").close()
    except OSError as error:
        raise CannotRunError(f"cannot write {option} {path}: {error.strerror}") from error
    if not existed:
        path.unlink()


def make_folder(option: str, path: Path) -> None:
    """Make a folder for output, and its parents.

    Raises
    ------
    CannotRunError
        If it cannot be made or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRunError(f"cannot make {option} {path}: {error.strerror}") from error
    probe = path / ".probe"
    check_writable(option, probe)


def write(option: str, path: Path, text: str) -> None:
    """Write a file.

    Raises
    ------
    CannotRunError
        If it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRunError(f"cannot write {option} {path}: {error.strerror}") from error
