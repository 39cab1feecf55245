"""Yes or no."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from flou.domain import Boolean


@pytest.mark.parametrize("missing", [False, True])
def test_codes(missing):
    """True and 1 are 1, False and 0 are 0, and everything else is the missing value."""
    domain = Boolean(missing=missing)
    known = [True, False, 1, 0, 1.0, 0.0, -0.0, np.True_, np.int8(1), Decimal(1), Decimal(0)]
    assert domain.encode(known).tolist() == [1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0]
    lost = [2, -1, 0.5, math.nan, math.inf, None, "yes", "1", "True", b"\x01", [True], 10**400, Decimal("sNaN")]
    assert domain.encode(lost).tolist() == [int(missing)] * len(lost)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f8", ">i4", "g", object])
def test_arrays(dtype):
    """Arrays of every numeric type are read by value."""
    assert Boolean().encode(np.array([1, 0, 1], dtype=dtype)).tolist() == [1, 0, 1]


def test_arrays_with_other_numbers():
    """In arrays, too, a number that is neither 0 nor 1 is missing."""
    assert Boolean(missing=True).encode(np.array([0.0, 0.5, np.nan, -1])).tolist() == [0, 1, 1, 1]
    assert Boolean().encode(np.array([1, 2, 255], dtype=np.uint8)).tolist() == [1, 0, 0]
    assert Boolean(missing=True).encode(np.array(["1", "0"])).tolist() == [1, 1]


def test_decode():
    """A code decodes to a boolean."""
    decoded = Boolean().decode([0, 1])
    assert decoded.tolist() == [False, True]
    assert decoded.dtype == np.bool_


@pytest.mark.parametrize("bad", [None, 0, 1, "false", math.nan])
def test_missing_must_be_boolean(refuses, bad):
    """The missing value is True or False."""
    refuses(lambda: Boolean(missing=bad), "missing")
