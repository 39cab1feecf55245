"""Rows of a DuckDB relation in their order, some thousands at a time: through Arrow where it is installed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.summaries.array.columns import masked
from flou.summaries.duck.select import Select

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["values_in_batches"]

BATCH = 1 << 16


def values_in_batches(relation: DuckDBPyRelation | Select) -> Iterator[list[NDArray[Any]]]:
    """The columns of each batch as they are: numbers, NaN where one is missing, or objects with None."""
    if isinstance(relation, Select):
        relation = relation.bound()
    if find_spec("pyarrow") is not None:
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # DuckDB 1 has the latter
        for batch in reader(BATCH):
            yield [masked(column) for column in batch.columns]
        return
    rows: Iterator[Any] = iter(relation.iter_rows() if hasattr(relation, "iter_rows") else relation.fetchall())
    while found := list(itertools.islice(rows, BATCH)):
        yield [np.fromiter(values, dtype=object, count=len(values)) for values in zip(*found, strict=True)]
