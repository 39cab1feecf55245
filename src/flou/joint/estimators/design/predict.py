"""Predictions of a fit for rows of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.design.design import Design
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.reading import Reading

__all__ = ["predicted"]


def predicted(design: Design, kept: Sequence[int], params: Floats, frame: Any) -> Floats:
    """The regressors times the coefficients; not a number where a regressor is missing."""
    columns = design.regressor_columns
    if not columns:  # nothing but an intercept
        length = len(next(iter(frame.values()))) if isinstance(frame, Mapping) and frame else len(frame)
        return np.full(length, float(params[0]))
    numbered = {name: np.asarray(frame[name]) for name in columns}
    place = "row " * (1 + max(map(len, columns)))  # a name that no column has
    numbered[place] = np.arange(len(numbered[columns[0]]))
    made = np.full(len(numbered[place]), np.nan)
    for batch in PartyRows(numbered, Reading((*columns, place))).batches((*columns, place)):
        rows = batch[place].astype(np.int64)
        made[rows] = design.regressors({name: batch[name] for name in columns})[:, list(kept)] @ params
    return made
