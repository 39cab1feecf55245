"""The file of a sanitised table: rows are written as they come, under a temporary name until the file is complete.

A file appears whole or not at all: it is written in the same folder, and renamed at the end. CSV files have a header,
commas, quotes where a text needs them, and true and false. flou reads them back with the same schema, and other
software can read them too. Parquet files are made by DuckDB from a CSV file, with types from the schema.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flou.arrays import Ints
from flou.bits import SYSTEM
from flou.domain import Domain
from flou.errors import InvalidParameter
from flou.parameters import shown
from flou.summaries.duck.sql import literal
from flou.summaries.rows import quiet

__all__ = ["checked_path", "written"]

ENDINGS = (".csv", ".parquet")
MOST_TEXTS = 2**17
TYPES: dict[type, str] = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}


def checked_path(out: str | os.PathLike[str], source: Any) -> Path:
    """The path of a file that can be written, and that is not the source."""
    path = Path(out)
    if path.suffix.lower() not in ENDINGS:
        raise _refused(path, f"end in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK) or path.is_dir():
        raise _refused(path, "be a file in a folder that can be written to")
    if isinstance(source, str | os.PathLike) and path.exists() and os.path.exists(source) and path.samefile(source):
        raise _refused(path, "be a different file than the source")
    return path


@contextlib.contextmanager
def written(path: Path, columns: Mapping[str, Domain]) -> Iterator[Callable[[Mapping[str, Ints]], None]]:
    """A function that writes the codes of the next rows; the file appears when the block ends without an error."""
    texts = {name: _texts(domain) for name, domain in columns.items()}
    with contextlib.ExitStack() as stack:
        text = _beside(path, stack)
        try:
            with text.open("w", encoding="utf-8", newline="") as file:
                file.write(",".join(map(_quoted, columns)) + "\n")

                def take(codes: Mapping[str, Ints]) -> None:
                    rows = zip(*(texts[name](codes[name]) for name in columns), strict=True)
                    file.write("\n".join(map(",".join, rows)) + "\n")

                yield take
                file.flush()
                os.fsync(file.fileno())
            done = _parquet(text, _beside(path, stack), columns) if path.suffix.lower() == ".parquet" else text
            os.replace(done, path)
        except OSError:  # a full disk, say
            raise _refused(path, "be a file that can be written") from None


def _beside(path: Path, stack: contextlib.ExitStack) -> Path:
    """A new file in the same folder, which is removed at the end whatever happens."""
    found = path.with_name(f".{path.name}.{SYSTEM.take(8).tobytes().hex()}.part")
    try:
        found.open("x").close()
    except OSError:
        raise _refused(path, "be a file in a folder that can be written to") from None
    stack.callback(found.unlink, missing_ok=True)
    return found


def _texts(domain: Domain) -> Callable[[Ints], list[str]]:
    """The texts that stand for codes in a file; for small domains each text is made only once, because this is slow."""
    if domain.size > MOST_TEXTS:
        return lambda codes: _listed(domain, codes)
    known = np.array(_listed(domain, np.arange(domain.size)), dtype=object)
    return lambda codes: known[codes].tolist()


def _listed(domain: Domain, codes: Ints) -> list[str]:
    return [_quoted(value) for value in domain.decode(codes).tolist()]


def _quoted(value: object) -> str:
    """A cell as text: numbers as Python prints them, true and false, texts in quotes where they need them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    plain = value != "" and not any(sign in value for sign in ',"\r\n') and value == value.strip()
    return value if plain else '"' + value.replace('"', '""') + '"'


def _parquet(text: Path, out: Path, columns: Mapping[str, Domain]) -> Path:
    import duckdb

    types = ", ".join(f"{literal(name)}: '{_type(domain)}'" for name, domain in columns.items())
    # An empty text in quotes is an empty text, and not NULL: a table without missing values stays one.
    options = f"auto_detect=false, header=true, delim=',', quote='\"', escape='\"', new_line='\\n', columns={{{types}}}"
    texts = [name for name, domain in columns.items() if _type(domain) == "VARCHAR"]
    kept = "" if not texts else f", force_not_null=[{', '.join(map(literal, texts))}]"
    with quiet("duckdb"), duckdb.connect() as connection:
        source = f"SELECT * FROM read_csv({literal(str(text))}, {options}{kept}, parallel=false)"
        connection.execute("SET threads = 1")  # each thread would keep rows of its own in memory
        connection.execute(f"COPY ({source}) TO {literal(str(out))} (FORMAT parquet)")
    return out


def _type(domain: Domain) -> str:
    """The type of a column in a Parquet file: the type of its values if they share one, otherwise text."""
    first = domain.decode([0])
    listed = domain.decode(np.arange(domain.size)) if first.dtype.kind == "O" else first
    kinds = {type(value) for value in listed.tolist()}
    return TYPES.get(kinds.pop(), "VARCHAR") if len(kinds) == 1 else "VARCHAR"


def _refused(path: Path, must: str) -> InvalidParameter:
    return InvalidParameter(
        f"out must {must}, got {shown(str(path))}.",
        "The sanitised rows are written to this file, which appears once it is complete.",
        'Pass a path such as out="sanitised.csv" or out="sanitised.parquet".',
    )
