"""A made-up participant, with which the harness itself is tested."""

import itertools
import os
import sys

from harness.tasks import Timed, task


@task
def steady(size: float) -> Timed:
    """A thousand draws, all of the same size."""
    return lambda: [size, -size] * 500


@task
def counter() -> Timed:
    """How often it has been called."""
    numbers = itertools.count(1)
    return lambda: next(numbers)


@task
def hold(size: int) -> Timed:
    """So many bytes, kept; written to, for else they take no memory."""
    kept = []
    return lambda: kept.append(b"1" * size)


@task
def talkative() -> Timed:
    """A library that prints."""
    return lambda: [print("hello, terminal"), os.write(1, b"hello, descriptor\n")]


@task
def faulty() -> Timed:
    raise ValueError("there is no such\nscale")


@task
def mortal() -> Timed:
    """A library that takes the process down with it."""

    def end() -> None:
        sys.stderr.write("the last words\n")
        sys.stderr.flush()
        os._exit(3)

    return end


@task
def strays() -> Timed:
    return lambda: ["pandas"]
