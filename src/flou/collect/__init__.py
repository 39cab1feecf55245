"""A collector of reports: accepts batches over HTTP, keeps sums only, shows live estimates with intervals."""

from flou.collect.app import collector
from flou.collect.store import Store

__all__ = ["Store", "collector"]
