"""Plan a survey before anybody is asked: how large its errors will be, or how many people a given error needs.

The error is half the width of a 95 % interval for the population, at the answers for which it is widest. A respondent
who is asked one question of d counts for that question only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flou.local.categories.frequency_oracle import FrequencyOracle
from flou.local.numbers.mean_randomiser import MeanRandomiser
from flou.local.numbers.number_randomiser import ends
from flou.local.randomiser import Randomiser
from flou.local.survey.survey import Survey
from flou.parameters import Number, integer, number

__all__ = ["Planned", "plan_for_error", "plan_for_people", "widest_variance"]

QUANTILE = 1.959964  # of the normal law, for 95 %


@dataclass(frozen=True)
class Planned:
    """One question of a plan; ``error`` and ``people`` are None where there is no formula."""

    question: str
    statistic: str
    method: str
    people: int | None  # respondents of the whole survey
    error: float | None
    without_privacy: float | None  # the error that the same respondents' true answers would have


def plan_for_people(survey: Survey, people: int) -> list[Planned]:
    """The error of each question when this number of people take part."""
    many = integer("people", people, 1, 2**40)
    found = []
    for name, randomiser in survey.randomisers.items():
        asked = many / _parts(survey)
        private, plain = widest_variance(randomiser)
        errors = [None if v is None else QUANTILE * math.sqrt(v / asked) for v in (private, plain)]
        found.append(Planned(name, survey.items[name].statistic, randomiser.name, many, *errors))
    return found


def plan_for_error(survey: Survey, error: Number) -> list[Planned]:
    """How many respondents each question needs for this error."""
    wanted = float(number("error", error))
    found = []
    for name, randomiser in survey.randomisers.items():
        private, plain = widest_variance(randomiser)
        people = None if private is None else math.ceil(_parts(survey) * private * (QUANTILE / wanted) ** 2)
        asked = None if people is None else people / _parts(survey)
        without = None if plain is None or asked is None else QUANTILE * math.sqrt(plain / asked)
        found.append(Planned(name, survey.items[name].statistic, randomiser.name, people, wanted, without))
    return found


def _parts(survey: Survey) -> int:
    return len(survey.items) if survey.ask == "one" else 1


def widest_variance(randomiser: Randomiser) -> tuple[float | None, float | None]:
    """n times the variance around the population's value, of the estimate and of the mean of true answers.

    For a share it is r (1 - r) / (p - q)^2, where r, the probability of support, is as close to 1/2 as possible. For a
    mean it is the variance of a report when half of the answers are at each end, or all are the worst answer.
    """
    if isinstance(randomiser, FrequencyOracle):
        r = min(max(0.5, randomiser.q), randomiser.p)
        return r * (1 - r) / randomiser.gap**2, 0.25
    if isinstance(randomiser, MeanRandomiser):
        low, high = ends(randomiser.domain)
        spread = ((high - low) / 2) ** 2
        return max(randomiser.variance(), spread + randomiser.variance(high)), spread
    return None, None
