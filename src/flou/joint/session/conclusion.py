"""What follows from sums, for everyone alike: the next question, or the result once enough parties have confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from flou.errors import FlouError
from flou.joint.estimators.fit import Fit, Provenance
from flou.joint.estimators.program import Ask, Opened, Program, not_of_rows
from flou.joint.round.setting import Setting

__all__ = ["concluded", "confirmations", "next_ask"]


def confirmations(setting: Setting) -> int:
    """So many neighbours must have confirmed a result; the others may have been lost."""
    return setting.resilience.quorum


@contextmanager
def _of_rows() -> Iterator[None]:
    """What no rows could give may have no square root, or no inverse."""
    try:
        yield
    except FlouError:
        raise
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        raise not_of_rows("Nothing follows from these sums.") from None


def next_ask(program: Program, opened: Sequence[Opened]) -> Ask | None:
    """What is added up next."""
    with _of_rows():
        return program.next(opened)


def concluded(program: Program, opened: Sequence[Opened], head: bytes) -> Fit:
    """The result of what was opened, with how it came about; ``head`` stands for all rounds."""
    with _of_rows():
        fit: Fit = program.result(opened)
    scalars = sum(one.ask.length for one in opened)
    return fit.with_provenance(Provenance(opened[-1].parties, len(opened), scalars, head.hex(), program.guarantee))
