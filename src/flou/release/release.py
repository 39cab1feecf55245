"""The answer to a question: a value with its intervals, what it cost, and its certificate."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.errors import InvalidParameter
from flou.guarantee import Guarantee
from flou.parameters import choice, open_probability
from flou.release.certificate import Certificate
from flou.release.digits import cost_line, plain, rounded_to
from flou.release.entries import Entry, entries
from flou.release.html import html_of
from flou.release.picture import Layout, picture_of
from flou.release.uncertainty import Interval, Uncertainty, half_width, sampling_part
from flou.render.picture import Of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ErrorParts", "Release"]

Value: TypeAlias = float | int | str | NDArray[Any]

ONE_DEVIATION = math.erf(math.sqrt(0.5))  # of a normal law, to either side
MOST = 30  # lines that a terminal should show


@dataclass(frozen=True)
class ErrorParts:
    """Half-widths of 95 % intervals, by cause; vectors show their largest entry."""

    noise: float
    sampling: float
    grid: float
    total: float
    clipping: str = "values outside the public bounds were clamped; how many is private"


@dataclass(frozen=True, eq=False)
class Release:
    """What was released. Everything here is public; nothing here touches the rows again."""

    statistic: str
    column: str | None
    value: Value
    cost: Guarantee
    certificate: Certificate
    uncertainty: Uncertainty = field(repr=False)
    labels: tuple[str, ...] | None = None  # what the entries of a vector stand for
    note: str = ""  # a word of caution that needs no look at the data
    layout: Layout | None = None  # how the entries lie, where their labels do not say it all

    def __eq__(self, other: object) -> bool:
        """The same release: its certificate, which no other has, and all that it says."""
        if not isinstance(other, Release):
            return NotImplemented
        mine, theirs = (
            (one.statistic, one.column, one.cost, one.labels, one.note, one.layout, one.certificate.hash)
            for one in (self, other)
        )
        return mine == theirs and type(self.uncertainty) is type(other.uncertainty) and _same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.certificate.hash)

    def interval(self, level: float = 0.95, *, of: Of = "data", simultaneous: bool = False) -> Interval:
        """Where the true value lies: of these rows, or of the population that they were drawn from.

        The intervals of a vector hold one by one; with ``simultaneous`` all of them hold together with this probability
        (Bonferroni: the error probability is shared out evenly, whatever the entries have to do with one another; a
        distribution function has a band of its own).
        """
        confidence = float(open_probability("level", level))
        choice("of", of, ("data", "population"))
        if simultaneous and self.labels:
            self._require_given_entries()
            return self.uncertainty.together(confidence, len(self.labels), of)
        return self.uncertainty.data(confidence) if of == "data" else self.uncertainty.population(confidence)

    def standard_error(self, *, of: Of = "population") -> Any:
        """Half the width of the interval that holds the truth with 68.27 %: of a normal error its standard deviation.

        It contains the noise, and for the population sampling as well: one number, or one for every entry.
        """
        low, high = self.interval(ONE_DEVIATION, of=of)
        return (high - low) / 2

    def at(self, x: Any, level: float = 0.95, *, of: Of = "data", group: str | None = None) -> tuple[Any, Any, Any]:
        """(value, low, high) of a released function at any x, or at a list of them; with groups, of one of these."""
        choice("of", of, ("data", "population"))
        found = getattr(self.uncertainty, "at", None)
        if found is None:
            raise InvalidParameter(
                f"The {self.title} is no function of a value.",
                "Only a distribution function is known everywhere between the bounds.",
                "Take its value and its interval(), or ask for an ecdf.",
            )
        value, low, high = found(x, float(open_probability("level", level)), of, group)
        return value, low, high

    def _require_given_entries(self) -> None:
        if self.statistic == "keys":
            raise InvalidParameter(
                "The counts of selected keys have no simultaneous intervals.",
                "Keys are shown because of their noise, among others that are not shown, and nobody knows how many.",
                "Ask group_by(...).count(epsilon=...) for counts with fresh noise, and take the intervals of those.",
            )

    @property
    def error(self) -> ErrorParts:
        """The error at 95 %, split into noise, sampling and grid."""
        noise, total = (half_width(self.interval(0.95, of=of)) for of in ("data", "population"))
        return ErrorParts(noise=noise, sampling=sampling_part(noise, total), grid=self.uncertainty.grid, total=total)

    def to_dict(self) -> dict[str, Any]:
        """Value, intervals, cost and certificate as plain values."""
        intervals = {of: [plain(end) for end in self.interval(0.95, of=of)] for of in ("data", "population")}
        return {
            "statistic": self.statistic,
            "column": self.column,
            "value": plain(self.value),
            "labels": None if self.labels is None else list(self.labels),
            "interval_95": intervals,
            "cost": self.cost.to_dict(),
            "note": self.note,
            "certificate": dict(self.certificate),
            "certificate_hash": self.certificate.hash,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON; an end without a limit is null."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def rows(self, level: float = 0.95, *, of: Of = "data") -> list[tuple[str, Any, float, float]]:
        """(label, value, low, high) for every entry: what tables and plots show."""
        choice("of", of, ("data", "population"))
        return [(entry.label, entry.value, *getattr(entry, of)) for entry in entries(self, level)]

    def rounded(self) -> Any:
        """The value with the digits worth reading: a number, or a list of them. Whole numbers stay whole."""
        values = [_rounded(entry) for entry in entries(self)]
        return values[0] if self.labels is None else values

    @property
    def title(self) -> str:
        """What was asked."""
        by = self.certificate.get("keys", {}).get("column")
        what = self.statistic if self.column is None else f"{self.statistic} of {self.column}"
        return what if by is None or by == self.column else f"{what} by {by}"

    @property
    def is_counts(self) -> bool:
        """Whether the values count rows, so that zero belongs on the axis."""
        return bool(np.asarray(self.value).dtype.kind in "iu")

    def plot(self, path: str | Path | None = None) -> Figure:
        """A Matplotlib figure (extra ``plots``); with ``path`` it is written as well, as PNG or SVG."""
        from flou.render.matplotlib import plot

        picture = picture_of(self)
        if picture is None:
            raise InvalidParameter(
                f"The {self.title} has no number to draw.",
                "Only numbers have a place on an axis, and there is none: it is a text, or no group was selected.",
                "Print the release, which says what there is.",
            )
        return plot(picture, path)

    def __repr__(self) -> str:
        lines = entries(self)
        texts = [("" if self.labels is None else entry.label, *entry.texts) for entry in lines[:MOST]]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        found = [self.title] + [_aligned(text, widths) for text in texts]
        if len(lines) > MOST:
            found.append(f"  ... and {len(lines) - MOST} more")
        return "\n".join([*found, f"  cost: {cost_line(self.cost)}"] + ([f"  {self.note}"] if self.note else []))

    def _repr_html_(self) -> str:
        return html_of(self)


def _aligned(texts: tuple[str, str, str, str], widths: list[int]) -> str:
    name, value, data, population = texts
    start = f"  {name:<{widths[0]}}  " if widths[0] else "  "
    line = f"{start}{value:>{widths[1]}}"
    if data:
        line += f"   95 %: {data:<{widths[2]}}   population: {population}"
    return line.rstrip()


def _rounded(entry: Entry) -> Any:
    if not entry.is_number or isinstance(entry.value, int):
        return entry.value
    number: Decimal = rounded_to(entry.value, entry.place)
    return float(number)


def _same(value: Value, other: Value) -> bool:
    """Whether two values are the same, entry by entry; what is not a number is the same as itself."""
    one, two = np.asarray(value), np.asarray(other)
    return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
