"""Sensors: add one, choose what it measures, and its readings begin within a second."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from sensors_sim.faults import FAULTS
from sensors_sim.waveforms import WAVEFORMS
from smartcis.actions.change_sensor import change_sensor
from smartcis.admin.inventory import Inventoried
from smartcis.admin.many import Many
from smartcis.admin.marks import Form, Page, Switched, simulated_mark
from smartcis.models import RegionSeed, Sensor, SensorKind
from smartcis.models.sensor_kinds import sensor_kinds


def waveform_help() -> SafeString:
    """Lists every waveform with its parameters, in the sensor's unit."""
    rows = []
    for shape in WAVEFORMS.values():
        fields = format_html_join(
            "; ",
            "<code>{}</code>{} {}",
            (
                (
                    name,
                    "" if field.default is None else f" ({field.default:g})",
                    gettext(field.meaning),
                )
                for name, field in shape.fields.items()
            ),
        )
        rows.append((shape.key, gettext(shape.label), fields or gettext("no parameters")))
    listed = format_html_join("", "<li><b>{}</b>, {}: {}</li>", rows)
    said = gettext(
        "A JSON object, values in the sensor's unit; what is left out takes the number in"
        " brackets. Example for a constant:"
    )
    return format_html('{} <code>{{"value": 70, "noise": 1}}</code><ul>{}</ul>', said, listed)


class SensorForm(Form):
    """A sensor as the operator describes it; id and position follow from room or machine."""

    class Meta:
        model = Sensor
        fields = (
            "kind",
            "machine",
            "unit",
            "waveform",
            "parameters",
            "fault",
            "fault_amount",
            "period_s",
            "enabled",
            "simulated",
        )
        labels = {"period_s": _("Seconds between readings"), "fault_amount": _("How much")}
        help_texts = {
            "kind": _("What it measures. Seat and processor sensors watch a machine."),
            "machine": _("For seat and processor sensors. The room follows from it."),
            "unit": _("For all other sensors."),
            "waveform": _(
                "What the simulator lets it measure. The simulated people only sit on seats, use "
                "processors and pass receivers."
            ),
            "fault": _(
                "What the simulated sensor gets wrong from now on, to see what the building "
                "makes of it; readings of the past stay."
            ),
            "enabled": _(
                "Switched off, it falls silent; after some minutes the map says “no data”."
            ),
            "period_s": _(
                "Up to a day for temperature, humidity, light and kinds of your own; "
                "silent four times as long, the sensor is shown without data."
            ),
            "simulated": _("Untick for a real device that sends its own readings."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"] = forms.ChoiceField(
            choices=sensor_kinds,
            label=self.fields["kind"].label,
            help_text=self.Meta.help_texts["kind"],
        )
        self.fields["unit"].required = False  # a machine's sensor takes the machine's room
        self.fields["parameters"].required = False
        self.fields["parameters"].help_text = waveform_help()
        amounts = [f"{one.key}: {gettext(one.amount)}" for one in FAULTS.values() if one.amount]
        usual = gettext("Empty for the usual. %s.") % "; ".join(amounts)
        self.fields["fault_amount"].help_text = usual


@admin.register(Sensor)
class SensorAdmin(Inventoried, Switched, Many):
    """Sensors; a change of waveform or parameters is sent at once."""

    form = SensorForm
    on_plan = "tool=place&thing=sensor"
    on_plan_said = _("Put a sensor on the plan by clicking")
    list_display = (
        "sid",
        "kind",
        "unit",
        "machine",
        "waveform",
        "faulted",
        "period_s",
        "enabled",
        simulated_mark,
    )
    list_filter = ("kind", "level", "fault", "waveform", "enabled", "simulated")
    list_select_related = ("unit", "machine")
    search_fields = ("sid", "unit__rid", "unit__name", "machine__mid", "machine__host")
    autocomplete_fields = ("unit", "machine")
    stored = ("sid", "level", "x_m", "y_m", "updated_at")
    many_fields = ("waveform", "parameters", "fault", "fault_amount", "period_s", "enabled")
    many_action = staticmethod(change_sensor)
    actions = (*Switched.actions, *Many.actions)

    @admin.display(description=_("fault"), ordering="fault")
    def faulted(self, sensor: Sensor) -> str:
        """Returns what it gets wrong, as a mark."""
        return f"⚠ {sensor.fault}" if sensor.fault else gettext("none")


@admin.register(SensorKind)
class SensorKindAdmin(Page):
    """Kinds of sensor beyond those with a stream of their own; readings go to `reading`."""

    list_display = ("kind", "name", "unit", "least", "greatest", "period_s")
    fields = list_display

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Returns what stays."""
        return ("kind",) if obj else ()

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Protects kinds of which there are sensors."""
        gone, counts, needed, protected = super().get_deleted_objects(objs, request)
        kinds = [one.pk for one in objs]
        used = Sensor.objects.filter(kind__in=kinds).values_list("sid", flat=True)
        return (
            gone,
            counts,
            needed,
            [*protected, *(gettext("sensor %s") % sid for sid in used[:20])],
        )


@admin.register(RegionSeed)
class RegionSeedAdmin(Page):
    """Where contiguous regions of triggered sensors grow from."""

    list_display = ("region_id", "sensor", simulated_mark)
    autocomplete_fields = ("sensor",)
