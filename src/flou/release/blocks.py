"""What a certificate states, block by block, for releases of every kind: central, local, sanitised tables and joint.

Each block is a frozen value with the fields that all kinds share. A caller states what it knows; a default stands where
one sentence is true of all releases. What only one kind of release can say (the engine of a table, the number of
reports, the method of a mechanism) goes into ``facts``, beside the shared fields.

``Statement`` holds all blocks. A certificate is issued from a statement and from nothing else, so that no kind of
release can leave a block out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

from flou.bits import Bits, SystemBits
from flou.domain import Schema
from flou.guarantee import ZCDP, Guarantee
from flou.parameters import Relation
from flou.release.uncertainty import Uncertainty, accuracy_of

__all__ = [
    "CLAMPED",
    "ONCE",
    "PROOFS",
    "AccuracyBlock",
    "AssuranceBlock",
    "Block",
    "ChannelsBlock",
    "DataBlock",
    "KeysBlock",
    "LossBlock",
    "MechanismBlock",
    "ProcessingBlock",
    "Statement",
    "TrustBlock",
    "UnitBlock",
    "WordsBlock",
    "source_of",
]

PROOFS = "docs/explanation/proofs"
ONCE = "once, before any noise is drawn"
CLAMPED = "declared: clamped to the bounds; how many rows is private"
CONVERTED_AT = 1e-6  # the delta at which a rho is also stated as an epsilon
NO_GUARANTEE = "No noise was added, so nothing is promised against someone who knows all rows but one."


def source_of(bits: Bits) -> str:
    """Where the randomness came from."""
    if isinstance(bits, SystemBits):
        return "AES-256-CTR keyed by the operating system"
    return "given by the caller: a test, not a release"


@dataclass(frozen=True, kw_only=True)
class Block:
    """Fields that every kind of release has, and ``facts`` that only this kind has."""

    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """The block that plain values describe: shared fields by their names, and all others as facts."""
        shared = {one.name for one in fields(cls)} - {"facts"}
        known = {name: value for name, value in told.items() if name in shared}
        return cls(**known, facts={name: value for name, value in told.items() if name not in shared})

    def to_dict(self) -> dict[str, Any]:
        """The block as plain values."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "facts"}
        return {**{name: list(v) if isinstance(v, tuple) else v for name, v in own.items()}, **self.facts}


@dataclass(frozen=True, kw_only=True)
class DataBlock(Block):
    """Which data the release is about."""

    dataset: str | None
    schema_hash: str | None
    size_is_public: bool


@dataclass(frozen=True, kw_only=True)
class UnitBlock(Block):
    """Whose privacy is protected, and what is publicly known about every unit."""

    privacy_unit: str
    neighbours: Relation | None  # None where nothing is promised about neighbours
    bounds: Mapping[str, Any]
    unit_column: str | None = None
    max_rows_per_unit: int = 1
    bounds_source: str = "public"
    enforcement: str = "every row is a unit"

    @classmethod
    def of_schema(cls, schema: Schema) -> UnitBlock:
        """The unit of a table."""
        return cls(
            privacy_unit=schema.unit or "row",
            unit_column=schema.unit,
            neighbours=schema.relation,
            max_rows_per_unit=schema.max_rows_per_unit,
            bounds={name: schema[name].to_dict() for name in schema},
            bounds_source=schema.bounds_source or "public",
            enforcement="every row is a unit" if schema.unit is None else "rows beyond the cap are dropped at random",
        )

    def to_dict(self) -> dict[str, Any]:
        return {"max_groups_per_unit": self.max_rows_per_unit, **super().to_dict()}  # each row may be in another group


@dataclass(frozen=True, kw_only=True)
class LossBlock(Block):
    """What the release costs; ``cost`` is None where numbers are exact and no privacy loss is bounded."""

    cost: Guarantee | None
    composition: str = "sequential, exact"
    spent: Guarantee | None = None
    cap: Guarantee | None = None

    def to_dict(self) -> dict[str, Any]:
        cost, stated = self.cost, {"measure": "none"} if self.cost is None else self.cost.to_dict()
        return {
            **stated,
            "parameters": {} if cost is None else {name: getattr(cost, name) for name in cost.parameters},
            "delta": None if cost is None else getattr(cost, "delta", 0.0),
            "converted": cost.to_approx(delta=CONVERTED_AT).to_dict() if isinstance(cost, ZCDP) else None,
            "this_release": None if cost is None else stated,
            "composition": self.composition,
            "cumulative_after": None if self.spent is None else self.spent.to_dict(),
            "cap": None if self.cap is None else self.cap.to_dict(),
            **self.facts,
        }


@dataclass(frozen=True, kw_only=True)
class MechanismBlock(Block):
    """What drew the noise; ``facts`` are its parameters."""

    name: str
    random_source: str | None = None  # None where nothing is drawn
    sampler: str | None = None


@dataclass(frozen=True, kw_only=True)
class KeysBlock(Block):
    """How groups came to be named, and which quantities are told without noise."""

    group_keys: Literal["none", "public", "selected"] = "none"
    threshold: float | None = None
    unprotected_quantities: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProcessingBlock(Block):
    """What was done to the rows before the noise, and to the answer after it."""

    statistic: str
    column: str | None = None
    preprocessing: tuple[str, ...]
    postprocessing: tuple[str, ...] = ()
    touches_data_again: bool = False  # whether rows are read after noise was drawn, or sums opened
    reads: str = ONCE


@dataclass(frozen=True, kw_only=True)
class AccuracyBlock(Block):
    """How far off the answer is: half the widths of intervals, by cause. None where there is no such number."""

    uncertainty: Uncertainty | None
    clipping: str = CLAMPED
    notes: str = ""

    def to_dict(self) -> dict[str, Any]:
        unknown = dict.fromkeys(("level", "noise", "sampling", "total", "grid"))
        known = unknown if self.uncertainty is None else accuracy_of(self.uncertainty)
        return {**known, "clipping": self.clipping, "notes": self.notes, **self.facts}


@dataclass(frozen=True, kw_only=True)
class ChannelsBlock(Block):
    """Ways around the mechanism, and what is done about each."""

    float_policy: str = "integers until the noise is drawn"
    overflow_policy: str
    null_policy: str = "declared in the schema, row by row"
    error_policy: str = "no message contains a value"
    timing_policy: str = "not protected"


@dataclass(frozen=True, kw_only=True)
class TrustBlock(Block):
    """Who may see rows, and how many of the others may conspire."""

    model: Literal["central", "local", "joint"]
    parties: int
    collusion_tolerated: int | str


@dataclass(frozen=True, kw_only=True)
class AssuranceBlock(Block):
    """Why the guarantee holds: the pages that prove it, by their names, and what they do not cover."""

    proofs: tuple[str, ...]
    tests: str = "exhaustive on tiny domains, both relations"
    known_limits: tuple[str, ...] = ("timing", "memory of the host")

    def to_dict(self) -> dict[str, Any]:
        pages = [f"{PROOFS}/{page}.md" for page in dict.fromkeys(self.proofs)]
        return {"proof": pages, "tests": self.tests, "known_limits": list(self.known_limits), **self.facts}


@dataclass(frozen=True, kw_only=True)
class WordsBlock(Block):
    """The guarantee in words; ``cost`` is None where there is none."""

    cost: str | None
    not_protected: str = "What the statistics say about everyone, you included, whether or not you took part."

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "cost": NO_GUARANTEE if self.cost is None else self.cost}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """All that a certificate says, but for its own identity."""

    data: DataBlock
    unit: UnitBlock
    loss: LossBlock
    mechanism: MechanismBlock
    keys: KeysBlock
    processing: ProcessingBlock
    accuracy: AccuracyBlock
    channels: ChannelsBlock
    trust: TrustBlock
    assurance: AssuranceBlock
    words: WordsBlock

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The blocks by their names, as plain values."""
        return {one.name: getattr(self, one.name).to_dict() for one in fields(self)}
