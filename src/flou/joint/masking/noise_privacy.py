"""What noise in shares guarantees: the zCDP of sums of discrete Gaussian shares, and of Skellam ones.

Throughout, psi(a) = (a - 1) D_a(P || P shifted) is convex with psi(0) = psi(1) = 0, and the guarantee is psi(a) <=
a (a - 1) rho for all a > 1. If psi'' <= 2 rho on [0, b], then the guarantee holds up to the order b, because
a (a - 1) rho - psi is convex there and zero at 0 and 1; psi''(a) is the variance of the loss L = log(P / P shifted)
under the law proportional to P^a (P shifted)^(1-a). Independent coordinates add up. More honest shares than assumed
are independent noise on top, which takes nothing away.

Gaussian  h independent discrete Gaussians of variance parameter s add up to a law P that is all but Q, the discrete
          Gaussian of S = h s: the part that depends on the outcome of the sum of one of k s and one of s is
          theta(c) = 1 + 2 sum_j q^(j^2) cos(2 pi j c), q = exp(-2 pi^2 s k/(k+1)) (Poisson's formula), whose logarithm
          varies by at most t_k = log((1+e)/(1-e)), e = 2 q/(1-q^3). By induction log(P/Q) varies by at most
          T = t_1 + ... + t_(h-1). For integer shifts Q alone has D_a <= a |shift|^2/(2S). Hence
            a >= 2   D_a <= a |shift|^2/(2S) + a T/(a-1) a coordinate, so rho = |shift|^2/(2S) + n T will do, with n the
                     number of coordinates that move, at most |shift|^2 and at most the dimension;
            a <= 2   in the law P^a (P shifted)^(1-a) the outcome has variance at most e^(3T) (S + S^2 |(log theta)''|),
                     theta of S itself, and L is a linear function of it plus one within T of 0: its deviation is at
                     most A |shift|/sqrt(S) + T sqrt(n), and rho is half of the square of that.
Skellam   variance v and a shift by one; a shift by d in one coordinate then costs d^2 times as much (group privacy).
          L = d(-Z), d(z) = log(I_z(v)/I_(z+1)(v)), has differences of at most c = 2 d(0): log(I_z^2/(I_(z-1) I_(z+1)))
          falls with z >= 0, for its argument is 1/E cos(2t) under weights I_2z(2v cos t) on [0, pi/2] (Neumann), which
          move towards t = 0 as z grows. The mean of L is half the mean of these differences, at most c/2, and
            a <= N   psi(a) <= (a-1) c/2 + v (e^x - 1 - x), x = (a-1) c (Bobkov and Ledoux 1998, for Poisson variables);
            a >= N   at integers D_a <= a/(2v) + (2a+5)/(4v^2) (Agarwal, Kairouz and Liu 2021), and in between psi lies
                     below its chords, which adds a factor of at most 1 + 1/(4N(N-1)).
          Every N >= 2 proves a rho, and the least of some is taken.
Numerics  floats; the results are raised by 1e-9 of themselves, more than all rounding
Source    Canonne, Kamath and Steinke (2020); Kairouz, Liu and Steinke (2021); Agarwal, Kairouz and Liu (2021)
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from flou.errors import InvalidParameter
from flou.laws import Skellam

__all__ = ["LEAST_SKELLAM", "least_of_gaussians", "rho_of_gaussians", "rho_of_skellam"]

LEAST_GAUSSIAN = Fraction(1, 4)  # of the parameter sigma^2 of one share
LEAST_SKELLAM = Fraction(4)  # of the variance of all honest shares
MOST_VARIATION = 1.0  # T beyond this proves nothing of use
LARGE = 1000  # from this variance on, c is known by its expansion
RAISED = 1 + 1e-9


def rho_of_gaussians(total: Fraction, shares: int, sensitivity_squared: Fraction, dimension: int) -> Fraction:
    """The rho of ``shares`` discrete Gaussians whose parameters sigma^2 add up to ``total``."""
    plain = sensitivity_squared / (2 * total)
    if shares == 1:
        return plain
    varies = _variation(float(total / shares), shares) if total >= LEAST_GAUSSIAN * shares else math.inf
    if varies > MOST_VARIATION:
        raise InvalidParameter(
            f"Shares of Gaussian noise with a variance of {float(total / shares):.3g} are too narrow.",
            "Sums of discrete Gaussians are Gaussian only when each of them is wide.",
            "Take Skellam noise, or a finer grid, on which the same noise has a larger variance.",
        )
    moved = min(float(sensitivity_squared), float(dimension))
    S = float(total)
    q = math.exp(-2 * math.pi**2 * S)
    curved = 8 * math.pi**2 * q / (1 - 4 * q**3) / (1 - 2 * q / (1 - q**3))
    wider = math.exp(1.5 * varies) * math.sqrt(1 + S * curved)
    low_orders = (wider * math.sqrt(2 * plain) + varies * math.sqrt(moved)) ** 2 / 2
    return Fraction(RAISED * max(low_orders, float(plain) + moved * varies))


def _variation(s: float, shares: int) -> float:
    """T: how much the logarithm of the sum's law may vary against a discrete Gaussian."""
    k = np.arange(1, shares)
    q = np.exp(-2 * math.pi**2 * s * k / (k + 1))
    e = 2 * q / (1 - q**3)
    return RAISED * float(np.sum(np.log1p(2 * e / (1 - e))))


def least_of_gaussians(shares: int) -> Fraction:
    """A variance of all shares from which on there is a guarantee: T is then below 1/2."""
    each = LEAST_GAUSSIAN + Fraction(math.ceil(1024 * math.log(shares) / math.pi**2), 1024)
    return shares * each if shares > 1 else Fraction(0)


def rho_of_skellam(variance: Fraction, sensitivity_squared: Fraction) -> Fraction:
    """The rho of Skellam noise of this variance."""
    if variance < LEAST_SKELLAM:
        raise InvalidParameter(
            f"Skellam noise has a guarantee from a variance of 4 on, and this one has {float(variance):.3g}.",
            "Below it the bound is far from what is true.",
            "Take a finer grid, on which the same noise has a larger variance, or Gaussian noise.",
        )
    v = float(variance)
    if v < LARGE:
        law = Skellam(variance)
        c = 2 * float(law.log_pmf(0) - law.log_pmf(1))
    else:
        c = (1 + (1 + 1 / v) / (2 * v)) / v  # rounded up: the third term is 11/(24 v^2)
    middle = int((0.75 * v) ** (1 / 3)) + 1
    best = min(_skellam_bound(v, c, order) for order in range(max(2, middle - 3), middle + 4))
    return sensitivity_squared * Fraction(RAISED * best)


def _skellam_bound(v: float, c: float, order: int) -> float:
    x = (order - 1) * c
    rest = (math.expm1(x) - x) / (x * x) if x > 0.01 else 0.5 + x / 6 + x * x / 23  # of e^x - 1 - x, rounded up
    high_orders = (1 + 1 / (4 * order * (order - 1))) * (1 / (2 * v) + (2 * order + 5) / (4 * order * v * v))
    return max(c / 2, v * c * c * rest, high_orders)
