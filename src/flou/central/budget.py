"""A budget in memory: it refuses what does not fit, before anything is read, and stays usable after a refusal."""

from __future__ import annotations

import threading
from typing import Any

from flou.errors import BudgetExceeded
from flou.guarantee import Guarantee, PureDP, compose
from flou.parameters import Number, Relation

__all__ = ["Budget"]


class Budget:
    """What may be spent in total, and what has been spent."""

    def __init__(self, total: Guarantee | Number, *, relation: Relation = "add-remove", unit: str = "row") -> None:
        self.total = total if isinstance(total, Guarantee) else PureDP(total, relation=relation, unit=unit)
        self._costs: list[Guarantee] = []
        self._lock = threading.Lock()

    @property
    def spent(self) -> Guarantee | None:
        """The composition of all charges, None before the first."""
        return compose(*self._costs) if self._costs else None

    @property
    def remaining(self) -> dict[str, float]:
        """What is left of every parameter of the total, as far as it can be told by subtraction."""
        spent = _parameters(self.spent) if self.spent is not None else {}
        return {name: total - spent.get(name, 0.0) for name, total in _parameters(self.total).items()}

    def charge(self, *costs: Guarantee) -> None:
        """Take the costs together, or refuse them together; what is taken is never given back."""
        with self._lock:
            after = compose(*self._costs, *costs)
            if not self.total.covers(after):
                raise BudgetExceeded(
                    f"The budget does not cover this: requested {_named(compose(*costs))}, {self._missing(costs)}.",
                    "Answers add up, and together they would reveal more than was allowed.",
                    "Ask for less, or with a smaller epsilon; the budget is as it was, and nothing was read.",
                )
            self._costs.extend(costs)

    def _missing(self, costs: tuple[Guarantee, ...]) -> str:
        requested, parts = _parameters(compose(*costs)), []
        for name, remaining in self.remaining.items():
            if name in requested:
                parts.append(f"remaining {name} {remaining:.6g}, difference {requested[name] - remaining:.6g}")
        return ", ".join(parts) or f"total {_named(self.total)}"

    def __repr__(self) -> str:
        left = ", ".join(f"{name} {value:.6g}" for name, value in self.remaining.items())
        return f"Budget({_named(self.total)}; remaining {left})"


def _parameters(guarantee: Guarantee) -> dict[str, float]:
    return {n: float(getattr(guarantee, n)) for n in ("epsilon", "delta", "rho") if hasattr(guarantee, n)}


def _named(guarantee: Guarantee) -> str:
    values: dict[str, Any] = _parameters(guarantee)
    return ", ".join(f"{name} {value:.6g}" for name, value in values.items())
