"""The version of flou, as certificates and packages state it."""

__version__ = "0.1.0"
