"""What one party lets others compute with its rows: its own file, checked before it signs anything."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from flou.domain import toml
from flou.domain.table import checked_table
from flou.errors import InvalidParameter, ProtocolError
from flou.guarantee import ApproxDP, Guarantee, PureDP
from flou.joint.agreement.plan import Plan
from flou.parameters import integer, is_number, number

__all__ = ["Policy"]


@dataclass(frozen=True)
class Policy:
    """The limits of one party.

    ``rows_per_scalar`` asks for so many own rows for every number that is opened, unless the result is differentially
    private: sums of few rows, opened often enough, are the rows. ``columns`` lists what may be read; None allows all.
    ``epsilon`` (with ``delta``) demands differential privacy of at most this cost.
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

    def __post_init__(self) -> None:
        integer("minimum_parties", self.minimum_parties, 3, 100_000)
        integer("colluders", self.colluders, 0, 100_000)
        integer("max_scalars", self.max_scalars, 1, 2**40)
        if type(self.accept_differences) is not bool:
            raise InvalidParameter(
                "accept_differences must be true or false.",
                "Everything else could be read as a consent that was not given.",
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
        if self.epsilon is not None:
            number("epsilon", self.epsilon)
            number("delta", self.delta)
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
        """Refuse a plan that this party does not allow, with the reason."""
        program = plan.program
        for column in program.columns:
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
        self._check_privacy(plan, rows)

    def _check_privacy(self, plan: Plan, rows: int) -> None:
        scalars, guarantee = plan.scalars, plan.program.guarantee
        if scalars > self.max_scalars:
            raise _refused(f"This plan opens up to {scalars} numbers; your policy allows {self.max_scalars}.")
        if guarantee is None and rows < self.rows_per_scalar * scalars:
            raise _refused(
                f"This plan opens {scalars} numbers from {rows} rows; "
                f"your policy allows one in {self.rows_per_scalar:g}."
            )
        if self.epsilon is not None and not _covers(self.epsilon, self.delta, guarantee):
            raise _refused(
                f"This plan is not differentially private with epsilon = {self.epsilon:g} and delta = {self.delta:g}; "
                "your policy asks for it."
            )


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
