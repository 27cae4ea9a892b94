"""Policies: who may read which rows of which relation. The one table of it.

    declared here        as it says: for everybody, for who owns a row, for staff
    a view over these    closed as the most closed relation it reads, whichever columns it has left
    anything else        for everybody

`access/restrict.py` rewrites every query by this table; what is followed, asked about or exported
as it stands goes through `access/grants.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from smartcis.catalog import CATALOG


class Readers(StrEnum):
    """Who reads a relation."""

    EVERYBODY = "everybody"
    OWNER = "owner"
    STAFF = "staff"


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be read of one relation.

    Args:
        readers: who reads it. Staff read what others may not, and are noted.
        rows: in StreamSQL over a row `r`, which rows others get in an answer, `{own}` being the
            sessions of their walks and `{open}` the views over nothing closed; empty for all.
        owned: whether each row names its owner's session, by which it can be followed.
        why: what stands against reading it all.
        instead: what to do instead.
    """

    relation: str
    readers: Readers
    rows: str = ""
    owned: bool = False
    why: str = ""
    instead: str = ""


OWNER_COLUMN = "session"
"""Names the walk that a row of an owned relation belongs to."""

_PEOPLE = "tells where people are; only staff may read it"
_POSITIONS = "read visitor_position: it shows what people allow"
_WALKS = "tells of other visitors' walks"
_OWN = "ask ONCE: the answer has the rows of your own walks; or follow nearest_destination"
_BY_SESSION = f"r.{OWNER_COLUMN} IN ({{own}})"
_BY_DEMAND = (
    "EXISTS (SELECT 1 FROM route_request q "  # noqa: S608  # nothing of a client's is in it
    f"WHERE q.{OWNER_COLUMN} IN ({{own}}) AND q.node = r.origin AND q.step_free = r.step_free)"
)
OPEN_NAME, CLOSED_NAME = "q_", "p_"
"""How names of people's views begin; others hear nothing of those over something closed."""
_OF_OPEN_VIEWS = f"r.view IN ({{open}}) OR substr(r.view, 1, 2) = '{OPEN_NAME}'"


def _positions(relation: str) -> Policy:
    return Policy(relation, Readers.STAFF, why=_PEOPLE, instead=_POSITIONS)


def _walks(relation: str, rows: str = _BY_SESSION) -> Policy:
    owned = rows == _BY_SESSION
    return Policy(relation, Readers.OWNER, rows, owned=owned, why=_WALKS, instead=_OWN)


POLICIES: dict[str, Policy] = {
    policy.relation: policy
    for policy in (
        _positions("rfid_reading"),
        _positions("visitor"),
        # What these give away of the two is decided in their text.
        Policy("visitor_position", Readers.EVERYBODY),
        Policy("visitors_in_room", Readers.EVERYBODY),
        Policy("visitors_on_level", Readers.EVERYBODY),
        _walks("route_request"),
        _walks("route_target"),
        _walks("route_target_door"),
        _walks("route_told"),
        _walks("reachable_destination"),
        _walks("nearest_destination"),
        _walks("no_route"),
        _walks("route_step"),
        _walks("route_door"),
        _walks("route_news"),
        _walks("walking_cost", _BY_DEMAND),
        _walks("walking_parent", _BY_DEMAND),
        # How many rows a view has, and when they came, tells what they are of.
        *(
            Policy(relation, Readers.EVERYBODY, _OF_OPEN_VIEWS)
            for relation in ("sys_queries", "sys_operators", "sys_arrangements", "sys_costs")
        ),
    )
}


CLOSED = frozenset(p.relation for p in POLICIES.values() if p.readers is not Readers.EVERYBODY)
"""What is not for everybody by itself; whatever is made of it is not, unless it is declared."""

POSITIONS_KEPT_S = CATALOG.get("rfid_reading").ttl_s
"""How long the engine holds a position that a reader heard: no window reaches further back."""


def reach(names: Iterable[str], reads: Mapping[str, Sequence[str]]) -> dict[str, bool]:
    """Returns relations and views and all that those views read, through others too.

    Returns:
        By name, whether it is a view.
    """
    wanted, met = list(names), dict[str, bool]()
    while wanted:
        name = wanted.pop()
        if name not in met:
            met[name] = name in reads
            wanted += reads.get(name, [])
    return met
