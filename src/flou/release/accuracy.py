"""How far off a release is, as its certificate states it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flou.release.uncertainty import Interval, Uncertainty

__all__ = ["accuracy_of", "half_width", "sampling_part"]

LEVEL = 0.95


def accuracy_of(uncertainty: Uncertainty) -> dict[str, Any]:
    """Half the widths of 95 % intervals, by cause; of vectors the largest. No bound at all is written as None."""
    noise, total = half_width(uncertainty.data(LEVEL)), half_width(uncertainty.population(LEVEL))
    parts = {"noise": noise, "sampling": sampling_part(noise, total), "total": total}
    known = {name: part if math.isfinite(part) else None for name, part in parts.items()}
    return {"level": LEVEL, **known, "grid": uncertainty.grid}


def half_width(interval: Interval) -> float:
    """Of the widest entry; what is too wide for a double is infinite."""
    low, high = (np.asarray(end, dtype=float) for end in interval)
    with np.errstate(over="ignore"):
        return float(np.max(high - low) / 2)


def sampling_part(noise: float, total: float) -> float:
    """What sampling adds to the noise; NaN where the noise drowns everything, or squares are too large for doubles."""
    between = total * total - noise * noise
    return math.sqrt(max(between, 0.0)) if math.isfinite(between) else math.nan
