"""Quantiles: one method per file, each a mechanism on sorted records on a public grid."""

from flou.mechanisms.quantiles.dithered_joint_exp import DitheredJointExp
from flou.mechanisms.quantiles.focused_tree import FocusedTree
from flou.mechanisms.quantiles.grid_inverse_sensitivity import GridInverseSensitivity
from flou.mechanisms.quantiles.histogram_method import HistogramMethod
from flou.mechanisms.quantiles.ind_exp import IndExp
from flou.mechanisms.quantiles.joint_exp import JointExp
from flou.mechanisms.quantiles.joint_n import JointN
from flou.mechanisms.quantiles.noisy_quantile import NoisyQuantile
from flou.mechanisms.quantiles.permute_and_flip_quantile import PermuteAndFlipQuantile
from flou.mechanisms.quantiles.q_exp import QExp
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.rec_exp import RecExp
from flou.mechanisms.quantiles.records import CellCounts, Records, SortedRecords
from flou.mechanisms.quantiles.smooth_inverse_sensitivity import SmoothInverseSensitivity
from flou.mechanisms.quantiles.smooth_sensitivity import SmoothSensitivity
from flou.mechanisms.quantiles.tree import Tree, TreeDistribution
from flou.mechanisms.quantiles.unbounded import UnboundedQuantile

__all__ = [
    "CellCounts",
    "DitheredJointExp",
    "FocusedTree",
    "GridInverseSensitivity",
    "HistogramMethod",
    "IndExp",
    "JointExp",
    "JointN",
    "NoisyQuantile",
    "PermuteAndFlipQuantile",
    "QExp",
    "QuantileMechanism",
    "RecExp",
    "Records",
    "SmoothInverseSensitivity",
    "SmoothSensitivity",
    "SortedRecords",
    "Tree",
    "TreeDistribution",
    "UnboundedQuantile",
]
