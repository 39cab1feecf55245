"""Least squares in fractions, straight from the rows: slow, and right to the last digit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

__all__ = ["exact_least_squares"]


def exact_least_squares(X, y, kind="nonrobust"):
    """Coefficients, their covariance and the residual sum of squares, each rounded once."""
    X = [[Fraction(float(value)) for value in row] for row in X]
    y = [Fraction(float(value)) for value in y]
    n, k = len(X), len(X[0])
    rows = [
        [sum(X[i][a] * X[i][b] for i in range(n)) for b in range(k)]
        + [Fraction(int(a == b)) for b in range(k)]
        + [sum(X[i][a] * y[i] for i in range(n))]
        for a in range(k)
    ]
    for c in range(k):  # Gauss and Jordan
        rows[c] = [value / rows[c][c] for value in rows[c]]
        for r in range(k):
            if r != c:
                factor = rows[r][c]
                rows[r] = [u - factor * v for u, v in zip(rows[r], rows[c], strict=True)]
    inverse, beta = [row[k : 2 * k] for row in rows], [row[-1] for row in rows]
    e = [y[i] - sum(beta[a] * X[i][a] for a in range(k)) for i in range(n)]
    rss = sum(value * value for value in e)
    if kind == "nonrobust":
        covariance = [[entry * rss / (n - k) for entry in row] for row in inverse]
    else:
        turned = [[sum(inverse[a][c] * X[i][c] for c in range(k)) for a in range(k)] for i in range(n)]
        left = [1 - sum(X[i][a] * turned[i][a] for a in range(k)) for i in range(n)]
        power = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}[kind]
        more = Fraction(n, n - k) if kind == "HC1" else 1
        w = [more * e[i] ** 2 / left[i] ** power for i in range(n)]
        covariance = [[sum(w[i] * turned[i][a] * turned[i][b] for i in range(n)) for b in range(k)] for a in range(k)]
    return (
        np.array([float(value) for value in beta]),
        np.array([[float(value) for value in row] for row in covariance]),
        float(rss),
    )
