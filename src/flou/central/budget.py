"""A budget in memory: it refuses what does not fit, before anything is read, and stays usable after a refusal.

Charges are seen in the measure of the budget and added up there: under a zCDP budget a pure epsilon is epsilon^2 / 2,
each charge by itself. An (epsilon, delta) budget can be used up in two ways, and the first charge, which cannot depend
on any answer, decides which: either epsilons and deltas add up; or, if it is a rho, rhos add up to the largest one
that converts into the budget. Choosing later, after having seen answers, is not covered by the proofs.
Proof: docs/explanation/proofs/guarantee.md

A budget belongs to the rows, and it counts in the memory of one process. A copy in another process would count for
itself, and the two together would spend twice: a forked child refuses to spend, and a budget cannot be pickled.
"""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import NoReturn

from flou.bits import process
from flou.errors import BudgetExceeded, InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, Guarantee, PureDP, compose
from flou.guarantee.measure import agree
from flou.parameters import Number, Relation

__all__ = ["Budget"]


class Budget:
    """What may be spent in total, and what has been spent."""

    def __init__(self, total: Guarantee | Number, *, relation: Relation = "add-remove", unit: str = "row") -> None:
        self.total = total if isinstance(total, Guarantee) else PureDP(total, relation=relation, unit=unit)
        self._cap: Guarantee | None = None  # the total, in the measure in which charges are added up
        self._costs: list[Guarantee] = []  # in the measure of the cap
        self._lock = threading.Lock()
        self._home = process()

    def require_home(self) -> None:
        """Refuse another process than the one that opened the table."""
        if self._home != process():
            raise BudgetExceeded(
                "The budget belongs to the process that opened the table, and this one was forked from it.",
                "Each process would keep its own account, and together they would spend the budget several times.",
                "Ask in the process that opened the table, or open the table here with a share of the budget.",
            )

    @property
    def spent(self) -> Guarantee | None:
        """The composition of all charges in the measure of the budget, None before the first."""
        return compose(*self._costs) if self._costs else None

    @property
    def remaining(self) -> dict[str, float]:
        """What is left of every parameter."""
        return self._left(self._cap or self.total)

    def _left(self, cap: Guarantee) -> dict[str, float]:
        spent = self.spent
        used = spent._exact if spent is not None else (Fraction(0),) * len(cap._exact)
        return {name: float(a - b) for name, a, b in zip(cap.parameters, cap._exact, used, strict=True)}

    def charge(self, *costs: Guarantee) -> None:
        """Take the costs together, or refuse them together; what is taken is never given back."""
        self.require_home()  # before the lock, which another thread may have held at the fork
        with self._lock:
            for cost in costs:
                agree(self.total, cost)
            cap = self._cap or _cap(self.total, costs)
            seen = [cost._as(type(cap)) for cost in costs]
            converted = [cost for cost in seen if cost is not None]
            if len(converted) < len(seen):
                raise _another_measure(cap, self.total, costs)
            if not cap.covers(compose(*self._costs, *converted)):
                requested, left = _parameters(compose(*converted)), self._left(cap)
                raise BudgetExceeded(
                    f"The budget does not cover this: requested {_named(requested)}, "
                    + ", ".join(
                        f"remaining {name} {left[name]:.6g}, difference {value - left[name]:.6g}"
                        for name, value in requested.items()
                    )
                    + ".",
                    "Answers add up, and together they would reveal more than was allowed.",
                    "Ask for less, or at a smaller price; nothing was answered, and nothing was charged.",
                )
            self._cap = cap
            self._costs.extend(converted)

    def __copy__(self) -> Budget:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Budget:
        return self

    def __reduce__(self) -> NoReturn:
        raise InvalidParameter(
            "A budget cannot be pickled, and a table that has one cannot either.",
            "A copy would keep its own account, and the two together would spend the budget twice.",
            "Send releases, or open the table where it is needed, with a budget of its own.",
        )

    def __repr__(self) -> str:
        return f"Budget({_named(_parameters(self.total))}; remaining {_named(self.remaining)})"


def _cap(total: Guarantee, costs: tuple[Guarantee, ...]) -> Guarantee:
    """The total in the measure that the first charge decides on."""
    if isinstance(total, ApproxDP) and any(isinstance(cost, ZCDP) for cost in costs):
        return ZCDP.for_approx(total.exact_epsilon, total.exact_delta, relation=total.relation, unit=total.unit)
    return total


def _another_measure(cap: Guarantee, total: Guarantee, costs: tuple[Guarantee, ...]) -> BudgetExceeded:
    requested = "; ".join(_named(_parameters(cost)) for cost in costs)
    advice = {
        PureDP: "Ask with epsilon alone, or open the table with a budget that has a delta or a rho.",
        ApproxDP: "Ask with epsilon and delta, or open the table with a budget in rho.",
        ZCDP: "Ask with rho, or with epsilon alone.",
    }[type(cap)]
    return BudgetExceeded(
        f"The budget does not cover this: requested {requested}, and the budget of {_named(_parameters(total))} "
        f"adds up {' and '.join(cap.parameters)}.",
        "The two are different measures of what answers reveal, and do not add up to a number that is proved.",
        f"{advice[:-1]}; nothing was answered, and nothing was charged.",
    )


def _parameters(guarantee: Guarantee) -> dict[str, float]:
    return {name: float(getattr(guarantee, name)) for name in guarantee.parameters}


def _named(parameters: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.6g}" for name, value in parameters.items())
