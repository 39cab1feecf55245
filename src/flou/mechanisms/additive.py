"""Additive mechanisms: an integer answer, or a vector of them, plus independent integer noise.

A scalar answer is a Python integer of any size, and so is each answer of ``sample_each``. A vector is an array of
64-bit integers and wraps around: the release modulo 2^64 is post-processing of the release, so the guarantee
stands whatever the answer is.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Independent, Law, Shifted
from flou.mechanisms.mechanism import Mechanism, integer_vector

__all__ = ["Additive"]


class Additive(Mechanism):
    """release = answer + noise."""

    noise: Law  # on every coordinate

    def law(self, answer: int | ArrayLike) -> Any:
        """The law of the release: of an integer, or of a vector with independent coordinates."""
        if _is_integer(answer):
            return Shifted(self.noise, int(answer))
        return Independent(self.noise, integer_vector("answer", answer))

    def sample(self, answer: int | ArrayLike, *, bits: Bits = SYSTEM) -> Any:
        """The answer with exact noise: an integer for an integer, a vector for a vector."""
        if _is_integer(answer):
            return int(answer) + self.noise.sample(bits=bits)
        vector = integer_vector("answer", answer)
        result: Ints = vector + self.noise.sample(vector.size, bits=bits)
        return result

    def sample_each(self, answers: Sequence[int], *, bits: Bits = SYSTEM) -> list[int]:
        """Python integers of any size, each with independent noise, all drawn at once."""
        if not all(map(_is_integer, answers)):
            integer_vector("answers", np.array([None]))  # refused
        drawn = self.noise.sample(len(answers), bits=bits).tolist()
        return [int(answer) + noise for answer, noise in zip(answers, drawn, strict=True)]


def _is_integer(answer: Any) -> TypeGuard[int]:
    return isinstance(answer, numbers.Integral | np.integer) and not isinstance(answer, bool)
