"""Files to be written: known to be writable before anything is asked, and never the data themselves."""

from __future__ import annotations

import os
from pathlib import Path

from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["checked_out", "unwritable", "write"]


def checked_out(option: str, out: Path, ending: str, inputs: tuple[Path, ...] = ()) -> None:
    """Refuse a file that could not be written, or that would replace what is read."""
    if out.suffix.lower() != ending:
        raise _refused(option, out, f"end in {ending}", ending)
    if any(out.exists() and out.samefile(path) for path in inputs if path.exists()):
        raise _refused(option, out, "be another file than those that are read", ending)
    if not _is_writable(out):
        raise unwritable(option, out)


def write(option: str, out: Path, text: str) -> None:
    """Write a text, or say that it could not be written."""
    try:
        out.write_text(text, encoding="utf-8")
    except OSError:  # a full disk, say
        raise unwritable(option, out) from None


def unwritable(option: str, out: Path) -> InvalidParameter:
    """What is said about a file that cannot be written."""
    return _refused(option, out, "be a file that can be written", out.suffix)


def _refused(option: str, out: Path, must: str, ending: str) -> InvalidParameter:
    return InvalidParameter(
        f"{option} must {must}, got {shown(str(out))}.",
        "It is written at the end, after the privacy loss was spent, and no folder is made for it.",
        f"Pass a file in a folder of yours, for example {option} flou{ending}.",
    )


def _is_writable(out: Path) -> bool:
    """Whether a file can be written; it is left as it was."""
    new = not os.path.lexists(out)
    try:
        out.open("ab").close()  # the only sure way to know
        if new:
            out.unlink()
    except OSError:
        return False
    return True
