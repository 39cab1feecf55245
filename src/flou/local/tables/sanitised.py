"""A sanitised table and its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flou.bits import Bits
from flou.guarantee import PureDP
from flou.local.tables.sanitiser import Sanitiser
from flou.release import Certificate
from flou.release import blocks as block

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
    statement = block.Statement(
        data=block.Data(dataset=schema.name, schema_hash=schema.hash, size_is_public=True, facts={"rows": rows}),
        unit=replace(
            block.Unit.of_schema(schema),
            privacy_unit=cost.unit,
            neighbours=cost.relation,
            enforcement="every cell is randomised by itself" + ("" if schema.unit is None else "; rows are capped"),
        ),
        loss=block.Loss(
            cost=cost,
            composition="the cells of a person are randomised independently: their losses add up",
            facts={"budget": sanitiser.budget, "columns": len(schema), "epsilon_per_cell": str(sanitiser.share)},
        ),
        mechanism=block.Mechanism(
            name="sanitiser", sampler="exact", random_source=block.source_of(bits), facts={"columns": columns}
        ),
        keys=block.Keys(group_keys="public", unprotected_quantities=("the number of rows", "the order of the rows")),
        processing=block.Processing(
            statistic="table",
            preprocessing=("encoded on the public domains; missing values count as their public value",),
            postprocessing=tuple(f"left out: {name}" for name in dropped),
            reads="once, row by row; each cell is randomised as it is read",
        ),
        accuracy=block.Accuracy(uncertainty=None, notes="A statistic of the table has the error of its randomisers."),
        channels=block.Channels(
            float_policy="codes are integers", overflow_policy="excluded: nothing is added up, cells are codes"
        ),
        trust=block.Trust(model="local", parties=rows, collusion_tolerated="all others"),
        assurance=block.Assurance(
            proofs=tuple(cell.randomiser.proof for cell in sanitiser.cells.values()), tests="exhaustive on tiny tables"
        ),
        words=block.Words(
            cost=f"{_sentence(sanitiser.in_words())} {cost.in_words()}",
            not_protected="That somebody is in the table, and what the rows say about everyone.",
        ),
    )
    return Certificate.issue(statement)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
