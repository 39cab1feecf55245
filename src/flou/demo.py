"""The main job in small: a count, a mean and a histogram of salaries, each with its cost and its error.

Budget     two fifths for the count, two fifths for the sum, one fifth for the histogram. The mean is the noisy
           sum by the noisy count, and their noises weigh the same when the mean is as far from the middle of
           the bounds as it can be; so equal parts are the best choice that knows nothing about the data
Count      discrete Laplace, sensitivity 1; the interval is a pair of quantiles of the noise
Mean       salaries are counted in steps from the middle of a public grid of 2^32 cells, so one person moves the
           sum by at most half the range; the interval inverts the law of both noises, see ``mean_interval``
Histogram  discrete Laplace on each bin, sensitivity 1 because one person is in one bin; the intervals hold all at
           once, and nothing below zero is shown
Limits     the intervals are about the table itself, not about the population it was drawn from
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flou.bits import SYSTEM, Bits
from flou.domain import Interval
from flou.errors import InvalidParameter, MissingExtra
from flou.guarantee import PureDP, compose
from flou.laws import Law
from flou.mechanisms import Laplace
from flou.parameters import Number, number, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Answer", "Answers", "Histogram", "Questions", "ask", "draw", "mean_interval"]

LEVEL = 0.95
GRID = Interval(0, 300_000, cells=2**32)  # for the sum: a step is 0.00007 euros
BINS = Interval(0, 300_000, step=20_000)
HALF = GRID.cells // 2

SMALLEST = Fraction(1, 10**5)
NEGLIGIBLE = 1e-12
BLOCKS = 2000

REMARK = (
    "All intervals hold with 95 % probability, those of the bars all at once. "
    "The table is made up, so the truth may be drawn."
)
INK, GREY, BLUE, RED = "#22303c", "#6b7780", "#a9c1d6", "#c0392b"


@dataclass(frozen=True, slots=True)
class Answer:
    """One number: what was released, an interval that holds the truth at ``LEVEL``, the truth, and the cost."""

    value: float
    interval: tuple[float, float]
    truth: float
    cost: PureDP

    @property
    def holds(self) -> bool:
        """Whether the interval holds the truth; only made-up data may be asked."""
        return self.interval[0] <= self.truth <= self.interval[1]

    @property
    def digits(self) -> int:
        """How many decimals are worth reading: cents when the interval is narrow and not one of whole people."""
        low, high = self.interval
        return 0 if isinstance(low, int) or high - low >= 100 else 2

    @property
    def between(self) -> tuple[str, str]:
        """The ends of the interval as text, rounded outwards."""
        low, high = (Decimal(end) for end in self.interval)
        place = Decimal(1).scaleb(-self.digits)
        return f"{low.quantize(place, ROUND_FLOOR):,}", f"{high.quantize(place, ROUND_CEILING):,}"


@dataclass(frozen=True, slots=True)
class Histogram:
    """One count a bin, with intervals that hold all the true counts at once at ``LEVEL``."""

    edges: tuple[float, ...]
    values: tuple[int, ...]
    intervals: tuple[tuple[int, int], ...]
    truths: tuple[int, ...]
    error: int  # how far the noise goes on either side, before anything is cut at zero
    cost: PureDP

    @property
    def holds(self) -> tuple[bool, ...]:
        """Whether the interval of each bin holds the truth."""
        return tuple(low <= truth <= high for (low, high), truth in zip(self.intervals, self.truths, strict=True))


@dataclass(frozen=True, slots=True)
class Answers:
    """The three answers, and what they cost together."""

    count: Answer
    mean: Answer
    histogram: Histogram
    cost: PureDP


@dataclass(frozen=True, slots=True, init=False)
class Questions:
    """The three mechanisms that share a total ``epsilon``."""

    count: Laplace
    sum: Laplace
    histogram: Laplace

    def __init__(self, epsilon: Number) -> None:
        total = number("epsilon", epsilon)
        if total < SMALLEST:
            raise InvalidParameter(
                f"epsilon must be at least {float(SMALLEST)} here, got {shown(epsilon)}.",
                "Below that the noise drowns every table that the demo can make.",
                "Pass a larger number, for example epsilon=0.1.",
            )
        object.__setattr__(self, "count", Laplace(sensitivity=1, epsilon=total * 2 / 5))
        object.__setattr__(self, "sum", Laplace(sensitivity=HALF, epsilon=total * 2 / 5))
        object.__setattr__(self, "histogram", Laplace(sensitivity=1, epsilon=total / 5))


def ask(salaries: object, *, epsilon: Number, bits: Bits = SYSTEM) -> Answers:
    """Count, mean and histogram of a column of salaries, for ``epsilon`` in total (relation add-remove)."""
    questions = Questions(epsilon)
    steps = GRID.encode(salaries) - HALF
    bins = np.bincount(BINS.encode(salaries), minlength=BINS.cells)

    count = questions.count.sample(steps.size, bits=bits)
    total = questions.sum.sample(int(steps.sum()), bits=bits)
    noisy_bins = questions.histogram.sample(bins, bits=bits)

    low, high = questions.count.noise.interval(LEVEL)
    ends = mean_interval(
        total, count, sum_noise=questions.sum.noise, count_noise=questions.count.noise, bounds=(-HALF, HALF - 1)
    )
    mean = GRID.lower + (HALF + 0.5 + (total / count if count > 0 else 0)) * GRID.step
    bin_low, bin_high = questions.histogram.law(noisy_bins).interval(LEVEL, simultaneous=True)
    return Answers(
        count=Answer(max(count, 0), (max(count - high, 0), max(count - low, 0)), steps.size, questions.count.guarantee),
        mean=Answer(
            value=min(max(mean, GRID.lower), GRID.upper),
            # A salary lies in its cell, from its step to the next, and so does the mean.
            interval=(GRID.lower + (HALF + ends[0]) * GRID.step, GRID.lower + (HALF + ends[1] + 1) * GRID.step),
            truth=float(np.mean(np.asarray(salaries))),
            cost=questions.sum.guarantee,
        ),
        histogram=Histogram(
            edges=tuple(BINS.edges().tolist()),
            values=tuple(np.maximum(noisy_bins, 0).tolist()),
            intervals=tuple(zip(np.maximum(bin_low, 0).tolist(), np.maximum(bin_high, 0).tolist(), strict=True)),
            truths=tuple(bins.tolist()),
            error=int(bin_high[0] - noisy_bins[0]),
            cost=questions.histogram.guarantee,
        ),
        cost=compose(questions.count.guarantee, questions.sum.guarantee, questions.histogram.guarantee),
    )


def mean_interval(
    total: int, count: int, *, sum_noise: Law, count_noise: Law, bounds: tuple[int, int], level: float = LEVEL
) -> tuple[int, int]:
    """Whole steps around the true mean m, with probability at least ``level``, from a noisy sum and a noisy count.

    Let Z and W be the noises of the two. The true sum is m times the true count, so total - m count = Z - m W, and
    m is refused when P(|Z - m W| >= |total - m count|) <= 1 - level: a test whose law is known exactly, hence
    an interval without any approximation. For |W| <= count the event can only shrink as m moves away from
    total / count, because |Z - m W| grows by at most |W| a step and the other side by count. So the part
    of the probability with |W| <= reach is monotone on both sides, bisection finds where it falls to
    1 - level - P(|W| > reach), and what is refused beyond is refused rightly, whatever the rest adds.
    When the count's noise is wide, its values are taken in blocks, each as if it were its farthest one.
    """
    lowest, highest = bounds
    reach = min(count, count_noise.quantile(1 - NEGLIGIBLE))
    allowed = 1 - level - 2 * float(count_noise.sf(max(reach, 0)))
    if count <= 0 or allowed <= 0:
        return bounds
    noises = np.unique(np.rint(np.linspace(0, reach, BLOCKS + 1)).astype(np.int64))
    within = 1 - 2 * count_noise.sf(noises)  # P(|W| <= w)
    chances = np.diff(within, prepend=0.0)

    def possible(mean: int) -> bool:
        gap, shift = abs(total - mean * count), mean * noises
        # P(|Z - shift| >= gap); the sign of W plays no part because Z is symmetric
        far = sum_noise.sf(gap + shift - 1) + sum_noise.sf(gap - shift - 1)
        return float(chances @ np.minimum(far, 1.0)) > allowed

    centre = min(max(total // count, lowest), highest)
    low = _last_refused(lowest, centre + 1, possible)
    high = -_last_refused(-highest, -centre, lambda negative: possible(-negative))
    return low, high


def _last_refused(start: int, stop: int, possible: Callable[[int], bool]) -> int:
    """The last value before ``stop`` that is not possible, or ``start``; possible ones come last."""
    while stop - start > 1:
        between = (start + stop) // 2
        start, stop = (start, between) if possible(between) else (between, stop)
    return start


def draw(answers: Answers, out: Path) -> None:
    """The three answers in one picture, with their intervals, the truth, and the cost in the caption."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(
            "The plot needs Matplotlib, which is not installed.",
            "It is an extra, because the answers do not need it.",
            "Install it with pip install 'flou[plots]' and run the command again.",
        ) from error
    figure = Figure(figsize=(10, 8.4), dpi=160, facecolor="white")
    FigureCanvasAgg(figure)
    places = {"left": 0.09, "right": 0.97, "top": 0.865, "bottom": 0.15, "hspace": 0.75}
    top, middle, bottom = figure.subplots(3, height_ratios=(3.6, 1.5, 0.5), gridspec_kw=places)
    _draw_histogram(top, middle, answers.histogram)
    _draw_mean(top, bottom, answers.mean)
    for axes in (top, middle, bottom):
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
        axes.tick_params(colors=GREY, labelcolor=INK, labelsize=10)
    figure.text(0.02, 0.955, _headline(answers), fontsize=15, fontweight="bold", color=INK)
    figure.text(0.02, 0.926, REMARK, fontsize=10.5, color=GREY)
    figure.text(0.02, 0.025, _caption(answers), fontsize=10.5, color=INK, linespacing=1.5)
    figure.savefig(out, format="png")


def _headline(answers: Answers) -> str:
    people, epsilon = f"{answers.count.truth:,} salaries", f"epsilon = {answers.cost.epsilon:g}"
    return f"{people} at {epsilon}: every bar is right to within {answers.histogram.error:,} people"


def _caption(answers: Answers) -> str:
    count, mean, bins, cost = answers.count.cost, answers.mean.cost, answers.histogram.cost, answers.cost
    return (
        f"What it cost: epsilon {count.epsilon:g} for the count, {mean.epsilon:g} for the mean and {bins.epsilon:g} "
        f"for the histogram, {cost.epsilon:g} in total (relation {cost.relation}).\n{cost.in_words()}"
    )


def _draw_histogram(top: Axes, below: Axes, histogram: Histogram) -> None:
    """The bars, and below them the same bars enlarged around the truth."""
    edges = np.array(histogram.edges) / 1000
    middles = (edges[1:] + edges[:-1]) / 2
    values, truths = np.array(histogram.values), np.array(histogram.truths)
    low, high = np.array(histogram.intervals).T
    bars: dict[str, Any] = {"yerr": (values - low, high - values), "ecolor": INK, "elinewidth": 1.2, "capsize": 4}

    top.bar(middles, values, width=np.diff(edges), color=BLUE, edgecolor="white", linewidth=1.5, label="released")
    top.errorbar(middles, values, fmt="none", label="95 % interval", **bars)
    top.stairs(truths, edges, color=RED, linewidth=1.1, label="truth")
    top.yaxis.set_major_formatter("{x:,.0f}")
    top.set_title("People by yearly salary", loc="left", color=INK, fontsize=11)
    top.legend(loc="upper right", frameon=False, fontsize=10, labelcolor=INK)

    below.axhline(0, color=RED, linewidth=1.1)
    below.errorbar(middles, values - truths, fmt="o", color=INK, markersize=4, **bars)
    below.yaxis.set_major_formatter(lambda people, _: f"{people:+,.0f}" if people else "0")
    below.locator_params(axis="y", nbins=5, integer=True)
    below.set_title("The same bars enlarged: people released minus people in truth", loc="left", color=INK, fontsize=11)
    for axes in (top, below):
        axes.set_xlim(edges[0], edges[-1])
        axes.set_xticks(edges)
        axes.set_xlabel("thousands of euros", color=INK, fontsize=10)


def _draw_mean(top: Axes, below: Axes, mean: Answer) -> None:
    """A line in the histogram, and a strip that is narrow enough to see the interval."""
    (low, high), value = mean.interval, mean.value
    top.axvline(value / 1000, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    top.annotate(
        "mean", (value / 1000, 1), (5, -2), ("data", "axes fraction"), "offset points", va="top", color=INK, fontsize=10
    )
    below.errorbar([value], [0], xerr=([value - low], [high - value]), fmt="o", color=INK, capsize=5, markersize=5)
    below.axvline(mean.truth, color=RED, linewidth=1.4)
    title = f"The mean enlarged: {value:,.{mean.digits}f}, between {mean.between[0]} and {mean.between[1]}"
    below.set_title(title, loc="left", color=INK, fontsize=11)
    below.set_yticks([])
    below.spines["left"].set_visible(False)
    below.xaxis.set_major_formatter("{x:,.2f}" if high - low < 5 else "{x:,.0f}")
    below.set_xlabel("euros", color=INK, fontsize=10)
