"""Local privacy: each person randomises their own answer, and anyone may collect the reports."""

from flou.local.aggregate import Aggregate
from flou.local.bounded_laplace import BoundedLaplace
from flou.local.bounded_staircase import BoundedStaircase
from flou.local.clamped_window import ClampedWindow
from flou.local.classifier import Classifier
from flou.local.collection import Collection, batch_of, reports_in
from flou.local.d_bit_flip import DBitFlip
from flou.local.design import Design
from flou.local.designed import Designed
from flou.local.distribution_randomiser import DistributionRandomiser
from flou.local.duchi import Duchi
from flou.local.frequency_oracle import FrequencyOracle
from flou.local.gaussian_model import GaussianModel
from flou.local.grr import GRR
from flou.local.hadamard import Hadamard
from flou.local.hybrid import Hybrid
from flou.local.linear_discriminant import LinearDiscriminant
from flou.local.mean_of import mean_of
from flou.local.mean_randomiser import MeanRandomiser
from flou.local.memoised import Memoised
from flou.local.naive_bayes import NaiveBayes
from flou.local.olh import OLH
from flou.local.oracles import Comparison, compare, frequencies
from flou.local.oue import OUE
from flou.local.piecewise import Piecewise
from flou.local.randomiser import Randomiser
from flou.local.sampled_means import SampledMeans
from flou.local.sanitise import sanitise
from flou.local.sanitised import Sanitised
from flou.local.sanitiser import Sanitiser
from flou.local.square_wave import SquareWave
from flou.local.subset_selection import SubsetSelection
from flou.local.sue import SUE
from flou.local.survey import Item, Survey
from flou.local.survey_plan import Planned, plan_for_error, plan_for_people
from flou.local.unary_encoding import UnaryEncoding
from flou.local.utility import Utility, utility
from flou.local.vector import Vector
from flou.local.vector_duchi import VectorDuchi
from flou.local.warner import Warner
from flou.local.window_randomiser import WindowRandomiser

__all__ = [
    "GRR",
    "OLH",
    "OUE",
    "SUE",
    "Aggregate",
    "BoundedLaplace",
    "BoundedStaircase",
    "ClampedWindow",
    "Classifier",
    "Collection",
    "Comparison",
    "DBitFlip",
    "Design",
    "Designed",
    "DistributionRandomiser",
    "Duchi",
    "FrequencyOracle",
    "GaussianModel",
    "Hadamard",
    "Hybrid",
    "Item",
    "LinearDiscriminant",
    "MeanRandomiser",
    "Memoised",
    "NaiveBayes",
    "Piecewise",
    "Planned",
    "Randomiser",
    "SampledMeans",
    "Sanitised",
    "Sanitiser",
    "SquareWave",
    "SubsetSelection",
    "Survey",
    "UnaryEncoding",
    "Utility",
    "Vector",
    "VectorDuchi",
    "Warner",
    "WindowRandomiser",
    "batch_of",
    "compare",
    "frequencies",
    "mean_of",
    "plan_for_error",
    "plan_for_people",
    "reports_in",
    "sanitise",
    "utility",
]
