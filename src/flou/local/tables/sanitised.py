"""A sanitised table and its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flou.bits import Bits, SystemBits
from flou.guarantee import PureDP
from flou.local.tables.sanitiser import Sanitiser
from flou.release import Certificate

__all__ = ["Sanitised", "certificate_of"]


@dataclass(frozen=True, eq=False)
class Sanitised:
    """``table``: the same kind of frame as the source, or a dictionary of columns; None when it went to ``path``."""

    table: Any = field(repr=False)
    path: Path | None
    rows: int
    dropped: tuple[str, ...]
    sanitiser: Sanitiser
    certificate: Certificate

    def __repr__(self) -> str:
        where = "" if self.path is None else f" in {self.path}"
        return f"Sanitised({self.rows} rows, {len(self.sanitiser.schema)} columns{where}; {self.sanitiser.in_words()})"

    @property
    def cost(self) -> PureDP:
        """What each person in the table has paid."""
        return self.sanitiser.guarantee

    @property
    def columns(self) -> Mapping[str, Any]:
        """The columns of the table, in its order; empty when it went to a file."""
        if self.table is None or isinstance(self.table, dict):
            return self.table or {}
        names = self.table.column_names if hasattr(self.table, "column_names") else self.table.columns
        return {name: self.table[name] for name in names}


def certificate_of(sanitiser: Sanitiser, rows: int, dropped: tuple[str, ...], bits: Bits) -> Certificate:
    """What the table says about itself; everything in it is public."""
    schema, cost = sanitiser.schema, sanitiser.guarantee
    columns = {
        name: {"name": cell.randomiser.name, **cell.randomiser.parameters(), "merged_codes": cell.merged}
        for name, cell in sanitiser.cells.items()
    }
    blocks: dict[str, dict[str, Any]] = {
        "data": {"dataset": schema.name, "rows": rows, "size_is_public": True, "schema_hash": schema.hash},
        "unit": {
            "privacy_unit": cost.unit,
            "neighbours": cost.relation,
            "max_rows_per_unit": schema.max_rows_per_unit,
            "bounds": {name: domain.to_dict() for name, domain in schema.columns.items()},
            "bounds_source": "public",
            "enforcement": "every cell is randomised by itself" + ("" if schema.unit is None else "; rows are capped"),
        },
        "loss": {
            **cost.to_dict(),
            "budget": sanitiser.budget,
            "columns": len(schema),
            "epsilon_per_cell": str(sanitiser.share),
            "composition": "the cells of a person are randomised independently: their losses add up",
            "cap": None,
        },
        "mechanism": {"name": "sanitiser", "columns": columns, "sampler": "exact", "random_source": _source(bits)},
        "keys": {
            "group_keys": "public",
            "threshold": None,
            "unprotected_quantities": ["the number of rows", "the order of the rows"],
        },
        "processing": {
            "statistic": "table",
            "preprocessing": ["encoded on the public domains; missing values count as their public value"],
            "postprocessing": [f"left out: {name}" for name in dropped],
            "touches_data_again": False,
        },
        "accuracy": {},
        "channels": {"float_policy": "codes are integers", "timing_policy": "not protected"},
        "trust": {"model": "local", "parties": rows, "collusion_tolerated": "all others"},
        "assurance": {"proof": "docs/explanation/proofs", "tests": "exhaustive on tiny tables"},
        "words": {
            "cost": f"{_sentence(sanitiser.in_words())} {cost.in_words()}",
            "not_protected": "That somebody is in the table, and what the rows say about everyone.",
        },
    }
    return Certificate.issue(blocks, previous=None)


def _source(bits: Bits) -> str:
    """Where the randomness came from."""
    if isinstance(bits, SystemBits):
        return "AES-256-CTR keyed by the operating system"
    return "given by the caller: a test, not a release"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
