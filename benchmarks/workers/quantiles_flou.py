"""flou's side of the benchmark of quantiles: the calls that users make, and every method by itself."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import flou
from flou.bits import SYSTEM
from flou.mechanisms import quantiles as methods
from flou.mechanisms.quantiles.dithered import Dithered
from harness.tasks import Timed, task
from workers import central_data
from workers.central_flou import from_path
from workers.quantiles_data import BOUNDS, GRANULARITY, MOST_SETS, Release, probabilities, rank_errors, values
from workers.quantiles_make import drawn

EPSILON = 1  # of every question that is timed
CELLS = 2**31
ROUGH = 10_000  # an answer within so small a part of the range is as good as exact to SmoothInverseSensitivity
FILE = {"salary": flou.Interval(int(central_data.LOWER), int(central_data.UPPER))}
ONE_LOOK = {"salary": flou.Interval(int(central_data.LOWER), int(central_data.UPPER), granularity=5)}  # 60,001 values


def column(data: str, rows: int, which: int) -> NDArray[np.float64]:
    return np.asarray(values(data, rows, which))


@lru_cache(maxsize=MOST_SETS)
def records(data: str, rows: int, which: int) -> tuple[methods.SortedRecords, flou.Interval]:
    """The rows in order on the grid that flou.quantiles uses: 2^31 cells, or one for each possible value."""
    lower, upper = BOUNDS[data]
    grid = flou.Interval(lower, upper, cells=CELLS)
    if grain := GRANULARITY.get(data):
        grid = flou.Interval(lower - grain / 2, upper + grain / 2, cells=round((upper - lower) / grain) + 1)
    return methods.SortedRecords(grid.encode(column(data, rows, which)), cells=grid.size), grid


def options(data: str, epsilon: float, relation: str, **others: Any) -> dict[str, Any]:
    known = {"granularity": GRANULARITY[data]} if data in GRANULARITY else {}
    return {"bounds": BOUNDS[data], "epsilon": epsilon, "relation": relation, **known, **others}


@task
def error_of_call(
    data: str, rows: int, many: int, epsilon: float, relation: str, intervals: bool, **effort: Any
) -> Timed:
    """``flou.quantiles`` as it is, or without intervals; and which method it chose."""
    asked = options(data, epsilon, relation, **({} if intervals else {"intervals": 0}))

    said: dict[str, Any] = {}

    def of_set(which: int) -> Release:
        held = column(data, rows, which)

        def release() -> Any:
            answer = flou.quantiles(held, probabilities(many), **asked)
            if not said:
                said.update(answer.certificate["mechanism"])
            return answer.value

        return release

    def ask() -> dict[str, Any]:
        found = rank_errors(of_set, data, rows, many, **effort)
        return found | {"method": said["name"].removeprefix("quantiles, "), "why": said["choice"]}

    return ask


@task
def error_of_method(
    data: str,
    rows: int,
    many: int,
    epsilon: float,
    relation: str,
    method: str,
    options: dict[str, Any],
    dithered: bool = False,
    **effort: Any,
) -> Timed:
    """A mechanism on the rows in order; ``dithered`` divides cells so finely that no two rows share a place."""
    if method == "SmoothInverseSensitivity":
        options = options | {"radius": records(data, rows, 0)[0].cells // ROUGH}
    mechanism = getattr(methods, method)(probabilities(many), epsilon=epsilon, relation=relation, **options)

    def of_set(which: int) -> Release:
        held, grid = records(data, rows, which)
        cells = on_places(mechanism, held) if dithered else lambda: mechanism.sample(held)
        return lambda: grid.lower + (np.asarray(cells()) + 0.5) * grid.step

    return lambda: rank_errors(of_set, data, rows, many, **effort)


def on_places(mechanism: Any, held: methods.Records) -> Callable[[], Any]:
    places = 1 << (60 - (held.cells - 1).bit_length())
    return lambda: mechanism.as_given(mechanism.answers(Dithered(held, places, SYSTEM), SYSTEM) // places)


@task
def quantiles_of_array(data: str, rows: int, many: int, intervals: bool = True) -> Timed:
    """Of doubles in memory."""
    held, asked = drawn(data, rows), probabilities(many)
    chosen = options(data, EPSILON, "add-remove", **({} if intervals else {"intervals": 0}))
    return lambda: flou.quantiles(held, asked, **chosen)


@task
def deciles_of_file(rows: int, intervals: bool = True, one_look: bool = False, kept: bool = False) -> Timed:
    """From the path of a Parquet file of salaries to the release."""
    schema, chosen = ONE_LOOK if one_look else FILE, {} if intervals else {"intervals": 0}
    file = central_data.path(rows)
    return from_path(
        lambda: flou.open(file, schema=schema).quantiles("salary", flou.deciles, epsilon=EPSILON, **chosen), kept
    )
