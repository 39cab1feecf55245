"""Where to count records, once it is known roughly where the quantiles lie.

Around every target there is a zone that holds the quantile, unless the rough estimate is off by more than three of its
standard errors: three standard errors, in ranks, on both sides of the leaf of the rough tree in which the target falls.
In the zones, edges lie close together. A leaf of many records has edges at its ends as well, where many equal records
may lie next to a gap. Outside the zones, each distance between edges is four times the one before, so that records
elsewhere are counted too, less exactly.

How close together? More edges mean more noise, and between edges it is not known where records lie. The s
records of a run are off an even spread by sqrt(s / 6) if they lie there by chance, and by about 2 s s / n, of n records
in all, if their density bends as that of a normal distribution does. Squares of the two and of the noise add up; the
number of edges is the one among powers of the square root of 2 with which the sum is least. Chance counts four times,
because records are often in heaps.

All of this follows from the rough estimate, which is public.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from flou.arrays import Floats, Ints
from flou.mechanisms.quantiles.tree import TreeDistribution
from flou.mechanisms.quantiles.tree_consistency import best_shape, typical_variance

__all__ = ["expected_below", "focused_edges"]

CERTAIN = 3.0  # standard errors of the rough estimate from the leaf of a target to the end of its zone
CROWDED = 2.0  # runs in a leaf of the rough tree, which then has edges at its ends
APART = 4.0  # by this factor edges outside of zones are farther apart with every step
RUNS = [round(2 ** (power / 2)) for power in range(8, 29)]  # in all zones together: from 16 to 16,384
CHANCE, BENT = 4 / 6, 2.0
LOOKED = 2**24  # codes next to edges, at the most: as many take a gigabyte
LEAST = 1e-3  # of all records are expected to be spread evenly over the cells, whatever the rough estimate says

Zones = list[tuple[float, float]]


def focused_edges(rough: TreeDistribution, probabilities: Iterable[Fraction], scale: float, grain: int = 1) -> Ints:
    """Increasing, from 0 to all cells, close together around the targets.

    ``scale`` is that of the noise in a tree of one level over the runs between the edges. Edges move to multiples of
    ``grain`` where these are near, and everywhere if too many codes would have to be looked at between multiples.
    """
    heights, cells = rough.likely, int(rough.edges[-1])
    if heights[-1] < 1:  # nothing was seen
        even = np.linspace(0, cells, RUNS[0], endpoint=False).astype(np.int64)
        return _on_grain(np.unique([*even.tolist(), cells]), grain, np.zeros(0, dtype=np.int64))
    targets = np.array([float(one) for one in probabilities]) * float(heights[-1])
    ranks, crowded = _ranks(rough, targets, heights, scale)
    inner, times = np.unique(rough.cells_at(ranks, heights), return_counts=True)
    alone = inner[times > 1] + 1  # a cell of many records is a run of its own
    edges = np.unique(np.concatenate([[0, cells], inner, alone, rough.edges[crowded], rough.edges[crowded + 1]]))
    return _on_grain(edges, grain, _looked_at(rough, edges, targets, heights, grain))


def expected_below(rough: TreeDistribution, edges: Ints) -> Floats:
    """How many records lie below the edges, by the rough estimate; no run is expected to be empty."""
    heights, cells = rough.likely, int(rough.edges[-1])
    leaf = np.clip(np.searchsorted(rough.edges, edges, side="right") - 1, 0, rough.edges.size - 2)
    first, last = rough.edges[leaf], rough.edges[leaf + 1]
    part = (edges - first) / np.maximum(last - first, 1)
    found = heights[leaf] + part * (heights[leaf + 1] - heights[leaf])
    found += LEAST * max(float(heights[-1]), 1.0) * edges / cells
    return np.asarray(found, dtype=np.float64)


def _ranks(rough: TreeDistribution, targets: Floats, heights: Floats, scale: float) -> tuple[Floats, Ints]:
    """How many records the edges should have below them; and which leaves of the rough tree hold several runs.

    All records of such a leaf may lie at one of its ends, next to a gap: that is where edges have to be, too.
    """
    total = float(heights[-1])
    reach = max(CERTAIN * math.sqrt(rough.noise * typical_variance(rough.branching, rough.height)), 1.0)
    leaf = _leaves(targets, heights)
    zones = _zones(heights[leaf] - reach, heights[leaf + 1] + reach, total)
    outside = _outside(zones, reach, total)
    lengths = np.array([end - start for start, end in zones])

    def parts(runs: int) -> Ints:
        return np.asarray(np.maximum(np.ceil(lengths * (runs / lengths.sum()) - 1e-9), 1), dtype=np.int64)

    def error(runs: int) -> float:
        branching, height = best_shape(int(parts(runs).sum()) + len(outside) + 2)
        run = float(lengths.sum()) / runs
        noise = 2 * (height * scale) ** 2 * typical_variance(branching, height)
        return noise + CHANCE * run + (BENT * run * run / total) ** 2

    runs = min(RUNS, key=error)
    inside = [np.linspace(*zone, many + 1) for zone, many in zip(zones, parts(runs).tolist(), strict=True)]
    ranks = np.unique(np.concatenate([*inside, outside]))
    seen = np.unique(_leaves(np.concatenate(inside), heights))
    return ranks, seen[heights[seen + 1] - heights[seen] > CROWDED * lengths.sum() / runs]


def _leaves(ranks: Floats, heights: Floats) -> Ints:
    """The leaves in which ranks fall."""
    return np.asarray(np.clip(np.searchsorted(heights, ranks, side="left") - 1, 0, heights.size - 2), dtype=np.int64)


def _zones(starts: Floats, ends: Floats, total: float) -> Zones:
    """What lies between 0 and the total, in order; overlapping zones are one."""
    zones: Zones = []
    for start, end in zip(np.maximum(starts, 0.0).tolist(), np.minimum(ends, total).tolist(), strict=True):
        if zones and start <= zones[-1][1]:
            zones[-1] = (zones[-1][0], max(end, zones[-1][1]))
        else:
            zones.append((start, end))
    return zones


def _outside(zones: Zones, first: float, total: float) -> list[float]:
    """Ranks between zones: so far from their ends, then four times as far, up to the middle."""
    found = []
    for (_, before), (after, _) in pairwise([(0.0, 0.0), *zones, (total, total)]):
        most = (after - before) / (2 if before > 0 and after < total else 1)
        distance = first
        while distance < most:
            found += [before + distance] if before > 0 else []
            found += [after - distance] if after < total else []
            distance *= APART
    return found


def _looked_at(rough: TreeDistribution, edges: Ints, targets: Floats, heights: Floats, grain: int) -> Ints:
    """Runs of ``grain`` cells in which edges may lie: all of them, those of the targets, or none, as memory allows.

    A run has no more codes than cells, and no more than records, whose number the rough estimate gives.
    """
    if grain == 1:
        return edges
    for runs in (edges // grain, rough.cells_at(targets, heights) // grain):
        between = np.intersect1d(runs, edges[edges % grain > 0] // grain)
        ends = np.minimum((between + 1) * grain, edges[-1])
        records = expected_below(rough, ends) - expected_below(rough, between * grain)
        if np.minimum(records, grain).sum() <= LOOKED:
            return between
    return np.zeros(0, dtype=np.int64)


def _on_grain(edges: Ints, grain: int, looked_at: Ints) -> Ints:
    """Edges on the next multiple, if it is nearer than a quarter of the way to the next edge, or is not looked at."""
    moved = (edges + grain // 2) // grain * grain
    moved[[0, -1]] = edges[[0, -1]]
    moved = np.minimum(moved, edges[-1])
    room = np.minimum(np.diff(edges, prepend=-edges[-1]), np.diff(edges, append=2 * edges[-1]))
    free = (4 * np.abs(moved - edges) <= room) | ~np.isin(edges // grain, looked_at)
    return np.unique(np.where(free, moved, edges))
