"""Rows of a DuckDB relation in their order, some thousands at a time: through Arrow where it is installed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["in_batches"]

BATCH = 1 << 16


def in_batches(relation: DuckDBPyRelation) -> Iterator[NDArray[np.int64]]:
    """The columns of each batch, all of them whole numbers."""
    if find_spec("pyarrow") is not None:
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # DuckDB 1 has the latter
        for batch in reader(BATCH):
            yield np.array([column.to_numpy(zero_copy_only=False) for column in batch.columns], dtype=np.int64)
        return
    rows: Iterator[Any] = iter(relation.iter_rows() if hasattr(relation, "iter_rows") else relation.fetchall())
    while batch := list(itertools.islice(rows, BATCH)):
        yield np.array(batch, dtype=np.int64).T
