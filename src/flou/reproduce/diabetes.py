"""The diabetes table of document 002: where it is, what is public about it, and the document's own numbers.

The document trains Gaussian naive Bayes on 768 rows with eight features and an outcome, on four fifths of them, and
tries it on the rest. The table is not part of flou: give its path, or set the environment variable FLOU_DIABETES.
Without it a made-up table of the same shape stands in, on which the document's numbers do not hold.

As printed  zeros of five columns become the median of the others, of all rows; bounds are those of the rows
Public      zeros become a public value, and bounds are public: what a measurement can be, not what it was
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain import Boolean, Integers, Interval, Schema
from flou.errors import InvalidData
from flou.local.learning.naive_bayes import GaussianModel
from flou.local.learning.utility import accuracy, f1

__all__ = ["LABEL", "SCHEMA", "WIDE", "Diabetes", "clean_scores", "made_diabetes", "read_diabetes", "split"]

Columns: TypeAlias = dict[str, NDArray[np.float64]]

VARIABLE = "FLOU_DIABETES"
ROWS = 768
LABEL = "Outcome"
ZEROS = ("Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin")  # where 0 stands for a missing value
SCHEMA = Schema(
    {
        "Pregnancies": Integers(0, 20),
        "Glucose": Integers(40, 200, missing=120),
        "BloodPressure": Integers(20, 130, missing=72),
        "SkinThickness": Integers(5, 100, missing=29),
        "Insulin": Integers(10, 850, missing=125),
        "BMI": Interval(15, 70, missing=32),
        "DiabetesPedigreeFunction": Interval(0, 2.5),
        "Age": Integers(18, 90),
        LABEL: Boolean(),
    },
    name="diabetes",
)
# What somebody would declare who knows little about medicine: wide bounds, and their middle for missing values.
WIDE = Schema(
    {
        "Pregnancies": Integers(0, 20),
        "Glucose": Integers(0, 250),
        "BloodPressure": Integers(0, 150),
        "SkinThickness": Integers(0, 100),
        "Insulin": Integers(0, 1000),
        "BMI": Interval(10, 70),
        "DiabetesPedigreeFunction": Interval(0, 3),
        "Age": Integers(0, 110),
        LABEL: Boolean(),
    },
    name="diabetes, wide bounds",
)


@dataclass(frozen=True)
class Diabetes:
    """The columns as they were read, and whether they are the real ones."""

    columns: Columns
    real: bool

    @property
    def public(self) -> Columns:
        """Zeros that stand for missing values are missing; the schema says what they count as."""
        return {
            name: np.where((values == 0) & (name in ZEROS), np.nan, values) for name, values in self.columns.items()
        }

    @property
    def printed(self) -> Columns:
        """As the document prepares it, with medians taken from all rows."""
        found = {}
        for name, values in self.columns.items():
            present = values[values != 0]
            found[name] = np.where(values == 0, np.median(present), values) if name in ZEROS else values
        return found


def read_diabetes(path: str | os.PathLike[str] | None = None) -> Diabetes:
    """The table at a path, or at that of FLOU_DIABETES; a made-up one without both."""
    place = path or os.environ.get(VARIABLE)
    if not place:
        return Diabetes(made_diabetes(), real=False)
    try:
        with Path(place).open(encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file))
        table = np.array(rows, dtype=np.float64)
    except (OSError, ValueError):
        head, table = [], np.zeros((0, 0))
    if head != list(SCHEMA) or table.shape != (ROWS, len(SCHEMA)):
        raise InvalidData(
            "This is not the diabetes table of document 002.",
            f"It has {ROWS} rows and the columns {', '.join(SCHEMA)}, and numbers only.",
            "Pass the path of the original file, or nothing for a made-up table.",
        )
    return Diabetes(dict(zip(head, table.T, strict=True)), real=True)


def made_diabetes(rows: int = ROWS, seed: int = 2) -> Columns:
    """A made-up table with the same columns: outcomes of one third, and features that go up with them."""
    generator = np.random.default_rng(seed)  # noqa: TID251 - made-up data, nothing to hide
    outcome = generator.random(rows) < 0.35

    def normal(low: float, high: float, spread: float) -> Floats:
        middle: Floats = np.where(outcome, np.float64(high), np.float64(low))
        return middle + spread * generator.normal(size=rows)

    def whole(values: Floats) -> Floats:
        return np.rint(np.maximum(values, 0))

    def some_missing(values: Floats, share: float) -> Floats:
        return np.where(generator.random(rows) < share, np.float64(0), values)

    skewed = np.exp(normal(-1.0, -0.75, 0.6))
    return {
        "Pregnancies": whole(normal(3.2, 4.8, 3.2)),
        "Glucose": some_missing(np.clip(whole(normal(110, 142, 27)), 44, 199), 0.01),
        "BloodPressure": some_missing(np.clip(whole(normal(71, 75, 12)), 24, 122), 0.05),
        "SkinThickness": some_missing(np.clip(whole(normal(27, 33, 10)), 7, 99), 0.3),
        "Insulin": some_missing(np.clip(whole(normal(130, 200, 100)), 14, 846), 0.48),
        "BMI": some_missing(np.rint(np.clip(normal(31, 35.4, 6.8), 18.2, 67.1) * 10) / 10, 0.01),
        "DiabetesPedigreeFunction": np.rint(np.clip(skewed, 0.08, 2.4) * 1000) / 1000,
        "Age": np.clip(whole(normal(30, 37, 11)), 21, 81),
        LABEL: outcome.astype(np.float64),
    }


def split(rows: int = ROWS, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows to learn from and those to try on: the document's train_test_split(random_state=0, test_size=0.20)."""
    order = np.random.RandomState(seed).permutation(rows)  # noqa: TID251 - the split that the document printed
    few = -(-rows // 5)
    return order[few:], order[:few]


def clean_scores(columns: Columns, seed: int = 0) -> tuple[float, float]:
    """Accuracy and f1 of Gaussian naive Bayes without privacy."""
    rows = np.stack([values for name, values in columns.items() if name != LABEL], axis=1)
    labels = columns[LABEL].astype(np.int64)
    learn, tried = split(len(labels), seed)
    predicted = GaussianModel.fitted(rows[learn], labels[learn], 2).scores(rows[tried]).argmax(axis=1)
    return accuracy(labels[tried], predicted), f1(labels[tried], predicted)
