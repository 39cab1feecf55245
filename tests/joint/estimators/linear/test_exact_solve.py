from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou.joint.estimators.linear import exact_solve as module
from flou.joint.estimators.linear.exact_gram import exact_gram
from flou.joint.estimators.linear.exact_solve import Dependent, orthogonalised


def made_gram(n, d, bits=50, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.rint(np.ldexp(rng.normal(size=(n, d)), bits))
    codes[:, 0] = 1
    return exact_gram([codes], [1 << (bits + 4)] * d)


def gram_of(rows):
    rows = [[int(value) for value in row] for row in rows]
    return [[sum(row[i] * row[j] for row in rows) for j in range(len(rows[0]))] for i in range(len(rows[0]))]


@pytest.mark.parametrize("d", [1, 2, 6, 12])
def test_the_coefficients_solve_the_normal_equations_exactly(d):
    gram = made_gram(40, d)
    found = orthogonalised(gram)
    beta = found.coefficients
    for i in range(d - 1):
        assert sum(beta[j] * gram[i][j] for j in range(d - 1)) == gram[i][-1]
    explained = sum(beta[j] * gram[j][-1] for j in range(d - 1))
    assert found.residual == gram[-1][-1] - explained


def test_combinations_are_orthogonal_and_have_their_squares():
    """W G W' is the diagonal of the squares, and the products are those with the last column."""
    gram = made_gram(30, 5)
    found = orthogonalised(gram)
    rows = [[*row, *[Fraction(0)] * (5 - len(row))] for row in found.rows]
    assert all(row[k] == 1 for k, row in enumerate(rows))
    for a in range(5):
        for b in range(5):
            product = sum(rows[a][i] * gram[i][j] * rows[b][j] for i in range(5) for j in range(5))
            assert product == (found.squares[a] if a == b else 0)
        assert sum(rows[a][i] * gram[i][-1] for i in range(5)) == found.products[a]


def test_the_inverse_follows_from_the_combinations():
    gram = made_gram(30, 4)
    found = orthogonalised(gram)
    size = 3
    rows = [[*row, *[Fraction(0)] * (size - len(row))] for row in found.rows[:size]]
    inverse = [
        [sum(rows[k][i] * rows[k][j] / found.squares[k] for k in range(size)) for j in range(size)] for i in range(size)
    ]
    product = [[sum(inverse[i][k] * gram[k][j] for k in range(size)) for j in range(size)] for i in range(size)]
    assert product == [[int(i == j) for j in range(size)] for i in range(size)]


@pytest.mark.parametrize("d", [5, 20])
def test_fixed_point_agrees_with_fractions_to_more_digits_than_doubles_have(d):
    gram = made_gram(60, d)
    exactly = orthogonalised(gram)
    nearly = module._fixed_point(np.array(gram, dtype=object), [0] * d)
    for one, two in zip(exactly.coefficients, nearly.coefficients, strict=True):
        assert abs(one - two) <= abs(one) * Fraction(1, 2**500)
    for one, two in zip(exactly.squares + exactly.products, nearly.squares + nearly.products, strict=True):
        assert abs(one - two) <= abs(one) * Fraction(1, 2**500)


def test_many_columns_are_solved_too():
    """Beyond forty columns the residuals of the normal equations are below 2^-400 of their size."""
    d = 60
    gram = made_gram(80, d)
    beta = orthogonalised(gram).coefficients
    for i in range(0, d - 1, 10):
        left = sum(beta[j] * gram[i][j] for j in range(d - 1)) - gram[i][-1]
        assert abs(left) <= gram[i][i] * Fraction(1, 2**400)


@pytest.mark.parametrize("d", [4, 50])
def test_a_dependent_column_is_found_however_close_it_comes(d):
    """One unit in one row is the difference between dependent and independent, at 2^50 units of size."""
    rng = np.random.default_rng(3)
    rows = [[1, *(int(x) for x in rng.integers(-(2**50), 2**50, d - 2)), 0] for _ in range(2 * d)]
    for row in rows:
        row[2] = 3 * row[1] - 7 * row[0]
    with pytest.raises(Dependent) as caught:
        orthogonalised(gram_of(rows))
    assert caught.value.place == 2
    rows[5][2] += 1
    assert orthogonalised(gram_of(rows)).squares[2] > 0
    with pytest.raises(Dependent):
        orthogonalised(gram_of(rows), tolerance=2)
    with pytest.raises(Dependent):
        orthogonalised(gram_of(rows), precision=90)
    assert orthogonalised(gram_of(rows), precision=120).squares[2] > 0


def test_the_last_column_may_depend_on_the_others():
    rows = [[1, x, 5 - 2 * x] for x in range(6)]
    found = orthogonalised(gram_of(rows))
    assert found.coefficients == (5, -2)
    assert found.residual == 0
