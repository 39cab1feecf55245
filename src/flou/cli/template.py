"""The draft of a schema: the names of the columns and the facts that each type needs, and nothing from the rows.

A type, a bound or a category guessed from rows would reveal something about them without any noise. So only
declarations are used: the types of a Parquet file, or ``types`` given by the user. A CSV file declares only
names. As long as a draft has its line ``todo``, it is refused as a schema.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flou.domain import Schema, toml
from flou.domain.kinds import KINDS
from flou.domain.table import closest
from flou.errors import InvalidParameter
from flou.parameters import shown
from flou.summaries import rows_of

__all__ = ["filled_in", "parsed_types", "template"]

TODO = (
    "Fill in what is public about each column, from what you know without looking at the rows; then delete this line."
)

HEAD = f"""\
# What is public about this table, and nothing else. Never read a bound or a category off the rows.
todo = "{TODO}"

[dataset]
# name = "salaries"             # as certificates will call it
# relation = "add-remove"       # neighbours have one person more or less; or "substitute": the number of rows is public
# unit = "employee_id"          # the column that says whose row it is, if a person may have several rows
# max_rows_per_unit = 3         # then: how many rows of one person count
"""

CHOICE = """\
# Choose one type, fill it in, and delete the rest; or delete the column, if nobody will ask about it.
"""

# The type of flou for each declared type; for others, such as dates, people must choose.
DECLARED = {declared: name for name, kind in KINDS.items() for declared in kind.declared}


def template(path: Path, types: Mapping[str, str] | None = None) -> str:
    """The text of a schema file for the columns of a file."""
    names, known = _declared(path)
    for name in types or {}:
        if name not in names:
            raise InvalidParameter(
                f"--types names {shown(name)}, which is not a column of the file.",
                "The name may be a typing mistake.",
                f"{closest(name, names)} (columns: {', '.join(names[:20])}).",
            )
    known |= types or {}
    return "\n".join([HEAD, *(_column(name, known.get(name)) for name in names)])


def _declared(path: Path) -> tuple[list[str], dict[str, str]]:
    """The names of the columns, and the types that the file declares."""
    names = list(rows_of(path).columns)
    if path.suffix.lower() != ".parquet":
        return names, {}
    import duckdb

    with duckdb.connect() as connection:
        types = connection.read_parquet(str(path)).types  # from the file's own schema; no row is read
    kinds = [str(kind).split("(")[0] for kind in types]
    return names, {name: DECLARED[kind] for name, kind in zip(names, kinds, strict=True) if kind in DECLARED}


def _column(name: str, kind: str | None) -> str:
    head = toml.written({"dataset": {}, "columns": {name: {} if kind is None else {"type": kind}}})
    return head + (KINDS[kind].lines if kind is not None else CHOICE + "".join(map(_choice, KINDS)))


def _choice(kind: str) -> str:
    """A type to choose and the lines that it needs, as comments."""
    needed = [line for line in KINDS[kind].lines.splitlines() if not line.startswith("#")]
    chosen = f'type = "{kind}"'
    return "".join(f"# {line}\n" for line in (f"{chosen:<30}# {KINDS[kind].about}", *needed))


def parsed_types(texts: Iterable[str]) -> dict[str, str]:
    """``salary=interval,age=integers`` as a mapping."""
    found: dict[str, str] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, sign, kind = (piece.strip() for piece in part.rpartition("="))
        if not sign or not name or kind not in KINDS:
            raise InvalidParameter(
                f"--types must be pairs name=type, got {shown(part)}.",
                f"The types are {', '.join(KINDS)}.",
                f"{closest(kind, list(KINDS))}, for example --types salary=interval,age=integers.",
            )
        found[name] = kind
    return found


def filled_in(path: str | os.PathLike[str]) -> Schema:
    """The schema in a file; a draft that is not filled in is refused, with the columns that are left to do."""
    text = toml.file_text(path)
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError):
        tables = {}
    if "todo" in tables:
        columns = tables.get("columns")
        open_ones = [name for name, table in columns.items() if _is_open(table)] if isinstance(columns, dict) else []
        still = f" (columns to fill in: {', '.join(open_ones[:10])})" if open_ones else ""
        raise InvalidParameter(
            f"The schema {shown(os.fspath(path))} is still to be filled in{still}.",
            "Bounds and categories are public facts that flou never reads from the data.",
            "Fill in each column from public knowledge, or delete the column, and then delete the line todo.",
        )
    return Schema.from_text(text)


def _is_open(table: Any) -> bool:
    if not isinstance(table, dict) or "type" not in table:
        return True
    return table.get("bounds") == [] or table.get("values") == []
