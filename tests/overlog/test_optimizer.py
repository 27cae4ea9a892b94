"""The optimizer's rules R1 to R10: golden costs of Q3S, its traps, and every change of a cost."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlog.lane import Host
from overlog.network import answers
from overlog.optimizer.space import CATALOG, Tables, clique, optimize, program, q3s


def started(tables: Tables) -> Host:
    host = Host(CATALOG, program())
    host.change([(name, row) for name, rows in tables.items() for row in sorted(rows)])
    return host


def held(host: Host) -> Tables:
    return {name: set(rows) for name, rows in host.tables.items()}


def found(host: Host) -> dict[str, set[tuple]]:
    rows = host.rows()
    assert all(set(delta.values()) <= {1} for delta in rows.values())
    return {name: set(delta) for name, delta in rows.items()}


def costs(host: Host) -> dict[tuple[str, str], int]:
    return {row[:2]: row[2] for row in host.rows()["best_cost"]}


def plan_of(host: Host, expr: str = "COL") -> set[tuple]:
    return {(row[5], row[7]) for row in host.rows()["best_plan"] if row[0] == expr}


def recost(host: Host, relation: str, key: tuple, cost: int) -> None:
    old = [row for row in host.tables[relation] if row[:-1] == key]
    host.change([*((relation, row) for row in old), (relation, (*key, cost))])


def test_golden_costs_of_q3s():
    host = started(q3s())
    assert costs(host) == {
        ("COL", "-"): 100,
        ("OL", "custkey"): 93,
        ("CO", "-"): 30,
        ("C", "-"): 4,
        ("C", "custkey"): 4,
        ("O", "-"): 19,
        ("O", "custkey"): 19,
        ("L", "-"): 68,
        ("L", "orderkey"): 68,
    }
    assert plan_of(host) == {("C", "OL")}
    by_plan = {row[5] + row[7]: row[-1] for row in host.rows()["plan_cost"] if row[0] == "COL"}
    assert by_plan == {"COL": 100, "LCO": 101}
    assert found(host) == optimize(q3s())


def test_the_second_best_is_at_hand_when_the_best_grows_and_steps_back_when_it_shrinks():
    host = started(q3s())
    merge = ("COL", "-", 1, "sort-merge")
    recost(host, "local_cost", merge, 5)
    assert (costs(host)["COL", "-"], plan_of(host)) == (101, {("L", "CO")})
    recost(host, "local_cost", merge, 4)
    # Equal costs: both plans are best.
    assert (costs(host)["COL", "-"], plan_of(host)) == (101, {("L", "CO"), ("C", "OL")})
    recost(host, "local_cost", merge, 3)
    assert (costs(host)["COL", "-"], plan_of(host)) == (100, {("C", "OL")})


def test_a_scan_changes_every_plan_above_it():
    host = started(q3s())
    recost(host, "scan_cost", ("O", "-", "scan"), 40)
    # The merge of the ordered scans is the better way to CO by now, and the join of L with it.
    assert costs(host)["CO", "-"] == 4 + 19 + 9
    assert costs(host)["COL", "-"] == 68 + 32 + 3
    assert plan_of(host) == {("L", "CO")}
    assert found(host) == optimize(held(host))


def test_the_best_plan_goes_and_comes_with_its_split():
    host = started(q3s())
    before = found(host)
    row = next(row for row in q3s()["fn_split"] if row[5:8:2] == ("C", "OL"))
    host.toggle("fn_split", row)
    assert plan_of(host) == {("L", "CO")}
    assert ("OL", "custkey") not in costs(host)  # nothing asks for it any more
    assert found(host) == optimize(held(host))
    host.toggle("fn_split", row)
    assert found(host) == before


def test_a_query_over_one_table_has_a_scan_for_its_plan():
    host = started({**q3s(), "goal": {("O", "-")}})
    assert costs(host) == {("O", "-"): 19}
    assert found(host) == optimize(held(host))


def test_without_its_goal_nothing_is_left():
    host = started(q3s())
    host.toggle("goal", ("COL", "-"))
    assert found(host) == {name: set() for name in host.names}
    assert answers(program(), host.tables) == host.rows()


CHANGEABLE = ("scan_cost", "local_cost")


def shaken(host: Host, chance: random.Random, full: Tables, most: int) -> None:
    """Change a few costs at once: grown, shrunk, gone, back; now and then a split."""
    changes: dict[tuple[str, tuple], None] = {}
    for _ in range(chance.randint(1, most)):
        relation = chance.choice(CHANGEABLE)
        *key, cost = chance.choice(sorted(full[relation]))
        held = [row for row in host.tables[relation] if row[:-1] == tuple(key)]
        changes.update(dict.fromkeys((relation, row) for row in held))
        if not held or chance.random() < 0.9:
            cost = held[0][-1] if held else cost
            cost = max(0, chance.choice([cost - 1, cost + 1, cost * 8, cost // 8]))
            changes[relation, (*key, cost)] = None
    if chance.random() < 0.2:
        changes["fn_split", chance.choice(sorted(full["fn_split"]))] = None
    host.change(list(changes))


@settings(max_examples=12, deadline=None)
@given(st.randoms(use_true_random=False))
def test_incremental_equals_optimizing_from_scratch_after_every_change(chance):
    host = started(q3s())
    for _ in range(20):
        shaken(host, chance, q3s(), 3)
        assert found(host) == optimize(held(host))
    assert answers(program(), host.tables) == host.rows()


def test_a_clique_of_four_under_changing_costs():
    chance = random.Random(11)
    host = started(clique("ABCD"))
    # 2^n - 1 expressions, 3^n + 1 - 2^(n + 1) splits in each of two ways, and the scans.
    rows = found(host)
    assert len(rows["best_cost"]) == 15
    assert len(rows["search_space"]) == 2 * (3**4 + 1 - 2**5) + 4
    for _ in range(25):
        shaken(host, chance, clique("ABCD"), 4)
        assert found(host) == optimize(held(host))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_two_thousand_changes_of_a_clique_of_five(seed):
    chance = random.Random(seed)
    host = started(clique("ABCDE"))
    for _ in range(500):
        shaken(host, chance, clique("ABCDE"), 4)
        assert found(host) == optimize(held(host))
