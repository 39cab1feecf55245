"""A table with a canary in every column, declared or not, and every kind of release that can be made of it.

A canary is a value that nothing but a row has. Seen anywhere outside of the table, it says that a row got out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import flou
from flou.central import short_calls
from flou.central.grouped import GroupedTable
from flou.central.quantiles.plan import METHODS, SINGLE
from flou.central.statistic import Statistic
from flou.central.table import Table
from flou.release import Release
from summaries.engines import Made

ROWS = 331
WORD, NUMBER, WHOLE, ODD = "canary", 17.170011720001, 907_060_504, -83.4400927
CANARIES = (WORD, NUMBER, WHOLE, ODD)

DOMAINS = {
    "x": flou.Interval(0, 100),
    "y": flou.Interval(-5, 5),
    "k": flou.Integers(0, 50),
    "t": flou.Boolean(),
    "g": flou.Categories(["a", "b", "nobody"]),
}
KEPT = flou.column("side") < 5  # which no canary of the column is


def made() -> Made:
    """Every column but that of truth values has a canary, and so have rows that a filter leaves out."""
    draw = np.random.default_rng(7)
    words = [f"{WORD}-{i}" for i in range(ROWS)]
    return Made(
        {
            "x": ("double", [NUMBER, ODD, *draw.gamma(3, 8, ROWS - 2).tolist()]),
            "y": ("double", [NUMBER, ODD, *draw.normal(0, 1, ROWS - 2).tolist()]),
            "k": ("long", [WHOLE, *draw.integers(0, 50, ROWS - 1).tolist()]),
            "t": ("truth", (draw.random(ROWS) < 0.6).tolist()),
            "g": ("text", [f"{WORD} group", *draw.choice(["a", "b", "c"], ROWS - 1).tolist()]),
            "city": ("text", [f"{WORD} city", *draw.choice(["p", "q", "r"], ROWS - 1).tolist()]),
            "person": ("text", words),
            "side": ("double", [ODD, *[float(i % 4) for i in range(ROWS - 2)], float(WHOLE)]),
            "notes": ("text", words),
        }
    )


def schema(relation: str, unit: bool = False) -> flou.Schema:
    cap: Mapping[str, Any] = {"unit": "person", "max_rows_per_unit": 2} if unit else {}
    return flou.Schema(DOMAINS, relation=relation, **cap)


# The first word of a name is that of the method.
OF_ALL: dict[str, Callable[[Table], Release]] = {
    "count": lambda t: t.count(epsilon=1),
    "sum": lambda t: t.sum("x", epsilon=1),
    "sum of negative numbers": lambda t: t.sum("y", epsilon=1, delta=1e-6),
    "mean": lambda t: t.mean("x", epsilon=1),
    "mean of truth values": lambda t: t.mean("t", rho=0.1),
    "variance": lambda t: t.variance("x", epsilon=1),
    "variance with rho": lambda t: t.variance("k", rho=0.1),
    "std": lambda t: t.std("y", epsilon=1),
    "mode": lambda t: t.mode("g", epsilon=1),
    "top_k": lambda t: t.top_k("k", 2, bins=5, epsilon=1),
    "majority": lambda t: t.majority("t", epsilon=1),
    "bounds": lambda t: t.bounds("side", epsilon=1),
    "keys": lambda t: t.keys("city", epsilon=2, delta=1e-5),
    "keys of which none is": lambda t: t.keys("notes", epsilon=1, delta=1e-6),
    "covariance": lambda t: t.covariance("x", "y", epsilon=1),
    "correlation": lambda t: t.correlation("x", "k", rho=1),
    "regression": lambda t: t.regression("y", "x", "t", epsilon=50),
    "density": lambda t: t.density("x", points=9, epsilon=1),
    "histogram": lambda t: t.histogram("x", bins=5, epsilon=1),
    "histogram of categories": lambda t: t.histogram("g", rho=0.1),
}
OF_GROUPS: dict[str, Callable[[Any], Release]] = {
    "count": lambda g: g.count(epsilon=1),
    "sum": lambda g: g.sum("x", epsilon=1),
    "mean": lambda g: g.mean("x", epsilon=1),
    "variance": lambda g: g.variance("x", rho=0.1),
    "std": lambda g: g.std("y", epsilon=1),
    "histogram": lambda g: g.histogram("k", bins=3, epsilon=1),
}
QUANTILES: dict[str, Callable[[Any], Release]] = {
    "quantile": lambda t: t.quantile("x", 0.9, epsilon=1),
    "quantiles": lambda t: t.quantiles("x", np.arange(1, 30) / 30, epsilon=1),
    "quantiles without intervals": lambda t: t.quantiles("k", [0.1, 0.9], epsilon=1, intervals=0),
    "median": lambda t: t.median("x", epsilon=1),
    "iqr": lambda t: t.iqr("x", epsilon=1),
    "boxplot": lambda t: t.boxplot("x", epsilon=1),
    "quartiles": lambda t: t.quartiles("k", epsilon=1),
    "deciles": lambda t: t.deciles("x", epsilon=1),
    "ecdf": lambda t: t.ecdf("x", points=10, epsilon=1),
}
BY_METHOD: dict[str, Callable[[Any], Release]] = {
    **{f"median by {m}": lambda t, m=m: t.median("x", epsilon=1, method=m) for m in METHODS},
    **{f"quartiles by {m}": lambda t, m=m: t.quartiles("x", epsilon=1, method=m) for m in METHODS if m not in SINGLE},
}
CALLS: dict[str, Callable[[Made], Release]] = {
    "count": lambda c: flou.count(c["x"], epsilon=1),
    "sum": lambda c: flou.sum(c["x"], bounds=(0, 100), epsilon=1),
    "mean": lambda c: flou.mean(c["x"], bounds=(0, 100), epsilon=1),
    "variance": lambda c: flou.variance(c["x"], bounds=(0, 100), epsilon=1),
    "std": lambda c: flou.std(c["x"], bounds=(0, 100), rho=0.1),
    "histogram": lambda c: flou.histogram(c["g"], categories=["a", "b"], epsilon=1),
    "mode": lambda c: flou.mode(c["g"], categories=["a", "b"], epsilon=1),
    "top_k": lambda c: flou.top_k(c["g"], 2, categories=["a", "b"], epsilon=1),
    "majority": lambda c: flou.majority(c["t"], epsilon=1),
    "density": lambda c: flou.density(c["x"], bounds=(0, 100), points=9, epsilon=1),
    "quantile": lambda c: flou.quantile(c["x"], 0.5, bounds=(0, 100), epsilon=1),
    "quantiles": lambda c: flou.quantiles(c["x"], [0.2, 0.8], bounds=(0, 100), epsilon=1),
    "median": lambda c: flou.median(c["x"], bounds=(0, 100), epsilon=1, relation="substitute"),
    "iqr": lambda c: flou.iqr(c["x"], bounds=(0, 100), epsilon=1),
    "boxplot": lambda c: flou.boxplot(c["x"], bounds=(0, 100), epsilon=1),
    "ecdf": lambda c: flou.ecdf(c["x"], bounds=(0, 100), points=10, epsilon=1),
}
ORDINARY: dict[str, Callable[[Table], Release]] = {
    **OF_ALL,
    **QUANTILES,
    **{f"filtered {name}": lambda t, ask=OF_ALL[name]: ask(t.where(KEPT)) for name in ("mean", "variance", "keys")},
    **{f"{name}, in groups": lambda t, ask=ask: ask(t.group_by("g")) for name, ask in OF_GROUPS.items()},
    **{f"{name}, in selected groups": lambda t, ask=ask: ask(selected(t)) for name, ask in OF_GROUPS.items()},
    "mean, where no group is selected": lambda t: t.group_by("notes", epsilon=1, delta=1e-6).mean("x", epsilon=1),
}
KINDS: dict[str, Callable[[Table], Release]] = {
    **ORDINARY,
    **BY_METHOD,
    **{f"filtered {name}": lambda t, ask=ask: ask(t.where(KEPT)) for name, ask in (OF_ALL | QUANTILES).items()},
    **{f"{name}, in groups": lambda t, ask=ask: ask(t.group_by("g")) for name, ask in (QUANTILES | BY_METHOD).items()},
    **{f"{name}, in selected groups": lambda t, ask=ask: ask(selected(t)) for name, ask in QUANTILES.items()},
}
FEW = ("mean", "keys", "deciles", "variance, in groups", "mean, in selected groups")


def selected(table: Table) -> GroupedTable:
    return table.group_by("city", epsilon=2, delta=1e-5)


def releasing(place: Any) -> set[str]:
    """The public names of a class or a module that return a release."""
    return {
        name
        for name, member in inspect.getmembers(place, lambda one: inspect.isfunction(one) or isinstance(one, Statistic))
        if not name.startswith("_") and inspect.signature(member).return_annotation in ("Release", Release)
    }


def missing() -> set[str]:
    """What can be asked and has no kind here."""
    asked = {
        Table: {**OF_ALL, **QUANTILES},
        GroupedTable: {**OF_GROUPS, **QUANTILES},
        short_calls: CALLS,
    }
    return {
        f"{place.__name__}.{name}"
        for place, kinds in asked.items()
        for name in releasing(place) - {kind.split()[0] for kind in kinds}
    }
