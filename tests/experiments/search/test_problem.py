"""A problem refuses nonsense with an address."""

from __future__ import annotations

from dataclasses import replace

import pytest
from search_support.problem import (
    Attribute,
    BadProblem,
    Equality,
    Member,
    Problem,
    Route,
    SearchSite,
    Theta,
)
from search_support.tpch import query

GOOD = query("a.k=b.k")
A, B = GOOD.members


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"members": ()}, "0"),
        ({"members": (A, A, B)}, "a"),
        ({"members": tuple(Member(f"m{i}", "engine", 1, 1, 1) for i in range(17))}, "17"),
        ({"members": (A, replace(B, home="cellar"))}, "cellar"),
        ({"members": (A, replace(B, rows=0))}, "0"),
        ({"members": (A, replace(B, rows=float("nan")))}, "nan"),
        ({"members": (A, replace(B, rate_hz=-1.0))}, "-1.0"),
        ({"members": (A, replace(B, rate_hz=float("inf")))}, "inf"),
        ({"members": (A, replace(B, row_bytes=0))}, "0"),
        ({"members": (A, replace(B, distinct=(("k", 0.5),)))}, "0.5"),
        ({"members": (A, replace(B, alias="b+c"))}, "b+c"),
        ({"sites": ()}, "engine"),
        ({"sites": (SearchSite("engine", 1.0), SearchSite("engine", 2.0))}, "engine"),
        ({"sites": (SearchSite("engine", -1.0),)}, "-1.0"),
        ({"sites": (SearchSite("engine", 1.0, joins=-1),)}, "-1"),
        ({"routes": (Route("engine", "engine"),)}, "engine"),
        ({"routes": (Route("engine", "cellar"),)}, "cellar"),
        ({"goal": "cellar"}, "cellar"),
        ({"thetas": (Theta("a", "c", 0.5),)}, "c"),
        ({"thetas": (Theta("a", "a", 0.5),)}, "a"),
        ({"thetas": (Theta("a", "b", 0.0),)}, "0.0"),
        ({"thetas": (Theta("a", "b", 1.5),)}, "1.5"),
        ({"equalities": (Equality(Attribute("a", "k"), Attribute("a", "m")),)}, "a"),
    ],
)
def test_refused(change, found):
    with pytest.raises(BadProblem) as refusal:
        replace(GOOD, **change)
    assert refusal.value.found == found
    assert refusal.value.code == "federation.search.bad_problem"


def test_an_unknown_site_lists_those_that_exist():
    with pytest.raises(BadProblem) as refusal:
        replace(GOOD, goal="cellar")
    assert list(refusal.value.exists) == ["engine"]


def test_good_is_good():
    assert isinstance(replace(GOOD, goal="engine"), Problem)
