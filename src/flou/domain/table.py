"""A TOML table, checked key by key."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["checked_bounds", "checked_table", "closest"]


def checked_table(
    where: str, table: object, *, required: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Check that a table has all required keys and no unknown ones."""
    known = [*required, *optional]
    if not isinstance(table, Mapping):
        raise InvalidParameter(
            f"{where} must be a table, got {shown(table)}.",
            f"Its keys are {', '.join(known)}." if known else "It holds one table for each name.",
            f"Write it as [{where}] followed by lines of the form key = value.",
        )
    for key in table:
        if key not in known:
            raise InvalidParameter(
                f"{where} has an unknown key {shown(key)}.",
                "A key that is silently ignored may be a typing mistake that changes what is protected.",
                f"{closest(key, known)} (known keys: {', '.join(known)}).",
            )
    for key in required:
        if key not in table:
            raise InvalidParameter(
                f"{where} has no key {key!r}.",
                "It is public knowledge that flou never reads from the data.",
                f"Add a line {key} = ... (known keys: {', '.join(known)}).",
            )
    return dict(table)


def closest(word: object, known: Sequence[str]) -> str:
    """The beginning of an advice: which of the known words was probably meant."""
    matches = difflib.get_close_matches(word, known, n=1, cutoff=0.5) if isinstance(word, str) else []
    return f"Perhaps {matches[0]!r} was meant" if matches else "Use a known one"


def checked_bounds(bounds: object) -> Sequence[Any]:
    """Check that bounds are a pair."""
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise InvalidParameter(
            f"bounds must be a list of two numbers, got {shown(bounds)}.",
            "Values are clamped to these public bounds.",
            "Write them as bounds = [0, 100].",
        )
    return bounds
