"""The engines that are compared give the same answers, and the bench says so."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.peers import bench, duckdb_recompute, networkx_recompute, ours
from tests.bench.peers.cases import QUERIES, make
from tests.bench.peers.engines import OURS, PATHWAY, Engine, working
from tests.bench.peers.figure import draw
from tests.bench.peers.graphs import grid, network
from tests.bench.peers.joins import OVER_GRAPHS, hub, over_graph, scattered, star
from tests.bench.peers.recursions import (
    OVER_LINKS,
    assembly,
    family,
    over_links,
    points_to,
    program,
)
from tests.bench.peers.worker import digest_of

LINKS = {"grid": grid(4), "network": network(100, 4.0)[:120]}
SCRIPT_CHANGES = 8
REQUEST = {
    "changes": 3,
    "changes_s": 5.0,
    "changes_at_least": 1,
    "budget_s": 120.0,
    "budget_mib": 4_000,
}


def digests(drive, case) -> list:
    """What an engine answers after each change."""

    def script(session):
        session.load()
        found = [session.digest()]
        for row in case.order[:SCRIPT_CHANGES]:
            for weight in (-1, 1):
                session.change(case.changed, row, weight)
                found.append(session.digest())
        return found

    given = {"tables": case.tables, "query": case.query, "sql": case.sql}
    return drive(given, True, script)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("graph", LINKS)
def test_engines_agree_after_every_change(graph, query) -> None:
    case = make(graph, query, LINKS[graph])
    assert case is not None
    found = digests(ours.drive, case)
    if graph == "network":  # a grid hardly ever needs any one link
        assert len(set(found)) > 1
    assert found[0] == found[2] == found[-1]
    assert digests(networkx_recompute.drive, case) == found
    assert digests(duckdb_recompute.drive, case) == found


def cycles(query: str, rows: set) -> int:
    """Count what a query finds among links, by looking at every choice of places."""
    links = {row[:2] for row in rows}
    places = sorted({place for link in links for place in link})
    if query == "triangle":
        chosen = itertools.product(places, repeat=3)
        return sum({(a, b), (b, c), (c, a)} <= links for a, b, c in chosen)
    chosen = itertools.product(places, repeat=4)
    return sum(set(itertools.combinations(one, 2)) <= links for one in chosen)


@pytest.mark.parametrize("query", OVER_GRAPHS)
@pytest.mark.parametrize("links", [hub(6), scattered(9, 40, 1), scattered(12, 40, 2)])
def test_engines_find_the_same_cycles_after_every_change(query, links) -> None:
    case = over_graph("g", query, links)
    found = digests(ours.drive, case)
    assert digests(duckdb_recompute.drive, case) == found
    rows = {*case.tables["link"]}
    assert found[0][0] == cycles(query, rows)
    assert found[1][0] == cycles(query, rows - {case.order[0]})


def test_engines_find_the_same_star_after_every_change() -> None:
    case = star(30)
    found = digests(ours.drive, case)
    assert digests(duckdb_recompute.drive, case) == found
    assert [count for count, _ in found[:3]] == [30, 29, 30]


RECURSIONS = {
    "non-linear closure": network(100, 4.0)[:120],
    "mutual recursion": network(100, 4.0)[:120],
    "same generation": family(20),
    "bill of materials": assembly(4, 4),
    "places within 3 hops": grid(4),
}


@pytest.mark.parametrize("query", OVER_LINKS)
def test_engines_agree_on_other_recursions_after_every_change(query) -> None:
    case = over_links("g", query, RECURSIONS[query])
    found = digests(ours.drive, case)
    assert len(set(found)) > 1
    assert digests(duckdb_recompute.drive, case) == found


def pointed_to(tables: dict) -> set:
    """Find what variables may point to, by applying every statement until nothing is new."""
    points, heap = set(tables["made"]), set()
    while True:
        copied = {(a, o) for a, b in tables["assigned"] for v, o in points if v == b}
        cells = {
            (one, other)
            for base, of in tables["stored"]
            for v, one in points
            if v == base
            for w, other in points
            if w == of
        }
        read = {
            (a, other)
            for a, base in tables["loaded"]
            for v, o in points
            if v == base
            for one, other in heap
            if one == o
        }
        if copied | read <= points and cells <= heap:
            return points
        points |= copied | read
        heap |= cells


def test_what_variables_point_to_is_found_after_every_change() -> None:
    case = points_to(24)
    found = digests(ours.drive, case)
    tables = program(24)
    expected = [digest_of(pointed_to(tables))]
    for row in case.order[:SCRIPT_CHANGES]:
        without = {**tables, "assigned": [one for one in tables["assigned"] if one != row]}
        expected += [digest_of(pointed_to(without)), expected[0]]
    assert found == expected
    assert len(set(found)) > 1


def test_who_cannot_say_a_query_says_so() -> None:
    with pytest.raises(NotImplementedError, match="networkx has no joins"):
        digests(networkx_recompute.drive, star(3))
    with pytest.raises(NotImplementedError, match="DuckDB has no recursions that read each other"):
        digests(duckdb_recompute.drive, points_to(8))


def test_a_case_is_the_same_each_time_and_all_pairs_stay_within_bounds() -> None:
    assert make("g", "reachability", grid(4)) == make("g", "reachability", grid(4))
    assert make("g", "cheapest, all pairs", grid(40)) is None
    one = make("g", "cheapest, one source", grid(40))
    assert one is not None
    assert len(one.tables["origin"]) == 1


@pytest.mark.parametrize("engine", [OURS, PATHWAY], ids=lambda engine: engine.name)
def test_a_worker_measures_checks_and_gives_up(engine, tmp_path) -> None:
    if engine.missing:
        pytest.skip(engine.missing)
    case = make("grid", "cheapest, all pairs", LINKS["grid"])
    assert case is not None
    path = str(case.write(tmp_path))
    with working(engine) as worker:
        checked = worker.ask(mode="check", case=path, **REQUEST)
        timed = worker.ask(mode="time", case=path, **REQUEST)
        none = worker.ask(mode="time", case=path, **{**REQUEST, "budget_s": 0.0})
        broken = worker.ask(mode="time", case=str(tmp_path / "nowhere"), **REQUEST)
    assert [tuple(d) for d in checked["digests"]] == digests(networkx_recompute.drive, case)[:7]
    assert timed["load_s"] > 0
    assert len(timed["deletion_ms"]) == len(timed["insertion_ms"]) == 3
    assert none == {"skipped": "took more than 0.0 s"}
    assert broken["skipped"].startswith("FileNotFoundError")


def test_a_missing_peer_is_named_with_the_way_to_get_it() -> None:
    nowhere = replace(PATHWAY, python=Path("/nowhere/bin/python"))
    assert nowhere.missing == "pathway is not installed; `docker/setup.sh peers` does that"
    assert not Engine("here", "ours", OURS.python, maintains=True).missing


def test_figures_count_only_where_answers_agree() -> None:
    half = dict.fromkeys(bench.RATIOS, 0.5)
    case = {"places": 700, "over": {"pathway": half, "duckdb": half}}
    targets = bench._targets(
        {
            "a": {**case, "answers_agree": True},
            "b": {**case, "answers_agree": False},
            "c": {"places": 700, "over": {}, "answers_agree": True},
        }
    )
    assert [(t.name, t.value, t.met) for t in targets] == [
        ("cases whose answers differ", 1, False),
        ("a, load_s: ours / Pathway", 0.5, True),
        ("a, deletion_p50_ms: ours / Pathway", 0.5, True),
        ("a, deletion_p95_ms: ours / Pathway", 0.5, True),
        ("a, peak_mib: ours / Pathway", 0.5, True),
        ("a, deletion_p50_ms: ours / DuckDB", 0.5, True),
    ]


def run_of(factor: float, deletions: list[float]) -> bench.Figures:
    measured = {"deletion_ms": deletions, "insertion_ms": deletions}
    measured |= {"deletion_cpu_ms": deletions, "insertion_cpu_ms": deletions}
    return {"load_s": factor, "load_cpu_s": factor, "peak_mib": 10.0 * factor, **measured}


def test_only_deletions_that_both_have_made_are_compared() -> None:
    ours = [run_of(1.0, [2.0, 2.0, 900.0]), run_of(1.0, [2.0, 2.0, 900.0])]
    over = bench._over(ours, [run_of(4.0, [8.0, 8.0])])
    assert over == dict.fromkeys(bench.RATIOS, 0.25)


def test_ratios_are_drawn_alike_and_gaps_left_empty(tmp_path) -> None:
    over = dict.fromkeys(bench.RATIOS, 0.5)
    cases = {
        "both": {"answers_agree": True, "over": {"pathway": over, "duckdb": over}},
        "alone": {"answers_agree": True, "over": {}},
        "apart": {"answers_agree": False, "over": {"pathway": over}},
    }
    for name in ("first.svg", "second.svg"):
        draw(tmp_path / name, cases, bench.RATIOS)
    drawn = (tmp_path / "first.svg").read_text()
    assert drawn == (tmp_path / "second.svg").read_text()
    assert "both" in drawn
    assert "alone" in drawn
    assert "apart" not in drawn
