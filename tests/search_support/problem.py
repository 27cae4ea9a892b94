"""A federated join query over many sites: relations, predicates, routes, a metric."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from aspen.errors import AspenError
from federation.cost import Cost, Weights

MOST_MEMBERS = 16  # 3^16 splits of a clique are more than anybody waits for
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class BadProblem(AspenError):
    """A query that contradicts itself: an unknown site, a share above one, an alias twice."""

    code = "federation.search.bad_problem"


@dataclass(frozen=True, slots=True)
class SearchSite:
    """Where joins may run.

    Args:
        row_us: processor time for one row touched.
        joins: how many joins one subquery may hold here; None for any number.
        battery: whether computing costs the energy of motes.
        hashes: whether a join finds partners by hashing; if not, it compares with every row.
        sorts: whether it can keep rows in order.
        reduces: whether it can hold back rows without a partner among keys sent to it.
    """

    name: str
    row_us: float
    joins: int | None = None
    battery: bool = False
    hashes: bool = True
    sorts: bool = False
    reduces: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """The way rows take from one site to another.

    Args:
        radio_hops: mean number of radio links on the way.
        wired_ms: the time the rest of the way takes.
    """

    source: str
    target: str
    radio_hops: float = 0.0
    wired_ms: float = 0.0


@dataclass(frozen=True, slots=True, order=True)
class Attribute:
    """A column of a relation of the query."""

    alias: str
    column: str

    def __str__(self) -> str:
        return f"{self.alias}.{self.column}"


@dataclass(frozen=True, slots=True)
class Member:
    """A relation of the query, after the selections on it alone.

    Args:
        home: the site that has it.
        rows: rows of the table, or of the stream's window.
        rate_hz: rows that come per second.
        row_bytes: payload of a row on the air.
        distinct: values of the columns that predicates name, rows if not named.
        order: the column it is kept in order of.
    """

    alias: str
    home: str
    rows: float
    rate_hz: float
    row_bytes: int
    distinct: tuple[tuple[str, float], ...] = ()
    order: str | None = None


@dataclass(frozen=True, slots=True)
class Equality:
    """The predicate left = right."""

    left: Attribute
    right: Attribute


@dataclass(frozen=True, slots=True)
class Theta:
    """Any other predicate between two relations.

    Args:
        share: part of the pairs for which it is true, above 0 up to 1.
    """

    left: str
    right: str
    share: float


@dataclass(frozen=True, slots=True)
class Access:
    """A priced way to have some relations joined where the answer is wanted, as one thing.

    Args:
        name: unique in the problem, and no relation's.
        aliases: the relations, sorted; those at a site without routes come by accesses alone.
        site: where they are joined.
        cost: of all of it, up to the goal's site.
    """

    name: str
    aliases: tuple[str, ...]
    site: str
    cost: Cost


@dataclass(frozen=True, slots=True)
class Problem:
    """A query over sites.

    Args:
        goal: the site where the answer is wanted.
        closure: whether predicates that follow from others by transitivity are edges too.
        accesses: what else brings relations, alone or joined, to the goal's site.

    Raises:
        BadProblem: something in it contradicts the rest.
    """

    members: tuple[Member, ...]
    sites: tuple[SearchSite, ...]
    routes: tuple[Route, ...]
    goal: str
    equalities: tuple[Equality, ...] = ()
    thetas: tuple[Theta, ...] = ()
    metric: Weights = field(default_factory=Weights)
    closure: bool = True
    accesses: tuple[Access, ...] = ()

    def __post_init__(self) -> None:
        aliases = _once("relation", (one.alias for one in self.members))
        sites = _once("site", (one.name for one in self.sites))
        _once("route", (f"{one.source} to {one.target}" for one in self.routes))
        if not 0 < len(aliases) <= MOST_MEMBERS:
            raise BadProblem(
                f"a query joins 1 to {MOST_MEMBERS} relations", found=str(len(aliases))
            )
        for name in (*aliases, *sites):
            if not NAME.fullmatch(name):
                raise BadProblem("a name is made of letters, digits and _", found=name)
        ends = [end for one in self.routes for end in (one.source, one.target)]
        for name in (self.goal, *(one.home for one in self.members), *ends):
            _known("site", name, sites)
        for theta in self.thetas:
            _between(theta.left, theta.right, aliases)
            if not 0 < theta.share <= 1:
                raise BadProblem("a share lies above 0, up to 1", found=str(theta.share))
        for equality in self.equalities:
            _between(equality.left.alias, equality.right.alias, aliases)
        for access in self.accesses:
            _known("site", access.site, sites)
            if access.aliases != tuple(sorted(access.aliases)) or access.name in aliases:
                raise BadProblem("an access names its relations in order", found=access.name)
            for alias in access.aliases:
                _known("relation", alias, aliases)
        _once("access", (access.name for access in self.accesses))
        self._check_numbers()

    def _check_numbers(self) -> None:
        numbers: list[tuple[str, float, float]] = []
        for one in self.members:
            numbers += [("rows", one.rows, 1), ("rate_hz", one.rate_hz, 0)]
            numbers += [("row_bytes", one.row_bytes, 1)]
            numbers += [(f"distinct {name}", count, 1) for name, count in one.distinct]
        for site in self.sites:
            numbers += [("row_us", site.row_us, 0), ("joins", site.joins or 0, 0)]
        for route in self.routes:
            if route.source == route.target:
                raise BadProblem("a route leads elsewhere", found=route.source)
            numbers += [("radio_hops", route.radio_hops, 0), ("wired_ms", route.wired_ms, 0)]
        for what, number, least in numbers:
            if not least <= number < float("inf"):
                raise BadProblem(f"{what} is a number of at least {least}", found=str(number))


def _once(what: str, names: Iterable[str]) -> frozenset[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadProblem(f"a {what} is named twice", found=name)
        seen.add(name)
    return frozenset(seen)


def _known(what: str, name: str, names: frozenset[str]) -> None:
    if name not in names:
        raise BadProblem(f"there is no such {what}", found=name, exists=sorted(names))


def _between(left: str, right: str, aliases: frozenset[str]) -> None:
    for alias in (left, right):
        _known("relation", alias, aliases)
    if left == right:
        raise BadProblem(
            "a join predicate is between two relations",
            found=left,
            attempt="count a selection in the relation's rows",
        )
