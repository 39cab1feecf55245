"""Tails of sums of independent Laplace noises and one normal, for many linear functions at once.

The formulas are those of ``noise_and_sampling.py``; here every row of ``scales`` is a linear function of its
own, which is what the inversion of a test over a grid of hypotheses needs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flou.laws.law import Floats
from flou.laws.normal import log_ndtr

__all__ = ["accepted_end", "two_sided"]

APART = 3e-4  # equal scales are moved apart so far: it moves a tail probability by less than that


def two_sided(scales: Floats, tau: Floats, seen: Floats) -> Floats:
    """P(|L_1 + ... + L_k + N| >= seen): scales on the last axis, tau the standard deviations of the normals."""
    tau, w = np.broadcast_arrays(tau, np.abs(seen))
    a = np.sort(np.abs(scales), axis=-1)
    least = np.maximum(np.maximum(1e-6 * a[..., -1], 1e-3 * tau), 1e-300)[..., None]  # smaller ones change nothing
    small = a <= least
    for i in range(1, a.shape[-1]):
        a[..., i] = np.maximum(a[..., i], a[..., i - 1] * (1 + APART))
    squares = a**2
    gaps = squares[..., :, None] - squares[..., None, :]
    ratios = np.where((gaps == 0) | small[..., None, :], 1.0, squares[..., :, None] / np.where(gaps == 0, 1.0, gaps))
    weights = np.where(small, 0.0, np.prod(ratios, axis=-1))
    a = np.where(small, 1.0, a)
    with np.errstate(over="ignore", under="ignore"):
        near = np.exp(-w[..., None] / a)
        normal = np.asarray((w <= 0).astype(np.float64))
        if np.any(tau > 0):
            t = np.where(tau > 0, tau, 1.0)[..., None]
            z, x = w[..., None] / t, t / a
            c = x**2 / 2
            smooth = 2 * np.exp(log_ndtr(-z))
            smooth = smooth + np.exp(np.minimum(c - w[..., None] / a + log_ndtr(z - x), 0.0))
            smooth = smooth - np.exp(np.minimum(c + w[..., None] / a + log_ndtr(-z - x), 0.0))
            near = np.where(tau[..., None] > 0, smooth, near)
            normal = np.where(tau > 0, 2 * np.exp(log_ndtr(-z[..., 0])), normal)
    total = np.sum(weights * near, axis=-1)
    return np.clip(np.where(np.all(small, axis=-1), normal, total), 0.0, 1.0)


def accepted_end(accepted: Callable[[Floats], NDArray[np.bool_]], inside: float, outside: float) -> float:
    """The point farthest from ``inside`` towards ``outside`` that is accepted, to 1e-6 of their distance.

    ``accepted`` takes an array of points and says which are. The first search is finer near ``inside``; the later ones
    narrow the step down, and the answer is the outer end of the last one. If nothing is accepted it is ``inside``.
    """
    points = inside + (outside - inside) * np.linspace(0.0, 1.0, 17) ** 3
    for _ in range(7):
        held = np.flatnonzero(accepted(points))
        if not held.size:
            return float(points[0])
        last = int(held[-1])
        if last == points.size - 1:
            return float(points[-1])
        points = np.linspace(points[last], points[last + 1], 9)
    return float(points[-1])
