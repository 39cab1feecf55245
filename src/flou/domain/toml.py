"""Schema and survey files: TOML in and out. The standard library reads TOML but does not write it."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["file_text", "parsed", "written"]


def file_text(path: str | os.PathLike[str]) -> str:
    """The text of a schema file."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameter(
            f"path must be the name of a schema file, got {shown(path)}.",
            "A schema file is read from disk.",
            "Pass a path, for example path='salaries.toml', or use Schema.from_dict.",
        )
    try:
        return Path(path).read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a NUL in the path
        kind = type(error).__name__
    raise InvalidParameter(  # not in the handler: that error holds the file, which may be the data by mistake
        f"path must name a readable schema file, got {shown(os.fspath(path))} ({kind}).",
        "Without the schema nothing is public, so nothing can be released.",
        "Pass the path of a TOML file in UTF-8, for example path='salaries.toml'.",
    )


def parsed(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if not isinstance(text, str):
        raise InvalidParameter(
            f"text must be the text of a schema file, got {shown(text)}.",
            "A schema is written in TOML.",
            "Pass a text, or use Schema.from_toml for a path and Schema.from_dict for a dictionary.",
        )
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        place = re.search(r"at line \d+, column \d+|at end of document", str(error))
    raise InvalidParameter(
        f"text must be TOML, and it breaks {place[0] if place else 'off'}.",
        "A schema that is read only in part may protect less than it says.",
        "Write every setting as key = value, with texts in quotation marks.",
    )


def written(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """TOML text of tables, some of them tables of tables; ``parsed`` gives back the same tables, except empty ones."""
    parts = []
    for name, table in tables.items():
        inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
        plain = {key: value for key, value in table.items() if key not in inner}
        parts += [_table([name], plain)] if plain else []
        parts += [_table([name, key], value) for key, value in inner.items()]
    return "\n".join(parts)


def _table(path: list[str], table: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):  # JSON's escapes are TOML's, except that TOML escapes DEL as well
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return json.dumps(value)
