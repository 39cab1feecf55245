"""Tails of sums of independent Laplace noises and one normal, for many linear functions at once.

Statement  W = L_1 + ... + L_k + N, L_i Laplace of scale a_i, N normal of standard deviation tau. With distinct scales
           the law of the Laplace part is a mixture of Laplace laws with the (signed) weights
           w_i = product over j != i of a_i^2 / (a_i^2 - a_j^2), and for w >= 0
           P(L_a + N > w) = Q(w/tau) + (e^(c - w/a) Phi(w/tau - tau/a) - e^(c + w/a) Phi(-w/tau - tau/a)) / 2,
           c = tau^2 / (2 a^2)
           Gaussian noise is normal, and joins N
Why        the characteristic function is a product of 1 / (1 + a_i^2 x^2): partial fractions; the second formula is
           the integral of the Laplace tail against the normal density
Numerics   equal scales are moved apart by a relative 3e-4. Every row of ``scales`` is a linear function of its own,
           which is what the inversion of a test over a grid of hypotheses needs
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Floats
from flou.laws import DiscreteLaplace, Law
from flou.laws.normal import log_ndtr

__all__ = ["accepted_end", "half_widths", "surprise", "two_sided"]

APART = 3e-4  # equal scales are moved apart so far: it moves a tail probability by less than that
TOGETHER = 1024  # normals that are searched for at once: enough for speed, few enough for the cache
CLOSE, ROUNDS = 1e-4, 12  # ends are searched to this share of their distance, in at most this many rounds


def two_sided(scales: Floats, tau: Floats, seen: Floats) -> Floats:
    """P(|L_1 + ... + L_k + N| >= seen): scales on the last axis, tau the standard deviations of the normals.

    All are broadcast against each other; scales and normals that are the same for many ``seen`` are looked at once.
    """
    tau, w = np.asarray(tau), np.abs(seen)
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
    normal: Floats = (w <= 0).astype(np.float64)
    total: Floats = np.zeros(())
    with np.errstate(over="ignore", under="ignore"):
        if mixed := bool(np.any(tau > 0)):
            t = np.where(tau > 0, tau, 1.0)
            z = w / t
            both = 2 * np.exp(log_ndtr(-z))
            normal = np.where(tau > 0, both, normal)
        for i in range(a.shape[-1]):  # one scale at a time: the others lie side by side
            scale = a[..., i]
            near = np.exp(-w / scale)
            if mixed:
                x, far = t / scale, w / scale
                smooth = both + np.exp(np.minimum(x**2 / 2 - far + log_ndtr(z - x), 0.0))
                smooth = smooth - np.exp(np.minimum(x**2 / 2 + far + log_ndtr(-z - x), 0.0))
                near = np.where(tau > 0, smooth, near)
            total = total + weights[..., i] * near
    return np.clip(np.where(np.all(small, axis=-1), normal, total), 0.0, 1.0)


def surprise(noise: Law, weights: Floats, tau: Floats, seen: Floats) -> Floats:
    """P(|weighted noises + normal| >= |seen|): weights on the last axis, independent noises of one law."""
    if isinstance(noise, DiscreteLaplace):
        return two_sided(weights * float(noise.scale), tau, seen)
    normal = np.sqrt(noise.variance * np.sum(weights**2, axis=-1) + tau**2)  # Gaussian noise is normal, and joins it
    return two_sided(np.zeros_like(weights), normal, seen)


def half_widths(noise: Law, weights: Floats, tau: Floats, level: float) -> Floats:
    """For every normal the w with P(|weighted noises + normal| <= w) = level."""

    def searched(normals: Floats) -> Floats:
        def accepted(w: Floats) -> NDArray[np.bool_]:
            everywhere = np.broadcast_to(weights, (*w.shape, weights.size))
            return surprise(noise, everywhere, normals[:, None], w) >= 1 - level

        far = np.sqrt((noise.variance * np.sum(weights**2) + normals**2) / (1 - level))  # Chebyshev
        return accepted_end(accepted, 0.0, far)

    return np.concatenate([searched(tau[i : i + TOGETHER]) for i in range(0, tau.size, TOGETHER)])


def accepted_end(
    accepted: Callable[[Floats], NDArray[np.bool_]], inside: ArrayLike, outside: ArrayLike, close: float = CLOSE
) -> Floats:
    """The point farthest from ``inside`` towards ``outside`` that is accepted, rounded outwards by 1e-4 of the way.

    Both may be arrays. ``accepted`` takes points, along one more axis, and says which are. The first search is finer
    near ``inside``, the later ones narrow the step down. If nothing is accepted the answer is ``inside``.
    """
    start, stop = np.broadcast_arrays(np.asarray(inside, np.float64), np.asarray(outside, np.float64))
    points = start[..., None] + (stop - start)[..., None] * np.linspace(0.0, 1.0, 17) ** 3
    for _ in range(ROUNDS):
        held = accepted(points)
        last = held.shape[-1] - 1 - np.argmax(held[..., ::-1], axis=-1)
        last = np.where(np.any(held, axis=-1), last, 0)
        step = np.where(np.any(held, axis=-1) & (last < held.shape[-1] - 1), 1, 0)
        low, high = (np.take_along_axis(points, i[..., None], axis=-1)[..., 0] for i in (last, last + step))
        if np.all(np.abs(high - low) <= close * np.abs(high - start)):
            break
        points = low[..., None] + (high - low)[..., None] * np.linspace(0.0, 1.0, 9)
    return np.asarray(high)
