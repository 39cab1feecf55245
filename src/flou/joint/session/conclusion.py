"""What follows from sums, for everyone alike: the next question, or the result once enough parties have confirmed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flou.errors import instead
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.fit import Fit, Provenance
from flou.joint.estimators.program import Ask, Opened, Program, not_of_rows
from flou.joint.round.setting import Setting
from flou.joint.session.certify import certificate_of

__all__ = ["concluded", "confirmations", "next_ask"]


def confirmations(setting: Setting) -> int:
    """So many neighbours must have confirmed a result; the others may have been lost."""
    return setting.resilience.quorum


def _of_rows() -> instead:
    """What no rows could give may have no square root, or no inverse."""
    error = not_of_rows("Nothing follows from these sums.")
    return instead(error, ArithmeticError, ValueError, np.linalg.LinAlgError)


def next_ask(program: Program, opened: Sequence[Opened]) -> Ask | None:
    """What is added up next."""
    with _of_rows():
        return program.next(opened)


def concluded(plan: Plan, opened: Sequence[Opened], head: bytes) -> Fit:
    """The result of what was opened, with how it came about; ``head`` stands for all rounds."""
    with _of_rows():
        fit: Fit = plan.program.result(opened)
    scalars, cost = sum(one.ask.length for one in opened), plan.program.guarantee
    issued = certificate_of(plan, opened, head)
    return fit.with_provenance(Provenance(opened[-1].parties, len(opened), scalars, head.hex(), cost, issued))
