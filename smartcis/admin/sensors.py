"""Sensors: add one, choose what it measures, and its readings begin within a second."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sensors_sim.waveforms import WAVEFORMS
from smartcis.admin.marks import Form, Page, Switched, simulated_mark
from smartcis.models import RegionSeed, Sensor


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
                    field.meaning,
                )
                for name, field in shape.fields.items()
            ),
        )
        rows.append((shape.key, shape.label, fields or "no parameters"))
    listed = format_html_join("", "<li><b>{}</b>, {}: {}</li>", rows)
    return format_html(
        "A JSON object, values in the sensor's unit; what is left out takes the number in "
        'brackets. Example for a constant: <code>{{"value": 70, "noise": 1}}</code><ul>{}</ul>',
        listed,
    )


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
            "period_s",
            "enabled",
            "simulated",
        )
        labels = {"period_s": "Seconds between readings"}
        help_texts = {
            "kind": "What it measures. Seat and processor sensors watch a machine.",
            "machine": "For seat and processor sensors. The room follows from it.",
            "unit": "For all other sensors.",
            "waveform": (
                "What the simulator lets it measure. The simulated people only sit on seats, use "
                "processors and pass receivers."
            ),
            "enabled": "Switched off, it falls silent; after two minutes the map says “no data”.",
            "simulated": "Untick for a real device that sends its own readings.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["unit"].required = False  # a machine's sensor takes the machine's room
        self.fields["parameters"].required = False
        self.fields["parameters"].help_text = waveform_help()


@admin.register(Sensor)
class SensorAdmin(Switched):
    """Sensors; a change of waveform or parameters is sent at once."""

    form = SensorForm
    list_display = (
        "sid",
        "kind",
        "unit",
        "machine",
        "waveform",
        "period_s",
        "enabled",
        simulated_mark,
    )
    list_filter = ("kind", "level", "waveform", "enabled", "simulated")
    list_select_related = ("unit", "machine")
    search_fields = ("sid", "unit__rid", "unit__name", "machine__mid", "machine__host")
    autocomplete_fields = ("unit", "machine")
    stored = ("sid", "level", "x_m", "y_m", "updated_at")


@admin.register(RegionSeed)
class RegionSeedAdmin(Page):
    """Where contiguous regions of triggered sensors grow from."""

    list_display = ("region_id", "sensor", simulated_mark)
    autocomplete_fields = ("sensor",)
