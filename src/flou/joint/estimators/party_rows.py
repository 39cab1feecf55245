"""The rows of one party, read in batches: whatever :func:`flou.open` opens, however large.

Numbers become doubles, truth values 1 and 0, and everything else is text. In a text file a column is numbers where each
of its cells reads as one, unless the schema declares categories: then it stays as it is written. Rows with a missing
value in a column that is used are left out, as regressions do. A statistic gets the columns that its reading names, and
no others: what a party agrees to is what can be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.errors import ProtocolError
from flou.joint.estimators.reading import Reading
from flou.parameters import shown
from flou.summaries.rows import Rows
from flou.summaries.source import rows_of

__all__ = ["Batch", "PartyRows"]

Batch: TypeAlias = Mapping[str, NDArray[Any]]  # numbers as float64, texts as texts


class PartyRows:
    """Columns of one party, a batch at a time."""

    def __init__(self, source: Any, reading: Reading) -> None:
        """A path, a data frame, a mapping of columns, ...; it is opened when rows are first asked for."""
        self._source, self.reading = source, reading

    @cached_property
    def _rows(self) -> Rows:
        rows = rows_of(self._source)
        return rows if self.reading.condition is None else rows.where(self.reading.condition)

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """These columns, a batch of rows after the other; rows with a missing value in one of them are left out."""
        for name in columns:
            if name not in self.reading.computed:
                raise _not_agreed(name)
        texts = self.reading.texts
        for arrays in self._rows.values(columns):
            read = {name: _read(values, name in texts) for name, values in zip(columns, arrays, strict=True)}
            present = np.logical_and.reduce([there for _, there in read.values()])
            whole = bool(present.all())
            yield {name: values if whole else values[present] for name, (values, _) in read.items()}

    def count(self, columns: Sequence[str]) -> int:
        """How many rows are complete in these columns."""
        return sum(len(batch[columns[0]]) for batch in self.batches(columns)) if columns else 0


def _not_agreed(name: str) -> ProtocolError:
    return ProtocolError(
        f"The statistic asks for the column {shown(name)}, which it does not list.",
        "Parties agree to the columns that a plan names, and nothing else of their rows is read.",
        "Let the statistic list every column that it computes with.",
    )


def _read(values: NDArray[Any], as_text: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A column as numbers or as texts, and where it has any."""
    there = ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.ones(len(values), dtype=bool)
    data = np.ma.getdata(values)
    if data.dtype.kind in "iufb":
        numbers = data.astype(np.float64)
        if not as_text:
            return numbers, there & ~np.isnan(numbers)
        data = data.astype(object)
    if data.dtype.kind == "O":
        there = there & np.array([value is not None and value == value for value in data], dtype=bool)
    texts = np.where(there, data, "").astype(str)
    if not as_text:
        there = there & (np.strings.str_len(np.strings.strip(texts)) > 0)
        found = _numbers(texts, there)
        return (texts, there) if found is None else (found, there & ~np.isnan(found))
    return texts, there


def _numbers(texts: NDArray[Any], there: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Texts as numbers, truth values among them; None if one of them is something else."""
    found = np.full(len(texts), np.nan)
    lower = np.strings.lower(texts[there])
    try:
        found[there] = np.where(lower == "true", "1", np.where(lower == "false", "0", lower)).astype(np.float64)
    except ValueError:
        return None
    return found
