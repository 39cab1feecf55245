"""The rows of one party, read in batches: whatever :func:`flou.open` opens, however large.

Numbers become doubles, truth values 1 and 0, and everything else is text. In a text file a column is numbers where each
of its cells reads as one, unless the schema declares categories: then it stays as it is written. Rows with a missing
value in a column that is used are left out, as regressions do. A statistic gets the columns that its reading names, and
no others: what a party agrees to is what can be read. A reading is the one list that parties agree to, policies check
and rows obey. Whoever knows for which rows a condition holds knows something about the columns in it, so the list has
the columns that a statistic computes with and those that its condition compares.

Cells are read one by one, and none of them raises an error. Bytes are UTF-8. A cell that cannot be read (other bytes, a
list, NA of pandas, a signalling NaN) is missing. Texts are Python's own, so that a long one takes its own room only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.domain import Schema
from flou.domain.column import each, real
from flou.errors import ProtocolError
from flou.parameters import shown
from flou.summaries.condition import Condition, named
from flou.summaries.condition_words import condition
from flou.summaries.rows import Rows
from flou.summaries.source import rows_of

__all__ = ["Batch", "PartyRows", "Reading", "number_of"]


@dataclass(frozen=True)
class Reading:
    """Which columns are read, of which rows, and which of them as texts."""

    computed: tuple[str, ...]  # what the statistic computes with
    where: str = ""  # a condition in words; rows for which it does not hold are left out
    texts: frozenset[str] = frozenset()  # columns that stay as they are written

    def __post_init__(self) -> None:
        self.columns  # noqa: B018  refuse a condition that cannot be read

    @classmethod
    def of(cls, computed: Sequence[str], *, where: str = "", schema: Schema | None = None) -> Reading:
        """Columns whose domain is a list of texts are read as texts."""
        domains = {} if schema is None else schema.columns
        listed = {name: domain.levels for name, domain in domains.items() if domain.numbers is None}
        texts = frozenset(name for name, values in listed.items() if all(isinstance(value, str) for value in values))
        return cls(tuple(dict.fromkeys(computed)), where, texts)

    @cached_property
    def condition(self) -> Condition | None:
        """The condition, taken apart; None where all rows are read."""
        return condition(self.where) if self.where else None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column that anything reads: those of the statistic, then those of the condition alone."""
        compared = () if self.condition is None else named(self.condition)
        return tuple(dict.fromkeys((*self.computed, *compared)))


Batch: TypeAlias = Mapping[str, NDArray[Any]]  # numbers as float64, texts as texts or as objects that are texts

TRUTH = {"true": "1", "false": "0"}
CONTAINERS = (list, tuple, dict, set, frozenset, memoryview, np.ndarray, np.void)


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
    data = np.ma.getdata(values)
    masked = isinstance(values, np.ma.MaskedArray) and data.dtype.kind != "V"  # the mask of a record is a record
    there = ~np.ma.getmaskarray(values) if masked else np.ones(len(data), dtype=bool)
    if data.dtype.kind in "iufb" and not as_text:
        with np.errstate(all="ignore"):  # a signalling NaN
            numbers = data.astype(np.float64)
        return numbers, there & ~np.isnan(numbers)
    texts = _texts(data)
    if texts.dtype.kind == "O":
        there = there & np.fromiter((text is not None for text in texts), dtype=bool, count=len(texts))
    if as_text:
        return texts, there
    there[there] = [bool(text.strip()) for text in texts[there].tolist()]
    found = _numbers(texts, there)
    return (texts, there) if found is None else (found, there & ~np.isnan(found))


def _texts(data: NDArray[Any]) -> NDArray[Any]:
    """Each cell as a text; None where it is none."""
    if data.dtype.kind == "U":
        return data
    if data.dtype.kind in "Mm":
        dates = data.astype(str).astype(object)
        dates[np.isnat(data)] = None
        return dates
    cells = data.astype(object, copy=False)
    return cells if set(map(type, cells)) <= {str, type(None)} else each(cells, _text, None, object)


def _text(cell: Any) -> str | None:
    """One cell as a text; it may raise anything, which ``each`` takes for a missing value."""
    kind = type(cell)
    if issubclass(kind, str):
        return str.__str__(cell)
    if issubclass(kind, bytes | bytearray):
        return bytes(cell).decode()
    if cell is None or issubclass(kind, CONTAINERS):
        return None
    if issubclass(kind, bool | np.bool_):
        return str(bool(cell))
    number: Any = real(cell)
    if number is not None:
        return None if number != number else _numeral(number)
    return str(cell) if cell == cell else None  # a date, an interval of pandas, NaT, NA


def _numeral(number: Any) -> str:
    """A number as a text that reads as the nearest double, infinity where it is too large."""
    try:
        return str(float(number) if isinstance(number, Fraction) else number)
    except (OverflowError, ValueError):  # Python writes whole numbers of some thousand digits only
        return "inf" if number > 0 else "-inf"


def number_of(text: str) -> float:
    """What a text reads as, truth values as 1 and 0; a ValueError, which quotes the text, where it is no number."""
    word = text.lower()
    return float(TRUTH.get(word, word))


def _numbers(texts: NDArray[Any], there: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Texts as numbers, truth values among them; None if one of them is something else."""
    found = np.full(len(texts), np.nan)
    try:
        found[there] = [number_of(text) for text in texts[there].tolist()]
    except ValueError:
        return None
    return found
