"""Random federated queries: chains, stars, cycles, cliques and what lies between."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

from search_support.problem import Attribute, Equality, Member, Problem, Route, SearchSite, Theta

from federation.cost import Weights

SHAPES = ("chain", "star", "cycle", "clique", "random")


def edges(n: int, shape: str, chance: Random) -> list[tuple[int, int]]:
    every = list(combinations(range(n), 2))
    match shape:
        case "chain":
            return [(i, i + 1) for i in range(n - 1)]
        case "star":
            return [(0, i) for i in range(1, n)]
        case "cycle":
            return [(i, i + 1) for i in range(n - 1)] + ([(0, n - 1)] if n > 2 else [])
        case "clique":
            return every
        case _:
            tree = [(chance.randrange(i), i) for i in range(1, n)]
            more = [edge for edge in every if edge not in tree and chance.random() < 0.2]
            # Now and then something falls apart and needs a product.
            return [edge for edge in tree if chance.random() < 0.95] + more


def sites(chance: Random, groups: int, *, sorts: bool) -> tuple[SearchSite, ...]:
    limit = chance.choice((1, 1, 1, None))
    motes = tuple(
        SearchSite(
            f"motes{i}",
            chance.uniform(20, 90),
            joins=limit,
            battery=True,
            hashes=False,
            reduces=chance.random() < 0.8,
        )
        for i in range(groups)
    )
    base = SearchSite("base", 5.0, sorts=sorts and chance.random() < 0.5, reduces=True)
    return (*motes, base, SearchSite("engine", 0.5, sorts=sorts))


def routes(chance: Random, places: tuple[SearchSite, ...]) -> tuple[Route, ...]:
    made = []
    for one in places:
        for other in places:
            if one is other or (other.battery and chance.random() < 0.3):
                continue
            hops = chance.uniform(1, 5) * (one.battery + other.battery)
            wired = 3.0 if "engine" in (one.name, other.name) else 0.0
            made.append(Route(one.name, other.name, hops, wired))
    return tuple(made)


def member(chance: Random, alias: str, homes: tuple[SearchSite, ...]) -> Member:
    rows = float(chance.choice((1, 7, 40, 300, 2_000)))
    columns = (f"k{i}" for i in range(4))
    return Member(
        alias,
        chance.choice(homes).name,
        rows,
        # Equal rates make plans of equal cost.
        chance.choice((0.0, 0.1, 1.0, 1.0, 12.5)),
        chance.choice((4, 12, 60, 150)),
        tuple((column, float(chance.randint(1, int(rows)))) for column in columns),
        chance.choice((None, None, "k0")),
    )


def problem(chance: Random, n: int, shape: str | None = None, *, simple: bool = False) -> Problem:
    """Draw a query.

    Args:
        simple: without orders and with one group of motes, so that its graph stays small.
    """
    places = sites(chance, 1 if simple else chance.randint(1, 2), sorts=not simple)
    if simple:
        places = (replace(places[0], joins=1), *places[1:])
    aliases = [f"r{i}" for i in range(n)]
    chance.shuffle(aliases)
    equalities, thetas = [], []
    for i, j in edges(n, shape or chance.choice(SHAPES), chance):
        one, other = aliases[i], aliases[j]
        if chance.random() < 0.8:
            left = Attribute(one, f"k{chance.randrange(4)}")
            equalities.append(Equality(left, Attribute(other, f"k{chance.randrange(4)}")))
        else:
            thetas.append(Theta(one, other, chance.choice((0.01, 0.3, 1.0))))
    weights = Weights(chance.choice((0.0, 0.001)), chance.choice((1.0, 0.1)), 0.001)
    return Problem(
        tuple(member(chance, alias, places) for alias in aliases),
        places,
        routes(chance, places),
        "engine",
        tuple(equalities),
        tuple(thetas),
        replace(weights, cpu=chance.choice((0.0, 0.05, 1.0))),
    )


def shaken(chance: Random, before: Problem) -> Problem:
    """Change what is known at run time: rates, windows, shares, the price of energy, a limit."""
    match chance.randrange(5):
        case 0:
            grown = chance.choice((0.125, 0.5, 2.0, 8.0))
            members = list(before.members)
            i = chance.randrange(len(members))
            members[i] = replace(members[i], rate_hz=members[i].rate_hz * grown)
            return replace(before, members=tuple(members))
        case 1:
            members = [replace(one, rows=max(1.0, one.rows * 3)) for one in before.members]
            return replace(before, members=tuple(members))
        case 2:
            thetas = [replace(one, share=chance.uniform(0.01, 1)) for one in before.thetas]
            return replace(before, thetas=tuple(thetas))
        case 3:
            limit = chance.choice((1, None)) if len(before.members) < 6 else 1
            places = [
                replace(one, joins=limit if one.battery else None, row_us=one.row_us * 2)
                for one in before.sites
            ]
            return replace(before, sites=tuple(places))
        case _:
            dearer = Weights(0.001, chance.choice((0.1, 1.0, 10.0)), 0.001)
            return replace(before, metric=replace(dearer, cpu=before.metric.cpu))
