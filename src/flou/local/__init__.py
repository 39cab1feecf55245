"""Local privacy: each person randomises their own answer, and anyone may collect the reports."""

from flou.local.aggregate import Aggregate
from flou.local.categories.contingency_table import ContingencyTable
from flou.local.categories.d_bit_flip import DBitFlip
from flou.local.categories.frequency_oracle import FrequencyOracle
from flou.local.categories.grr import GRR
from flou.local.categories.hadamard import Hadamard
from flou.local.categories.memoised import Memoised
from flou.local.categories.olh import OLH
from flou.local.categories.oracles import OracleComparison, compare, frequencies
from flou.local.categories.subset_selection import SubsetSelection
from flou.local.categories.unary_encoding import OUE, SUE, UnaryEncoding
from flou.local.categories.warner import Warner
from flou.local.learning.classifier import Classifier
from flou.local.learning.linear_discriminant import LinearDiscriminant
from flou.local.learning.naive_bayes import GaussianModel, NaiveBayes
from flou.local.learning.utility import Utility, utility
from flou.local.numbers.bounded_laplace import BoundedLaplace
from flou.local.numbers.bounded_staircase import BoundedStaircase
from flou.local.numbers.clamped_window import ClampedWindow
from flou.local.numbers.correlation import Correlation
from flou.local.numbers.designed import Designed, ReportDesign
from flou.local.numbers.distribution_randomiser import DistributionRandomiser
from flou.local.numbers.duchi import Duchi
from flou.local.numbers.hybrid import Hybrid
from flou.local.numbers.mean_of import mean_of
from flou.local.numbers.mean_randomiser import MeanRandomiser
from flou.local.numbers.piecewise import Piecewise
from flou.local.numbers.sampled_means import SampledMeans
from flou.local.numbers.square_wave import SquareWave
from flou.local.numbers.vector import Vector
from flou.local.numbers.vector_duchi import VectorDuchi
from flou.local.numbers.window_randomiser import WindowRandomiser
from flou.local.randomiser import Randomiser
from flou.local.survey.collection import Collection, batch_of, reports_in
from flou.local.survey.plan import Planned, plan_for_error, plan_for_people
from flou.local.survey.survey import Item, Survey
from flou.local.tables.sanitise import Sanitised, sanitise
from flou.local.tables.sanitiser import Sanitiser

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
    "ContingencyTable",
    "Correlation",
    "DBitFlip",
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
    "OracleComparison",
    "Piecewise",
    "Planned",
    "Randomiser",
    "ReportDesign",
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
