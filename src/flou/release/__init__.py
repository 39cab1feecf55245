"""The answer: a value with its intervals, its cost and its certificate."""

from flou.release.certificate import Certificate, verify_chain
from flou.release.picture import Layout
from flou.release.release import ErrorParts, Release
from flou.release.uncertainty import Uncertainty

__all__ = ["Certificate", "ErrorParts", "Layout", "Release", "Uncertainty", "verify_chain"]
