"""The ``flou`` command: parse, call, print. One command a file."""

from flou.cli import collect, demo, release, sanitise, schema, survey
from flou.cli.command import app

__all__ = ["app", "collect", "demo", "release", "sanitise", "schema", "survey"]
