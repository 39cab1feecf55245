"""What one party lets others compute with its rows: its own file, checked before it signs anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from flou.domain import toml
from flou.domain.table import checked_table
from flou.errors import InvalidParameter, ProtocolError
from flou.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from flou.joint.agreement.plan import Plan
from flou.parameters import LIMITS, exact, integer, is_number, number, shown
from flou.release.digits import priced

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """The limits of one party.

    ``columns`` lists what may be read, also by a condition; None allows all. ``rows_per_scalar`` asks for this many own
    rows for every number that is opened: sums of few rows, opened often enough, are the rows. Noise takes the place of
    rows if all rounds together cost at most ``most_epsilon`` (with ``delta``); with a larger cost it hides little, and
    the plan counts as exact. ``epsilon`` (with ``delta``) demands differential privacy of at most this cost.
    """

    columns: tuple[str, ...] | None = None
    estimators: tuple[str, ...] | None = None
    minimum_parties: int = 3
    colluders: int = 1
    rows_per_scalar: float = 10
    max_scalars: int = 1_000_000
    accept_differences: bool = False
    epsilon: float | None = None
    delta: float = 1e-6
    most_epsilon: float = 1

    def __post_init__(self) -> None:
        integer("minimum_parties", self.minimum_parties, 3, 100_000)
        integer("colluders", self.colluders, 0, 100_000)
        integer("max_scalars", self.max_scalars, 1, 2**40)
        if type(self.accept_differences) is not bool:
            raise InvalidParameter(
                "accept_differences must be true or false.",
                "Any other value could be mistaken for consent.",
                "Write accept_differences = false, or leave it out.",
            )
        for name in ("columns", "estimators"):
            listed = getattr(self, name)
            if listed is not None and not (isinstance(listed, tuple) and all(isinstance(part, str) for part in listed)):
                raise InvalidParameter(
                    f"{name} must be a list of names.",
                    "A party allows what it lists, word by word.",
                    f'Write for example {name} = ["age", "income"], or leave it out to allow all.',
                )
        number("delta", self.delta)
        if self.epsilon is not None:
            number("epsilon", self.epsilon)
        smallest, largest = LIMITS["epsilon"]
        usual = is_number(self.most_epsilon) and smallest <= exact(self.most_epsilon) <= largest
        if not usual and not (is_number(self.most_epsilon) and self.most_epsilon == 0):
            raise InvalidParameter(
                f"most_epsilon must be 0 or a usual epsilon, got {shown(self.most_epsilon)}.",
                "Up to this cost noise replaces rows; at an unlimited cost it hides nothing.",
                "Write for example most_epsilon = 1, or leave it out.",
            )
        if not is_number(self.rows_per_scalar) or self.rows_per_scalar < 0:
            integer("rows_per_scalar", self.rows_per_scalar, 0, 2**40)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Policy:
        names = tuple(field.name for field in fields(cls))
        settings = checked_table("policy", table, optional=names)
        for key in ("columns", "estimators"):
            if isinstance(settings.get(key), list):
                settings[key] = tuple(settings[key])
        return cls(**settings)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Policy:
        return cls.from_dict(toml.parsed(toml.file_text(path)))

    def check(self, plan: Plan, rows: int) -> None:
        """Refuse a plan that this party, with its number of rows, does not allow; give the reason."""
        self.check_terms(plan)
        self.check_rows(plan, rows)

    def check_terms(self, plan: Plan) -> None:
        """Refuse by what the plan says alone, before a row is read."""
        program = plan.program
        for column in plan.reading.columns:
            if self.columns is not None and column not in self.columns:
                raise _refused(f"This plan reads the column {column!r}; your policy does not list it.")
        if self.estimators is not None and program.estimator not in self.estimators:
            raise _refused(f"This plan computes {program.estimator!r}; your policy does not list it.")
        if plan.smallest < self.minimum_parties:
            raise _refused(
                f"This plan opens sums over {plan.minimum} parties; your policy asks for {self.minimum_parties}."
            )
        if plan.colluders < self.colluders:
            raise _refused(
                f"This plan withstands {plan.colluders} parties that conspire with the coordinator; "
                f"your policy asks for {self.colluders}."
            )
        if plan.differences == "accept" and not self.accept_differences:
            raise _refused("This plan opens sums with and without a party that is lost; your policy does not allow it.")
        if plan.scalars > self.max_scalars:
            raise _refused(f"This plan opens up to {plan.scalars} numbers; your policy allows {self.max_scalars}.")
        if self.epsilon is not None and not _covers(self.epsilon, self.delta, program.guarantee):
            raise _refused(
                f"This plan is not differentially private with epsilon = {self.epsilon:g} and delta = {self.delta:g}; "
                "your policy asks for it."
            )

    def check_rows(self, plan: Plan, rows: int) -> None:
        """Refuse to open more numbers than the rows can hide, unless noise hides them."""
        scalars, guarantee = plan.scalars, plan.program.guarantee
        if rows >= self.rows_per_scalar * scalars or self._hides(guarantee):
            return
        allowed = f"This plan opens {scalars} numbers from {rows} rows; your policy allows one in"
        if guarantee is None:
            raise _refused(f"{allowed} {self.rows_per_scalar:g}.")
        raise _refused(
            f"{allowed} {self.rows_per_scalar:g}, and noise instead of rows up to epsilon = {self.most_epsilon:g} and "
            f"delta = {self.delta:g}, while this plan costs {priced(self._converted(guarantee))}."
        )

    def _converted(self, guarantee: Guarantee) -> Guarantee:
        """A cost in the words of this policy."""
        return guarantee.to_approx(delta=self.delta) if isinstance(guarantee, ZCDP) else guarantee

    def _hides(self, guarantee: Guarantee | None) -> bool:
        """Whether there is noise enough to take the place of rows."""
        return self.most_epsilon > 0 and _covers(self.most_epsilon, self.delta, guarantee)


def _covers(epsilon: float, delta: float, guarantee: Guarantee | None) -> bool:
    if guarantee is None:
        return False
    relation, unit = guarantee.relation, guarantee.unit
    if isinstance(guarantee, PureDP):
        return PureDP(epsilon, relation=relation, unit=unit).covers(guarantee)
    return ApproxDP(epsilon, delta, relation=relation, unit=unit).covers(guarantee)


def _refused(what: str) -> ProtocolError:
    return ProtocolError(
        what,
        "Your rows are only used within your own policy.",
        "Ask for another plan, or change the policy if you are entitled to.",
    )
