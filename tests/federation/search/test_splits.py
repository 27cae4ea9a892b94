"""The join graph: known sizes of known queries, and its laws on random graphs."""

from __future__ import annotations

from random import Random

import pytest
from search_support.costs import join_graph
from search_support.problems import SHAPES, problem
from search_support.tpch import query

from federation.search.splits import JoinPartners

Q3 = "c.custkey=o.custkey l.orderkey=o.orderkey"
Q10 = f"{Q3} c.nationkey=n.nationkey"
Q5 = (
    f"{Q3} l.suppkey=s.suppkey c.nationkey=s.nationkey s.nationkey=n.nationkey"
    " n.regionkey=r.regionkey"
)
Q8_JOIN = (
    f"{Q3} p.partkey=l.partkey ps.partkey=p.partkey s.suppkey=ps.suppkey"
    " r.regionkey=n.regionkey s.nationkey=n.nationkey"
)
SEG_TOLL_S = (
    "r2.expway=r3.expway r2.seg<r3.seg r3.carid=r4.carid r3.carid=r5.carid"
    " r1.expway=r2.expway r1.dir=r2.dir r1.seg=r2.seg"
)


def size(graph: JoinPartners) -> tuple[int, int]:
    """Count the logical OR nodes and the ordered AND nodes."""
    return len(graph.sets), sum(len(graph.halves(m)) for m in graph.sets)


@pytest.mark.parametrize(
    ("text", "closure", "known"),
    [
        (Q3, True, (6, 8)),
        (Q10, True, (10, 20)),
        (Q5, False, (30, 136)),
        (Q5, True, (36, 190)),
        (Q8_JOIN, False, (36, 168)),
        (SEG_TOLL_S, False, (17, 50)),
        (SEG_TOLL_S, True, (22, 84)),
    ],
    ids=["Q3", "Q10", "Q5 edges", "Q5", "Q8Join", "SegTollS edges", "SegTollS"],
)
def test_golden_size(text, closure, known):
    assert size(join_graph(query(text, closure=closure))) == known


def test_customers_join_nations_of_regions_because_both_have_the_suppliers_nation():
    graph = join_graph(query(Q5))
    assert (graph.bit["c"], graph.bit["n"] | graph.bit["r"]) in graph.halves(
        graph.bit["c"] | graph.bit["n"] | graph.bit["r"]
    )


@pytest.mark.parametrize("n", range(2, 9))
def test_sizes_of_cliques_and_chains(n):
    aliases = [f"t{i}" for i in range(n)]
    clique = " ".join(f"{a}.k=t0.k" for a in aliases[1:])
    assert size(join_graph(query(clique))) == (2**n - 1, 3**n + 1 - 2 ** (n + 1))
    chain = " ".join(f"t{i}.a{i}=t{i + 1}.a{i}" for i in range(n - 1))
    pairs = n * (n + 1) // 2
    assert size(join_graph(query(chain))) == (pairs, (n - 1) * n * (n + 1) // 3)


def test_no_product_while_relations_hang_together():
    for seed in range(60):
        graph = join_graph(problem(Random(seed), 2 + seed % 5, SHAPES[seed % 5]))
        for m in graph.sets:
            halves = graph.halves(m)
            assert len(set(halves)) == len(halves)
            for left, right in halves:
                assert left | right == m
                assert left & right == 0
                assert (right, left) in halves
                joined = bool(graph.around(left) & right)
                assert joined == graph.connected(m)
                if joined:
                    assert graph.connected(left)
                    assert graph.connected(right)


def test_what_nothing_joins_is_multiplied_after_its_parts_are_joined():
    graph = join_graph(query("a.k=b.k c.k=d.k"))
    named = {(graph.name(one), graph.name(other)) for one, other in graph.halves(graph.everything)}
    assert named == {("a+b", "c+d"), ("c+d", "a+b")}
