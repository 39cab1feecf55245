"""Local privacy: each person randomises their own answer, and anyone may collect the reports."""

from flou.local.aggregate import Aggregate
from flou.local.frequency_oracle import FrequencyOracle
from flou.local.grr import GRR
from flou.local.randomiser import Randomiser

__all__ = ["GRR", "Aggregate", "FrequencyOracle", "Randomiser"]
