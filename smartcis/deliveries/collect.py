"""Collect: what the result store says happened to queries with outputs, into the database.

    epochs    … 41  42  43 ──restart── 44 …      each change is taken once: the cursor moves in the
    outlet       41  42  43            44        transaction that writes alarms and calls
    lost          (epochs forgotten, or the view began anew)  the snapshot against what was sent

Law:        the fold of all that an outlet was sent is its view as of the outlet's epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice

from django.db import transaction

from aspen.model.delta import Delta, merge, negate
from aspen.model.schema import Row
from aspen.results import EpochsForgotten, RedisResults
from aspen.results.protocol import Epoch, EpochSnapshot
from smartcis.compiling.row_order import in_order
from smartcis.deliveries.notices import Moment, number_of
from smartcis.deliveries.outputs import WEBHOOK
from smartcis.deliveries.tend import key_digest, rules_of, settle_due, tend
from smartcis.deliveries.told import fold
from smartcis.models import Delivery, Outlet, WatchedKey
from smartcis.models.own_tables import digest_of

EPOCHS_AT_ONCE = 500


def collect(results: RedisResults) -> int:
    """Takes in what happened since the last time; one caller at a time.

    Returns:
        How many rows came or went.
    """
    outlets = list(Outlet.objects.select_related("query__view"))
    if not outlets:
        return 0
    count = 0
    known = [outlet.epoch for outlet in outlets if outlet.epoch is not None]
    if known:
        try:
            epochs = list(islice(results.epochs_since(min(known), 0.0), EPOCHS_AT_ONCE))
        except EpochsForgotten:
            Outlet.objects.exclude(epoch=None).update(epoch=None)
            epochs = []
            outlets = list(Outlet.objects.select_related("query__view"))
        count += _follow(outlets, epochs)
    for outlet in outlets:
        if outlet.epoch is None:
            count += _compare(outlet, results.snapshot(outlet.query.view_id))
    return count


def _follow(outlets: Sequence[Outlet], epochs: Sequence[Epoch]) -> int:
    """Takes in epochs, each in a transaction of its own where it says something."""
    count = 0
    for epoch in epochs:
        changes = {change.view: change for change in epoch.changes}
        news = [
            outlet
            for outlet in outlets
            if outlet.epoch is not None
            and outlet.epoch < epoch.number
            and outlet.query.view_id in changes
        ]
        for outlet in news:
            change = changes[outlet.query.view_id]
            with transaction.atomic():
                if not _still(outlet):
                    continue
                if change.closed or change.columns or change.error is not None:
                    # It began, ended or failed: what it holds now is compared as a whole.
                    outlet.epoch = None
                else:
                    count += _publish(outlet, change.delta, epoch)
                    outlet.epoch = epoch.number
                outlet.save(update_fields=["epoch"])
    if epochs:
        last = epochs[-1]
        behind = [o.pk for o in outlets if o.epoch is not None and o.epoch < last.number]
        if behind:
            Outlet.objects.filter(pk__in=behind, epoch__lt=last.number).update(epoch=last.number)
        _settle(outlets, last)
    return count


def _settle(outlets: Sequence[Outlet], moment: Epoch) -> None:
    """Lets happen what is due in queries that have been followed up to a moment."""
    due = WatchedKey.objects.filter(due_s__lte=moment.at_s, outlet__epoch=moment.number)
    waiting = set(due.values_list("outlet_id", flat=True))
    for outlet in outlets:
        if outlet.pk in waiting:
            with transaction.atomic():
                outlet.epoch = moment.number
                if _still(outlet):
                    settle_due(outlet, moment)


def _compare(outlet: Outlet, snapshot: EpochSnapshot | None) -> int:
    """Publishes the difference between what an outlet was sent and what the view has.

    A view that is not there, or in error, keeps what it has sent until it is.
    """
    if snapshot is None or snapshot.error is not None:
        return 0
    with transaction.atomic():
        if not _still(outlet):
            return 0
        delta = negate({tuple(one.row): one.weight for one in outlet.told.all()})
        merge(delta, dict(snapshot.rows))
        count = _publish(outlet, delta, snapshot)
        outlet.epoch = snapshot.epoch
        outlet.save(update_fields=["epoch"])
    return count


def _still(outlet: Outlet) -> bool:
    """Returns whether an outlet stands where it was read; it is locked until the transaction ends.

    Its query may have been stopped meanwhile, or somebody whose lock ran out may be at it still.
    """
    same = Outlet.objects.select_for_update().filter(pk=outlet.pk, epoch=outlet.epoch)
    return same.first() is not None


def _publish(outlet: Outlet, delta: Delta, moment: Moment) -> int:
    """Writes what came and went; deletions first, as keyed rows replace each other."""
    rules = rules_of(outlet)
    changes = fold(outlet, delta, partial(key_digest, rules[0]) if rules else lambda _: "")
    if rules:
        tend(outlet, rules, changes, moment)
    calls = [target for kind, target, _ in outlet.outputs if kind == WEBHOOK]
    for row, weight in sorted(delta.items(), key=lambda change: change[1]) if calls else ():
        for target in calls:
            _call(outlet, target, row, weight, moment)
    return len(delta)


def _call(outlet: Outlet, target: str, row: Row, weight: int, moment: Moment) -> None:
    number = number_of(moment)
    # The same change sent again, after whatever loss, has the same key.
    digest = digest_of([outlet.pk, target, number, weight, digest_of(row)])
    Delivery.objects.get_or_create(
        key=f"{outlet.query.view_id}:{number}:{digest[:32]}",
        defaults={
            "outlet": outlet,
            "target": target,
            "epoch": number,
            "position": moment.position,
            "at_s": moment.at_s,
            "row": list(_shown(outlet, row)),
            "weight": weight,
        },
    )


def _shown(outlet: Outlet, row: Row) -> Iterable[object]:
    """Returns a row without what only its query's order needs."""
    columns = [(name, kind, unit) for name, kind, unit, _ in outlet.query.view.columns]
    return in_order({row: 1}, columns, outlet.query.order)[0]
