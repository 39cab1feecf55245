"""Do 95 % intervals of private joint statistics hold the truth in 95 % of cases? And what if the noise is left out?

python benchmarks/joint_coverage.py             all cells: about three minutes on two cores
python benchmarks/joint_coverage.py --quick     a twentieth of the runs

Rows are made up, cut into parties, and each party adds its share of noise by its real law (from seeded bits); only the
masks are left out, which change no sum. For regressions the truth is that of the population, for counts and quantiles
that of the rows. "naive" are the intervals of the same fits without the noise: for counts and quantiles, no interval.
"noise" is the part of the variance that is noise, "drowned" how often the noise left no interval at all.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from flou import Boolean, Interval
from flou.bits import Bits, SeededBits
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.histogram import PrivateHistogram
from flou.joint.estimators.private.linear import PrivateLinearRegression
from flou.joint.estimators.private.logistic import PrivateLogisticRegression
from flou.joint.estimators.private.quantiles import PrivateQuantiles
from flou.joint.estimators.program import Opened, Program
from harness import machine
from harness.environments import BENCHMARKS

APPROX = {"epsilon": 1, "delta": 1e-6}
EDGE = 3.0  # regressors are standard normal, cut off here
SLOPES = {6: (1.0, -0.5, 0.25, 0.0, 0.75, -1.0), 4: (0.8, -0.5, 0.25, 0.0)}
PROBABILITIES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


@dataclass(frozen=True)
class Cell:
    """One setting: a statistic, how many rows and parties, how many of them honest, and what it may cost."""

    statistic: str
    rows: int
    parties: int
    honest: int
    runs: int
    cost: dict[str, Any] = field(default_factory=lambda: dict(APPROX))
    level: float = -0.5  # the intercept of a logistic regression

    @property
    def name(self) -> str:
        cost = ", ".join(f"{key}={value}" for key, value in self.cost.items())
        rare = "" if self.level == -0.5 else f", intercept {self.level:g}"
        return f"{self.statistic}{rare} ({cost})"


@dataclass(frozen=True)
class Run:
    """Which intervals hold the truth, which naive ones do, how much of each variance is noise, and whether all is."""

    held: Any
    naive: Any
    noise: Any
    drowned: bool = False  # all intervals are the whole line, and hold the truth for nothing


def cells() -> list[Cell]:
    """What is measured; each regression over three parties, all honest, and over five, three of them honest."""
    found = []
    for rows, linear, logistic in ((20_000, 600, 300), (200_000, 250, 100)):
        for parties in (3, 5):
            found.append(Cell("private ols", rows, parties, 3, linear))
            found.append(Cell("private logit", rows, parties, 3, logistic))
    found += [
        Cell("private ols", 20_000, 5, 3, 400, {**APPROX, "norm": 1.8}),
        Cell("private ols", 20_000, 5, 3, 400, {**APPROX, "noise": "skellam"}),
        Cell("private ols", 20_000, 5, 3, 400, {"epsilon": 1}),
        Cell("private ols", 5_000, 3, 3, 500),
        Cell("private ols", 1_500, 3, 3, 100),
        Cell("private logit", 20_000, 5, 3, 300, {"epsilon": 1}),
        Cell("private logit", 20_000, 5, 3, 300, level=-2.5),
        Cell("private logit", 5_000, 3, 3, 300),
    ]
    for cost in ({"epsilon": 1}, {"epsilon": 0.1}, {"rho": 0.02}, {"rho": 0.02, "noise": "skellam"}):
        found.append(Cell("private histogram", 5_000, 5, 3, 500, cost))
        found.append(Cell("private quantiles", 20_000, 5, 3, 200, cost))
    return found


def opened(program: Program, tables: list[dict[str, Any]], bits: Bits) -> Any:
    """The result over the tables of some parties, each of which adds its noise."""
    past: list[Opened] = []
    while (ask := program.next(past)) is not None:
        assert ask.noise is not None
        sums = np.zeros(ask.length, dtype=object)
        for table in tables:
            sums += np.array(program.words(ask, PartyRows(table, program.reading())), dtype=object)
            sums += ask.noise.law.sample(ask.length, bits=bits)
        past.append(Opened(ask, tuple(map(int, sums)), tuple(map(str, range(len(tables))))))
    return program.result(past)


def cut(columns: dict[str, Any], parties: int) -> list[dict[str, Any]]:
    """Parties of unequal size."""
    length = len(next(iter(columns.values())))
    places = np.cumsum(np.arange(1, parties)) * length // (parties * (parties + 1) // 2)
    pieces = {name: np.split(values, places) for name, values in columns.items()}
    return [{name: pieces[name][party] for name in columns} for party in range(parties)]


def regressors(rows: int, size: int, rng: np.random.Generator) -> Any:
    """Standard normal, correlated, cut off."""
    common = rng.normal(size=(rows, 1))
    return np.clip(np.sqrt(0.8) * rng.normal(size=(rows, size)) + np.sqrt(0.2) * common, -EDGE, EDGE)


def regression(cell: Cell, seed: int) -> Run:
    rng = np.random.default_rng([seed, cell.rows, cell.parties])
    size = 6 if cell.statistic == "private ols" else 4
    X = regressors(cell.rows, size, rng)
    names = [f"x{place}" for place in range(size)]
    slopes = np.array(SLOPES[size])
    formula, schema = "y ~ " + " + ".join(names), dict.fromkeys(names, Interval(-EDGE, EDGE))
    program: Program
    if cell.statistic == "private ols":
        level, y = 1.0, 1 + X @ slopes + rng.normal(size=cell.rows)
        program = PrivateLinearRegression(formula, {**schema, "y": Interval(-9, 11)}, honest=cell.honest, **cell.cost)
    else:
        level = cell.level
        y = rng.random(cell.rows) < 1 / (1 + np.exp(-(level + X @ slopes)))
        program = PrivateLogisticRegression(formula, {**schema, "y": Boolean()}, honest=cell.honest, **cell.cost)
    columns = {**dict(zip(names, X.T, strict=True)), "y": y}
    fit = opened(program, cut(columns, cell.parties), SeededBits(f"{cell.name} {seed}"))
    off = np.abs(fit.params - np.array([level, *slopes]))
    ends = fit.conf_int()
    held = off <= (ends[:, 1] - ends[:, 0]) / 2
    naive = off <= 1.959964 * np.sqrt(np.diag(fit.sampling))
    return Run(held, naive, fit.noise_share, fit.drowned)


def histogram(cell: Cell, seed: int) -> Run:
    rng = np.random.default_rng([seed, cell.rows])
    x = rng.normal(size=cell.rows)
    edges = np.linspace(-3, 3, 13)
    program = PrivateHistogram("x", edges=edges, honest=cell.honest, **cell.cost)
    fit = opened(program, cut({"x": x}, cell.parties), SeededBits(f"{cell.name} {seed}"))
    true, ends = np.histogram(x, edges)[0], fit.conf_int()
    return Run((ends[:, 0] <= true) & (true <= ends[:, 1]), np.array(fit.counts) == true, np.ones(len(true)))


def quantiles(cell: Cell, seed: int) -> Run:
    rng = np.random.default_rng([seed, cell.rows])
    x = rng.gamma(2, size=cell.rows)
    program = PrivateQuantiles("x", PROBABILITIES, (0, 20), honest=cell.honest, **cell.cost)
    fit = opened(program, cut({"x": x}, cell.parties), SeededBits(f"{cell.name} {seed}"))
    true, ends = np.quantile(x, PROBABILITIES, method="inverted_cdf"), fit.conf_int()
    near = np.abs(fit.values - true) <= fit.domain.step / 2
    return Run((ends[:, 0] <= true) & (true <= ends[:, 1]), near, np.ones(len(true)))


KINDS = {
    "private ols": regression,
    "private logit": regression,
    "private histogram": histogram,
    "private quantiles": quantiles,
}


def measured(cell: Cell) -> dict[str, Any]:
    """The coverage of one cell, over all of its intervals and for each place in the result."""
    runs = [KINDS[cell.statistic](cell, seed) for seed in range(cell.runs)]
    held = [run.held for run in runs]
    return {
        **asdict(cell),
        "coverage": round(float(np.mean(held)), 4),
        "standard_error": round(float(np.std(np.mean(held, axis=1)) / np.sqrt(cell.runs)), 4),
        "each": [round(float(part), 3) for part in np.mean(held, axis=0)],
        "naive": round(float(np.mean([run.naive for run in runs])), 4),
        "noise": round(float(np.mean([run.noise for run in runs])), 3),
        "drowned": round(float(np.mean([run.drowned for run in runs])), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the runs")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--out", type=Path, help="where the JSON goes")
    options = parser.parse_args()
    chosen = cells()
    if options.quick:
        chosen = [Cell(**{**asdict(cell), "runs": max(cell.runs // 20, 10)}) for cell in chosen]
    began = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        results = list(pool.map(measured, chosen))
    table = Table(title="Coverage of 95 % intervals, in percent", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("", "rows", "parties", "honest", "coverage", "±", "naive", "noise", "drowned"):
        table.add_column(heading, justify="left" if not heading else "right")
    for cell, result in zip(chosen, results, strict=True):
        shown = [f"{100 * result[key]:.1f}" for key in ("coverage", "standard_error", "naive", "noise", "drowned")]
        table.add_row(cell.name, f"{cell.rows:,}", str(cell.parties), str(cell.honest), *shown)
    Console(width=150).print(table)
    report = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe(), "level": 0.95}
    report["seconds"] = round(time.perf_counter() - began, 1)
    path = options.out or BENCHMARKS / "results" / f"joint_coverage{'-quick' if options.quick else ''}.json"
    head = json.dumps(report, indent=1, ensure_ascii=False)[:-2]
    lines = ",\n".join("  " + json.dumps(result, ensure_ascii=False) for result in results)
    path.write_text(f'{head},\n "cells": [\n{lines}\n ]\n}}\n')
    print(f"{report['seconds']} s, written to {path}")


if __name__ == "__main__":
    main()
