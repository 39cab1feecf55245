"""The boxes of a box plot: five quantiles of one group, from the lower whisker to the upper one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flou.release.entries import Entry

if TYPE_CHECKING:
    from flou.release.release import Release

__all__ = ["Box", "boxes"]

FIVE = 5


@dataclass(frozen=True)
class Box:
    """Whiskers, the ends of the box and its middle, each a number with its intervals."""

    label: str  # of the group; empty where there is only one box
    five: tuple[Entry, ...]

    @property
    def heights(self) -> tuple[float, ...]:
        """The five numbers, from the lowest on."""
        return tuple(float(entry.value) for entry in self.five)

    @property
    def told(self) -> str:
        """The box in words."""
        low, first, middle, third, high = (entry.text for entry in self.five)
        head = f"{self.label}: " if self.label else ""
        return f"{head}median {middle}, half of all between {first} and {third}, nine tenths between {low} and {high}"


def boxes(release: Release, lines: Sequence[Entry]) -> list[Box]:
    """The boxes of a release, one for each group; none where it is no box plot."""
    if release.statistic != "boxplot" or not lines or len(lines) % FIVE or not all(line.is_number for line in lines):
        return []
    fives = [tuple(lines[i : i + FIVE]) for i in range(0, len(lines), FIVE)]
    if len(fives) == 1 and ": " not in fives[0][0].label:
        return [Box("", fives[0])]
    return [Box(five[0].label.rpartition(": ")[0], five) for five in fives]
