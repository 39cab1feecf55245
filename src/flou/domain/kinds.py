"""The kinds of domains, under the names they have in a schema file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flou.domain.boolean import Boolean
from flou.domain.categories import Categories
from flou.domain.domain import Domain
from flou.domain.integers import Integers
from flou.domain.interval import Interval
from flou.domain.table import checked_table, closest
from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["KINDS", "domain_from_dict"]

KINDS: dict[str, type[Domain]] = {kind.kind: kind for kind in (Interval, Integers, Categories, Boolean)}


def domain_from_dict(table: Mapping[str, Any], where: str = "domain") -> Domain:
    """The domain that a TOML table describes; ``where`` is the table's name in messages."""
    if not isinstance(table, Mapping) or "type" not in table:
        others = list(table) if isinstance(table, Mapping) else []
        checked_table(where, table, required=("type",), optional=others)
    name = table["type"]
    if not isinstance(name, str) or name not in KINDS:
        raise InvalidParameter(
            f"{where} has an unknown type {shown(name)}.",
            "The type says how a value becomes one of a fixed list of codes.",
            f"{closest(name, list(KINDS))} (known types: {', '.join(KINDS)}).",
        )
    try:
        return KINDS[name].from_dict(table)
    except InvalidParameter as error:
        raise InvalidParameter(f"In {where}: {error.what}", error.why, error.do) from None
