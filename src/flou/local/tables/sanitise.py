"""Sanitise a table: any source in; the same rows out, randomised cell by cell, with what each person has paid."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.domain import Schema
from flou.errors import InvalidData
from flou.guarantee import PureDP
from flou.local.tables.sanitised_file import checked_path, written
from flou.local.tables.sanitiser import Budget, Codes, Method, Sanitiser
from flou.parameters import Number, choice
from flou.release import Certificate
from flou.release import blocks as block
from flou.summaries import rows_of
from flou.summaries.request import Code
from flou.summaries.rows import Rows

__all__ = ["Sanitised", "sanitise"]

BLOCK = 2**16  # rows at a time, whatever the source is: the same bits then give the same table


@dataclass(frozen=True, eq=False)
class Sanitised:
    """``table``: the same kind of frame as the source, or a dictionary of columns; None if it is in ``path``."""

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
        """The columns of the table, in its order; empty if it was written to a file."""
        if self.table is None or isinstance(self.table, dict):
            return self.table or {}
        names = self.table.column_names if hasattr(self.table, "column_names") else self.table.columns
        return {name: self.table[name] for name in names}


def sanitise(
    source: Any,
    schema: Schema | Mapping[str, Any] | str | os.PathLike[str],
    *,
    epsilon: Number,
    budget: Budget = "total",
    method: Method = "window",
    others: Literal["refuse", "drop"] = "refuse",
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] | None = None,
    bits: Bits = SYSTEM,
) -> Sanitised:
    """Randomise every cell of a table within its public bounds or categories.

    ``source`` is anything that ``flou.open`` accepts; it is never changed. Columns that the schema does not have are
    refused, or left out with ``others="drop"``. With ``out``, rows are written to a CSV or Parquet file as they come,
    so that the table need not fit into memory. ``progress`` is called with the number of rows done.
    """
    sanitiser = Sanitiser(schema, epsilon=epsilon, budget=budget, method=method)
    choice("others", others, ("refuse", "drop"))
    path = None if out is None else checked_path(out, source)
    rows = rows_of(source)
    names, dropped = _chosen(rows, sanitiser.schema, others)
    if sanitiser.schema.unit is not None:
        rows = rows.capped(sanitiser.schema.unit, sanitiser.schema.max_rows_per_unit, bits=bits)
    domains = {name: sanitiser.schema[name] for name in names}
    parts: dict[str, list[NDArray[Any]]] = {name: [domain.decode([])] for name, domain in domains.items()}
    count = 0

    def keep(codes: Mapping[str, Ints]) -> None:
        for name, domain in domains.items():
            parts[name].append(domain.decode(codes[name]))

    with nullcontext(keep) if path is None else written(path, domains) as take:
        for codes in _blocks(rows, sanitiser.schema):
            drawn = sanitiser.sample(codes, bits=bits)
            take(drawn)
            count += len(drawn[names[0]])
            if progress is not None:
                progress(count)
    table = None if path is not None else _like(source, {name: np.concatenate(part) for name, part in parts.items()})
    return Sanitised(table, path, count, dropped, sanitiser, _certificate(sanitiser, count, dropped, bits))


def _chosen(rows: Rows, schema: Schema, others: str) -> tuple[list[str], tuple[str, ...]]:
    """The columns of the schema in the order of the source, and all other columns, which are never passed through."""
    for name in schema:
        rows.require(name)
    dropped = tuple(name for name in rows.columns if name not in schema)
    unknown = [name for name in dropped if name != schema.unit]
    if unknown and others == "refuse":
        raise InvalidData(
            f"The schema does not have the column{'s' * (len(unknown) > 1)} {', '.join(map(repr, unknown[:10]))}.",
            "A column without a declared domain cannot be randomised, and it is never passed through.",
            'Declare it in the schema, or pass others="drop" (--drop on the command line) to leave it out.',
        )
    return [name for name in rows.columns if name in schema], dropped


def _blocks(rows: Rows, schema: Schema) -> Iterator[Codes]:
    """The codes of the rows, in blocks that have the same length on every engine."""
    wanted = [Code(name, domain) for name, domain in schema.columns.items()]
    waiting: list[list[NDArray[np.int64]]] = []
    length = 0
    for batch in rows.codes(wanted):
        waiting.append(batch)
        length += len(batch[0])
        if length >= BLOCK:
            together = [np.concatenate(columns) for columns in zip(*waiting, strict=True)]
            for start in range(0, length - BLOCK + 1, BLOCK):
                yield dict(zip(schema, (column[start : start + BLOCK] for column in together), strict=True))
            length %= BLOCK
            waiting = [[column[len(column) - length :] for column in together]]
    if length:
        yield dict(zip(schema, (np.concatenate(columns) for columns in zip(*waiting, strict=True)), strict=True))


def _like(source: Any, columns: dict[str, NDArray[Any]]) -> Any:
    """A data frame of the source's library if the source is a data frame in memory, otherwise a dictionary."""
    if isinstance(source, str | os.PathLike | Mapping | np.ndarray | Rows):
        return columns
    import narwhals as nw

    frame = nw.from_native(source, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return columns
    listed = {name: values.tolist() if values.dtype.kind == "O" else values for name, values in columns.items()}
    return nw.from_dict(listed, backend=frame.implementation).to_native()


def _certificate(sanitiser: Sanitiser, rows: int, dropped: tuple[str, ...], bits: Bits) -> Certificate:
    """What the table says about itself; everything in it is public."""
    schema, cost, paid = sanitiser.schema, sanitiser.guarantee, sanitiser.in_words()
    columns = {
        name: {"name": cell.randomiser.name, **cell.randomiser.parameters(), "merged_codes": cell.merged}
        for name, cell in sanitiser.cells.items()
    }
    statement = block.Statement(
        data=block.DataBlock(dataset=schema.name, schema_hash=schema.hash, size_is_public=True, facts={"rows": rows}),
        unit=replace(
            block.UnitBlock.of_schema(schema),
            privacy_unit=cost.unit,
            neighbours=cost.relation,
            enforcement="every cell is randomised by itself" + ("" if schema.unit is None else "; rows are capped"),
        ),
        loss=block.LossBlock(
            cost=cost,
            composition="the cells of a person are randomised independently: their losses add up",
            facts={"budget": sanitiser.budget, "columns": len(schema), "epsilon_per_cell": str(sanitiser.share)},
        ),
        mechanism=block.MechanismBlock(
            name="sanitiser", sampler="exact", random_source=block.source_of(bits), facts={"columns": columns}
        ),
        keys=block.KeysBlock(
            group_keys="public", unprotected_quantities=("the number of rows", "the order of the rows")
        ),
        processing=block.ProcessingBlock(
            statistic="table",
            preprocessing=("encoded on the public domains; missing values count as their public value",),
            postprocessing=tuple(f"left out: {name}" for name in dropped),
            reads="once, row by row; each cell is randomised as it is read",
        ),
        accuracy=block.AccuracyBlock(
            uncertainty=None, notes="A statistic of the table has the error of its randomisers."
        ),
        channels=block.ChannelsBlock(
            float_policy="codes are integers", overflow_policy="excluded: nothing is added up, cells are codes"
        ),
        trust=block.TrustBlock(model="local", parties=rows, collusion_tolerated="all others"),
        assurance=block.AssuranceBlock(
            proofs=tuple(cell.randomiser.proof for cell in sanitiser.cells.values()), tests="exhaustive on tiny tables"
        ),
        words=block.WordsBlock(
            cost=f"{paid[0].upper()}{paid[1:]}. {cost.in_words()}",
            not_protected="That somebody is in the table, and what the rows say about everyone.",
        ),
    )
    return Certificate.issue(statement)
