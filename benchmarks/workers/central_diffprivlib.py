"""diffprivlib's side of the benchmark of tables: it takes arrays, so a file is read into memory first, and that counts.

Its mean and variance divide the range by a number of rows taken as public: substitution. Its histogram adds noise for
one row in one bin: add-remove. Every call has an accountant of its own, for the shared one slows down with every call.
"""

import numpy as np
from diffprivlib import BudgetAccountant, tools
from pyarrow import parquet

from harness.tasks import Timed, task
from workers.central_data import BINS, DEPARTMENTS, EPSILON, LOWER, UPPER, error_a_bin, path, relative_error, salaries

BOUNDS = (LOWER, UPPER)


def read(rows: int) -> np.ndarray:
    return parquet.read_table(path(rows), columns=["salary"])["salary"].to_numpy()


def private_mean(values: np.ndarray, epsilon: float) -> float:
    return tools.mean(values, epsilon=epsilon, bounds=BOUNDS, accountant=BudgetAccountant())


def private_variance(values: np.ndarray, epsilon: float) -> float:
    return tools.var(values, epsilon=epsilon, bounds=BOUNDS, accountant=BudgetAccountant())


def private_histogram(values: np.ndarray, epsilon: float) -> np.ndarray:
    return tools.histogram(values, epsilon=epsilon, bins=BINS, range=BOUNDS, accountant=BudgetAccountant())[0]


@task
def mean(rows: int) -> Timed:
    return lambda: private_mean(read(rows), EPSILON)


@task
def histogram(rows: int) -> Timed:
    return lambda: private_histogram(read(rows), EPSILON)


@task
def grouped_mean(rows: int) -> Timed:
    """One mean a department; the texts are read as codes, which is what fits into memory."""

    def ask() -> list[float]:
        table = parquet.read_table(path(rows), read_dictionary=["department"]).unify_dictionaries()
        salary, department = table["salary"].to_numpy(), table["department"]
        names = department.chunk(0).dictionary.to_pylist()
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in department.chunks])
        return [private_mean(salary[codes == names.index(name)], EPSILON) for name in DEPARTMENTS]

    return ask


@task
def error_of_mean(rows: int, epsilon: float, releases: int) -> Timed:
    values = np.array(salaries(rows))
    return relative_error(lambda: private_mean(values, epsilon), values.mean(), releases)


@task
def error_of_variance(rows: int, epsilon: float, releases: int) -> Timed:
    values = np.array(salaries(rows))
    return relative_error(lambda: private_variance(values, epsilon), values.var(), releases)


@task
def error_of_histogram(rows: int, epsilon: float, releases: int) -> Timed:
    values = np.array(salaries(rows))
    return error_a_bin(lambda: private_histogram(values, epsilon), np.histogram(values, BINS, BOUNDS)[0], releases)
