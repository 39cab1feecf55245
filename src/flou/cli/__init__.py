"""The ``flou`` command: parse, call, print. One command a file."""

from flou.cli import demo, release, schema
from flou.cli.command import app

__all__ = ["app", "demo", "release", "schema"]
