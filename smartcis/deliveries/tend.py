"""Tend: raise and clear the alarms of one query, by what its rows say and by log time.

rows of a key ─▶ eye ─▶ seen ─▶ lifecycle ─▶ steps ─▶ alarms, events, notices
                          ▲ what is due while nothing comes: `settle_due`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aspen.model.schema import Row
from aspen.streamsql.alarm_rule import AlarmRule
from smartcis.deliveries.lifecycle import AlarmStep, Happened, Watch, due_s, see, settle
from smartcis.deliveries.notices import Moment, notify
from smartcis.deliveries.outputs import ALARM
from smartcis.deliveries.sight import Eye, eye_of
from smartcis.deliveries.told import AT_ONCE, RowChange, rows_by_key
from smartcis.models import Alarm, AlarmEvent, Outlet, WatchedKey
from smartcis.models.alarms import STANDING
from smartcis.models.own_tables import digest_of
from smartcis.models.source import batched

MESSAGE_LENGTH = 500
UNIT_LENGTH = 20
PLACE_LENGTH = 60
_KINDS = {
    AlarmStep.RAISED: Alarm.Kind.THRESHOLD,
    AlarmStep.CLEARED: Alarm.Kind.THRESHOLD,
    AlarmStep.SILENT: Alarm.Kind.NO_DATA,
    AlarmStep.HEARD: Alarm.Kind.NO_DATA,
}
_SHOWN = ("value", "unit", "message", "rid", "mid", "door_id")


@dataclass(frozen=True, slots=True)
class TendedAlarm:
    """One alarm of a query: its name, and the eye that looks at the query's rows for it."""

    target: str
    eye: Eye

    @property
    def says(self) -> AlarmRule:
        """When it is raised and cleared."""
        return self.eye.rule


def rules_of(outlet: Outlet) -> list[TendedAlarm]:
    """Returns a query's alarms."""
    query = outlet.query
    width = None if query.order is None else query.order["width"]
    columns = query.view.columns[:width]
    return [
        TendedAlarm(target, eye_of(rule, columns))
        for kind, target, rule in outlet.outputs
        if kind == ALARM
    ]


def key_digest(rule: TendedAlarm, row: Row) -> str:
    """Returns the digest of what a row is about: that of its key."""
    return digest_of(rule.eye.key(row))


def tend(
    outlet: Outlet, rules: Sequence[TendedAlarm], changes: Iterable[RowChange], moment: Moment
) -> None:
    """Takes in rows that came and went, in a transaction of the caller's."""
    last = {one.key: one.row for one in changes}
    last |= {one.key: one.row for one in changes if one.after <= 0}
    rows = rows_by_key(outlet, last)
    for rule in rules:
        books = _Books(outlet, rule, list(rows), moment)
        for digest, standing in rows.items():
            watch = books.watch(digest)
            seen = rule.eye.see(standing)
            speaker = rule.eye.speaker(standing)
            about = _about(rule.eye, last[digest] if speaker is None else speaker)
            after, happened = see(watch, rule.says, seen, moment.at_s)
            books.note(digest, after, about, happened)
            if speaker is not None:
                books.show(digest, about, moment.at_s)
        books.close()


def settle_due(outlet: Outlet, moment: Moment) -> None:
    """Lets happen what is due until a moment at which nothing came, in a transaction."""
    due = outlet.watched.filter(due_s__lte=moment.at_s)
    for rule in rules_of(outlet):
        waiting = {one.digest: one.about for one in due.filter(target=rule.target)}
        if not waiting:
            continue
        books = _Books(outlet, rule, list(waiting), moment)
        for digest, about in waiting.items():
            after, happened = settle(books.watch(digest), rule.says, moment.at_s)
            books.note(digest, after, about, happened)
        books.close()


class _Books:
    """What the database holds of some keys under one rule, read at once and written at the end."""

    def __init__(
        self, outlet: Outlet, rule: TendedAlarm, digests: list[str], moment: Moment
    ) -> None:
        self.outlet, self.rule, self.moment = outlet, rule, moment
        self._watched: dict[str, WatchedKey] = {}
        self._standing: dict[tuple[str, str], Alarm] = {}
        for part in batched(digests, AT_ONCE):
            mine = {"target": rule.target, "digest__in": part}
            self._watched |= {one.digest: one for one in outlet.watched.filter(**mine)}
            found = outlet.alarms.filter(STANDING, **mine)
            self._standing |= {(one.digest, one.kind): one for one in found}
        self._shown: list[Alarm] = []
        self._fields: set[str] = set()

    def watch(self, digest: str) -> Watch:
        """Returns where a key stands."""
        one = self._watched.get(digest)
        return Watch(
            raised=(digest, Alarm.Kind.THRESHOLD) in self._standing,
            silent=(digest, Alarm.Kind.NO_DATA) in self._standing,
            hot_s=None if one is None else one.hot_s,
            cool_s=None if one is None else one.cool_s,
            gone_s=None if one is None else one.gone_s,
        )

    def note(
        self, digest: str, after: Watch, about: dict[str, Any], happened: Iterable[Happened]
    ) -> None:
        """Writes what happened to a key, and where it stands now."""
        for step, at_s in happened:
            if step in (AlarmStep.RAISED, AlarmStep.SILENT):
                self._raise(digest, step, at_s, about)
            else:
                self._clear(digest, step, at_s)
        spans = {"hot_s": after.hot_s, "cool_s": after.cool_s, "gone_s": after.gone_s}
        known = self._watched.get(digest)
        if all(since_s is None for since_s in spans.values()):
            if known is not None:
                known.delete()
            return
        fields = {"about": about, "due_s": due_s(after, self.rule.says), **spans}
        if known is None:
            self.outlet.watched.create(target=self.rule.target, digest=digest, **fields)
        else:
            WatchedKey.objects.filter(pk=known.pk).update(**fields)

    def show(self, digest: str, about: dict[str, Any], at_s: float) -> None:
        """Has an alarm that stands show what its row says now; nothing else of it changes."""
        alarm = self._standing.get((digest, Alarm.Kind.THRESHOLD))
        changed = [name for name in _SHOWN if alarm and getattr(alarm, name) != about[name]]
        if alarm is None or not changed:
            return
        for name in changed:
            setattr(alarm, name, about[name])
        alarm.changed_s = at_s
        self._shown.append(alarm)
        self._fields.update(changed)

    def close(self) -> None:
        """Writes what alarms show."""
        fields = sorted(self._fields)
        Alarm.objects.bulk_update(self._shown, [*fields, "changed_s"], batch_size=AT_ONCE)

    def _raise(self, digest: str, step: AlarmStep, at_s: float, about: Mapping[str, Any]) -> None:
        kind = _KINDS[step]
        query = self.outlet.query
        mine = {"outlet": self.outlet, "target": self.rule.target, "digest": digest, "kind": kind}
        # Who said to be quiet about this is not told because it ended and began again.
        muted = Alarm.objects.filter(**mine, muted_until_s__gt=at_s).first()
        alarm = Alarm.objects.create(
            **mine,
            query=query.pk,
            name=query.name or query.pk,
            severity=self.rule.says.severity,
            raised_s=at_s,
            changed_s=at_s,
            muted_until_s=None if muted is None else muted.muted_until_s,
            **about,
        )
        self._standing[digest, kind] = alarm
        self._happened(alarm, step, at_s)

    def _clear(self, digest: str, step: AlarmStep, at_s: float) -> None:
        alarm = self._standing.pop((digest, _KINDS[step]))
        alarm.cleared_s = at_s
        alarm.save(update_fields=["cleared_s"])
        self._happened(alarm, step, at_s)

    def _happened(self, alarm: Alarm, step: AlarmStep, at_s: float) -> None:
        AlarmEvent.objects.create(alarm=alarm, at_s=at_s, what=step.value)
        notify(self.outlet, alarm, step, list(self.rule.says.notify), self.moment)


def _about(eye: Eye, row: Row) -> dict[str, Any]:
    """Returns what an alarm says of a row."""
    said = eye.reading(row)
    names = eye.rule.keys or eye.names
    places = {name: said.places.get(name, "")[:PLACE_LENGTH] for name in ("rid", "mid", "door_id")}
    return {
        "key": dict(zip(names, eye.key(row), strict=True)),
        "value": said.value,
        "unit": said.unit[:UNIT_LENGTH],
        "message": said.message[:MESSAGE_LENGTH],
        **places,
    }
