"""Store: what a placement does to the tables, and with them, in one transaction, to the log.

    want ──► pieces ordered ──► arrive: declare, answer, register ──► publish … ──► retire

Law: whichever arrow a crash hits, tables and log agree, and the next look goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from aspen.model.arrays import row_in
from aspen.model.schema import Row
from federation.fragment import NetworkFragment
from sensors_sim.innet.answers import NetworkAnswer
from smartcis.models import MaintainedView, NetworkPiece, Placement
from smartcis.models.outbox import enqueue
from smartcis.placements.translate import piece_of


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a view.

    Args:
        fragments: what runs inside the network; none when the engine does everything.
        text: the engine's plan; empty for the view's own.
    """

    fragments: tuple[NetworkFragment, ...] = ()
    text: str = ""

    @property
    def names(self) -> list[str]:
        """Names of the fragments, sorted."""
        return sorted(one.name for one in self.fragments)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a view shall run somewhere.

    Args:
        why: in one sentence.
        costs: what was compared, with units.
        basis: the estimates it rests on.
        forced: somebody chose, not the optimizer.
    """

    why: str
    costs: Mapping[str, Any] = field(default_factory=dict)
    basis: Mapping[str, Any] = field(default_factory=dict)
    forced: bool = False


def want(view: MaintainedView, variant: Variant, reason: Reason) -> Placement:
    """Records how a view is to run; the process that runs the network carries it out.

    Law: wanting what already runs ends a move that was under way.
    """
    with transaction.atomic():
        placement = Placement.objects.select_for_update().filter(view=view).first()
        if placement is None:
            placement = Placement(view=view, plan_hash=view.plan_hash, since=view.created_at)
        elif placement.plan_hash != view.plan_hash:
            # It spoke of a plan the view no longer has; the registration never followed it.
            placement.running, placement.running_text = [], ""
            placement.plan_hash, placement.since = view.plan_hash, timezone.now()
        for fragment in variant.fragments:
            if not NetworkPiece.objects.filter(name=fragment.name).exists():
                piece_of(fragment).save(force_insert=True)
        placement.wanted, placement.wanted_text = variant.names, variant.text
        placement.why, placement.forced, placement.trouble = reason.why, reason.forced, ""
        placement.costs, placement.basis = dict(reason.costs), dict(reason.basis)
        placement.decided_at = timezone.now()
        placement.save()
    return placement


def arrive(view_name: str, answers: Mapping[str, NetworkAnswer]) -> bool:
    """Switches a view to the way it is wanted, from these first answers on.

    Args:
        answers: of the pieces whose answers did not reach the log so far.

    Returns:
        Whether it does; not if the wish has changed meanwhile.
    """
    with transaction.atomic():
        placement = _locked(view_name)
        if placement is None or not (placement.moving and placement.holds):
            return False
        pieces = NetworkPiece.objects.select_for_update().filter(name__in=placement.wanted)
        found = {piece.name: piece for piece in pieces}
        if any(
            name not in found or not (found[name].live or name in answers)
            for name in placement.wanted
        ):
            return False
        for name, piece in found.items():
            if not piece.live:
                enqueue({"declare": piece.declaration})
                piece.live = True
                _put(piece, answers[name])
        placement.running, placement.running_text = placement.wanted, placement.wanted_text
        placement.since = timezone.now()
        placement.save()
        if placement.view.error is None:
            enqueue(placement.view.registration())
    return True


def give_up(view_name: str, trouble: str) -> None:
    """Keeps a view where it is, because the network cannot take it."""
    with transaction.atomic():
        placement = _locked(view_name)
        if placement is not None and placement.moving:
            placement.wanted, placement.wanted_text = placement.running, placement.running_text
            placement.trouble, placement.decided_at = trouble, timezone.now()
            placement.save()


def publish(name: str, answer: NetworkAnswer) -> bool:
    """Replaces the answer before by a new one; the difference reaches the log.

    Returns:
        Whether its rows differ.
    """
    with transaction.atomic():
        piece = NetworkPiece.objects.select_for_update().filter(name=name, live=True).first()
        return piece is not None and _put(piece, answer)


def retire(names: Iterable[str]) -> list[str]:
    """Forgets pieces that no placement runs or wants; their rows leave the log's relation.

    Returns:
        The names of those that are gone.
    """
    gone = []
    with transaction.atomic():
        needed = _needed()
        for piece in NetworkPiece.objects.select_for_update().filter(name__in=list(names)):
            if piece.name not in needed:
                _tell_difference(piece.name, _bag(piece.answer), Counter())
                gone.append(piece.name)
                piece.delete()
    return gone


def silence(name: str) -> None:
    """Takes back the rows of a piece that has not answered for long."""
    with transaction.atomic():
        piece = NetworkPiece.objects.select_for_update().filter(name=name, live=True).first()
        if piece is not None and piece.answer:
            _tell_difference(piece.name, _bag(piece.answer), Counter())
            piece.answer, piece.motes = [], 0
            piece.save(update_fields=("answer", "motes"))


def forget_outdated() -> None:
    """Drops the placements of plans that are no more: those views run in the engine already."""
    for placement in Placement.objects.select_related("view"):
        if not placement.holds:
            placement.delete()


def idle_pieces() -> list[str]:
    """Returns the pieces nobody needs."""
    needed = _needed()
    names = NetworkPiece.objects.values_list("name", flat=True)
    return [name for name in names if name not in needed]


def _needed() -> set[str]:
    wishes = Placement.objects.values_list("running", "wanted")
    return {name for running, wanted in wishes for name in (*running, *wanted)}


def _locked(view_name: str) -> Placement | None:
    found = Placement.objects.select_for_update(of=("self",)).select_related("view")
    return found.filter(view_id=view_name).first()


def _put(piece: NetworkPiece, answer: NetworkAnswer) -> bool:
    before, now = _bag(piece.answer), Counter(answer.rows)
    differs = _tell_difference(piece.name, before, now)
    piece.answer = [[weight, *row] for row, weight in now.items()]
    piece.motes, piece.expected = answer.motes, answer.expected
    piece.answered_at = timezone.now()
    piece.save(update_fields=("live", "answer", "motes", "expected", "answered_at"))
    return differs


def _tell_difference(name: str, before: Counter[Row], now: Counter[Row]) -> bool:
    changes: list[list[Any]] = [
        [name, now[row] - before[row], *row] for row in {**before, **now} if now[row] != before[row]
    ]
    if changes:
        enqueue({"changes": changes})
    return bool(changes)


def _bag(answer: Sequence[Sequence[Any]]) -> Counter[Row]:
    return Counter({row_in(row): weight for weight, *row in answer})
