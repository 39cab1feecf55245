"""Several quantiles: drawn together, or read off trees of counts; one tree or two, and how wide and high is one?

python benchmarks/quantiles_trees.py             all cells: about twenty minutes on two cores
python benchmarks/quantiles_trees.py --quick     four releases a cell
python benchmarks/quantiles_trees.py --values    few possible values: about four minutes on two cores

Mean rank errors on ten kinds of data: five shapes, each between bounds that fit and between bounds ten times too wide,
which nobody knows who has not seen the data. "seen" are the rows times epsilon, twice that under add-remove. The joint
draw gets nine tenths of epsilon, as it does by default where the number of rows is public; trees get all, because their
intervals are free. "focused" is two trees, the second one around the quantiles. What is chosen by default
(src/flou/central/quantiles/plan.py) follows from the geometric means over all kinds of data.

With --values the grid holds few possible values (answers from 1 to 5, ages, rounded salaries), and there are trees with
a leaf for each of them. Rows are all equal, or of four values, or spread over more of them in four ways. One quantile
is drawn by permute-and-flip instead of jointly.
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
from flou.central.quantiles.plan import QuantilePlan
from flou.mechanisms.quantiles import PermuteAndFlipQuantile, SortedRecords, Tree
from harness import machine
from harness.environments import BENCHMARKS

JOINT, FOCUSED, SETS = "joint", "focused", 8
SHAPES = {"16": (16, 1), "32": (32, 1), "8²": (8, 2), "16²": (16, 2), "8³": (8, 3), "16³": (16, 3), "32³": (32, 3)}
RELATIONS = ("add-remove", "substitute")
SEEN = {  # by how many quantiles are asked for
    2: (20, 50, 100),
    4: (40, 75, 150),
    9: (50, 100, 200, 300, 400, 600),
    19: (100, 400, 700, 1_000, 1_500, 3_000, 20_000),
    30: (700, 3_000, 20_000, 200_000),
    40: (400, 700, 1_500, 6_000, 20_000, 200_000),
    60: (700, 3_000, 20_000, 200_000),
    99: (100, 700, 3_000, 20_000, 60_000, 200_000),
}
RELEASES = {2: 48, 4: 48, 9: 48, 19: 32, 30: 24, 40: 24, 60: 16, 99: 12}
KINDS = ("uniform", "normal", "bimodal", "narrow", "salaries")
WIDER = 10

POSSIBLE = (5, 31, 121, 301, 1_001)  # values
SPREADS = ("equal", "four values", "geometric", "uniform", "bell", "skewed")
LUMPS, EACH = "lumps", {1: "each, 1 level", 2: "each, 2 levels", 3: "each, 3 levels"}
FEW_ROWS = ((100, 1.0), (1_000, 1.0), (10_000, 1.0))  # rows, epsilon
ALL_ROWS = ((30, 1.0), (300, 1.0), (100_000, 1.0), (1_000, 0.1), (10_000, 0.1), (100_000, 0.1), *FEW_ROWS)
ASKED = {  # quantiles: of how many rows, how many releases
    1: (ALL_ROWS, 16),
    2: (ALL_ROWS, 16),
    4: (ALL_ROWS, 16),
    9: (ALL_ROWS, 16),
    19: (ALL_ROWS, 8),
    40: (FEW_ROWS, 4),
    99: (FEW_ROWS[2:], 2),
}
LEAST = 0.05  # ranks: smaller errors count as this one


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
    two = QuantilePlan(asked, cell.epsilon, cell.relation, FOCUSED, Fraction(0), cell.rows)
    ways: dict[str, Any] = {JOINT: lambda records: plan.draw(records, SYSTEM).cells}
    ways[FOCUSED] = lambda records: two.draw(records, SYSTEM).cells
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
    if plan.choice[0] != "tree":
        return plan.choice[0]
    return next(name for name, shape in SHAPES.items() if shape == plan.shape)


@dataclass(frozen=True)
class ValuesCell:
    """So many quantiles of so many rows, on a grid of so many possible values."""

    quantiles: int
    relation: str
    rows: int
    epsilon: float
    values: int

    @property
    def asked(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(i, self.quantiles + 1) for i in range(1, self.quantiles + 1))

    def plan(self, method: str = "auto", share: Fraction = Fraction(1), cells: int | None = None) -> QuantilePlan:
        epsilon = share * Fraction(str(self.epsilon))
        return QuantilePlan(self.asked, epsilon, self.relation, method, Fraction(0), self.rows, cells)

    @property
    def default(self) -> str:
        """What is chosen where the number of rows is public."""
        plan = self.plan(cells=self.values)
        if plan.choice[0] != "tree":
            return FOCUSED if plan.choice[0] == FOCUSED else JOINT
        return LUMPS if math.prod([plan.shape[0]] * plan.shape[1]) < self.values else EACH[plan.shape[1]]

    def drawn(self, spread: str, rng: np.random.Generator) -> Any:
        """Rows in order, as the places of their values."""
        values, rows = self.values, self.rows
        if spread == "equal":
            found = np.full(rows, values // 3)
        elif spread == "four values":
            at = [values * 15 // 100, values // 4, values * 3 // 8, values * 5 // 6]
            found = rng.choice(at, rows, p=[0.37, 0.31, 0.2, 0.12])
        elif spread == "geometric":
            found = rng.geometric(1 / (1 + values / 12), rows) - 1
        elif spread == "uniform":
            found = rng.integers(0, values, rows)
        elif spread == "bell":
            found = 0.8 * values * rng.beta(1.6, 2.2, rows)
        else:
            found = values * rng.lognormal(-2.1, 0.6, rows)
        return np.sort(np.clip(found.astype(np.int64), 0, values - 1))


def of_values(task: tuple[ValuesCell, int]) -> dict[str, Any]:
    """The errors of every way to answer, for each spread of the rows over the values, and their geometric means."""
    cell, releases = task
    asked, rng = cell.asked, np.random.default_rng([cell.quantiles, cell.rows, cell.values])
    targets = np.array([float(p) * cell.rows for p in asked])
    most = Fraction(9, 10)
    if cell.quantiles == 1:
        one = PermuteAndFlipQuantile(asked, epsilon=most * Fraction(str(cell.epsilon)), relation=cell.relation)
        ways: dict[str, Any] = {JOINT: one.sample}
    else:
        ways = {JOINT: lambda records: cell.plan(JOINT, most).draw(records, SYSTEM).cells}
        ways[FOCUSED] = lambda records: cell.plan(FOCUSED, cells=cell.values).draw(records, SYSTEM).cells
    shapes = {LUMPS: cell.plan("tree").shape}
    shapes |= {name: (max(math.ceil(cell.values ** (1 / high) - 1e-9), 2), high) for high, name in EACH.items()}
    for name, (branching, height) in shapes.items():
        options = {"epsilon": cell.plan().epsilon, "relation": cell.relation}
        ways[name] = Tree(asked, branching=branching, height=height, **options).sample
    errors: dict[str, dict[str, float]] = {name: {} for name in ways}
    for spread in SPREADS:
        found: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(releases):
            rows = cell.drawn(spread, rng)
            records = SortedRecords(rows, cells=cell.values, ordered=True)
            for name, answer in ways.items():
                below, up_to = (np.searchsorted(rows, answer(records), side) for side in ("left", "right"))
                found[name].append(float(np.mean(np.maximum(0, np.maximum(targets - up_to, below - targets)))))
        for name, all_of_them in found.items():
            errors[name][spread] = float(f"{statistics.fmean(all_of_them):.3g}")
    means = {name: math.exp(statistics.fmean(math.log(max(e, LEAST)) for e in by.values()))
             for name, by in errors.items()}  # fmt: skip
    mean = {name: float(f"{one:.3g}") for name, one in means.items()}
    return {**asdict(cell), "releases": releases, "default": cell.default, "mean": mean, "errors": errors}


def few_values(workers: int, quick: bool, out: Path | None) -> None:
    """The run with --values."""
    tasks = [(ValuesCell(many, relation, rows, epsilon, values), 2 if quick else releases)
             for many, (sizes, releases) in ASKED.items() for relation in RELATIONS
             for rows, epsilon in sizes for values in POSSIBLE]  # fmt: skip
    began = time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        results = list(pool.map(of_values, tasks))
    table = Table(title="Geometric means of rank errors", title_justify="left", box=box.SIMPLE_HEAD)
    facts = ("quantiles", "relation", "rows", "epsilon", "values")
    ways = list(results[-1]["mean"])  # one quantile has fewer
    for heading in (*facts, *ways, "default"):
        table.add_column(heading, justify="right")
    for found in results:
        table.add_row(
            *(str(found[fact]) for fact in facts), *(str(found["mean"].get(way, "")) for way in ways), found["default"]
        )
    Console(width=150).print(table)
    write(out or BENCHMARKS / "results" / f"quantiles_trees_values{'-quick' if quick else ''}.json", results, began)


def write(path: Path, results: list[dict[str, Any]], began: float) -> None:
    """The results, a line for each, and where they come from."""
    report = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe()}
    report["seconds"] = round(time.perf_counter() - began, 1)
    head = json.dumps(report, indent=1, ensure_ascii=False)[:-2]
    lines = ",\n".join("  " + json.dumps(result, ensure_ascii=False) for result in results)
    path.write_text(f'{head},\n "cells": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    print(f"{report['seconds']} s, written to {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four releases a cell")
    parser.add_argument("--values", action="store_true", help="on grids of few possible values")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--out", type=Path, help="where the JSON goes")
    options = parser.parse_args()
    if options.values:
        few_values(options.workers, options.quick, options.out)
        return
    cells = [Cell(many, relation, seen) for many in SEEN for relation in RELATIONS for seen in SEEN[many]]
    began = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        tasks = [(cell, 4 if options.quick else RELEASES[cell.quantiles]) for cell in cells]
        results = [{**found, "default": default(cell)}
                   for cell, found in zip(cells, pool.map(measured, tasks), strict=True)]  # fmt: skip
    table = Table(title="Geometric means of rank errors", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("quantiles", "relation", "seen", JOINT, FOCUSED, *SHAPES, "default"):
        table.add_column(heading, justify="right")
    for cell, found in zip(cells, results, strict=True):
        shown = [f"{found['mean'][name]:.3g}" for name in (JOINT, FOCUSED, *SHAPES)]
        table.add_row(str(cell.quantiles), cell.relation, f"{cell.seen:,}", *shown, found["default"])
    Console(width=150).print(table)
    write(
        options.out or BENCHMARKS / "results" / f"quantiles_trees{'-quick' if options.quick else ''}.json",
        results,
        began,
    )


if __name__ == "__main__":
    main()
