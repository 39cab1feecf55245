"""Makes the values of which quantiles are asked; needs NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workers.quantiles_data import BOUNDS, FOLDER, GRANULARITY, NORMAL, UNIFORM, path, sets

__all__ = ["drawn", "make"]

SEED = 11


def drawn(data: str, rows: int, seed: int = SEED) -> NDArray[np.float64]:
    """Uniform, normal, or log-normal with median 36,000 and rounded; all clipped to their public bounds."""
    random = np.random.default_rng([seed, rows])
    if data == UNIFORM:
        return random.random(rows)
    if data == NORMAL:
        return np.clip(random.standard_normal(rows), *BOUNDS[data])
    grain = GRANULARITY[data]
    return np.clip(grain * np.round(random.lognormal(10.5, 0.6, rows) / grain), *BOUNDS[data])


def make(data: str, rows: int) -> None:
    """Writes the file of all sets unless it is there; git ignores its folder."""
    file = Path(path(data, rows))
    if file.exists() and file.stat().st_size == 8 * rows * sets(rows):
        return
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n")
    part = file.with_suffix(".part")
    with part.open("wb") as whole:
        for which in range(sets(rows)):
            drawn(data, rows, SEED + which).tofile(whole)
    part.rename(file)
