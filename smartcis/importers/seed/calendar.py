"""Calendar: lectures and courses, today and tomorrow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from random import Random

from django.utils import timezone

from smartcis.models import Reservation, Unit

TITLES = (
    "Databases, lecture",
    "Numerics, exercise",
    "LaTeX for beginners",
    "Operating systems, tutorial",
    "Statistics with R",
    "Physics lab, briefing",
)
SLOTS = (time(8), time(10), time(12), time(14), time(16))
HALLS_PER_DAY = 8
COURSES_PER_DAY = 3  # in machine rooms, never two at a time: somebody must find a free machine


def seed_calendar(rooms: Sequence[Unit], halls: Sequence[Unit], today: date, seed: int) -> int:
    """Books rooms for two days unless that day is booked already; returns how many are new.

    Args:
        rooms: machine rooms in which courses are held.
        halls: other rooms in which lectures are.
        today: in the building's time zone.
        seed: with the day, decides what is booked.
    """
    made = []
    zone = timezone.get_current_timezone()
    for day in (today, today + timedelta(days=1)):
        begin = datetime.combine(day, time(0), zone)
        booked = Reservation.objects.filter(
            simulated=True, start__gte=begin, start__lt=begin + timedelta(days=1)
        )
        if booked.exists():
            continue
        rng = Random(f"{seed}/{day.isoformat()}")
        pairs = [
            (hall, rng.choice(SLOTS))
            for hall in rng.sample(list(halls), min(HALLS_PER_DAY, len(halls)))
        ]
        courses = rng.sample(list(rooms), min(COURSES_PER_DAY, len(rooms)))
        pairs += list(zip(courses, rng.sample(SLOTS, len(courses)), strict=True))
        for unit, slot in pairs:
            start = datetime.combine(day, slot, zone)
            made.append(
                Reservation(
                    unit=unit,
                    start=start,
                    end=start + timedelta(minutes=90),
                    title=rng.choice(TITLES),
                    simulated=True,
                )
            )
    Reservation.objects.bulk_create(made)
    return len(made)
