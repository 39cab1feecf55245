"""What a survey will tell before anybody is asked: how far off its estimates will be, or how many people that takes.

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
    """One question of a plan; ``error`` and ``people`` are None where no formula tells them."""

    question: str
    statistic: str
    method: str
    people: int | None  # respondents of the whole survey
    error: float | None
    without_privacy: float | None  # the error that the same respondents' true answers would have


def plan_for_people(survey: Survey, people: int) -> list[Planned]:
    """The error of each question when so many take part."""
    many = integer("people", people, 1, 2**40)
    found = []
    for name, randomiser in survey.randomisers.items():
        asked = many / _parts(survey)
        private, plain = widest_variance(randomiser)
        errors = [None if v is None else QUANTILE * math.sqrt(v / asked) for v in (private, plain)]
        found.append(Planned(name, survey.items[name].statistic, randomiser.name, many, *errors))
    return found


def plan_for_error(survey: Survey, error: Number) -> list[Planned]:
    """How many respondents each question takes for so small an error."""
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

    Of a share it is r (1 - r) / (p - q)^2 with r, the probability of support, as close to 1/2 as it gets; of a mean
    that of a report for answers at the two ends, half of them each, or for the worst single answer.
    """
    if isinstance(randomiser, FrequencyOracle):
        r = min(max(0.5, randomiser.q), randomiser.p)
        return r * (1 - r) / randomiser.gap**2, 0.25
    if isinstance(randomiser, MeanRandomiser):
        low, high = ends(randomiser.domain)
        spread = ((high - low) / 2) ** 2
        return max(randomiser.variance(), spread + randomiser.variance(high)), spread
    return None, None
