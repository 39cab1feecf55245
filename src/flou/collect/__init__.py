"""A collector of reports: it accepts batches over HTTP, keeps only sums, and shows live estimates with intervals."""

from flou.collect.app import collector
from flou.collect.store import Store

__all__ = ["Store", "collector"]
