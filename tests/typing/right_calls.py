"""Calls as users write them, with the types that checkers must see. Never run: ``test_typing.py`` has it checked."""

from fractions import Fraction
from typing import Any, assert_type

import numpy as np
import polars as pl
from numpy.typing import NDArray

import flou
from flou import Release
from flou.arrays import Bounds, Floats, Ints, Listed, Values
from flou.central import GroupedTable, Table
from flou.joint import LinearFit, LinearRegression
from flou.local import GRR, MeanRandomiser, Sanitised
from flou.release import Certificate

# columns: whatever holds rows in one order
columns: list[Values] = [
    [18, 30.5, None, "no number"],
    (18, 30),
    range(18, 65),
    np.arange(18, 65),
    np.ma.masked_array([18, 30]),
    pl.Series([18, 30]),
]
bounds: list[Bounds] = [(0, 120), (0.5, Fraction(7, 2)), [0, 120], [0, 99.5]]
listed: Listed = ["care", "research"]

# one column, its public bounds, a price
assert_type(flou.mean([18, 30], bounds=(0, 120), epsilon=0.5), Release)
assert_type(flou.mean(np.arange(9), bounds=(0, 120), rho=0.1, relation="substitute"), Release)
assert_type(flou.mean(pl.Series([18, 30]), domain=flou.Integers(0, 120), epsilon=Fraction(1, 2)), Release)
assert_type(flou.quantiles([18, 30], [0.1, 0.5], bounds=[0, 120], epsilon=1), Release)
assert_type(flou.quantiles([18, 30], flou.deciles, bounds=(0, 120), granularity=1, epsilon=1), Release)
assert_type(flou.histogram(["a", "b"], categories=["a", "b"], epsilon=1), Release)
assert_type(flou.count([1, 2], epsilon=1), Release)

# tables
schema = flou.Schema({"age": flou.Interval(0, 120), "city": flou.Categories(["north", "south"])})
table = flou.open({"age": [18, 30], "city": ["north", "south"]}, schema=schema, budget=3)
assert_type(table, Table)
assert_type(table.mean("age", epsilon=0.5), Release)
assert_type(table.quantiles("age", flou.quartiles, epsilon=1), Release)
assert_type(table.group_by("city"), GroupedTable)
assert_type(table.group_by("city").mean("age", epsilon=1), Release)
assert_type(table.where(flou.column("age") >= 18).count(epsilon=1), Release)
assert_type(flou.open("staff.parquet", schema="staff.toml", budget=flou.PureDP(1)), Table)

# what comes back
release = table.count(epsilon=1)
assert_type(release.certificate, Certificate)
assert_type(release.certificate["loss"], Any)
assert_type(release.to_json(), str)

# laws and mechanisms
assert_type(flou.laws.DiscreteLaplace(scale=2).sample(), int)
assert_type(flou.laws.DiscreteLaplace(scale=2).sample(10), Ints)
assert_type(flou.mechanisms.Laplace(sensitivity=1, epsilon=0.5).guarantee.epsilon, float)
assert_type(flou.Interval(0, 1).encode([0.5]), Ints)
assert_type(flou.Interval(0, 1).decode([5]), Floats)

# local
randomiser = flou.local.GRR(16, epsilon=1)
assert_type(randomiser, GRR)
assert_type(randomiser.randomise([3, 4]), NDArray[Any])
assert_type(randomiser.estimate([3, 4]), Release)
assert_type(flou.local.GRR(["yes", "no"], epsilon=1).aggregate().estimate(), Release)
assert_type(flou.local.mean_of((0, 100), epsilon=1), MeanRandomiser)
assert_type(flou.local.mean_of(flou.Integers(0, 10), epsilon=1), MeanRandomiser)
assert_type(flou.local.sanitise({"age": [18]}, {"age": flou.Interval(0, 120)}, epsilon=2), Sanitised)

# joint
hospitals: list[dict[str, Any]] = [{"age": range(20, 80), "pressure": [100.0] * 60} for _ in range(3)]
fit = flou.joint.simulate(hospitals, formula="pressure ~ age")
assert_type(fit, LinearFit)
assert_type(fit.params, Floats)
assert_type(fit.certificate, Certificate | None)
assert_type(flou.joint.simulate(hospitals, flou.joint.Ecdf("age", [30, 40])), Any)
assert_type(flou.joint.LinearRegression("pressure ~ age"), LinearRegression)
