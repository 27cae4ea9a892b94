"""Kinds of sensor: those of the code, and those an operator adds as rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _

from aspen.motes.kinds import DAY_S, DEVICE_KINDS, DeviceKind, PowerSource, UnknownDevice
from smartcis.models.source import SourceModel
from smartcis.readings.quantities import QUANTITIES

LEAST_PERIOD_S = 0.05

CODED: Mapping[str, DeviceKind] = {kind.key: kind for kind in DEVICE_KINDS}
"""The kinds with a stream of their own."""


class SensorKind(SourceModel):
    """A kind of sensor whose readings go to the relation `reading`.

    Args:
        kind: stable name, as in `sensor.kind`.
        name: for people.
        unit: of its readings, the only one that is kept; empty for a bare number.
        least: smallest value it can report; below, it is broken or mislabelled.
        greatest: largest value it can report.
        period_s: usual seconds between readings, proposed for each new sensor.
    """

    relations = ("sensor_kind",)

    kind = models.SlugField(primary_key=True, max_length=40)
    name = models.CharField(max_length=100)
    unit = models.CharField(max_length=20, blank=True)
    least = models.FloatField()
    greatest = models.FloatField()
    period_s = models.FloatField(default=60.0)

    class Meta(SourceModel.Meta):
        ordering = ("kind",)
        verbose_name = "kind of sensor"
        verbose_name_plural = "kinds of sensor"

    def __str__(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def described(self) -> DeviceKind:
        """Returns it as the kinds of the code are described."""
        return DeviceKind(
            key=self.kind,
            name=self.name,
            measures="value",
            unit=self.unit,
            least=self.least,
            greatest=self.greatest,
            decimals=3,
            period_s=self.period_s,
            rate_hz=1.0 / self.period_s,
            sample_ma=0.0,
            sample_s=0.0,
            comment="",
            least_period_s=LEAST_PERIOD_S,
            greatest_period_s=DAY_S,
            kept_s=0.0,
            power=PowerSource.HOST,  # it is on nobody's radio here
            shared=True,
        )

    def clean(self) -> None:
        """Refuses a kind that the code has, an empty range, and another unit than was measured in.

        Raises:
            ValidationError: per field, in words an operator understands.
        """
        faults: dict[str, str] = {}
        if self.kind in CODED:
            faults["kind"] = _("%s is a kind already, with readings of its own") % self.kind
        ends = (self.least, self.greatest)
        if None not in ends and not (all(map(math.isfinite, ends)) and self.least < self.greatest):
            faults["greatest"] = _("two finite numbers, the smaller one first")
        if not LEAST_PERIOD_S <= (self.period_s or 0.0) <= DAY_S:
            faults["period_s"] = between_seconds(LEAST_PERIOD_S, DAY_S)
        stored = SensorKind.objects.filter(pk=self.kind).first()
        if stored is not None and stored.unit != self.unit:
            faults["unit"] = _("readings are kept in %s: add another kind") % (
                stored.unit or _("no unit")
            )
        if faults:
            raise ValidationError(faults)


def between_seconds(least_s: float, greatest_s: float) -> str:
    """Returns what is said of an interval that is too short or too long."""
    ends = {"least": least_s, "greatest": greatest_s}
    return _("between %(least)g and %(greatest)g seconds") % ends


def kinds_of(keys: Iterable[str]) -> Mapping[str, DeviceKind]:
    """Returns the kinds of the code, and those of these keys that are rows or common quantities."""
    own = set(keys) - CODED.keys()
    rows = SensorKind.objects.filter(pk__in=own) if own else ()
    common = {key: _common(key).described() for key in own & QUANTITIES.keys()}
    return {**CODED, **common, **{one.kind: one.described() for one in rows}}


def keep_kind(key: str) -> None:
    """Sees to it that a common quantity that is measured now is a row."""
    if key in QUANTITIES and not SensorKind.objects.filter(pk=key).exists():
        _common(key).save(force_insert=True)


def _common(key: str) -> SensorKind:
    one = QUANTITIES[key]
    return SensorKind(
        kind=key, name=one.name, unit=one.unit, least=one.least, greatest=one.greatest
    )


def kind_among(kinds: Mapping[str, DeviceKind], key: str) -> DeviceKind:
    """Returns a kind.

    Raises:
        UnknownDevice: it is not among them; the nearest names come first in `exists`.
    """
    if key in kinds:
        return kinds[key]
    near = get_close_matches(key, kinds, n=2)
    raise UnknownDevice(
        f"there is no sensor kind {key!r}",
        found=key,
        exists=[*near, *(name for name in kinds if name not in near)],
    )


def kind_named(key: str) -> DeviceKind:
    """Returns a kind of the code, of a row, or of a common quantity.

    Raises:
        UnknownDevice: there is no such kind.
    """
    return kind_among(kinds_of([key]), key)


def sensor_kinds() -> list[tuple[str, str]]:
    """Returns all kinds to choose from: key, and name with unit."""
    rows = {one.kind: one.described() for one in SensorKind.objects.all()}
    every = {**CODED, **{key: _common(key).described() for key in QUANTITIES}, **rows}
    return [
        (kind.key, f"{_(kind.name)} ({kind.unit})" if kind.unit else _(kind.name))
        for kind in every.values()
    ]
