"""The plan: everything that is agreed before anything moves, as data that every party signs.

A plan names the parties with their keys, the statistic with its columns and public bounds, how many rows a party has at
most, how many parties there must be and how many may be lost, and when it expires. Its hash is the one thing that
parties sign when they join; whoever changes a letter of it has another plan.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

from flou.domain import toml
from flou.domain.table import checked_table
from flou.errors import InvalidParameter, ProtocolError
from flou.joint.agreement.canonical import digest
from flou.joint.agreement.identity import Roster
from flou.joint.agreement.plan_words import plan_facts, rows_fact
from flou.joint.estimators.party_rows import PartyRows, Reading
from flou.joint.estimators.program import Ask, Program, program_of
from flou.joint.masking.bounds import Proof, width_for
from flou.joint.masking.graph import DENSE, Resilience, resilience
from flou.parameters import checked_text, choice, integer

__all__ = ["Plan"]

VERSION = 1
FEWEST = 3  # with two, each learns the other's sums by subtraction
DAYS = 30
MOST_ROWS = 2**40  # of one party; statistics prove their sums up to here
LONGEST_NAME, LONGEST_CONDITION = 200, 4000  # characters; somebody reads them before signing
SETTINGS = ("version", "name", "minimum", "dropouts", "differences", "max_rows", "where", "expires")


@dataclass(frozen=True)
class Plan:
    """What several parties agree to compute together."""

    roster: Roster
    program: Program
    name: str = "joint statistics"
    minimum: int | None = None  # parties in a sum; by default all but the dropouts
    dropouts: int | None = None  # parties that may be lost in a round; by default a quarter
    differences: Literal["refuse", "accept"] = "refuse"
    max_rows: int = MOST_ROWS
    where: str = ""
    expires: str = ""

    def __post_init__(self) -> None:
        m = integer("parties", len(self.roster), FEWEST, 100_000)
        _short("name", checked_text("name", self.name), LONGEST_NAME)
        _short("where", checked_text("where", self.where, empty=True), LONGEST_CONDITION)
        self.reading  # noqa: B018  refuse a condition that cannot be read
        choice("differences", self.differences, ("refuse", "accept"))
        integer("max_rows", self.max_rows, 1, MOST_ROWS)
        minimum = self.minimum
        if minimum is not None:
            integer("minimum", minimum, FEWEST, m)
        found = resilience(m, None if self.dropouts is None else integer("dropouts", self.dropouts, 0, m - FEWEST))
        if minimum is not None and m > DENSE and minimum < m - found.dropouts:
            raise InvalidParameter(
                f"minimum must be at least {m - found.dropouts} for {m} parties.",
                "Each party shares masks with few others, and among fewer parties more of them could conspire.",
                "Leave minimum out.",
            )
        object.__setattr__(self, "dropouts", found.dropouts)
        object.__setattr__(self, "minimum", max(FEWEST, m - found.dropouts) if minimum is None else minimum)
        if self._honest > self.smallest:
            raise InvalidParameter(
                f"The noise counts on {self._honest} honest parties, but a sum may cover only {self.smallest}.",
                "With fewer shares there is less noise than the guarantee needs.",
                "Lower honest, or raise minimum.",
            )
        if not self.expires:
            object.__setattr__(self, "expires", f"{datetime.now(UTC) + timedelta(days=DAYS):%Y-%m-%dT%H:%M:%SZ}")
        self._expiry  # noqa: B018  refuse a date that cannot be read

    @cached_property
    def resilience(self) -> Resilience:
        """Who shares masks and keys with how many others, and what that withstands."""
        return resilience(len(self.roster), self.dropouts)

    @property
    def colluders(self) -> int:
        """How many parties may conspire with the coordinator and still learn only sums about the others.

        At least two others are in each of these, or as many as the noise counts on.
        """
        return max(0, min(self.resilience.colluders, self.smallest - max(2, self._honest)))

    @cached_property
    def _honest(self) -> int:
        """How many parties in a sum the noise takes to be honest."""
        first = self.program.next([])
        return 0 if first is None or first.noise is None else first.noise.honest

    @property
    def smallest(self) -> int:
        """The least number of parties in a sum."""
        assert self.minimum is not None
        return self.minimum

    @property
    def scalars(self) -> int:
        """How many numbers are opened at most: twice the program's if a loss between rounds may be made up for."""
        again = self.differences == "accept" and self.program.guarantee is None
        return self.program.scalars * (2 if again else 1)

    @cached_property
    def _expiry(self) -> datetime:
        try:
            found = datetime.fromisoformat(self.expires)
        except (TypeError, ValueError):
            found = None
        if found is None or found.tzinfo is None:
            raise InvalidParameter(
                "expires must be a date and time with a time zone.",
                "A plan that was signed once must not be usable for ever.",
                'Write for example expires = "2027-01-31T00:00:00Z".',
            )
        return found

    def check_date(self, now: datetime | None = None) -> None:
        """Refuse a plan that has expired."""
        if (now or datetime.now(UTC)) >= self._expiry:
            raise ProtocolError(
                f"The plan has expired on {self.expires}.",
                "Parties agreed to it for a limited time.",
                "Agree on a new plan.",
            )

    @cached_property
    def reading(self) -> Reading:
        """All that is read of a party's rows. Policies check it, and rows give nothing else."""
        return self.program.reading(self.where)

    def rows(self, source: Any) -> PartyRows:
        """A party's rows, read as this plan says."""
        return PartyRows(source, self.reading)

    def check_reading(self, rows: PartyRows) -> None:
        """Refuse rows that were opened for another plan, which may read more of them."""
        if rows.reading != self.reading:
            raise ProtocolError(
                "These rows were opened for another plan.",
                "A party agrees to what one plan reads, and its rows give nothing else.",
                "Open them with plan.rows(...) of the plan that this party signs.",
            )

    def proof(self, ask: Ask) -> Proof:
        """That no sum of this question can overflow, and the width of words that this takes."""
        parties, reach = len(self.roster), 0 if ask.noise is None else ask.noise.reach
        return Proof(parties, ask.limit, reach, width_for(parties, ask.limit, reach))

    @cached_property
    def hash(self) -> bytes:
        return digest("plan", self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The tables of a plan file, every choice written out."""
        terms = {key: value for key, value in self.program.terms().items() if value is not None}
        schema = terms.pop("schema", None) or {}
        settings = {"version": VERSION} | {key: getattr(self, key) for key in SETTINGS[1:]}
        return {
            "plan": settings,
            "estimate": {"estimator": self.program.estimator, **terms},
            "parties": self.roster.to_dict(),
            **schema,
        }

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Plan:
        """The plan in the tables of a plan file; all of it is checked, for someone else may have written it."""
        tables = checked_table(
            "plan file", tables, required=("plan", "estimate", "parties"), optional=("dataset", "columns")
        )
        settings = checked_table("plan", tables["plan"], required=("version",), optional=SETTINGS[1:])
        if settings.pop("version") != VERSION:
            raise InvalidParameter(
                "The plan is of another version.",
                f"This flou knows version {VERSION} of plans.",
                "Let everyone use the same version of flou.",
            )
        terms = checked_table(
            "estimate", tables["estimate"], required=("estimator",), optional=_keys(tables["estimate"])
        )
        estimator = terms.pop("estimator")
        if "columns" in tables or "dataset" in tables:
            terms["schema"] = {key: tables[key] for key in ("dataset", "columns") if key in tables}
        return cls(Roster.from_dict(tables["parties"]), program_of(estimator, terms), **settings)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Plan:
        return cls.from_dict(toml.parsed(toml.file_text(path)))

    def to_toml(self) -> str:
        """The text of a plan file; reading it gives a plan with the same hash."""
        return toml.written(self.to_dict())

    def in_words(self, rows: int | None = None) -> str:
        """All that a party should know before it signs, with this number of rows of its own."""
        facts = [*plan_facts(self), *([] if rows is None else [rows_fact(self, rows)])]
        return "\n".join(f"{label}: {text}" for label, text in facts)


def _short(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidParameter(
            f"{name} must have at most {most} characters, got {len(text)}.",
            "Parties read it before they sign, so it must be short.",
            "Shorten it.",
        )


def _keys(table: Any) -> tuple[str, ...]:
    return tuple(table) if isinstance(table, Mapping) else ()
