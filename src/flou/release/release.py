"""The answer to a question: a value with its intervals, what it cost, and its certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.guarantee import Guarantee
from flou.parameters import choice, open_probability
from flou.release.certificate import Certificate
from flou.release.uncertainty import Interval, Uncertainty

__all__ = ["ErrorParts", "Release"]

Of: TypeAlias = Literal["data", "population"]
Value: TypeAlias = float | int | str | NDArray[Any]


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

    def interval(self, level: float = 0.95, *, of: Of = "data") -> Interval:
        """Where the true value lies: of these rows, or of the population that they were drawn from."""
        confidence = float(open_probability("level", level))
        if choice("of", of, ("data", "population")) == "data":
            return self.uncertainty.data(confidence)
        return self.uncertainty.population(confidence)

    @property
    def error(self) -> ErrorParts:
        """The error at 95 %, split into noise, sampling and grid."""
        noise, total = (_half_width(self.interval(0.95, of=of)) for of in ("data", "population"))
        sampling = float(np.sqrt(max(total**2 - noise**2, 0.0)))
        return ErrorParts(noise=noise, sampling=sampling, grid=self.uncertainty.grid, total=total)

    def to_dict(self) -> dict[str, Any]:
        """Value, intervals, cost and certificate as plain values."""
        intervals = {of: [_plain(end) for end in self.interval(0.95, of=of)] for of in ("data", "population")}
        return {
            "statistic": self.statistic,
            "column": self.column,
            "value": _plain(self.value),
            "labels": None if self.labels is None else list(self.labels),
            "interval_95": intervals,
            "cost": self.cost.to_dict(),
            "note": self.note,
            "certificate": dict(self.certificate),
            "certificate_hash": self.certificate.hash,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    def rows(self, level: float = 0.95, *, of: Of = "data") -> list[tuple[str, Any, float, float]]:
        """(label, value, low, high) for every entry: what tables and plots show."""
        low, high = self.interval(level, of=of)
        if self.labels is None:
            return [(self.title, self.value, float(low), float(high))]
        values = np.atleast_1d(np.asarray(self.value)).ravel().tolist()
        ends = zip(np.ravel(low).tolist(), np.ravel(high).tolist(), strict=True)
        return [(label, v, a, b) for label, v, (a, b) in zip(self.labels, values, ends, strict=True)]

    @property
    def title(self) -> str:
        return self.statistic if self.column is None else f"{self.statistic} of {self.column}"

    def __repr__(self) -> str:
        lines = [f"{self.title}, {self.cost}"]
        for label, value, low, high in self.rows()[:30]:
            name = "" if self.labels is None else f"{label}: "
            lines.append(f"  {name}{_short(value)}   95 % interval {_short(low)} to {_short(high)}")
        if self.labels is not None and len(self.labels) > 30:
            lines.append(f"  ... {len(self.labels) - 30} more")
        return "\n".join(lines + ([f"  {self.note}"] if self.note else []))


def _half_width(interval: Interval) -> float:
    low, high = interval
    return float(np.max((np.asarray(high, dtype=float) - np.asarray(low, dtype=float)) / 2))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(v) for v in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _short(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, int | float) else str(value)
