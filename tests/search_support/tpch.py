"""Queries from texts such as `c.custkey=o.custkey r2.seg<r3.seg`, all at one site."""

from __future__ import annotations

from search_support.problem import Attribute, Equality, Member, Problem, SearchSite, Theta


def query(text: str, *, closure: bool = True) -> Problem:
    equalities, thetas, aliases = [], [], set()
    for part in text.split():
        left, right = (Attribute(*one.split(".")) for one in part.replace("<", "=").split("="))
        aliases |= {left.alias, right.alias}
        if "<" in part:
            thetas.append(Theta(left.alias, right.alias, 1 / 3))
        else:
            equalities.append(Equality(left, right))
    members = tuple(Member(alias, "engine", 100.0, 1.0, 20) for alias in sorted(aliases))
    site = SearchSite("engine", 1.0)
    return Problem(
        members, (site,), (), "engine", tuple(equalities), tuple(thetas), closure=closure
    )
