"""Dithered JointExp: several quantiles of data with ties.

Law        every record moves to a uniform one of ``places`` places inside its own cell; JointExp answers on the finer
           grid, and each answer is the cell that holds it
Guarantee  that of JointExp, for the same neighbours
Why        a record's place depends on no other record: given all places, neighbours are neighbours on the finer grid
Error      as JointExp on data without ties; answers lie in the right cell where the cell holds many records
Numerics   exact; of a cell with a crowd only the places near the targets are drawn, see ``dithered.py``
Limits     cells times places is at most 2^60; the cells should be as wide as the data is rounded
Source     Lalanne, Gastaud, Grislain, Garivier and Gribonval (2023)
Proof      docs/explanation/proofs/joint_quantiles.md
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles.answer_law import MOST_OUTCOMES, AnswerLaw, Answers, too_many_outcomes
from flou.mechanisms.quantiles.dithered import Dithered
from flou.mechanisms.quantiles.joint_exp import JointExp
from flou.mechanisms.quantiles.records import Records, SortedRecords
from flou.parameters import Number, Relation, integer, shown

__all__ = ["DitheredJointExp"]

FINEST = 60  # cells times places is at most 2^FINEST


@dataclass(frozen=True, init=False, repr=False)
class DitheredJointExp(JointExp):
    """JointExp after each record was moved to a random place of its cell."""

    places: int | None

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        relation: Relation = "add-remove",
        unit: str = "row",
        places: int | None = None,
    ) -> None:
        """``places`` is a power of two, by default as many as 2^60 allows."""
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        if places is not None and (integer("places", places, 1, 2**FINEST) & (places - 1)):
            raise InvalidParameter(
                f"places must be a power of two, got {shown(places)}.",
                "Cells that hold many records are halved again and again.",
                "Pass for example places=1024, or leave places out.",
            )
        object.__setattr__(self, "places", places)

    def places_in(self, cells: int) -> int:
        """How many places each cell has, on a grid of this many cells."""
        return 1 << (FINEST - (cells - 1).bit_length()) if self.places is None else self.places

    def law(self, records: Records) -> AnswerLaw:
        """The average over all dithers, for tiny grids."""
        places, rows = self.places_in(records.cells), records.rows
        if places**rows > MOST_OUTCOMES:
            raise too_many_outcomes()
        codes = records.ranked(1, rows)
        found: defaultdict[Answers, float] = defaultdict(float)
        for dither in product(range(places), repeat=rows):
            fine = SortedRecords(codes * places + np.array(dither, dtype=np.int64), cells=records.cells * places)
            given = super().law(fine)
            for outcome in given.outcomes():
                found[tuple(cell // places for cell in outcome)] += given.pmf(outcome) / places**rows
        return AnswerLaw(found)

    def answers(self, records: Records, bits: Bits) -> Ints:
        places = self.places_in(records.cells)
        integer("cells times places", records.cells * places, 1, 2**FINEST)
        return super().answers(Dithered(records, places, bits), bits) // places
