"""Mechanisms: a guarantee, an exact law, and draws from it, with one mechanism per file."""

from flou.mechanisms.above_threshold import AboveThreshold
from flou.mechanisms.bernoulli_mean import BernoulliMean
from flou.mechanisms.exponential import Exponential
from flou.mechanisms.gaussian import Gaussian
from flou.mechanisms.generalised_randomised_response import GeneralisedRandomisedResponse
from flou.mechanisms.inverse_sensitivity import InverseSensitivity
from flou.mechanisms.laplace import Laplace
from flou.mechanisms.majority import Majority
from flou.mechanisms.mechanism import Mechanism
from flou.mechanisms.noisy_max import NoisyMax
from flou.mechanisms.permute_and_flip import PermuteAndFlip
from flou.mechanisms.piecewise_exponential import PiecewiseExponential
from flou.mechanisms.randomised_response import RandomisedResponse
from flou.mechanisms.staircase import Staircase

__all__ = [
    "AboveThreshold",
    "BernoulliMean",
    "Exponential",
    "Gaussian",
    "GeneralisedRandomisedResponse",
    "InverseSensitivity",
    "Laplace",
    "Majority",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "PiecewiseExponential",
    "RandomisedResponse",
    "Staircase",
]
