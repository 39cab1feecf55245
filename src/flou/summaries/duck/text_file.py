r"""CSV files as rows of text: one declared rule for every line, so that no line changes how another is read.

DuckDB would look at the values to guess separators, quotes and types, and stop at a line that does not fit. Here only
the header is looked at: it holds the names of the columns, which are public, and with them the separator (a tab in
``.tsv`` files, otherwise the one of comma, semicolon, tab and bar that gives the most names). Everything else is fixed:

    line         ends as the header does, with \n or \r\n, outside of quotes; files are UTF-8, plain or gzip
    quotes       "..." as in RFC 4180, "" for one inside; separators and ends of lines in quotes are text
    short line   missing cells are NULL
    long line    the cells beyond the header are left out
    empty cell   NULL, in quotes too; an empty line is not a row, unless there is one column
    number       a cell that reads as one ("12", " 1e3 ", "1_000", "inf"); any other ("x", "1,000") is NULL, and so is
                 the text "nan"; whole numbers are exact however large, others are doubles
    truth        true and false, in any case, and the numbers 1 and 0
    left out     lines that are not UTF-8, and lines of more than 16 MB

Limits     a quote that is never closed takes the lines after it into its cell, and a bare \r outside of quotes ends a
           line, as does a bare \n where the header ends with \r\n: such a file is not a table of one line a row,
           whoever wrote it. Under "substitute", where the number of rows is public, a line that is left out would show:
           use Parquet, or a file written by a program that quotes and encodes. Lines are read by one thread, because
           DuckDB cannot fill short lines and keep quoted line ends otherwise.
"""

from __future__ import annotations

import csv
import gzip
from typing import TextIO, cast

from flou.errors import InvalidData, instead
from flou.summaries.duck.sql import literal

__all__ = ["text_sql"]

SEPARATORS = ",;\t|"
LONGEST = 1 << 24  # bytes of a line
_DIALECT = (
    "auto_detect=false, header=true, quote='\"', escape='\"', strict_mode=false, null_padding=true, "
    f"ignore_errors=true, parallel=false, max_line_size={LONGEST}"
)


def text_sql(files: list[str], escaped: list[str]) -> str:
    """The SELECT of all rows of files that have the same header; ``escaped`` are their names as DuckDB reads them."""
    headers = {_header(file) for file in files}
    if len(headers) > 1:
        raise InvalidData(
            "The files do not have the same header.",
            "They are read as one table, and each column of a table has one name.",
            "Open them one by one, or give them the same columns in the same order.",
        )
    end, separator, names = headers.pop()
    if not names or "" in names or len({name.lower() for name in names}) < len(names):
        raise InvalidData(
            "The first line of a text file must name every column, each name once, whatever its case.",
            "Columns are looked up by name, and DuckDB ignores the case of names.",
            "Write a header, for example age,salary.",
        )
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    listed = ", ".join(map(literal, escaped))
    options = f"delim={literal(separator)}, new_line={literal(end)}, columns={{{columns}}}, {_DIALECT}"
    return f"SELECT * FROM read_csv([{listed}], {options})"


def _header(file: str) -> tuple[str, str, tuple[str, ...]]:
    """The end of lines, the separator and the names of the columns."""
    separators = "\t" if file.lower().endswith((".tsv", ".tsv.gz")) else SEPARATORS
    unreadable = InvalidData(
        f"The header of {file!r} cannot be read.",
        "The first line of a text file names its columns, in UTF-8.",
        "Check the file, or write it again in UTF-8.",
    )
    with instead(unreadable, OSError, UnicodeEncodeError, EOFError, csv.Error):
        with _opened(file) as lines:
            end = r"\r\n" if lines.readline().endswith("\r\n") else r"\n"
        found = [(separator, _first_line(file, separator)) for separator in separators]
        "".join(found[0][1]).encode()
    return end, *max(found, key=lambda one: len(one[1]))


def _first_line(file: str, separator: str) -> tuple[str, ...]:
    with _opened(file) as lines:
        return tuple(next(csv.reader(lines, delimiter=separator), ()))


def _opened(file: str) -> TextIO:
    """The first line alone: Python decodes further, and bytes below it that are not UTF-8 must not matter."""
    opened = gzip.open if file.lower().endswith(".gz") else open
    return cast(TextIO, opened(file, "rt", encoding="utf-8-sig", errors="surrogateescape", newline=""))
