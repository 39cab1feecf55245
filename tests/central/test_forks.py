"""A budget belongs to the rows: processes that are forked from one another do not each spend it."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import flou
from flou.central import Budget

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

SCHEMA = {"x": flou.Interval(0, 1), "g": flou.Categories(["a", "b"])}
ROWS = {"x": [0.25, 0.5, 0.75] * 20, "g": ["a", "b", "b"] * 20}
REFUSED = "belongs to the process that opened the table"
table: flou.Table  # what forked children inherit


def in_a_fork(asked):
    """What a forked child says of what it was asked: "answered", or the refusal."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asked()
            said = "answered"
        except flou.FlouError as error:
            said = f"{type(error).__name__}: {error}"
        except BaseException as error:
            said = f"broken: {error!r}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def opened(budget=1, relation="add-remove", source=ROWS):
    return flou.open(source, schema=flou.Schema(SCHEMA, relation=relation), budget=budget)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_forked_children_refuse(relation):
    """A parent and five children spend the budget of one table once, and the children say what to do."""
    mine = opened(relation=relation)
    for _ in range(5):
        said = in_a_fork(lambda: mine.mean("x", epsilon=1))
        assert said.startswith("BudgetExceeded: ")
        assert REFUSED in said
        assert "open the table here" in said
    mine.mean("x", epsilon=1)
    assert mine.budget.remaining == {"epsilon": 0.0}


@pytest.mark.parametrize(
    "asked",
    [
        lambda mine: mine.where(flou.column("x") > 0.3).count(epsilon=0.1),
        lambda mine: mine.group_by("g").mean("x", epsilon=0.1),
        lambda mine: mine.ask(flou.central.Count(0.1)),
        lambda mine: mine.keys("g", epsilon=0.1, delta=1e-9),
        lambda mine: mine.group_by("g", epsilon=0.1, delta=1e-9),
        lambda mine: copy.deepcopy(mine.budget).charge(flou.PureDP(0.1)),
        lambda mine: copy.copy(mine.budget).charge(flou.PureDP(0.1)),
    ],
)
def test_every_way_to_spend_refuses(asked):
    """Filtered views, groups, keys, several questions and copies of the budget refuse in a forked child alike."""
    mine = opened(budget=flou.ApproxDP(1, 1e-6))
    assert REFUSED in in_a_fork(lambda: asked(mine))
    assert mine.budget.spent is None


def test_files_refuse_before_they_are_read(tmp_path):
    """A child refuses a table over a file at once, although the engine that it inherits would never answer."""
    pq.write_table(pa.table(ROWS), tmp_path / "t.parquet")
    mine = opened(relation="substitute", source=str(tmp_path / "t.parquet"))
    assert REFUSED in in_a_fork(lambda: mine.count(epsilon=0.1))


def test_a_lock_held_at_the_fork_does_not_hang_the_child():
    """A thread that is charging while another one forks leaves no child that waits for ever."""
    mine = opened()
    with mine.budget._lock:
        assert REFUSED in in_a_fork(lambda: mine.count(epsilon=0.1))


def test_grandchildren_refuse_too():
    """A fork of a fork is no home either, and neither is a process that is given the parent's number again."""
    mine = opened()
    said = in_a_fork(lambda: flou.central.Budget(in_a_fork(lambda: mine.count(epsilon=0.1)).count(REFUSED)))
    assert said == "answered"  # a budget of 1: the grandchild refused
    home, mine.budget._home = mine.budget._home, (os.getpid(), 7)
    with pytest.raises(flou.BudgetExceeded, match=REFUSED):
        mine.count(epsilon=0.1)
    mine.budget._home = home
    assert mine.count(epsilon=0.1)


def test_tables_that_are_opened_in_the_child_answer():
    """What a child opens itself has a budget of its own."""
    assert in_a_fork(lambda: opened(budget=0.5).count(epsilon=0.5)) == "answered"


def test_tables_without_a_budget_answer_in_a_child():
    """Without a budget there is nothing that a fork could multiply."""
    mine = opened(budget=None)
    assert in_a_fork(lambda: mine.count(epsilon=0.5)) == "answered"


def _counted(_):
    try:
        return str(table.count(epsilon=0.1).value)
    except flou.BudgetExceeded as error:
        return str(error)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_pools():
    """Workers of a pool that forks refuse, and what they refuse with can be sent back to the parent."""
    global table
    table = opened()
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert all(REFUSED in said for said in pool.map(_counted, range(4)))
    with context.Pool(2) as pool:
        assert all(REFUSED in said for said in pool.map(_counted, range(4)))
    assert table.budget.spent is None


def test_threads_answer():
    """Threads are no processes: ten of them spend one budget together, and no more than it."""
    mine = opened(budget=2)

    def ask(_):
        try:
            mine.count(epsilon=0.1)
            return True
        except flou.BudgetExceeded:
            return False

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(ask, range(50))) == 20
    assert threading.active_count() < 10


@pytest.mark.parametrize("taken", [lambda mine: mine, lambda mine: mine.budget, lambda mine: mine.group_by("g")])
def test_budgets_are_not_pickled(taken):
    """A table, a group or a budget that is to be pickled is refused in words."""
    with pytest.raises(flou.InvalidParameter, match="pickled"):
        pickle.dumps(taken(opened()))


def test_copies_share_the_budget():
    """A copy of a budget, deep or not, is the budget."""
    budget = Budget(1)
    for copied in (copy.copy(budget), copy.deepcopy(budget), copy.deepcopy([budget])[0]):
        assert copied is budget
