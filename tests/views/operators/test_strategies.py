"""Strategies: the same laws for every one of them, on recursions of every kind."""

from __future__ import annotations

from random import Random

import pytest
from algebra.plans import STREAM, TABLES, Data, data, plans
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import small_world as world
from views.lanes import Driver, assert_empty
from views.operators.laws import Tables, moves
from views.operators.recursions import NOTHING, PLANS, SPELT, Host, answers, most, tables

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.model.delta import Delta
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.lane import Lane
from aspen.views.operators.support.strategies import (
    STRATEGIES,
    TRAVERSAL,
    UnknownStrategy,
    canonical,
)

quick = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
STEPS = 10_000


@pytest.mark.parametrize("strategy", SPELT)
@quick
@given(states=st.lists(tables, min_size=1, max_size=3), random=st.randoms(use_true_random=False))
def test_oracle_after_every_epoch_restart_and_back_to_nothing(strategy, states, random) -> None:
    host, now = Host(strategy), NOTHING
    for wanted in [*states, NOTHING]:
        steps = moves(now, wanted)
        random.shuffle(steps)
        while steps:
            # All that is left at once, or a few.
            taken = steps[: random.choice((1, 3, len(steps)))]
            steps = steps[len(taken) :]
            host.change(*taken)
            now = moved(now, taken)
            assert host.rows() == answers(now)
        if random.choice((True, False)):
            host.lane = Lane.restore(host.lane.snapshot())
            assert host.rows() == answers(now)
    host.assert_empty()


def moved(now: Tables, taken) -> Tables:
    """Tables after some moves."""
    held = {name: dict(rows) for name, rows in now.items()}
    for name, row, times in taken:
        if times > 0:
            held[name][row] = times
        else:
            del held[name][row]
    return held


@quick
@given(states=st.lists(tables, min_size=1, max_size=2))
def test_reasons_are_the_same_under_every_strategy(states) -> None:
    hosts = {strategy: Host(strategy, ("reach", "halves apart", "way")) for strategy in SPELT}
    reasons = {}
    for strategy, host in hosts.items():
        now = NOTHING
        for wanted in states:
            host.change(*moves(now, wanted))
            now = wanted
        found = {
            (q, row): host.lane.provenance.why(q, row)
            for q in host.queries
            for row in host.lane.rows(q)
        }
        reasons[strategy] = {
            asked: (set(why.sets), why.necessary) for asked, why in found.items() if why.complete
        }
    first, *others = reasons.values()
    for other in others:
        assert other == first


@quick
@given(plan=plans(), one=data(), other=data(), strategy=st.sampled_from(SPELT))
def test_oracle_any_plan_under_any_strategy(plan, one: Data, other: Data, strategy) -> None:
    lane = Lane()
    nothing: dict[str, Delta] = {name: {} for name in TABLES}

    def take(*new) -> None:
        for change in lane.apply(list(enumerate(new, start=lane.position + 1))):
            assert change.error is None, change.error

    for name, columns in TABLES.items():
        take(Declare(0.0, Relation(name, columns, deletable=name != "edge")))
    take(Declare(0.0, Relation("s", STREAM, SourceKind.STREAM)))
    take(Register(0.0, "v", plan_text(plan), strategy))
    held = nothing
    for wanted in (one.tables, other.tables, nothing, one.tables):
        changes = tuple(
            Change(name, 1 if times > 0 else -1, row)
            for name, row, times in moves(held, wanted)
            for _ in range(abs(times))
        )
        take(Transaction(0.0, changes))
        held = wanted
        assert lane.rows("v") == Data(wanted, ()).evaluate(plan)


@pytest.mark.nightly
@pytest.mark.parametrize("strategy", SPELT)
def test_oracle_over_ten_thousand_steps(strategy) -> None:
    random, now = Random(f"{strategy}"), NOTHING
    host = Host(strategy)
    draw = {
        "link": lambda: (random.randrange(5), random.randrange(5), random.randrange(4)),
        "seed": lambda: (random.choice("ab"), random.randrange(5)),
        "lit": lambda: (random.randrange(5),),
        "wall": lambda: (random.randrange(5), random.randrange(5), random.randrange(4)),
    }
    step = 0
    while step < STEPS:
        name = random.choice(("link", "link", "link", "seed", "lit", "lit", "wall"))
        held = sorted(now[name])
        if held and random.random() < len(held) / (2 * most[name]):
            move = (name, random.choice(held), -1)
        else:
            move = (name, draw[name](), 1)
            if move[1] in now[name]:
                continue
        step += 1
        host.change(move)
        now = moved(now, [move])
        assert host.rows() == answers(now), (step, move)
    host.change(*moves(now, NOTHING))
    host.assert_empty()


@pytest.mark.parametrize("strategy", ["absorption-eager", "absorption-lazy"])
def test_beyond_its_node_budget_a_view_goes_on_and_says_so(strategy) -> None:
    driver = Driver("reach", "size", strategy=f"{strategy}(nodes=20)")
    driver.insert("link", [(0, 1, 1)])
    assert driver.fixpoint("reach").support.annotation
    links = [(one, other, 1) for one in range(5) for other in range(5) if one != other]
    driver.insert("link", links)
    assert len(driver.rows("reach")) == 25
    assert not hasattr(driver.fixpoint("reach").support, "annotation")
    (error,) = driver.lane.errors.rows
    assert error[1] == "aspen.views.node_budget"
    assert error[2] == (
        f"view reach: its annotations outgrew 20 nodes under {strategy}: "
        "it goes on by justification"
    )
    driver.delete("link", [(0, 1, 1), *links])
    assert driver.rows("reach") == set()
    assert_empty(driver.fixpoint("reach"))
    restored = Lane.restore(driver.lane.snapshot())
    assert restored.errors.rows == driver.lane.errors.rows


def test_a_recursion_is_shared_by_those_who_want_it_kept_the_same_way() -> None:
    host = Host("relative", ["reach"])
    text = plan_text(PLANS["reach"])
    host.take(Register(0.0, "same", text, "relative"))
    assert len(host.fixpoints()) == 1
    host.take(Register(0.0, "other", text, "dred"))
    assert len(host.fixpoints()) == 2
    reader = world.compiled()  # `size` counts the rows of the view `region`
    size = next(one for one in reader if one.name == "size")
    host.take(Register(0.0, "region", plan_text(PLANS["region"]), "recompute"))
    host.take(Register(0.0, "size", plan_text(size.plan), "absorption-eager"))
    assert len(host.fixpoints()) == 3, "a reader takes the recursion as its view keeps it"
    assert host.lane.views.by_name["size"].error is None
    host.take(Register(0.0, "chosen", text, "auto"))
    assert host.lane.views.by_name["chosen"].strategies.popitem()[1] in STRATEGIES


@pytest.mark.parametrize(
    ("spelt", "exists"),
    [
        ("magic", "dred"),
        ("dred(size=1)", None),
        ("absorption-eager(size)", "size=<whole number above 0>"),
        ("absorption-eager(size=0)", "size=<whole number above 0>"),
        ("absorption-eager(size=1", "dred"),
        ("", "dred"),
    ],
)
def test_names_that_are_no_strategies(spelt, exists) -> None:
    with pytest.raises(UnknownStrategy) as caught:
        canonical(spelt)
    assert exists is None or exists in caught.value.exists


def test_a_strategy_has_one_spelling() -> None:
    assert canonical(" absorption-eager( interval = 2 ,size=5)") == (
        "absorption-eager(size=5,interval=2)"
    )
    assert [canonical(name) for name in STRATEGIES] == list(STRATEGIES)


def test_the_former_name_of_traversal_in_an_old_log_still_means_it() -> None:
    assert canonical("walk") == TRAVERSAL
