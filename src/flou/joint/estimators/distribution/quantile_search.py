"""The search for ranks on a public grid: runs of grid points that get shorter round by round.

Grid       numbers in their order as whole numbers 0, ..., size - 1: multiples of a public grain, or every float
Grain      code = rint((x - lower) / grain); the value of a code is lower + code * grain, rounded once. Encoding never
           swaps two values, so that the quantile of codes is the code of the quantile
Floats     a positive double read as an integer grows with its value; a negative one is minus the integer of its
           opposite. Both zeros have code 0, and two doubles are equal when their codes are
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.estimators.program import Opened

__all__ = ["FloatGrid", "GrainGrid", "OrderedGrid", "Run", "Search", "latest"]

MAGNITUDE = 0x7FFFFFFFFFFFFFFF


class OrderedGrid(Protocol):
    """Values in their order."""

    @property
    def size(self) -> int: ...

    @property
    def grain(self) -> float:
        """How far apart two values are, 0 for all floats."""
        ...

    def codes(self, values: NDArray[np.float64]) -> tuple[NDArray[np.uint64], int, int]:
        """The codes of the values between the bounds, and how many lie below and above."""
        ...

    def value(self, code: int) -> float: ...


@dataclass(frozen=True)
class GrainGrid:
    """The multiples of ``step`` from ``lower`` on, up to the first that is not below ``upper``."""

    lower: Fraction
    upper: Fraction
    step: Fraction

    @property
    def size(self) -> int:
        return math.ceil((self.upper - self.lower) / self.step) + 1

    @property
    def grain(self) -> float:
        return float(self.step)

    def codes(self, values: NDArray[np.float64]) -> tuple[NDArray[np.uint64], int, int]:
        lower, upper = float(self.lower), float(self.upper)
        below, above = values < lower, values > upper
        places = np.rint((values[~(below | above)] - lower) / float(self.step))
        return np.clip(places, 0, self.size - 1).astype(np.uint64), int(below.sum()), int(above.sum())

    def value(self, code: int) -> float:
        return float(self.lower + code * self.step)


@dataclass(frozen=True)
class FloatGrid:
    """Every double from ``lower`` to ``upper``, infinities included."""

    lower: float = -math.inf
    upper: float = math.inf
    grain: float = 0.0

    @property
    def size(self) -> int:
        return _order(self.upper) - _order(self.lower) + 1

    def codes(self, values: NDArray[np.float64]) -> tuple[NDArray[np.uint64], int, int]:
        below, above = values < self.lower, values > self.upper
        bits = values[~(below | above)].view(np.int64)
        signed = np.where(bits < 0, -(bits & MAGNITUDE), bits).view(np.uint64)
        first = np.uint64(_order(self.lower) % 2**64)
        return signed - first, int(below.sum()), int(above.sum())  # modulo 2^64, and the difference is below it

    def value(self, code: int) -> float:
        signed = code + _order(self.lower)
        (magnitude,) = struct.unpack("<d", struct.pack("<q", abs(signed)))
        return float(-magnitude if signed < 0 else magnitude)


def _order(value: float) -> int:
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(-(bits & MAGNITUDE) if bits < 0 else bits)


@dataclass(frozen=True)
class Run:
    """Grid points ``start``, ..., ``start + width - 1`` with ``count`` rows, one of which has the wanted rank."""

    start: int
    width: int
    rank: int  # within the run, the lowest being 1
    count: int

    @property
    def known(self) -> bool:
        return self.width == 1


def latest(opened: Sequence[Opened]) -> Sequence[Opened]:
    """The rounds since the last beginning; none when parties have left since then."""
    begun = [place for place, past in enumerate(opened) if past.ask.step == "first"]
    tail = opened[begun[-1] :] if begun else ()
    return tail if all(past.parties == tail[0].parties for past in tail) else ()


@dataclass(frozen=True)
class Search:
    """Runs of ``size`` grid points, each cut into ``branching`` parts a round, ``rounds`` times."""

    size: int
    rounds: int
    branching: int

    @classmethod
    def of(cls, size: int, cells: int, most: int) -> Search:
        """The fewest rounds with at most ``cells`` parts each, and then the fewest parts."""
        rounds = next((rounds for rounds in range(1, most + 1) if cells**rounds >= size), None)
        if rounds is None:
            raise InvalidParameter(
                f"{cells} cells a round cannot tell {size} values apart in {most} rounds.",
                f"They distinguish at most {cells**most} values.",
                "Pass a larger granularity, narrower bounds, more cells or more rounds.",
            )
        branching = next(parts for parts in _near_root(size, rounds) if parts**rounds >= size)
        return cls(size, rounds, branching)

    def width(self, done: int) -> int:
        """Grid points in a run after ``done`` rounds."""
        return int(self.branching ** (self.rounds - done))

    @property
    def beginning(self) -> int:
        """Counts of the first round: the runs, and one below and one above the grid."""
        return -(-self.size // self.width(1)) + 2

    def most(self, wanted: int) -> int:
        """How many numbers are opened at most to find this many ranks."""
        later = sum(min(wanted, int(self.branching**done)) for done in range(1, self.rounds))
        return self.beginning + self.branching * later

    def runs(self, tail: Sequence[Opened], wanted: Sequence[int]) -> dict[int, Run | None]:
        """The run of each wanted rank; None below and above the grid."""
        counts, width = tail[0].sums, self.width(1)
        ends = list(accumulate(counts))
        runs: dict[int, Run | None] = {}
        for rank in wanted:
            cell = bisect_left(ends, rank)
            run = Run((cell - 1) * width, width, rank - ends[cell] + counts[cell], counts[cell])
            runs[rank] = run if 0 < cell < len(counts) - 1 else None
        for past in tail[1:]:
            runs = {rank: run if run is None or run.known else self._cut(run, past) for rank, run in runs.items()}
        return runs

    def _cut(self, run: Run, past: Opened) -> Run:
        single, several = list(past.ask.parameters["single"]), list(past.ask.parameters["several"])
        if run.count == 1:
            return Run(run.start + past.sums[single.index(run.start)], 1, 1, 1)
        begin = len(single) + self.branching * several.index(run.start)
        counts, width = past.sums[begin : begin + self.branching], run.width // self.branching
        ends = list(accumulate(counts))
        if ends[-1] != run.count:
            raise ProtocolError(
                "The counts of two rounds do not fit together.",
                "A party has changed its rows in between, or its words are wrong.",
                "Begin again, with rows that stay as they are.",
            )
        place = bisect_left(ends, run.rank)
        return Run(run.start + place * width, width, run.rank - ends[place] + counts[place], counts[place])


def _near_root(size: int, rounds: int) -> range:
    near = round(size ** (1 / rounds))
    return range(max(near - 2, 1), near + 3)
