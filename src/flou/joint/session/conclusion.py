"""How a session ends, for everyone alike: enough parties have confirmed the sums, and the result follows from them."""

from __future__ import annotations

from collections.abc import Sequence

from flou.joint.estimators.fit import Fit, Provenance
from flou.joint.estimators.program import Opened, Program
from flou.joint.round.setting import Setting

__all__ = ["concluded", "confirmations"]


def confirmations(setting: Setting) -> int:
    """So many neighbours must have confirmed a result; the others may have been lost."""
    return setting.resilience.quorum


def concluded(program: Program, opened: Sequence[Opened], head: bytes) -> Fit:
    """The result of what was opened, with how it came about; ``head`` stands for all rounds."""
    fit: Fit = program.result(opened)
    scalars = sum(one.ask.length for one in opened)
    return fit.with_provenance(Provenance(opened[-1].parties, len(opened), scalars, head.hex(), program.guarantee))
