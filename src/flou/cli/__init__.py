"""The ``flou`` command: parse, call, print. One command a file."""

from flou.cli import collect, coordinator, demo, joint, party, release, sanitise, schema, survey
from flou.cli.command import app

__all__ = ["app", "collect", "coordinator", "demo", "joint", "party", "release", "sanitise", "schema", "survey"]
