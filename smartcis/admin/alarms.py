"""Alarms: those that stand and that stood, what was done about them, and what was sent of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.change_alarm import change_alarm
from smartcis.actions.end_alarm import end_alarm
from smartcis.admin.marks import ReadOnly, Table, refuse
from smartcis.models import Alarm, AlarmEvent, Delivery

HOUR_S = 3600


class StandingFilter(admin.SimpleListFilter):
    """Alarms that stand, or those of the past."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """Returns what may be chosen."""
        return (("standing", gettext("stands")), ("cleared", gettext("is over")))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Returns what was chosen."""
        if self.value() is None:
            return queryset
        return queryset.filter(cleared_s__isnull=self.value() == "standing")


class EventTable(Table):
    """What happened to an alarm, and who did what about it."""

    model = AlarmEvent
    fields = ("at", "event", "whom", "account")
    readonly_fields = fields
    has_add_permission = refuse
    has_change_permission = refuse
    has_delete_permission = refuse
    verbose_name_plural = _("what happened")

    @admin.display(description=_("what"))
    def event(self, event: AlarmEvent) -> str:
        """Returns what it was."""
        what, _for, span = event.what.partition(" for ")
        return gettext("muted for %s") % span if span else gettext(what)

    @admin.display(description=_("when"))
    def at(self, event: AlarmEvent) -> datetime:
        """Returns the time."""
        return _time(event.at_s)


@admin.register(Alarm)
class AlarmAdmin(ReadOnly):
    """Queries raise and clear alarms; here staff take note, ask for quiet, and see to them."""

    list_display = ("heading", "kind", "severity", "now", "place", "since", "until", "done")
    list_filter = (StandingFilter, "severity", "kind")
    list_select_related = ("assigned_to",)
    search_fields = ("target", "name", "message", "rid", "mid", "door_id")
    fields = ("heading", "kind", "severity", "now", "place", "message", "since", "until", "done")
    readonly_fields = fields
    inlines = (EventTable,)
    actions = ("acknowledge", "mute_1_h", "mute_8_h", "mute_1_day", "unmute", "take", "end")

    @admin.display(description=_("alarm"))
    def heading(self, alarm: Alarm) -> str:
        """Returns what people call it."""
        return alarm.title

    @admin.display(description=_("value"), ordering="value")
    def now(self, alarm: Alarm) -> str:
        """Returns the value with its unit."""
        return "" if alarm.value is None else f"{alarm.value:g} {alarm.unit}".strip()

    @admin.display(description=_("where"))
    def place(self, alarm: Alarm) -> str:
        """Returns the machine, door or room."""
        return alarm.mid or alarm.door_id or alarm.rid

    @admin.display(description=_("since"), ordering="raised_s")
    def since(self, alarm: Alarm) -> datetime:
        """Returns when it began."""
        return _time(alarm.raised_s)

    @admin.display(description=_("until"), ordering="cleared_s")
    def until(self, alarm: Alarm) -> datetime | str:
        """Returns when it ended, or that it stands."""
        return gettext("stands") if alarm.cleared_s is None else _time(alarm.cleared_s)

    @admin.display(description=_("done about it"))
    def done(self, alarm: Alarm) -> str:
        """Returns what staff did about it."""
        said = []
        if alarm.acknowledged_s is not None:
            said.append(_("acknowledged by %s") % alarm.acknowledged_by)
        if (alarm.muted_until_s or 0.0) > timezone.now().timestamp():
            until = f"{_time(alarm.muted_until_s or 0.0):%Y-%m-%d %H:%M} UTC"
            said.append(_("muted until %s") % until)
        if alarm.assigned_to is not None:
            said.append(_("%s sees to it") % alarm.assigned_to)
        return ", ".join(said)

    @admin.action(description=_("Acknowledge: somebody has taken note"), permissions=["view"])
    def acknowledge(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Says that somebody has taken note."""
        self._change(request, chosen, {"acknowledged": True})

    @admin.action(description=_("Mute for an hour: tell nobody of it"), permissions=["view"])
    def mute_1_h(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Mutes alarms for an hour."""
        self._change(request, chosen, {"muted_for_s": HOUR_S})

    @admin.action(description=_("Mute for eight hours"), permissions=["view"])
    def mute_8_h(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Mutes alarms for a working day."""
        self._change(request, chosen, {"muted_for_s": 8 * HOUR_S})

    @admin.action(description=_("Mute for a day"), permissions=["view"])
    def mute_1_day(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Mutes alarms for a day."""
        self._change(request, chosen, {"muted_for_s": 24 * HOUR_S})

    @admin.action(description=_("Unmute"), permissions=["view"])
    def unmute(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Has people told again."""
        self._change(request, chosen, {"muted_for_s": 0})

    @admin.action(description=_("I see to it"), permissions=["view"])
    def take(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Assigns alarms to whoever asks."""
        self._change(request, chosen, {"assigned_to": request.user.get_username()})

    @admin.action(
        description=_("End alarms about no data: it is gone for good"), permissions=["view"]
    )
    def end(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Ends alarms about no data."""
        for alarm in chosen:
            self._try(request, lambda one=alarm: end_alarm(one.pk, Owner.of(request)))

    def _change(
        self, request: HttpRequest, chosen: QuerySet[Any], changes: Mapping[str, Any]
    ) -> None:
        for alarm in chosen:
            self._try(request, lambda one=alarm: change_alarm(one.pk, changes, Owner.of(request)))

    def _try(self, request: HttpRequest, deed: Any) -> None:
        try:
            deed()
        except AspenError as error:
            self.message_user(request, f"{error.message}: {error.attempt}", messages.ERROR)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly):
    """Calls to other servers and e-mail: what was taken, what waits, what was given up and why."""

    list_display = ("kind", "target", "step", "state", "attempts", "fault", "due_at", "settled_at")
    list_filter = ("state", "kind")
    search_fields = ("target", "fault")
    actions = ("retry",)

    @admin.display(description=_("what"))
    def step(self, call: Delivery) -> str:
        """Returns the alarm's step, or whether a row came or went."""
        if call.alarm is not None:
            return f"{call.alarm['title']}: {gettext(call.alarm['step'])}"
        return gettext("a row came") if call.weight > 0 else gettext("a row went")

    @admin.action(description=_("Try what was given up once more"), permissions=["view"])
    def retry(self, request: HttpRequest, chosen: QuerySet[Any]) -> None:
        """Schedules calls and e-mail again."""
        lost = chosen.filter(state=Delivery.State.GIVEN_UP)
        count = lost.update(
            state=Delivery.State.PENDING, attempts=0, due_at=timezone.now(), settled_at=None
        )
        self.message_user(request, _("%d will be tried again") % count)


def _time(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)
