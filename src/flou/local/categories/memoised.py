"""Repeated reports of one person to the same question, whose average does not reveal the truth.

Law        the first report about an answer is drawn and kept; whenever the answer is the same again, the same report is
           sent. With ``lifetime`` the kept report is drawn at that epsilon, never sent, and every report is a fresh
           randomisation of it such that one report alone follows the randomiser's own law at its smaller epsilon
Guarantee  after T reports of one and the same answer: epsilon, or with ``lifetime`` a loss that begins at epsilon
           with T = 1 and never exceeds ``lifetime``; for several answers the sum of theirs. Neighbours are two
           histories that change at the same times
Why        reports are post-processing of the kept ones, one for each different answer
Error      that of the randomiser, for each round; rounds are not independent, so averaging rounds does not help
Numerics   exact coins; losses rounded up
Limits     *when* an answer changes is not protected: kept reports change with it, and a refusal beyond the cap is seen.
           The memo is the person's secret and must outlive restarts: a lost memo is paid for again
Source     Erlingsson, Pihur, Korolova (2014); Ding, Kulkarni, Yekhanin (2017); Arcolezi et al. (2022)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM, Bits
from flou.errors import BudgetExceeded, InvalidData, InvalidParameter
from flou.laws import Bernoulli
from flou.laws.enclosure import Enclosure, exp_minus
from flou.local.categories.d_bit_flip import DBitFlip
from flou.local.categories.frequency_oracle import FrequencyOracle
from flou.local.categories.grr import GRR
from flou.local.categories.packed import packed_coins
from flou.local.categories.unary_encoding import SUE
from flou.local.categories.warner import Warner
from flou.parameters import Number, exact, number, rounded_up

__all__ = ["Memoised", "change", "loss_after"]

NO_PLACE = -1  # the key of all answers that a dBitFlip client is not asked about


def change(k: int, first: Fraction, lifetime: Fraction) -> Enclosure:
    """The probability of replacing one of k categories by a uniform other one that turns GRR's law at ``lifetime`` into
    its law at ``first``: (k - 1)(A - B) / ((1 + (k - 1) A)(1 - B)), A = e^-first, B = e^-lifetime."""
    spare = (
        16 + k.bit_length() + max(0, (1 / lifetime).__ceil__().bit_length())
    )  # 1 - B is at least lifetime / 2, or 1/2

    def enclose(precision: int) -> tuple[int, int]:
        fine = precision + spare
        (a, a_up), (b, b_up), (ab, ab_up) = (exp_minus(x)(fine) for x in (first, lifetime, first + lifetime))
        above, above_up = (k - 1) * max(a - b_up, 0), (k - 1) * (a_up - b)
        one = 1 << fine
        below, below_up = one + (k - 1) * a - b_up - (k - 1) * ab_up, one + (k - 1) * a_up - b - (k - 1) * ab
        return (above << precision) // below_up, -(-(above_up << precision) // below)

    return enclose


def loss_after(times: int, k: int, lifetime: Fraction, again: Bernoulli) -> float:
    """The loss of ``times`` reports of one answer, each a fresh randomisation of one kept report; rounded up.

    ``again`` is the coin of a change. All reports showing the same category is worst: with W = (p' / q')^times, p' and
    q' the probabilities of keeping and of one other, it is log((W + (k - 1) B) / (B W + 1 + (k - 2) B)).
    """
    if again.p == 0:  # below every float: the kept report is sent as it is
        return float(lifetime)
    shrunk = math.exp(times * (math.log(again.p) - math.log(k - 1) - math.log(again.q)))  # 1 / W
    power = math.exp(-float(lifetime))
    loss = math.log1p((k - 1) * power * shrunk) - math.log(power + (1 + (k - 2) * power) * shrunk)
    return min(loss * (1 + 2.0**-40), float(lifetime))


class Memoised:
    """A person's client: what it keeps, what it sends, and what the person has paid so far.

    ``cap``: the most that all reports of a lifetime may cost together; a report beyond it is refused. ``lifetime``:
    see above, for GRR, SUE and Warner. ``state``: what ``state()`` of an earlier client returned.
    """

    def __init__(
        self,
        randomiser: FrequencyOracle,
        *,
        cap: Number,
        lifetime: Number | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        self.randomiser = randomiser
        self.cap = number("epsilon", cap)
        self.lifetime = None if lifetime is None else number("epsilon", lifetime)
        if self.lifetime is not None:
            self._check_lifetime(self.lifetime)
        self._memos: dict[int, NDArray[Any]] = {}
        self._times: dict[int, int] = {}
        self._paid = Fraction(0)
        self._places: NDArray[np.int64] | None = None
        if state is not None:
            self._restore(state)

    def _check_lifetime(self, lifetime: Fraction) -> None:
        kind = type(self.randomiser)
        coins = isinstance(self.randomiser, Warner) and self.randomiser.coin
        if kind not in (GRR, SUE, Warner) or coins or lifetime <= self.randomiser.epsilon:
            raise InvalidParameter(
                "lifetime needs GRR, SUE or Warner with an epsilon below it.",
                "The kept report is randomised again each time, and only these three keep their form.",
                "Pass for example Memoised(SUE(16, epsilon=1), lifetime=2, cap=8), or leave lifetime out.",
            )

    def __repr__(self) -> str:
        return f"Memoised({self.randomiser!r}, cap={float(self.cap):g})"  # kept reports are secret

    @cached_property
    def permanent(self) -> FrequencyOracle:
        """What draws the reports that are kept."""
        if self.lifetime is None:
            return self.randomiser
        made: Any = type(self.randomiser)
        found: FrequencyOracle = made(
            self.randomiser.domain, epsilon=self.lifetime, unit=self.randomiser.guarantee.unit
        )
        return found

    @property
    def spent(self) -> float:
        """What the reports so far have cost this person, rounded up."""
        return rounded_up(self._paid)

    @property
    def reports(self) -> int:
        """How many reports were sent."""
        return sum(self._times.values())

    def _loss(self, times: int) -> Fraction:
        if self.lifetime is None:
            return self.randomiser.epsilon
        if isinstance(self.randomiser, SUE):  # two bits differ between two answers, each randomised on its own
            return 2 * exact(loss_after(times, 2, self.lifetime / 2, self.again))
        return exact(loss_after(times, self.randomiser.k, self.lifetime, self.again))

    def report(self, value: Any, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        """The report about this answer, as a batch of one; what it costs is charged first."""
        code = self.randomiser.domain.encode([value])
        if isinstance(self.randomiser, DBitFlip) and self._places is None:
            self._places = self.randomiser.places(1, bits=bits)
        key = int(code[0]) if self._places is None or np.any(self._places == code[0]) else NO_PLACE
        self._charge(key)
        if key not in self._memos:
            if isinstance(self.randomiser, DBitFlip):
                self._memos[key] = self.randomiser.sample(code, places=self._places, bits=bits)
            else:
                self._memos[key] = self.permanent.sample(code, bits=bits)
        kept = self._memos[key]
        return kept.copy() if self.lifetime is None else self._blurred(kept, bits)

    def _charge(self, key: int) -> None:
        times = self._times.get(key, 0)
        paid = self._paid + self._loss(times + 1) - (self._loss(times) if times else 0)
        if paid > self.cap:
            raise BudgetExceeded(
                f"With this report the person would pay more than the lifetime cap of {float(self.cap):g}.",
                "Every report about a new answer reveals something new about this person.",
                "Send no more reports, or agree on a larger cap with the person.",
            )
        self._times[key], self._paid = times + 1, paid

    @cached_property
    def again(self) -> Bernoulli:
        """The coin that decides whether a kept category, or a kept bit, is changed before it is sent."""
        if self.lifetime is None:
            return Bernoulli(0)
        first, lifetime = self.randomiser.epsilon, self.lifetime
        if isinstance(self.randomiser, SUE):
            return Bernoulli(change(2, first / 2, lifetime / 2))
        return Bernoulli(change(self.randomiser.k, first, lifetime))

    def _blurred(self, kept: NDArray[Any], bits: Bits) -> NDArray[Any]:
        k = self.randomiser.k
        if isinstance(self.randomiser, SUE):
            return kept ^ packed_coins(len(kept), k, self.again.number, bits)
        other = bits.below(k - 1, kept.size)
        other += other >= kept
        return np.where(self.again.draw(kept.size, bits) == 1, other, kept)

    def state(self) -> dict[str, Any]:
        """What must outlive a restart, as plain values: secret, for this person's device only."""
        return {
            "question": self.randomiser.aggregate().fingerprint,
            "lifetime": None if self.lifetime is None else str(self.lifetime),
            "places": None if self._places is None else self._places.tolist(),
            "memos": {str(key): memo.tolist() for key, memo in self._memos.items()},
            "times": {str(key): times for key, times in self._times.items()},
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        mine = self.state()
        try:
            same = all(state[name] == mine[name] for name in ("question", "lifetime"))
            memos = {int(key): self.permanent.checked(memo) for key, memo in state["memos"].items()}
            times = {int(key): int(count) for key, count in state["times"].items()}
            places = None if state["places"] is None else np.array(state["places"], dtype=np.int64)
        except (KeyError, TypeError, ValueError, AttributeError):
            same, memos, times, places = False, {}, {}, None
        if not same or any(key not in times for key in memos) or any(count < 1 for count in times.values()):
            raise InvalidData(
                "This state does not belong to this client.",
                "Kept reports of another question, or of another epsilon, mean something else.",
                "Pass what state() of a client of the same question returned, unchanged.",
            )
        self._memos, self._times, self._places = memos, times, places
        self._paid = sum((self._loss(count) for count in times.values()), Fraction(0))
