"""All reports that an oracle can send, and what follows from its law by adding up over them: loss, mean, variance."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from flou.local import GRR, OLH, OUE, SUE, DBitFlip, Hadamard, SubsetSelection, Warner
from flou.local.categories.unary_encoding import UnaryEncoding

ORACLES = {
    "GRR": GRR,
    "SUE": SUE,
    "OUE": OUE,
    "OLH": OLH,
    "subset": SubsetSelection,
    "Hadamard": Hadamard,
}
WARNERS = [Warner(epsilon=1), Warner(p=0.75, q=0.25), Warner(p=0.9, q=0.5), Warner(p=0.2, q=0.6)]


def all_oracles(ks=(2, 3, 4, 5, 6), epsilons=(0.5, 1, 3)):
    """Every kind, for every k and epsilon."""
    yield from (kind(k, epsilon=epsilon) for kind in ORACLES.values() for k in ks for epsilon in epsilons)
    yield from (OLH(k, epsilon=1, g=g) for k in ks for g in (2, 3, 5) if g <= k or g == 2)
    yield from (SubsetSelection(k, epsilon=1, omega=omega) for k in ks for omega in range(1, k))
    yield from WARNERS


def told(oracle) -> str:
    """The name of a case."""
    more = [f"{name}={getattr(oracle, name)}" for name in ("g", "omega", "d") if hasattr(oracle, name)]
    return "-".join([type(oracle).__name__, str(oracle.k), f"{float(oracle.epsilon):.3g}", *more])


def all_reports(oracle) -> np.ndarray:
    """Everything that a respondent can send, once."""
    k = oracle.k
    if isinstance(oracle, UnaryEncoding):
        return np.packbits(np.array(list(product((0, 1), repeat=k)), dtype=np.uint8), axis=1)
    if isinstance(oracle, SubsetSelection):
        return np.packbits([[i in chosen for i in range(k)] for chosen in combinations(range(k), oracle.omega)], axis=1)
    if isinstance(oracle, DBitFlip):
        return np.array(
            [
                [2 * place + bit for place, bit in zip(places, bits, strict=True)]
                for places in combinations(range(k), oracle.d)
                for bits in product((0, 1), repeat=oracle.d)
            ]
        )
    return np.arange(oracle.tallies)


def laws(oracle) -> np.ndarray:
    """P[report | answer], a row for each answer."""
    reports = all_reports(oracle)
    return np.array([oracle.law(x).pmf(reports) for x in range(oracle.k)])


def worst_loss(probabilities: np.ndarray) -> float:
    """The largest log-ratio over all reports and all pairs of answers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(probabilities)
        ratios = logs[:, None, :] - logs[None, :, :]
    return float(np.nanmax(np.where(probabilities[:, None, :] > 0, ratios, -np.inf)))


def single_shares(oracle) -> np.ndarray:
    """What the estimate would be if one report were all there is, a row for each report."""
    return np.array([oracle.shares(oracle.aggregate(report[None])) for report in all_reports(oracle)])


def bias(oracle) -> float:
    """The largest distance between the mean of the estimate of a share and the truth, over all answers."""
    return float(np.abs(laws(oracle) @ single_shares(oracle) - np.eye(oracle.k)).max())


def variances(oracle) -> np.ndarray:
    """The variance of one report's estimate of each share, a row for each answer."""
    probabilities, shares = laws(oracle), single_shares(oracle)
    return probabilities @ shares**2 - (probabilities @ shares) ** 2


def index_of(oracle, reports: np.ndarray) -> np.ndarray:
    """The places of these reports among all reports."""
    known = {np.asarray(report).tobytes(): i for i, report in enumerate(all_reports(oracle).astype(reports.dtype))}
    return np.array([known[report.tobytes()] for report in reports])
