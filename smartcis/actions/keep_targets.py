"""Keep where visitors are led: what they are shown, only a gain or a loss may change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from aspen.results import RedisResults
from aspen.results.protocol import EpochSnapshot
from smartcis.models import RouteRequest

SHOWN, DOORS, NEWS = VIEWS = ("nearest_destination", "route_door", "route_news")
QUESTION = ("origin", "goal", "step_free")
TOLD = ("was", "was_cost_mm", "target", "cost_mm", "cause", "subject", "detail")
Found = dict[str, list[dict[str, Any]]]


def keep_targets(results: RedisResults) -> int:
    """Notes for each walk where its visitor is led now, and why that changed.

    The standing queries decide; this is their memory, in the log like everything they read.

    Law: without news from the engine, the second call in a row changes nothing.

    Returns:
        How many walks were noted.
    """
    walks = list(RouteRequest.objects.all())
    snapshots = results.snapshots(VIEWS) if walks else {}
    if len(snapshots) < len(VIEWS) or any(one.error for one in snapshots.values()):
        return 0
    shown, doors, news = (_by_session(snapshots[view]) for view in VIEWS)
    noted = 0
    for walk in walks:
        told = news.get(walk.session, ())
        answers = [one for one in shown.get(walk.session, ()) if _is_of(walk, one)]
        if answers:
            [answer] = answers
            ids = sorted(one["door_id"] for one in doors.get(walk.session, ()))
            noted += _note(walk, answer["target"], answer["cost_mm"], ids, told, snapshots[SHOWN])
        elif walk.target and any(_is_of(walk, one) for one in told):
            noted += _note(walk, "", 0, [], told, snapshots[SHOWN])
    return noted


def _note(
    walk: RouteRequest,
    target: str,
    cost_mm: int,
    doors: list[str],
    told: Sequence[dict[str, Any]],
    moment: EpochSnapshot,
) -> int:
    if (walk.target, walk.cost_mm, walk.doors) == (target, cost_mm, doors):
        return 0
    with transaction.atomic():
        same = RouteRequest.objects.select_for_update().filter(
            pk=walk.pk, node=walk.node, goal=walk.goal, step_free=walk.step_free
        )
        if (now := same.first()) is None:
            return 0  # the visitor asks something else by now, or has gone
        now.target, now.cost_mm, now.doors = target, cost_mm, doors
        now.since_s = moment.at_s
        now.told = [[one[name] for name in TOLD] for one in told if _is_of(walk, one)]
        now.save(update_fields=["target", "cost_mm", "doors", "since_s", "told"])
    return 1


def _is_of(walk: RouteRequest, answer: dict[str, Any]) -> bool:
    """Returns whether an answer is to what the walk asks."""
    return [answer[name] for name in QUESTION] == [walk.node, walk.goal, walk.step_free]


def _by_session(snapshot: EpochSnapshot) -> Found:
    names = [name for name, *_ in snapshot.columns]
    found: Found = defaultdict(list)
    for row in sorted(snapshot.rows, key=repr):
        one = dict(zip(names, row, strict=True))
        found[str(one["session"])].append(one)
    return found
