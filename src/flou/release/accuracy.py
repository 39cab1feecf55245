"""How far off a release is, as its certificate states it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flou.release.uncertainty import Uncertainty

__all__ = ["accuracy_of"]

LEVEL = 0.95


def accuracy_of(uncertainty: Uncertainty) -> dict[str, Any]:
    """Half the widths of 95 % intervals, by cause; of vectors the largest. No bound at all is written as None."""

    def half(interval: Any) -> float:
        low, high = (np.asarray(end, dtype=float) for end in interval)
        with np.errstate(over="ignore"):  # what is too wide for a double is infinite
            return float(np.max(high - low) / 2)

    noise, total = half(uncertainty.data(LEVEL)), half(uncertainty.population(LEVEL))
    bounded = math.isfinite(total)
    between = total * total - noise * noise  # the squares may be too large for doubles, where the widths are not
    return {
        "level": LEVEL,
        "noise": noise if math.isfinite(noise) else None,
        "sampling": math.sqrt(max(between, 0.0)) if math.isfinite(between) else None,
        "grid": uncertainty.grid,
        "total": total if bounded else None,
    }
