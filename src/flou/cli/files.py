"""Files that commands read and write. An output is checked before anything is asked, and never replaces an input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["DataFile", "JsonOut", "SchemaFile", "checked_out", "unwritable", "write"]

DataFile = Annotated[Path, typer.Argument(help="The table: a .csv, .tsv or .parquet file. It is never changed.")]
SchemaFile = Annotated[Path, typer.Option(help="What is public about the table: a TOML file that flou schema drafts.")]
JsonOut = Annotated[Path | None, typer.Option("--json", help="Also write the result to this .json file.")]


def checked_out(option: str, out: Path | None, ending: str, inputs: tuple[Path, ...] = ()) -> None:
    """Refuse a file that could not be written, or that would replace an input; None is no file, and passes."""
    if out is None:
        return
    if out.suffix.lower() != ending:
        raise _refused(option, out, f"end in {ending}", ending)
    if any(out.exists() and out.samefile(path) for path in inputs if path.exists()):
        raise _refused(option, out, "be another file than the inputs", ending)
    if not _is_writable(out):
        raise unwritable(option, out)


def write(option: str, out: Path, text: str) -> None:
    """Write a text, or refuse with the reason."""
    try:
        out.write_text(text, encoding="utf-8")
    except OSError:  # a full disk, say
        raise unwritable(option, out) from None


def unwritable(option: str, out: Path) -> InvalidParameter:
    """The refusal of a file that cannot be written."""
    return _refused(option, out, "be a file that can be written", out.suffix)


def _refused(option: str, out: Path, must: str, ending: str) -> InvalidParameter:
    return InvalidParameter(
        f"{option} must {must}, got {shown(str(out))}.",
        "The file is written last, when the privacy loss is already spent, and folders are not created.",
        f"Pass a file in an existing folder, for example {option} flou{ending}.",
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
