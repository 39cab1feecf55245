"""Several quantiles of few rows: drawn together, or read off a tree of counts; and how wide and high is that tree?

python benchmarks/quantiles_trees.py             all cells: about twenty minutes on two cores
python benchmarks/quantiles_trees.py --quick     four releases a cell

Mean rank errors on ten kinds of data: five shapes, each between bounds that fit and between bounds ten times too wide,
which nobody knows who has not seen the data. "seen" are the rows times epsilon, twice that under add-remove. The joint
draw gets nine tenths of epsilon, as it does by default where the number of rows is public; a tree gets all, because its
intervals are free. What is chosen by default (src/flou/central/quantile_plan.py) follows from the geometric means over
all kinds of data.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import flou
from flou.bits import SYSTEM
from flou.central.quantile_plan import QuantilePlan
from flou.mechanisms.quantiles import SortedRecords, Tree
from harness import machine
from harness.environments import BENCHMARKS

JOINT, SETS = "joint", 8
SHAPES = {"16": (16, 1), "32": (32, 1), "8²": (8, 2), "16²": (16, 2), "8³": (8, 3), "16³": (16, 3), "16⁴": (16, 4)}
RELATIONS = ("add-remove", "substitute")
SEEN = {  # by how many quantiles are asked for
    2: (20, 50, 100),
    4: (40, 75, 150),
    9: (50, 100, 200, 300, 400, 600),
    19: (100, 400, 1_000, 1_500, 3_000),
    40: (400, 1_500, 6_000, 10_000, 20_000),
    99: (100, 3_000, 20_000, 60_000),
}
RELEASES = {2: 48, 4: 48, 9: 48, 19: 32, 40: 24, 99: 12}
KINDS = ("uniform", "normal", "bimodal", "narrow", "salaries")
WIDER = 10


@dataclass(frozen=True)
class Cell:
    """How many quantiles are asked for, under which relation, of how many rows times epsilon."""

    quantiles: int
    relation: str
    seen: int

    @property
    def rows(self) -> int:
        return max(1_000, round(self._times_epsilon))

    @property
    def epsilon(self) -> Fraction:
        return Fraction(self._times_epsilon) / self.rows

    @property
    def _times_epsilon(self) -> float:
        return self.seen / (2 if self.relation == "add-remove" else 1)


@dataclass(frozen=True)
class Sample:
    """Rows in order, and the same as records of a grid."""

    values: Any
    grid: flou.Interval
    records: SortedRecords
    grain: float | None

    @classmethod
    def of(cls, kind: str, rows: int, wider: int, rng: np.random.Generator) -> Sample:
        """Salaries are rounded to 1000, which is public; nothing else is."""
        grain, bounds = None, (-5, 5)
        if kind == "uniform":
            values, bounds = rng.random(rows), (0, 1)
        elif kind == "bimodal":
            values = rng.choice([-3.0, 3.0], rows) + 0.2 * rng.standard_normal(rows)
        elif kind == "narrow":
            values = 2.3 + 0.2 * rng.standard_normal(rows)
        elif kind == "normal":
            values = rng.standard_normal(rows)
        else:
            grain, bounds = 1000.0, (0, 300_000)
            values = np.clip(grain * np.round(rng.lognormal(10.5, 0.6, rows) / grain), *bounds)
        lower, upper = (wider * bound for bound in bounds)
        if grain is None:
            grid = flou.Interval(lower, upper, cells=2**31)
        else:
            cells = round((upper - lower) / grain) + 1
            grid = flou.Interval(lower - grain / 2, upper + grain / 2, cells=cells)
        return cls(np.sort(values), grid, SortedRecords(grid.encode(values), cells=grid.size), grain)

    def error(self, cells: Any, targets: Any) -> float:
        """How many ranks lie between targets and answers, on average."""
        answers = self.grid.lower + (np.asarray(cells) + 0.5) * self.grid.step
        below, up_to = (np.searchsorted(self.values, answers, side) for side in ("left", "right"))
        return float(np.mean(np.maximum(0, np.maximum(targets - up_to, below - targets))))


def measured(task: tuple[Cell, int]) -> dict[str, Any]:
    """The errors of every way to answer, for each kind of data, and their geometric means."""
    cell, releases = task
    rng = np.random.default_rng([cell.quantiles, cell.seen])
    asked = tuple(Fraction(i, cell.quantiles + 1) for i in range(1, cell.quantiles + 1))
    targets = np.array([float(p) * cell.rows for p in asked])
    plan = QuantilePlan(asked, Fraction(9, 10) * cell.epsilon, cell.relation, JOINT, Fraction(0), cell.rows)
    ways: dict[str, Any] = {JOINT: lambda records: plan.draw(records, SYSTEM).cells}
    for name, (branching, height) in SHAPES.items():
        tree = Tree(asked, epsilon=cell.epsilon, branching=branching, height=height, relation=cell.relation)
        ways[name] = tree.sample
    errors: dict[str, dict[str, float]] = {name: {} for name in ways}
    for kind in KINDS:
        for wider in (1, WIDER):
            samples = [Sample.of(kind, cell.rows, wider, rng) for _ in range(SETS)]
            for name, answer in ways.items():
                held = [samples[i % SETS] for i in range(releases)]
                error = statistics.fmean(one.error(answer(one.records), targets) for one in held)
                errors[name][kind + (", wide" if wider > 1 else "")] = float(f"{error:.4g}")
    means = {name: math.exp(statistics.fmean(math.log(max(e, 0.01)) for e in found.values()))
             for name, found in errors.items()}  # fmt: skip
    facts = {**asdict(cell), "rows": cell.rows, "epsilon": float(cell.epsilon), "releases": releases}
    return {**facts, "mean": {name: float(f"{mean:.4g}") for name, mean in means.items()}, "errors": errors}


def default(cell: Cell) -> str:
    """What is chosen where the number of rows is public."""
    asked = tuple(Fraction(i, cell.quantiles + 1) for i in range(1, cell.quantiles + 1))
    plan = QuantilePlan(asked, cell.epsilon, cell.relation, "auto", Fraction(1, 10), cell.rows)
    if plan.choice[0] == JOINT:
        return JOINT
    return next(name for name, shape in SHAPES.items() if shape == plan.shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four releases a cell")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--out", type=Path, help="where the JSON goes")
    options = parser.parse_args()
    cells = [Cell(many, relation, seen) for many in SEEN for relation in RELATIONS for seen in SEEN[many]]
    began = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        tasks = [(cell, 4 if options.quick else RELEASES[cell.quantiles]) for cell in cells]
        results = [{**found, "default": default(cell)}
                   for cell, found in zip(cells, pool.map(measured, tasks), strict=True)]  # fmt: skip
    table = Table(title="Geometric means of rank errors", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("quantiles", "relation", "seen", JOINT, *SHAPES, "default"):
        table.add_column(heading, justify="right")
    for cell, found in zip(cells, results, strict=True):
        shown = [f"{found['mean'][name]:.3g}" for name in (JOINT, *SHAPES)]
        table.add_row(str(cell.quantiles), cell.relation, f"{cell.seen:,}", *shown, found["default"])
    Console(width=150).print(table)
    report = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe()}
    report["seconds"] = round(time.perf_counter() - began, 1)
    path = options.out or BENCHMARKS / "results" / f"quantiles_trees{'-quick' if options.quick else ''}.json"
    head = json.dumps(report, indent=1, ensure_ascii=False)[:-2]
    lines = ",\n".join("  " + json.dumps(result, ensure_ascii=False) for result in results)
    path.write_text(f'{head},\n "cells": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    print(f"{report['seconds']} s, written to {path}")


if __name__ == "__main__":
    main()
