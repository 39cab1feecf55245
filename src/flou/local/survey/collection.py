"""What a survey has collected so far: one aggregate for each question, and how batches of reports travel as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from flou.errors import InvalidData
from flou.local.aggregate import Aggregate
from flou.local.survey.survey import Reports, Survey
from flou.release import Release

__all__ = ["Collection", "batch_of", "reports_in"]


class Collection:
    """Sums of the reports to each question of a survey."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.aggregates = {name: Aggregate(randomiser) for name, randomiser in survey.randomisers.items()}

    def __repr__(self) -> str:
        return f"Collection({self.survey.name!r}, reports={self.reports})"

    @property
    def reports(self) -> int:
        """The number of counted reports, over all questions."""
        return sum(aggregate.people for aggregate in self.aggregates.values())

    def add(self, reports: Mapping[str, Any]) -> Collection:
        """Count a batch: all of it, or nothing if any report is malformed."""
        unknown = [name for name in reports if name not in self.aggregates]
        if unknown:
            raise InvalidData(
                "The batch has reports to a question that the survey does not ask.",
                "These reports could not be used, although respondents have paid for them.",
                "Check that respondents and collector use the same survey file.",
            )
        new = {name: Aggregate(self.survey.randomisers[name]).add(part) for name, part in reports.items()}
        for name, aggregate in new.items():
            self.aggregates[name].merge(aggregate)
        return self

    def merge(self, other: Collection) -> Collection:
        """Count what another collector of the same survey has counted."""
        for name, aggregate in self.aggregates.items():
            if name not in other.aggregates or other.aggregates[name].fingerprint != aggregate.fingerprint:
                raise InvalidData(
                    "These reports belong to another survey.",
                    "Other questions, categories or another epsilon give reports that mean something else.",
                    "Merge collections of the same survey file only.",
                )
        for name, aggregate in self.aggregates.items():
            aggregate.merge(other.aggregates[name])
        return self

    def estimates(self) -> dict[str, Release]:
        """The estimate for each question, with its intervals."""
        return {name: aggregate.estimate() for name, aggregate in self.aggregates.items()}


def batch_of(survey: Survey, reports: Reports) -> dict[str, Any]:
    """Reports as plain values, with the fingerprint of their survey."""
    return {
        "survey": survey.fingerprint,
        "reports": {name: np.asarray(part).tolist() for name, part in reports.items() if len(part)},
    }


def reports_in(survey: Survey, batch: Any) -> dict[str, Any]:
    """The reports of a batch, a dictionary or a JSON text; anything else is refused."""
    if isinstance(batch, str | bytes):
        try:
            batch = json.loads(batch)
        except ValueError:
            batch = None
    if not isinstance(batch, Mapping) or set(batch) != {"survey", "reports"} or not isinstance(batch["reports"], dict):
        raise InvalidData(
            "This is not a batch of reports.",
            "A batch is one JSON object with the keys 'survey' and 'reports'.",
            "Send what flou survey randomise has written, unchanged.",
        )
    if batch["survey"] != survey.fingerprint:
        raise InvalidData(
            "This batch was made for another survey.",
            "Other questions, categories or another epsilon give reports that mean something else.",
            "Use the same survey file for randomising and for collecting.",
        )
    lists = batch["reports"]
    if not all(isinstance(part, list) and _whole(part) for part in lists.values()):
        raise InvalidData(
            "A batch has reports that are not whole numbers.",
            "Randomisers make whole numbers only.",
            "Send what flou survey randomise has written, unchanged.",
        )
    return dict(lists)


def _whole(part: list[Any]) -> bool:
    """Whether these are whole numbers, or rows of equally many of them."""
    if all(isinstance(one, list) for one in part):
        return len({len(one) for one in part}) <= 1 and all(type(digit) is int for one in part for digit in one)
    return all(type(one) is int for one in part)
