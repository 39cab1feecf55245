from __future__ import annotations

import numpy as np
import pytest

from flou.joint.estimators.linear import exact_gram as module
from flou.joint.estimators.linear.exact_gram import exact_gram, from_upper, upper_triangle


def in_python(codes):
    """The same sums, one Python integer at a time."""
    columns = [[int(code) for code in column] for column in codes.T]
    return [[sum(a * b for a, b in zip(one, two, strict=True)) for two in columns] for one in columns]


@pytest.mark.parametrize("bits", [1, 18, 19, 20, 21, 39, 40, 41, 60, 96, 136])
def test_sums_of_products_are_exact_for_codes_of_any_length(bits):
    """Also at the ends of the range, where every limb is as large as it can be."""
    rng = np.random.default_rng(bits)
    codes = np.rint(np.ldexp(rng.uniform(-1, 1, size=(700, 4)), [bits, bits, max(bits - 30, 0), bits // 2]))
    codes[:100, 0] = 2.0**bits
    codes[100:200, 0] = -(2.0**bits)
    codes[:, 3] *= rng.random(700) < 0.1
    limits = [1 << bits] * 4
    assert exact_gram([codes[:3], codes[3:3], codes[3:]], limits) == in_python(codes)


def test_the_longest_block_of_the_largest_limbs_is_exact():
    """2^14 rows of limbs of 2^19 are the most that doubles add up exactly; no bit is lost."""
    codes = np.full((module.ROWS + 5, 2), 2.0**19)
    codes[7, 1] -= 1
    found = exact_gram([codes], [1 << 19, 1 << 19])
    n = len(codes)
    assert found == [[n << 38, (n << 38) - (1 << 19)], [(n << 38) - (1 << 19), (n << 38) - (1 << 20) + 1]]


def test_a_wider_limb_would_not_be_exact(monkeypatch):
    """The width of the limbs is what makes the sums exact: four bits more lose some."""
    codes = 2.0**22 - 1 - 2 * np.random.default_rng(0).integers(0, 2**19, size=(module.ROWS, 2))
    limits = [1 << 22, 1 << 22]
    assert exact_gram([codes], limits) == in_python(codes)
    monkeypatch.setattr(module, "LIMB", 24)
    assert exact_gram([codes], limits) != in_python(codes)


@pytest.mark.parametrize("columns", [1, 5, 70])
def test_steps_without_threads_change_nothing(columns):
    rng = np.random.default_rng(1)
    codes = np.rint(rng.normal(size=(5000, columns)) * 2.0**15)
    assert exact_gram([codes], [1 << 19] * columns) == (codes.T @ codes).astype(np.int64).tolist()


def test_many_blocks_are_added_up_beyond_64_bits(monkeypatch):
    monkeypatch.setattr(module, "FLUSH", 2)
    codes = np.full((100, 1), 2.0**90)
    assert exact_gram([codes] * 7, [1 << 90]) == [[700 << 180]]


def test_no_rows_have_sums_of_zero():
    assert exact_gram([], [1, 1 << 96]) == [[0, 0], [0, 0]]
    assert exact_gram([np.zeros((0, 2))], [1, 1 << 96]) == [[0, 0], [0, 0]]


def test_the_upper_triangle_is_the_whole_matrix():
    matrix = [[1, 2, 3], [2, 4, 5], [3, 5, 6]]
    assert upper_triangle(matrix) == [1, 2, 3, 4, 5, 6]
    assert from_upper([1, 2, 3, 4, 5, 6], 3) == matrix
