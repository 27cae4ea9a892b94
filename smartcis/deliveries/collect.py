"""Collect: what the result store says happened to queries with outputs, into the database.

    epochs    … 41  42  43 ──restart── 44 …      each change is taken once: the cursor moves in the
    outlet       41  42  43            44        transaction that writes alarms and calls
    lost          (epochs forgotten, or the view began anew)  the snapshot against what was sent

Law:        the fold of all that an outlet was sent is its view as of the outlet's epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from django.db import transaction

from aspen.model.delta import Delta, merge, negate
from aspen.model.schema import Row
from aspen.results import EpochsForgotten, RedisResults
from aspen.results.protocol import Epoch, Snapshot
from smartcis.compiling.row_order import in_order
from smartcis.deliveries.outputs import ALARM, WEBHOOK
from smartcis.models import Alarm, Delivery, Outlet, ToldRow
from smartcis.models.own_tables import digest_of

EPOCHS_AT_ONCE = 500
MESSAGE_LENGTH = 500
Moment = Epoch | Snapshot


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
        last = epochs[-1].number
        behind = [o.pk for o in outlets if o.epoch is not None and o.epoch < last]
        if behind:
            Outlet.objects.filter(pk__in=behind, epoch__lt=last).update(epoch=last)
    return count


def _compare(outlet: Outlet, snapshot: Snapshot | None) -> int:
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
    for row, weight in sorted(delta.items(), key=lambda change: change[1]):
        before, after = _fold(outlet, row, weight)
        for kind, target in outlet.outputs:
            if kind == WEBHOOK:
                _call(outlet, target, row, weight, moment)
            elif kind == ALARM and before <= 0 < after:
                _raise(outlet, target, row, moment)
            elif kind == ALARM and after <= 0 < before:
                _clear(outlet, target, row)
    return len(delta)


def _fold(outlet: Outlet, row: Row, weight: int) -> tuple[int, int]:
    """Notes that a row was sent; returns how often it stood before and stands now."""
    digest = digest_of(row)
    sent = ToldRow.objects.filter(outlet=outlet, digest=digest).first()
    before = 0 if sent is None else sent.weight
    after = before + weight
    if sent is None:
        ToldRow.objects.create(outlet=outlet, digest=digest, row=list(row), weight=after)
    elif after:
        ToldRow.objects.filter(pk=sent.pk).update(weight=after)
    else:
        sent.delete()
    return before, after


def _call(outlet: Outlet, target: str, row: Row, weight: int, moment: Moment) -> None:
    number = moment.number if isinstance(moment, Epoch) else moment.epoch
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


def _raise(outlet: Outlet, target: str, row: Row, moment: Moment) -> None:
    named = zip(_columns(outlet), _shown(outlet, row), strict=True)
    message = ", ".join(f"{name} {value}" for name, value in named if value is not None)
    Alarm.objects.create(
        outlet=outlet,
        digest=digest_of(row),
        name=outlet.query.name or outlet.query_id,
        target=target,
        message=message[:MESSAGE_LENGTH],
        raised_s=moment.at_s,
    )


def _clear(outlet: Outlet, target: str, row: Row) -> None:
    for alarm in Alarm.objects.filter(outlet=outlet, target=target, digest=digest_of(row)):
        alarm.delete()


def _columns(outlet: Outlet) -> list[str]:
    order: Mapping[str, int] | None = outlet.query.order
    names = [name for name, *_ in outlet.query.view.columns]
    return names if order is None else names[: order["width"]]


def _shown(outlet: Outlet, row: Row) -> Iterable[object]:
    """Returns a row without what only its query's order needs."""
    columns = [(name, kind, unit) for name, kind, unit, _ in outlet.query.view.columns]
    return in_order({row: 1}, columns, outlet.query.order)[0]
