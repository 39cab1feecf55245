"""Windows from whose reports a distribution is estimated."""

from __future__ import annotations

import math

import numpy as np

from flou.arrays import Floats, Ints
from flou.local.numbers.distribution_randomiser import DistributionRandomiser
from flou.local.numbers.window_randomiser import WindowRandomiser

__all__ = ["WindowDistribution"]


class WindowDistribution(WindowRandomiser, DistributionRandomiser):
    """Reports are cells of a grid, those of a window more likely than the others."""

    cells = DistributionRandomiser.cells

    def running(self, codes: Ints, ends: Ints) -> Floats:
        start, stop = (end[:, None] for end in self.window(codes))
        inside, b = np.clip(ends, start, stop) - start, math.exp(-self.rate)
        total = (stop - start) + b * (self.cells - (stop - start))
        found: Floats = (inside + b * (ends - inside)) / total
        return found
