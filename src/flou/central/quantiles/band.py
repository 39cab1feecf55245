"""What noisy counts of a tree say about a distribution function: its value anywhere, and how far off that may be.

At an edge, C is the estimated number of rows below, N that of all rows. For the true share F, C - F N is noise: its
variance is v (V + (s - F)^2 V0), v that of one noise, s the share of leaves below, V and V0 as ``tree_consistency.py``
has them; V0 = 0 where the number of rows is public. For the population N F (1 - F) comes on top. An interval holds all
F at which C - F N is no surprise (Fieller; for sampling alone it is Wilson's): the ends are roots of a quadratic.

Together with a given probability: the error probability is divided among all points that are shown. For the population
half of it is for the intervals at these points, and half for another band, the one for the data widened by the
Dvoretzky-Kiefer-Wolfowitz inequality, which is about all points at once; what both hold is the band. A distribution
function increases, so that the band may be made to do so, and it is a band between the points too: from the lower end
at the point before to the upper end at the point after.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.central.quantiles.grid import QuantileGrid
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import Tree
from flou.mechanisms.quantiles.tree import TreeDistribution
from flou.mechanisms.quantiles.tree_consistency import prefix_variances, variances
from flou.parameters import choice
from flou.release.uncertainty import Curve, Uncertainty
from flou.release.uncertainty import Interval as Ends
from flou.theory.laplace_sums import reach

__all__ = ["EcdfBand"]

Indices = NDArray[np.int64]

ROUND = (1, 2, 4, 5, *(digits * 10**power for power in range(18) for digits in (10, 20, 25, 40, 50)))  # steps
RARE = 2.5  # standard deviations beyond which the skewness of counts matters


class EcdfBand(Uncertainty):
    """The distribution functions of one group or more, each from its own tree of the same shape."""

    def __init__(
        self,
        tree: Tree,
        drawn: Sequence[TreeDistribution],
        grid: QuantileGrid,
        points: int,
        groups: tuple[str, ...] | None,
    ) -> None:
        """``points`` of each function are shown, fewer where fewer values are possible."""
        height, leaves = tree.levels(grid.cells), drawn[0].edges.size - 1
        self._grid, self._groups, self._known = grid, groups, tree.relation == "substitute"
        self._edges, place = np.unique(drawn[0].edges, return_index=True)  # an empty leaf has no edge of its own
        place[-1] = leaves
        self._before: Floats = place / leaves
        self._of_part: Floats = prefix_variances(tree.branching, height, known_total=True)[place]
        self._of_all = 0.0 if self._known else variances(tree.branching, height)[0]
        self._noise = 2 * float(tree.noise(grid.cells).noise.scale) ** 2
        self._heights: Floats = np.array([one.cumulative[place] for one in drawn])
        self._totals: Floats = np.array([one.total for one in drawn])[:, None]
        evenly = self._edges / grid.cells  # no rows: as if there were some
        self._shares: Floats = np.array(
            [one.increasing[place] / one.total if one.total >= 1 else evenly for one in drawn]
        )
        self._shares = np.clip(self._shares, 0.0, 1.0)  # whatever rounding made of them
        self._shares[:, 0], self._shares[:, -1] = 0.0, 1.0
        self._shown = self._chosen(points)

    def _chosen(self, points: int) -> Indices:
        """Which edges are shown: all but the first, if these are few; every second, fourth, fifth, ... possible value
        from the lower bound on, and the last; or those closest to equally spaced ones.
        """
        many = self._edges.size - 1
        if many <= points:
            return np.arange(1, many + 1)
        if many == self._grid.cells and self._grid.granular:
            step = next(step for step in ROUND if -(-(many - 1) // step) < points)
            return np.append(np.arange(1, many, step), many)
        wanted = self._grid.cells * np.arange(1, points + 1) / points
        after = np.searchsorted(self._edges, wanted)
        nearer = wanted - self._edges[after - 1] < self._edges[after] - wanted
        return np.unique(np.maximum(after - nearer, 1))

    # What is released

    @property
    def value(self) -> Floats:
        """The shares at the points that are shown, group after group."""
        return self._shares[:, self._shown].ravel()

    @cached_property
    def points(self) -> Floats:
        """The points that are shown, of one group."""
        edges = self._edges[self._shown]
        if self._grid.granular:
            return self._grid.value(edges - 1)
        places = self._grid.domain.places(edges)
        low, high = self._grid.bounds
        return np.clip(np.ceil(places) - 1 if self._grid.whole else places, low, high)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the shares are called."""
        names = self._grid.numbers.printed(self.points)
        return names if self._groups is None else tuple(f"{g}: {name}" for g in self._groups for name in names)

    @property
    def note(self) -> str:
        """What is counted, and what is not known."""
        what = "of rows up to and with" if self._grid.granular or self._grid.whole else "of rows below"
        between = "" if self._jumps else " Between two points it lies between the shares there."
        return f"The share {what} each value.{between}"

    @property
    def _jumps(self) -> bool:
        """Whether all possible values are shown, so that nothing happens between them."""
        return self._grid.granular and self._shown.size == self._grid.cells

    def curves(self, level: float) -> tuple[Curve, ...]:
        ends = [
            np.reshape(end, (self._totals.size, -1)) for of in ("data", "population") for end in self._all(level, of)
        ]
        shares, names = self._shares[:, self._shown], self._groups or ("",)
        return tuple(
            Curve(name, self.points, shares[i], (ends[0][i], ends[1][i]), (ends[2][i], ends[3][i]), self._jumps)
            for i, name in enumerate(names)
        )

    def at(self, x: Any, level: float, of: str, group: str | None) -> tuple[Any, Any, Any]:
        """Share and interval at any x, of one group."""
        try:
            wanted = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            wanted = np.array(math.nan)
        if np.any(np.isnan(wanted)):
            raise InvalidParameter(
                "x must be a number, or a list of numbers.",
                "The distribution function is evaluated there.",
                "Pass for example at(30_000).",
            )
        line = [self._line(group)]
        edges = self._position(np.ravel(wanted))
        before = np.searchsorted(self._edges, edges, side="right") - 1
        after = np.searchsorted(self._edges, edges, side="left")
        share = np.interp(edges, self._edges, self._shares[line[0]])
        low, high = self._ends(before, level, of == "population")[0], self._ends(after, level, of == "population")[1]
        found = [np.reshape(part, wanted.shape) for part in (share, low[line][0], high[line][0])]
        return (found[0], found[1], found[2]) if wanted.ndim else (float(found[0]), float(found[1]), float(found[2]))

    def _line(self, group: str | None) -> int:
        if (group is None) != (self._groups is None) or (self._groups is not None and group not in self._groups):
            known = "there are no groups" if self._groups is None else f"known are {', '.join(self._groups[:20])}"
            raise InvalidParameter(
                f"group must be one of those that were asked about, got {group!r}.",
                f"Every group has a distribution function of its own; {known}.",
                "Leave group out if the question had no groups.",
            )
        return 0 if self._groups is None or group is None else self._groups.index(group)

    def _position(self, x: Floats) -> Floats:
        """How many cells lie below a value, the cell of a possible value included."""
        grid, (low, high) = self._grid, self._grid.bounds
        step, inside = grid.domain.step, np.clip(x, low, high)
        if grid.granular:
            cells = np.floor((inside - low) / step + 1e-9) + 1
        else:
            cells = (np.floor(inside) + 1 - low if grid.whole else inside - low) / step
        return np.where(x < low, 0.0, np.where(x >= high, float(grid.cells), np.clip(cells, 0.0, grid.cells)))

    # How far off it may be

    def data(self, level: float) -> Ends:
        low, high = self._ends(self._shown, level, False)
        return low.ravel(), high.ravel()

    def population(self, level: float) -> Ends:
        low, high = self._ends(self._shown, level, True)
        return low.ravel(), high.ravel()

    def _ends(self, edges: Indices, level: float, sampling: bool) -> tuple[Floats, Floats]:
        """Intervals at some edges, one by one, a line for each group."""
        total, counted, before = self._totals, self._heights[:, edges], self._before[edges]
        share, rows = self._shares[:, edges], np.maximum(total, 0.0) * sampling
        far = reach(level, self._of_part[edges] + rows * share * (1 - share) / self._noise) ** 2
        # noise is whole rows; and counts of few rows are skewed, which matters where errors are to be very rare
        skew = np.maximum(far - RARE**2, 0.0) / 6 if sampling else 0.0
        drawn = far * rows
        all_noise, noise = far * self._noise * self._of_all, far * self._noise * self._of_part[edges]
        ends = []
        for sign in (-1.0, 1.0):
            count = counted + sign * (0.5 + skew)
            a = total**2 - all_noise + drawn
            b = all_noise * before - drawn / 2 - total * count
            c = count**2 - all_noise * before**2 - noise
            root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
            beyond = count >= total if sign > 0 else count <= 0  # then not even all rows, or none, are a surprise
            ends.append(np.where(beyond, (1 + sign) / 2, (sign * root - b) / np.where(a > 0, a, 1.0)))
        lost = (total < 1) | (total**2 <= all_noise)  # next to no rows: anything is possible
        return self._possible(np.where(lost, 0.0, ends[0]), np.where(lost, 1.0, ends[1]), edges)

    def _possible(self, low: Floats, high: Floats, edges: Indices) -> tuple[Floats, Floats]:
        """Shares between 0 and 1, the released one among them; at the first edge and at the last all is known."""
        share = self._shares[:, edges]
        sure = (edges == 0) | (edges == self._edges.size - 1)
        low, high = np.minimum(low, share), np.maximum(high, share)
        return np.where(sure, share, np.clip(low, 0.0, 1.0)), np.where(sure, share, np.clip(high, 0.0, 1.0))

    def together(self, level: float, entries: int, of: str) -> Ends:
        del entries
        low, high = self._all(level, of)
        return low.ravel(), high.ravel()

    def _all(self, level: float, of: str) -> tuple[Floats, Floats]:
        """A band for each group; all of them hold together."""
        error = (1 - level) / self._totals.size
        parts = max(int(np.sum(self._shown < self._edges.size - 1)), 1)
        if choice("of", of, ("data", "population")) == "data":
            low, high = self._ends(self._shown, 1 - error / parts, False)
        else:  # two bands that both hold
            even, (low, high) = self._even(error / 2, parts), self._ends(self._shown, 1 - error / 2 / parts, True)
            low, high = np.maximum(low, even[0]), np.minimum(high, even[1])
        low = np.maximum.accumulate(low, axis=1)
        high = np.minimum.accumulate(high[:, ::-1], axis=1)[:, ::-1]
        return self._possible(low, high, self._shown)

    def _even(self, error: float, parts: int) -> tuple[Floats, Floats]:
        """A band for the population that is as wide everywhere as that for the data, and a bit."""
        one = 1 - error / 2 / (parts + (not self._known))  # the number of rows has a part too
        low, high = self._ends(self._shown, one, False)
        reached = float(reach(one, np.array([self._of_all]))[0]) * math.sqrt(self._noise * self._of_all)
        least = np.maximum(self._totals - reached - (not self._known), 0.5)
        away = np.sqrt(math.log(4 / error) / 2 / least)
        return low - away, high + away

    @property
    def grid(self) -> float:
        return 0.0  # the edges are borders of cells, on which rounding moves no row across
