"""Laws on the integers: formula and exact sampler side by side, one law a file."""

from flou.laws.bernoulli import Bernoulli
from flou.laws.discrete_gaussian import DiscreteGaussian
from flou.laws.discrete_laplace import DiscreteLaplace
from flou.laws.discrete_staircase import DiscreteStaircase
from flou.laws.geometric import Geometric
from flou.laws.independent import Independent
from flou.laws.law import Law, Shifted
from flou.laws.polya import PolyaShare
from flou.laws.rounded_gaussian import RoundedGaussian
from flou.laws.skellam import Skellam
from flou.laws.truncated import Truncated
from flou.laws.uniform_integers import UniformIntegers
from flou.laws.weighted_choice import WeightedChoice

__all__ = [
    "Bernoulli",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteStaircase",
    "Geometric",
    "Independent",
    "Law",
    "PolyaShare",
    "RoundedGaussian",
    "Shifted",
    "Skellam",
    "Truncated",
    "UniformIntegers",
    "WeightedChoice",
]
