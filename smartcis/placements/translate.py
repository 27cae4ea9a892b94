"""Translate: a piece of a query as the optimizer names it, the table keeps it and motes take it."""

from __future__ import annotations

from typing import Protocol

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.algebra.read import read_plan
from aspen.model.schema import Relation
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.program import Method
from smartcis.ingest.relay import declaration_body
from smartcis.models import NetworkPiece


class NetworkFragment(Protocol):
    """What `federation.split` cuts out of a plan for the motes."""

    @property
    def name(self) -> str:
        """Of the relation with its answers; equal pieces have equal names."""
        ...

    @property
    def relation(self) -> Relation:
        """What the engine reads in its place."""
        ...

    @property
    def plan(self) -> Plan:
        """What the motes run."""
        ...

    @property
    def replaces(self) -> Plan:
        """What the engine would run."""
        ...

    @property
    def period_s(self) -> float:
        """Between two epochs."""
        ...

    @property
    def method(self) -> str:
        """How a join is computed."""
        ...

    @property
    def keys(self) -> int:
        """Distinct join values expected."""
        ...

    @property
    def shares(self) -> tuple[float, ...]:
        """Part of each input's rows expected to pass its own selection."""
        ...

    @property
    def joined_share(self) -> float:
        """Part of the groups expected to join once all their rows have passed."""
        ...


def piece_of(fragment: NetworkFragment) -> NetworkPiece:
    """Give what the table keeps of a fragment; it is not saved."""
    return NetworkPiece(
        name=fragment.name,
        declaration=declaration_body(fragment.relation),
        plan_text=plan_text(fragment.plan),
        replaces_text=plan_text(fragment.replaces),
        period_s=fragment.period_s,
        method=fragment.method,
        keys=fragment.keys,
        shares=list(fragment.shares),
        joined_share=fragment.joined_share,
    )


def mote_fragment(piece: NetworkPiece) -> Fragment:
    """Give what motes are told of a piece.

    Raises:
        AspenError: its text is of an older version.
    """
    return Fragment(
        read_plan(piece.plan_text),
        piece.period_s,
        Method[piece.method.upper()],
        piece.keys,
        tuple(piece.shares),
        piece.joined_share,
    )
