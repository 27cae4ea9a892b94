"""Translate: a piece of a query as the optimizer names it, the table keeps it and motes take it."""

from __future__ import annotations

from aspen.algebra.explain import plan_text
from aspen.algebra.read import read_plan
from federation.fragment import NetworkFragment
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.program import Method
from smartcis.ingest.relay import declaration_body, declaration_of
from smartcis.models import NetworkPiece


def piece_of(fragment: NetworkFragment) -> NetworkPiece:
    """Returns what the table keeps of a fragment; it is not saved."""
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
    """Returns what motes are sent of a piece.

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


def fragment_of(piece: NetworkPiece) -> NetworkFragment:
    """Returns a piece as the optimizer names it.

    Raises:
        AspenError: its text is of an older version.
    """
    return NetworkFragment(
        piece.name,
        declaration_of(piece.declaration, at_s=0.0).relation,
        read_plan(piece.plan_text),
        read_plan(piece.replaces_text),
        piece.period_s,
        piece.method,
        piece.keys,
        tuple(piece.shares),
        piece.joined_share,
    )
