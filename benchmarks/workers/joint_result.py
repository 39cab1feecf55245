"""What is read from the answers of several processes: whether they are right, and how long it took all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workers.joint_data import coefficients, total
from workers.joint_group import Told

__all__ = ["checked", "elapsed"]

CLOSE = 1e-6  # of coefficients: what rounds at 2^-32 is off by 1e-9


def checked(statistic: str, parties: int, results: Sequence[Any]) -> None:
    """Refuse an answer that is wrong, at any party."""
    wanted = total(parties) if statistic == "sum" else coefficients(parties)
    for found in results:
        if len(found) != len(wanted) or not np.allclose(found, wanted, rtol=0, atol=0 if statistic == "sum" else CLOSE):
            raise ValueError(f"a wrong {statistic}")


def elapsed(answers: Sequence[Told], began: str = "began", ended: str = "ended") -> float:
    """From the first party that begins to the last that has the result."""
    return float(max(told[ended] for told in answers) - min(told[began] for told in answers))
