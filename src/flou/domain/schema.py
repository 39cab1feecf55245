"""What is public about a table, and nothing else.

A schema says whose privacy is protected (``unit``), against which neighbours (``relation``), how many rows
one person and the whole table may have, and what is public about each column. It is the same for every
data set that it could describe: nothing in it is ever read from the data.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from flou.domain import toml
from flou.domain.domain import Domain
from flou.domain.kinds import domain_from_dict
from flou.domain.table import checked_table, closest
from flou.errors import InvalidParameter
from flou.parameters import RELATIONS, Relation, checked_text, choice, integer, shown

__all__ = ["Schema"]

MAX_ROWS = 2**40
SETTINGS = ("name", "relation", "unit", "max_rows_per_unit", "max_rows", "bounds_source")
SOURCES = ("public", "private", "expert")  # of bounds: known to all, released by table.bounds, or judged


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Schema:
    """The domain of each column, and the public facts about the whole table.

    ``unit`` is the column that says whose row it is; without it, every row counts as a different person.
    ``max_rows`` bounds the table's length, so that no sum can overflow. ``bounds_source`` is written on certificates:
    "public" (the default), "private" where ``table.bounds`` released the bounds, "expert" where somebody judged.
    """

    columns: Mapping[str, Domain]
    name: str | None
    relation: Relation
    unit: str | None
    max_rows_per_unit: int
    max_rows: int
    bounds_source: str | None

    def __init__(
        self,
        columns: Mapping[str, Domain],
        *,
        name: str | None = None,
        relation: Relation = "add-remove",
        unit: str | None = None,
        max_rows_per_unit: int | None = None,
        max_rows: int = MAX_ROWS,
        bounds_source: str | None = None,
    ) -> None:
        most = integer("max_rows", max_rows, 1, 2**53)
        fields = {
            "columns": MappingProxyType(_checked_columns(columns)),
            "name": None if name is None else checked_text("name", name),
            "relation": choice("relation", relation, RELATIONS),
            "unit": None if unit is None else checked_text("unit", unit),
            "max_rows_per_unit": _checked_rows_per_unit(unit, max_rows_per_unit, most),
            "max_rows": most,
            "bounds_source": None if bounds_source is None else choice("bounds_source", bounds_source, SOURCES),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    @classmethod
    def of(cls, schema: Schema | Mapping[str, Domain] | str | os.PathLike[str]) -> Schema:
        """A schema from whatever describes one: itself, a mapping of domains, or the path of a file."""
        if isinstance(schema, Schema):
            return schema
        return cls.from_toml(schema) if isinstance(schema, str | os.PathLike) else cls(schema)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Schema:
        """The schema in a file."""
        return cls.from_text(toml.file_text(path))

    @classmethod
    def from_text(cls, text: str) -> Schema:
        """The schema in a TOML text."""
        return cls.from_dict(toml.parsed(text))

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Schema:
        """The schema in a dictionary with the tables of a schema file."""
        tables = checked_table("schema", tables, required=("columns",), optional=("dataset",))
        settings = checked_table("dataset", tables.get("dataset", {}), optional=SETTINGS)
        if not isinstance(tables["columns"], Mapping):
            checked_table("columns", tables["columns"])
        return cls(
            {name: domain_from_dict(table, f"columns.{name}") for name, table in tables["columns"].items()},
            **settings,
        )

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The tables of a schema file, every choice written out."""
        settings = {key: getattr(self, key) for key in SETTINGS}
        return {
            "dataset": {key: value for key, value in settings.items() if value is not None},
            "columns": {name: domain.to_dict() for name, domain in self.columns.items()},
        }

    def to_toml(self) -> str:
        """The text of a schema file; reading it gives an equal schema."""
        return toml.written(self.to_dict())

    @property
    def hash(self) -> str:
        """SHA-256 (hexadecimal) of the schema's canonical JSON: equal schemas, equal hashes."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def __getitem__(self, name: str) -> Domain:
        try:
            return self.columns[name]
        except (KeyError, TypeError):
            raise InvalidParameter(
                f"The schema has no column {shown(name)}.",
                "Only columns with a declared domain can be asked about.",
                f"{closest(name, list(self.columns))} (known columns: {', '.join(self.columns)}).",
            ) from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __eq__(self, there: object) -> bool:
        return self.hash == there.hash if isinstance(there, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema.from_dict, (self.to_dict(),)


def _checked_columns(columns: object) -> dict[str, Domain]:
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidParameter(
            f"columns must map at least one name to a domain, got {shown(columns)}.",
            "Only columns with a declared domain can be asked about.",
            "Pass a dictionary, for example columns={'age': flou.Integers(0, 120)}.",
        )
    checked = {checked_text("columns", name): domain for name, domain in columns.items()}
    for name, domain in checked.items():
        if not isinstance(domain, Domain):
            raise InvalidParameter(
                f"columns must map {shown(name)} to a domain, got {shown(domain)}.",
                "A domain says what is public about a column; flou never reads that from the data.",
                "Pass a flou.Interval, flou.Integers, flou.Categories or flou.Boolean.",
            )
    return checked


def _checked_rows_per_unit(unit: str | None, most: int | None, rows: int) -> int:
    if unit is None and most is None:
        return 1
    if unit is None and most != 1:
        raise InvalidParameter(
            f"max_rows_per_unit must be 1 when there is no unit, got {shown(most)}.",
            "Without a unit column every row counts as a different person.",
            "Pass unit='the column that says whose row it is' as well, or leave max_rows_per_unit out.",
        )
    if most is None:
        raise InvalidParameter(
            f"max_rows_per_unit must be given when unit is {shown(unit)}.",
            "The noise must cover all rows of one person, and their number is not read from the data.",
            "Pass the largest number of rows that one unit may keep, for example max_rows_per_unit=3.",
        )
    return integer("max_rows_per_unit", most, 1, rows)
