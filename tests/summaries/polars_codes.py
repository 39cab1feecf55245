"""A program: compare the codes of lazy Polars frames with NumPy's, with as many threads as the environment says.

Polars fixes its threads when it is imported, so each number of threads needs a process of its own. What it prints is
the number of comparisons, and the first one that differs.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl

from flou.summaries import Code, Counts, rows_of
from flou.summaries.request import LARGEST_TABLE
from summaries.company import DOMAINS, MOMENTS, SIZES, rows_for


def frames(x: np.ndarray) -> dict[str, pl.LazyFrame]:
    """The same rows as one chunk, as many chunks, and in chunks of one row."""
    whole = pl.DataFrame({"x": x})
    parts = [whole[start : start + 7] for start in range(0, min(len(x), 700), 7)]
    ones = [whole[i : i + 1] for i in range(min(len(x), 70))]
    return {
        "one chunk": whole.lazy(),
        "chunks of seven": pl.concat(parts, rechunk=False).lazy(),
        "chunks of one": pl.concat(ones, rechunk=False).lazy(),
    }


def differences() -> tuple[int, list[str]]:
    compared, different = 0, []
    for name, domain in DOMAINS.items():
        for size in SIZES:
            x = rows_for(domain, size)
            for kind, frame in frames(x).items():
                rows, code = rows_of(frame), Code("x", domain)
                expected = domain.encode(x)[: {"one chunk": size, "chunks of seven": 700, "chunks of one": 70}[kind]]
                found = [np.concatenate([part[0] for part in rows.codes([code])])]
                if domain.size <= min(LARGEST_TABLE, 2**16):
                    counted = rows.collect([Counts((code,))])[0]
                    found.append(np.repeat(np.arange(domain.size), counted))
                for one, wanted in zip(found, (expected, np.sort(expected)), strict=False):
                    compared += 1
                    if not np.array_equal(one, wanted):
                        different.append(f"{name}, {size} rows, {kind}")
    for size in SIZES:
        x = rows_for(DOMAINS["salaries"], size)
        found, expected = (rows_of(some).collect([MOMENTS.request()])[0] for some in (pl.LazyFrame({"x": x}), {"x": x}))
        compared += 1
        if found.tolist() != expected.tolist():
            different.append(f"moments of {size} rows")
    return compared, different


if __name__ == "__main__":
    compared, different = differences()
    json.dump({"compared": compared, "different": different[:5], "threads": pl.thread_pool_size()}, sys.stdout)
