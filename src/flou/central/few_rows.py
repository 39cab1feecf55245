"""The word of caution about groups whose rows are few next to the noise."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["few_rows"]

NAMED = 8  # so many groups can be read in a line


def few_rows(groups: Sequence[str]) -> str:
    """Names the first of them, and how many more there are; nothing where there is none."""
    if not groups:
        return ""
    more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
    return f"Few rows next to the noise: {', '.join(groups[:NAMED])}{more}."
